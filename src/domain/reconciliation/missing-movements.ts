import {
  type Database,
  firstRow,
  hasRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { ACCOUNT_COLUMNS } from '../payments/payment-summary.ts';
import { questionReceipt } from '../settlement/contrary-news.ts';
import { MOVED_AT } from '../settlement/movements.ts';
import { isSameDirection, PAID_WITHIN } from './match-line.ts';
import { mayBeAccount } from './rule-out.ts';
import { IS_GIVEN, isGiven, type StatementRef, type StatementScope } from './statement.ts';

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
  const is_given = await isGiven(database, scope);
  for (const kind of scope.kinds) {
    for (const movement of await findUnlisted(database, kind, scope)) {
      if (await wasListed(database, { ...scope, is_given }, movement)) continue;
      await inTransaction(database, async (trx) => {
        const rival = await rivalOf(trx, scope, movement);
        await (rival ? questionRival(trx, scope, movement, rival) : reportOne(trx, movement));
      });
      missing.push(movement);
    }
  }
  return missing;
}

function reportOne(trx: Transaction, movement: MissingMovement): Promise<boolean> {
  const { kind, merchant_id, payment_id, trans_id, amount_cents } = movement;
  return openDiscrepancy(trx, {
    kind: 'missing_at_gateway',
    payment: { kind, merchant_id, id: payment_id },
    trans_id,
    amount_cents,
    // Without the period, so that the same finding in another statement opens no second discrepancy.
    details: {},
  });
}

/** A payment that may have the receipt of another one. */
type Rival = PaymentRef & { receipt: string; account: string | null };

/**
 * Finds a payment that support has completed by hand with a receipt whose line may be that of a
 * movement without a receipt. Then the other payment may be the one that was never made.
 */
function rivalOf(
  trx: Transaction,
  { gateway, import_id }: StatementScope,
  { kind, merchant_id, payment_id, trans_id, amount_cents }: MissingMovement,
): Promise<Rival | undefined> {
  return firstRow<Rival>(
    trx,
    `SELECT o.payment_kind AS kind, o.merchant_id, o.payment_id AS id, o.trans_id AS receipt,
       l.account
     FROM statement_lines l JOIN movements o ON o.trans_id = l.trans_id AND o.gateway = :gateway
       AND o.payment_kind = :kind AND o.told_by = 'support' AND o.booked = 'settled'
     JOIN ${STEP_TABLES[kind].table} p ON p.merchant_id = :merchant_id AND p.id = :payment_id
     WHERE l.import_id = :import_id AND NOT l.undecided AND l.amount_cents = :amount_cents
       AND CAST(:trans_id AS text) IS NULL
       AND ${isSameDirection('l.kind', ':kind')}
       AND ${mayBeAccount('l.account', `p.${ACCOUNT_COLUMNS[kind]}`)}
     ORDER BY o.id LIMIT 1`,
    { gateway, import_id, kind, merchant_id, payment_id, trans_id, amount_cents },
  );
}

function questionRival(
  trx: Transaction,
  { gateway }: StatementScope,
  { kind, merchant_id, payment_id: id, amount_cents: amountCents }: MissingMovement,
  { receipt, account, ...owner }: Rival,
): Promise<void> {
  const payment = { kind, merchant_id, id, gateway };
  return questionReceipt(trx, { payment, owner, receipt, told: { amountCents, account } });
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
       AND m.booked NOT IN ('undoing', 'undone')
       AND ${MOVED_AT} >= :start AND ${MOVED_AT} < :end
       AND NOT EXISTS (
         SELECT FROM statement_lines l
         WHERE l.import_id = :import_id AND NOT l.undecided AND l.trans_id = m.trans_id
           AND ${isSameDirection('l.kind', 'm.payment_kind')}
         UNION ALL
         SELECT FROM statement_lines l
         WHERE l.import_id = :import_id AND NOT l.undecided
           AND l.reference IN (CAST(p.reference AS text), p.external_ref)
           AND (m.trans_id IS NULL OR l.trans_id IS NULL))
       -- Somebody must say first whose receipt a line has.
       AND NOT (m.trans_id IS NULL AND EXISTS (
         SELECT FROM discrepancies d WHERE d.merchant_id = m.merchant_id
           AND d.payment_kind = :kind AND d.payment_id = m.payment_id
           AND d.kind = 'receipt_of_another' AND d.resolved_at IS NULL
         UNION ALL
         SELECT FROM statement_lines l WHERE l.import_id = :import_id
           AND l.result = 'contradicts' AND l.amount_cents = m.amount_cents
           AND l.completed_at > p.created_at - :after_minutes * interval '1 minute'
           AND l.completed_at < m.learned_at + :before_minutes * interval '1 minute'
           AND ${isSameDirection('l.kind', 'm.payment_kind')}
           AND ${mayBeAccount('l.account', `p.${ACCOUNT_COLUMNS[kind]}`)}))
     LIMIT CAST(:limit AS bigint)`,
    { ...scope, ...PAID_WITHIN, kind, limit },
  );
}

/**
 * Looks for the receipt in other statements of this gateway: clocks differ around midnight. No file
 * answers what a statement lacks that the gateway has given.
 */
async function wasListed(
  database: Database,
  { gateway, is_given }: StatementRef & { is_given: boolean },
  { kind, trans_id }: MissingMovement,
): Promise<boolean> {
  if (trans_id === null) return false;
  return hasRow(
    database,
    `SELECT 1 FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
     WHERE i.gateway = :gateway AND i.started_at IS NOT NULL AND l.trans_id = :trans_id
       AND NOT l.undecided AND ${isSameDirection('l.kind', ':kind')}
       AND (${IS_GIVEN} OR NOT :is_given)
     LIMIT 1`,
    { gateway, trans_id, kind, is_given },
  );
}
