import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { Resolution } from './resolution.ts';

/** Something that does not add up, with all that is known of it. */
export interface Discrepancy {
  id: string;
  kind: DiscrepancyKind;
  /** Null, as the next two, for a movement that no payment here explains. */
  merchant_id: number | null;
  payment_kind: GatewayPaymentKind | null;
  payment_id: string | null;
  movement_id: string | null;
  trans_id: string | null;
  amount_cents: number | null;
  details: Record<string, unknown>;
  opened_at: Date;
  resolved_at: Date | null;
  resolution: Resolution | 'superseded' | null;
  resolved_by: string | null;
  resolved_reason: string | null;
}

/** One discrepancy; ids are unique over all merchants. */
export async function findDiscrepancy(
  database: Database | Transaction,
  id: string,
): Promise<Discrepancy | undefined> {
  return firstRow<Discrepancy>(database, 'SELECT * FROM discrepancies WHERE id = :id', { id });
}

/** Reads and locks one; its payment must be locked before. */
export async function lockDiscrepancy(
  trx: Transaction,
  id: string,
): Promise<Discrepancy | undefined> {
  return firstRow<Discrepancy>(trx, 'SELECT * FROM discrepancies WHERE id = :id FOR UPDATE', {
    id,
  });
}

/** Whether other money of the same payment waits for a decision; the payment must be locked. */
export async function hasOtherQuestion(
  trx: Transaction,
  { id, merchant_id, payment_kind, payment_id }: Discrepancy,
): Promise<boolean> {
  const other = await firstRow(
    trx,
    `SELECT 1 FROM discrepancies
     WHERE merchant_id = :merchant_id AND payment_id = :payment_id
       AND payment_kind = :payment_kind AND id <> :id
       AND movement_id IS NOT NULL AND resolved_at IS NULL`,
    { id, merchant_id, payment_kind, payment_id },
  );
  return other !== undefined;
}

/** Takes it off the support list. */
export async function markResolved(
  trx: Transaction,
  id: string,
  decision: { as: Resolution; actor: string; reason: string },
): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET resolved_at = now(), resolution = :as, resolved_by = :actor,
       resolved_reason = :reason
     WHERE id = :id`,
    { id, ...decision },
  );
}

/**
 * Finds the money of a discrepancy that does not name it, as those that a process of the
 * release before has opened. @returns the movement's id, or null when no money waits for it.
 */
export async function adoptMovement(
  trx: Transaction,
  { id }: Pick<Discrepancy, 'id'>,
): Promise<string | null> {
  const row = await firstRow<{ movement_id: string }>(
    trx,
    `UPDATE discrepancies d SET movement_id = m.id
     FROM movements m LEFT JOIN returns r
       ON r.merchant_id = m.merchant_id AND r.movement_id = m.id AND r.status = 'failed'
     WHERE d.id = :id AND m.merchant_id = d.merchant_id AND m.booked = 'suspense'
       AND (r.id = d.payment_id AND d.kind = 'return_failed'
         OR m.payment_kind = d.payment_kind AND m.payment_id = d.payment_id
           AND m.trans_id IS NOT DISTINCT FROM d.trans_id)
       AND NOT EXISTS (SELECT FROM discrepancies other WHERE other.merchant_id = m.merchant_id
         AND other.movement_id = m.id AND other.resolved_at IS NULL)
     RETURNING d.movement_id`,
    { id },
  );
  return row?.movement_id ?? null;
}
