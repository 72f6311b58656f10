import { type Database, rows } from '../../connections/database.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import {
  isOverdue,
  PAYMENT_KINDS,
  type PaymentSummary,
  selectSummaries,
} from '../payments/payment-summary.ts';

export interface SupportFilter {
  merchant_id?: number | undefined;
  kind?: GatewayPaymentKind | undefined;
  /** Selects by reason. Neither means both. */
  parked: boolean;
  overdue: boolean;
  /** Begins after this one, in the order of the list. */
  after?: string | undefined;
  limit: number;
}

/**
 * Lists payments of all merchants that do not go on by themselves (parked) or have not ended in
 * time (overdue), oldest first. Ids sort by time. The conditions are those of the indexes of parked
 * and open payments, so no other row is read.
 */
export function listForSupport(
  database: Database,
  filter: SupportFilter,
): Promise<PaymentSummary[]> {
  const { merchant_id, kind, parked, overdue, after } = filter;
  const reasons = [
    ...(parked || !overdue ? ['t.parked_reason IS NOT NULL'] : []),
    ...(overdue || !parked ? [isOverdue('t')] : []),
  ];
  const more = [
    ...(merchant_id === undefined ? [] : ['t.merchant_id = :merchant_id']),
    ...(after === undefined ? [] : ['t.id > CAST(:after AS uuid)']),
  ];
  const wanted = PAYMENT_KINDS.filter((each) => kind === undefined || each === kind);
  const parts = wanted.flatMap((each) =>
    reasons.map((reason) => `${selectSummaries(each)} WHERE ${[reason, ...more].join(' AND ')}`),
  );
  return rows<PaymentSummary>(
    database,
    // UNION, since a payment can be both.
    `SELECT * FROM (${parts.join(' UNION ')}) AS listed ORDER BY id LIMIT :limit`,
    filter,
  );
}
