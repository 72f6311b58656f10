import { type Database, rows } from '../../connections/database.ts';
import type { KeysetPage } from '../lists.ts';
import { isOverdue, type PaymentSummary, selectSummaries } from '../payments/payment-summary.ts';
import { conditionsOf, kindsIn, type PaymentFilter } from './payment-filter.ts';

export interface SupportFilter extends PaymentFilter, KeysetPage<string> {
  /** Selects by reason. Neither means both. */
  parked: boolean;
  overdue: boolean;
}

/**
 * Lists payments of all merchants that do not go on by themselves (parked) or have not ended in
 * time (overdue), oldest first. Ids sort by time. The conditions are those of the indexes of parked
 * and open payments, so no other row is read.
 */
export async function listForSupport(
  database: Database,
  filter: SupportFilter,
): Promise<PaymentSummary[]> {
  const { merchant_id, parked, overdue, after } = filter;
  const reasons = [
    ...(parked || !overdue ? ['t.parked_reason IS NOT NULL'] : []),
    ...(overdue || !parked ? [isOverdue('t')] : []),
  ];
  const more = [
    ...(merchant_id === undefined ? [] : ['t.merchant_id = :merchant_id']),
    ...(after === undefined ? [] : ['t.id > CAST(:after AS uuid)']),
  ];
  const parts = kindsIn(filter).flatMap((kind) =>
    reasons.map((reason) => {
      const where = [reason, ...conditionsOf(kind, filter), ...more];
      return `${selectSummaries(kind)} WHERE ${where.join(' AND ')}`;
    }),
  );
  if (parts.length === 0) return [];
  return rows<PaymentSummary>(
    database,
    // UNION, since a payment can be both.
    `SELECT * FROM (${parts.join(' UNION ')}) AS listed ORDER BY id LIMIT :limit`,
    filter,
  );
}
