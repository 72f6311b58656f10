import {
  type Database,
  hasRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { isSameDirection } from './match-line.ts';
import type { StatementScope } from './statement.ts';

/** A movement that is booked here and missing in the statement. */
export interface MissingMovement {
  kind: GatewayPaymentKind;
  merchant_id: number;
  payment_id: string;
  reference: string;
  trans_id: string | null;
  amount_cents: number;
}

/** Opens a discrepancy for each movement that the statement should list and does not. */
export async function reportMissing(
  database: Database,
  scope: StatementScope,
): Promise<MissingMovement[]> {
  const missing: MissingMovement[] = [];
  for (const kind of scope.kinds) {
    for (const movement of await findUnlisted(database, kind, scope)) {
      if (await wasListed(database, scope.gateway, movement)) continue;
      const { merchant_id, payment_id, trans_id, amount_cents } = movement;
      await inTransaction(database, (trx) =>
        openDiscrepancy(trx, {
          kind: 'missing_at_gateway',
          payment: { kind, merchant_id, id: payment_id },
          trans_id,
          amount_cents,
          // Without the period, so that the same finding in another statement opens no second discrepancy.
          details: {},
        }),
      );
      missing.push(movement);
    }
  }
  return missing;
}

/** Finds the movements of a kind that the statement should list and does not. */
export async function findUnlisted(
  database: Database | Transaction,
  kind: GatewayPaymentKind,
  scope: StatementScope,
  limit: number | null = null,
): Promise<MissingMovement[]> {
  return rows<MissingMovement>(
    database,
    `SELECT m.payment_kind AS kind, m.merchant_id, m.payment_id, p.reference,
       m.trans_id, m.amount_cents
     FROM movements m JOIN ${STEP_TABLES[kind].table} p
       ON p.merchant_id = m.merchant_id AND p.id = m.payment_id
     WHERE m.payment_kind = :kind AND m.gateway = :gateway AND p.channel = :channel
       -- Support has found already that it did not happen.
       AND m.booked <> 'undone'
       AND coalesce(m.completed_at, m.learned_at) >= :start
       AND coalesce(m.completed_at, m.learned_at) < :end
       AND NOT EXISTS (
         SELECT FROM statement_lines l
         WHERE l.import_id = :import_id AND NOT l.undecided AND l.trans_id = m.trans_id
           AND ${isSameDirection('l.kind', 'm.payment_kind')}
         UNION ALL
         SELECT FROM statement_lines l
         WHERE l.import_id = :import_id AND NOT l.undecided
           AND l.reference IN (CAST(p.reference AS text), p.external_ref)
           AND (m.trans_id IS NULL OR l.trans_id IS NULL))
     LIMIT CAST(:limit AS bigint)`,
    { ...scope, kind, limit },
  );
}

/** Looks for the receipt in other statements of this gateway: clocks differ around midnight. */
async function wasListed(
  database: Database,
  gateway: string,
  { kind, trans_id }: MissingMovement,
): Promise<boolean> {
  if (trans_id === null) return false;
  return hasRow(
    database,
    `SELECT 1 FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
     WHERE i.gateway = :gateway AND i.started_at IS NOT NULL AND l.trans_id = :trans_id
       AND NOT l.undecided AND ${isSameDirection('l.kind', ':kind')}
     LIMIT 1`,
    { gateway, trans_id, kind },
  );
}
