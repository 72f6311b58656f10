import { type Database, rows } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { KeysetPage } from '../lists.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';
import type { Movement } from '../settlement/movements.ts';

/** Money in suspense, with what keeps it there. */
export interface SuspendedMoney
  extends Pick<
    Movement,
    'merchant_id' | 'id' | 'trans_id' | 'amount_cents' | 'account' | 'completed_at'
  > {
  learned_at: Date;
  /** The payment that the gateway has moved it for. */
  payment_kind: GatewayPaymentKind;
  payment_id: string;
  /** Null for a return. */
  ref_no: string | null;
  gateway: string;
  /** `returning` while a return takes it back, `undoing` until it shows that it has come back. */
  booked: 'suspense' | 'undoing' | 'returning';
  /** The open discrepancy that decides about it, with the payment of that. */
  discrepancy: {
    id: string;
    kind: DiscrepancyKind;
    payment_kind: GatewayPaymentKind;
    payment_id: string;
  } | null;
  /** The return that takes it back. */
  return_id: string | null;
}

/** Selects money in suspense. Fields that are left out do not matter. */
export interface SuspenseFilter {
  merchant_id?: number | undefined;
  kind?: GatewayPaymentKind | undefined;
}

/** SQL: the condition of the partial indexes. */
const IS_SUSPENDED = "m.booked IN ('suspense', 'undoing', 'returning')";

function whereOf({ merchant_id, kind }: SuspenseFilter): string[] {
  return [
    IS_SUSPENDED,
    ...(merchant_id === undefined ? [] : ['m.merchant_id = :merchant_id']),
    ...(kind === undefined ? [] : ['m.payment_kind = :kind']),
  ];
}

/** SQL: the merchant's name of the payment. */
const REF_NO = PAYMENT_KINDS.filter((kind) => kind !== 'return')
  .map(
    (kind) => `SELECT ref_no FROM ${STEP_TABLES[kind].table} t
       WHERE m.payment_kind = '${kind}' AND t.merchant_id = m.merchant_id AND t.id = m.payment_id`,
  )
  .join(' UNION ALL ');

/** Lists money in suspense, oldest first. Ids sort by time. */
export function listSuspense(
  database: Database,
  { after, limit, ...filter }: SuspenseFilter & KeysetPage<string>,
): Promise<SuspendedMoney[]> {
  const where = [
    ...whereOf(filter),
    ...(after === undefined ? [] : ['m.id > CAST(:after AS uuid)']),
  ];
  return rows<SuspendedMoney>(
    database,
    `SELECT m.merchant_id, m.id, m.payment_kind, m.payment_id, m.gateway, m.trans_id,
       m.amount_cents, m.account, m.completed_at, m.learned_at, m.booked, r.id AS return_id, p.ref_no,
       CASE WHEN d.id IS NOT NULL THEN jsonb_build_object('id', d.id, 'kind', d.kind,
         'payment_kind', d.payment_kind, 'payment_id', d.payment_id) END AS discrepancy
     FROM (
       SELECT * FROM movements m WHERE ${where.join(' AND ')} ORDER BY m.id LIMIT :limit
     ) AS m
     LEFT JOIN LATERAL (
       SELECT id, kind, payment_kind, payment_id FROM discrepancies
       WHERE movement_id = m.id AND merchant_id = m.merchant_id AND resolved_at IS NULL
       ORDER BY opened_at LIMIT 1
     ) AS d ON true
     LEFT JOIN LATERAL (
       SELECT id FROM returns
       WHERE merchant_id = m.merchant_id AND collection_id = m.payment_id AND movement_id = m.id
       ORDER BY id DESC LIMIT 1
     ) AS r ON m.booked = 'returning'
     LEFT JOIN LATERAL (${REF_NO}) AS p ON true
     ORDER BY m.id`,
    { ...filter, after, limit },
  );
}

/** The money of one kind of payment that is in suspense. */
export interface SuspenseSum {
  kind: GatewayPaymentKind;
  count: number;
  amount_cents: number;
  oldest: Date;
}

/** The oldest rows of money in suspense that are summed. */
export const MAX_SUMMED = 10_000;

/**
 * Sums money in suspense by kind, since money in and money out could cancel each other. It looks at
 * the oldest `MAX_SUMMED` rows: if the counts reach that, there is more.
 */
export function sumSuspense(database: Database, filter: SuspenseFilter): Promise<SuspenseSum[]> {
  return rows<SuspenseSum>(
    database,
    `SELECT payment_kind AS kind, count(*) AS count, min(learned_at) AS oldest,
       CAST(sum(amount_cents) AS bigint) AS amount_cents
     FROM (
       SELECT payment_kind, amount_cents, learned_at FROM movements m
       WHERE ${whereOf(filter).join(' AND ')} ORDER BY m.id LIMIT :limit
     ) AS counted
     GROUP BY payment_kind ORDER BY payment_kind`,
    { ...filter, limit: MAX_SUMMED },
  );
}
