import { STEP_TABLES } from '../../../jobs/job-types.ts';
import type { GatewayPaymentKind } from '../../gateway-results.ts';
import type { PaymentStatus } from '../../payments/payment.ts';
import type { Scope } from './scope.ts';

/** A payment with what is booked for it. */
export interface BookedPayment {
  id: string;
  status: PaymentStatus;
  amount_cents: number;
  /** The commission of a collection or reversal, the fee of a payout, or 0 for a return. */
  charge_cents: number;
  refund_posted_at: Date | null;
  redebited_at: Date | null;
  undone_at: Date | null;
  has_next: boolean;
  /** The amounts of its own movements, in cents. */
  settled: number[];
  /** Sums by kind of journal and by account, in cents. */
  booked: Record<string, Accounts>;
}

/** Sums by account, in cents. `paid` is float and suspense together: a movement is on either. */
export type Accounts = Record<string, number>;

const NEVER_REFUNDED = `CAST(NULL AS timestamptz) AS refund_posted_at,
    CAST(NULL AS timestamptz) AS redebited_at`;

/** The columns that differ between kinds, under common names. */
const COLUMNS: Readonly<Record<GatewayPaymentKind, string>> = {
  collection: `p.commission_cents AS charge_cents, ${NEVER_REFUNDED}`,
  payout: 'p.fee_cents AS charge_cents, p.refund_posted_at, p.redebited_at',
  reversal: `p.commission_cents AS charge_cents, ${NEVER_REFUNDED}`,
  return: `CAST(0 AS bigint) AS charge_cents, ${NEVER_REFUNDED}`,
};

/** SQL: the journals of the payment `p`. */
const OWN_JOURNALS = `journals j
      WHERE j.merchant_id = p.merchant_id AND j.source_kind = :kind AND j.source_id = p.id`;
/** SQL: the same for a return. The source of its journal is the movement that paid it back. */
const JOURNALS_OF_RETURN = `movements m JOIN journals j
        ON j.merchant_id = m.merchant_id AND j.source_kind = 'movement' AND j.source_id = m.id
      WHERE m.merchant_id = p.merchant_id AND m.payment_kind = :kind AND m.payment_id = p.id
        AND j.kind IN ('returned', 'undone')`;

/** Makes the query for the payments of a scope, each with the sums of its journals by account. */
export function bookedPayments(kind: GatewayPaymentKind, scope: Scope) {
  const { table } = STEP_TABLES[kind];
  const journals = kind === 'return' ? JOURNALS_OF_RETURN : OWN_JOURNALS;
  const wanted = scope.isFull
    ? `${table} p`
    : `(${changed(kind)}) changed JOIN ${table} p
       ON p.merchant_id = :merchant_id AND p.id = changed.id`;
  const sql = `
  SELECT p.id, p.status, p.amount_cents, p.undone_at, ${COLUMNS[kind]},
    p.next_step IS NOT NULL OR p.parked_reason IS NOT NULL AS has_next, sums.booked,
    array(SELECT m.amount_cents FROM movements m WHERE m.merchant_id = p.merchant_id
      AND m.payment_kind = :kind AND m.payment_id = p.id AND m.booked = 'settled') AS settled
  FROM ${wanted} CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_object_agg(kind, accounts), '{}') AS booked FROM (
      SELECT kind, coalesce(jsonb_object_agg(account, cents) FILTER (WHERE account IS NOT NULL), '{}')
        AS accounts
      FROM (
        SELECT j.kind, e.account, sum(e.amount_cents) AS cents
        FROM (SELECT j.* FROM ${journals}) j
        LEFT JOIN entries e ON e.merchant_id = j.merchant_id AND e.journal_id = j.id
        GROUP BY j.kind, e.account
      ) accounts GROUP BY kind
    ) kinds
  ) sums
  WHERE p.merchant_id = :merchant_id`;
  return { sql, bindings: { ...scope, kind } };
}

/**
 * SQL: the ids of the payments to check again since the scope began. The history has each payment
 * that ended. The id of a journal begins with its time. A payout has money in flight until it ends.
 */
function changed(kind: GatewayPaymentKind): string {
  const inFlight = `UNION SELECT id FROM payouts
    WHERE merchant_id = :merchant_id AND status <> 'completed' AND refund_posted_at IS NULL`;
  return `
    SELECT payment_id AS id FROM payment_history
    WHERE merchant_id = :merchant_id AND to_status IN ('completed', 'failed')
      AND happened_at >= :since AND payment_kind = :kind
    UNION
    SELECT source_id FROM journals
    WHERE merchant_id = :merchant_id AND id >= :since_journal AND source_kind = :kind
    ${kind === 'payout' ? inFlight : ''}`;
}
