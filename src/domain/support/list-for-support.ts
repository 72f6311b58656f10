import { type Database, firstRow, inTransaction, rows } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { OperatorRefusal } from '../errors.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { KeysetPage } from '../lists.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import { isOverdue, type PaymentSummary, selectSummaries } from '../payments/payment-summary.ts';
import { conditionsOf, findPayments, kindsIn, type PaymentFilter } from './find-payments.ts';

export interface SupportFilter extends PaymentFilter, KeysetPage<string> {
  /** Selects by reason. Neither means both. */
  parked: boolean;
  overdue: boolean;
}

/**
 * Lists payments of all merchants that do not go on by themselves (parked) or have not ended in
 * time (overdue), oldest first. Ids sort by time. The conditions match the indexes of parked
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

/**
 * Lists the payments of all merchants that fit a filter, newest first.
 *
 * Payments are indexed by merchant, and then by phone, by status, or by time alone. So each
 * merchant takes one probe of such an index for each kind (and status), which reads at most
 * `limit` rows. No index has the app, the channel or the amount: with one of these, give a phone
 * or a period, or the probe may read all payments of a merchant. A planner that expects nearly all
 * payments to be of one merchant would read the table for each of the others, so it must not.
 * @throws OperatorRefusal when there is no payment `after`
 */
export async function searchPayments(
  database: Database,
  filter: PaymentFilter & KeysetPage<string>,
): Promise<PaymentSummary[]> {
  const kinds = kindsIn(filter);
  if (kinds.length === 0) return [];
  const after_at = await createdAtOf(database, filter);
  const statuses = filter.statuses ?? [null];
  const newest = kinds.flatMap((kind) => statuses.map((status) => newestOf(kind, status, filter)));
  const summaries = kinds.map(
    (kind) => `${selectSummaries(kind)}
      JOIN found ON found.kind = '${kind}' AND t.merchant_id = found.merchant_id AND t.id = found.id`,
  );
  const statement = `WITH merchant AS MATERIALIZED (
       SELECT id FROM merchants WHERE ${merchantsIn(filter)}
     ), found (kind, merchant_id, id) AS MATERIALIZED (
       SELECT kind, merchant_id, id FROM (${newest.join(' UNION ALL ')}) AS of_each_merchant
       ORDER BY created_at DESC, id DESC LIMIT :limit
     )
     SELECT * FROM (${summaries.join(' UNION ALL ')}) AS listed
     ORDER BY created_at DESC, id DESC`;
  return inTransaction(database, async (trx) => {
    await rows(trx, 'SET LOCAL enable_seqscan = off');
    return rows<PaymentSummary>(trx, statement, { ...filter, ...bindingsOf(filter), after_at });
  });
}

/** An app belongs to one merchant. */
function merchantsIn({ merchant_id, app_code }: PaymentFilter): string {
  const conditions = [
    ...(merchant_id === undefined ? [] : ['id = :merchant_id']),
    ...(app_code === undefined
      ? []
      : ['id = (SELECT merchant_id FROM apps WHERE code = :app_code)']),
  ];
  return conditions.join(' AND ') || 'true';
}

/** One probe for each merchant. */
function newestOf(
  kind: GatewayPaymentKind,
  status: PaymentStatus | null,
  { statuses: _, ...filter }: PaymentFilter & KeysetPage<string>,
): string {
  // Not `=` with a phone: with it the planner might read all payments of the status.
  const is = filter.phone === undefined ? '=' : 'IS NOT DISTINCT FROM';
  const conditions = [
    't.merchant_id = merchant.id',
    ...(status === null ? [] : [`t.status ${is} :status_${status}`]),
    ...conditionsOf(kind, filter),
    ...(filter.after === undefined ? [] : [BEFORE]),
  ];
  return `SELECT '${kind}' AS kind, merchant.id AS merchant_id, one.id, one.created_at
    FROM merchant CROSS JOIN LATERAL (
      SELECT t.id, t.created_at FROM ${STEP_TABLES[kind].table} t
      WHERE ${conditions.join(' AND ')}
      ORDER BY t.created_at DESC, t.id DESC LIMIT :limit
    ) AS one`;
}

/**
 * Returns a binding for each status. A probe for several at once would have to sort, and without
 * the value the planner does not know that a status is rare.
 */
function bindingsOf({ statuses = [] }: PaymentFilter): Record<string, PaymentStatus> {
  return Object.fromEntries(statuses.map((status) => [`status_${status}`, status]));
}

const BEFORE = '(t.created_at, t.id) < (CAST(:after_at AS timestamptz), CAST(:after AS uuid))';

/** Returns the time of the payment that the list goes on after, as text with microseconds. */
async function createdAtOf(
  database: Database,
  { after, merchant_id }: PaymentFilter & KeysetPage<string>,
): Promise<string | null> {
  if (after === undefined) return null;
  const [found] = await findPayments(database, { what: after, merchant_id, limit: 1 });
  if (!found || found.id !== after) throw new OperatorRefusal(`There is no payment ${after}`);
  const row = await firstRow<{ created_at: string }>(
    database,
    `SELECT CAST(created_at AS text) AS created_at FROM ${STEP_TABLES[found.kind].table}
     WHERE merchant_id = :merchant_id AND id = :id`,
    found,
  );
  return row!.created_at;
}
