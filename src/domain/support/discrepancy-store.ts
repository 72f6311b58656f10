import { firstRow, hasRow, rows, type Transaction } from '../../connections/database.ts';
import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { Resolution } from './resolution.ts';

/** A row of the support list. */
export interface Discrepancy {
  id: string;
  kind: DiscrepancyKind;
  /** Null for a movement that no payment here explains, as are the next two. */
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

/** Finds a discrepancy. Ids are unique over all merchants. Lock its payment before you lock it. */
export async function findDiscrepancy(
  trx: Transaction,
  id: string,
  lock: 'FOR UPDATE' | '' = '',
): Promise<Discrepancy | undefined> {
  return firstRow<Discrepancy>(trx, `SELECT * FROM discrepancies WHERE id = :id ${lock}`, { id });
}

/** Tells whether other money of the same payment waits for a decision. The payment must be locked. */
export async function hasOtherQuestion(
  trx: Transaction,
  discrepancy: Discrepancy,
): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies
     WHERE merchant_id = :merchant_id AND payment_id = :payment_id
       AND payment_kind = :payment_kind AND id <> :id
       AND movement_id IS NOT NULL AND resolved_at IS NULL`,
    discrepancy,
  );
}

/** Takes a discrepancy off the support list. */
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
