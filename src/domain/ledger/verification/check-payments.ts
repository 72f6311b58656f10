import type { Transaction } from '../../../connections/database.ts';
import { STEP_TABLES } from '../../../jobs/job-types.ts';
import { FOR_DECISION } from '../../discrepancies/discrepancy.ts';
import type { GatewayPaymentKind } from '../../gateway-results.ts';
import { formatAmount } from '../../money.ts';
import { awaitsRefund } from '../../payments/kinds.ts';
import type { PaymentStatus } from '../../payments/payment.ts';
import { eachRow, type Finding, type Scope } from './checks.ts';

/** A payment with its bookings. */
interface BookedPayment {
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

/** Sums by account, in cents. `paid` is float, suspense and losses together: a movement is on one of them. */
type Accounts = Record<string, number>;

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
/**
 * SQL: the same for a return. The source of its journal is the movement that paid it back. Money that is no loss any
 * more leaves the losses by a journal `undone`, too: that is not the undoing of the return.
 */
const JOURNALS_OF_RETURN = `movements m JOIN journals j
        ON j.merchant_id = m.merchant_id AND j.source_kind = 'movement' AND j.source_id = m.id
      WHERE m.merchant_id = p.merchant_id AND m.payment_kind = :kind AND m.payment_id = p.id
        AND j.kind IN ('returned', 'undone') AND NOT (j.kind = 'undone' AND EXISTS (
          SELECT FROM entries e WHERE e.merchant_id = j.merchant_id AND e.journal_id = j.id
            AND e.account = 'losses'))`;

/** SQL: the payment `p` is on the support list. One that waits for an answer has a question there. */
const IS_ON_LIST = `(p.parked_reason IS NOT NULL AND (NOT starts_with(p.parked_reason, '${FOR_DECISION}')
      OR EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = p.merchant_id
        AND d.payment_kind = :kind AND d.payment_id = p.id AND d.resolved_at IS NULL)))`;

/** Makes the query for the payments of a scope, each with the sums of its journals by account. */
function bookedPayments(kind: GatewayPaymentKind, scope: Scope) {
  const { table } = STEP_TABLES[kind];
  const journals = kind === 'return' ? JOURNALS_OF_RETURN : OWN_JOURNALS;
  const wanted = scope.isFull
    ? `${table} p`
    : `(${changed(kind)}) changed JOIN ${table} p
       ON p.merchant_id = :merchant_id AND p.id = changed.id`;
  const sql = `
  SELECT p.id, p.status, p.amount_cents, p.undone_at, ${COLUMNS[kind]},
    p.next_step IS NOT NULL OR ${IS_ON_LIST} AS has_next, sums.booked,
    array(SELECT m.amount_cents FROM movements m WHERE m.merchant_id = p.merchant_id
      AND m.payment_kind = :kind AND m.payment_id = p.id AND m.booked = 'settled') AS settled
  FROM ${wanted} CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_object_agg(kind, accounts), '{}') AS booked FROM (
      SELECT kind, coalesce(jsonb_object_agg(account, cents) FILTER (WHERE account IS NOT NULL), '{}')
        AS accounts
      FROM (
        -- A payment that was corrected again has a journal 'corrected 2'.
        SELECT split_part(j.kind, ' ', 1) AS kind, e.account, sum(e.amount_cents) AS cents
        FROM (SELECT j.* FROM ${journals}) j
        LEFT JOIN entries e ON e.merchant_id = j.merchant_id AND e.journal_id = j.id
        GROUP BY 1, e.account
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

/** Compares the journals of payments with their states. @returns the number of payments. */
export function checkPayments(
  trx: Transaction,
  kind: GatewayPaymentKind,
  scope: Scope,
  findings: Finding[],
): Promise<number> {
  return eachRow<BookedPayment>(trx, scope.signal, bookedPayments(kind, scope), (payment) => {
    for (const finding of findingsOf(kind, payment)) {
      findings.push({ subject: kind, id: payment.id, ...finding });
    }
  });
}

type Misbooking = Omit<Finding, 'subject' | 'id'>;

/** Lists the errors in the books of one payment. */
function findingsOf(kind: GatewayPaymentKind, payment: BookedPayment): Misbooking[] {
  const expected = EXPECTED_JOURNALS[kind](payment);
  const known = expected.flatMap(({ kinds, optional = [] }) => [...kinds, ...optional]);
  const unexpected = Object.keys(payment.booked).filter((name) => !known.includes(name));
  return [
    ...unexpected.map((name) => misbooked('journal_unexpected', 'none', `journal ${name}`)),
    ...expected.flatMap((group) => findingsOfGroup(group, payment.booked)),
    ...findingsOfMovements(payment),
    ...(kind === 'payout' && awaitsRefund(payment) && !payment.has_next
      ? [misbooked('refund_not_due', 'a next step, or a place on the support list', 'neither')]
      : []),
  ];
}

/**
 * The movements of a completed payment, mostly one, come to its amount. Any other has none, as has a
 * reversed collection whose money was the operator's loss.
 */
function findingsOfMovements(payment: BookedPayment): Misbooking[] {
  const { status, amount_cents, settled, undone_at } = payment;
  const isCompleted = status === 'completed' && undone_at === null;
  const sum = settled.reduce((cents, each) => cents + Number(each), 0);
  const isRight = isCompleted ? sum === amount_cents : settled.length === 0;
  const expected = isCompleted ? formatAmount(amount_cents) : 'none';
  const found = settled.map((each) => formatAmount(Number(each))).join(', ') || 'none';
  return isRight ? [] : [misbooked('movement_amounts', expected, found)];
}

function findingsOfGroup(
  { kinds, optional = [], accounts }: ExpectedJournals,
  booked: Record<string, Accounts>,
): Misbooking[] {
  const missing = kinds.filter((name) => !booked[name]);
  if (missing.length > 0) {
    return missing.map((name) => misbooked('journal_missing', `journal ${name}`, 'none'));
  }
  const journals = [...kinds, ...optional].map((name) => booked[name] ?? {});
  const found = textOf(sumOf(journals, 'paid' in accounts));
  const wanted = textOf(accounts);
  return found === wanted ? [] : [misbooked('journal_amounts', wanted, found)];
}

function misbooked(kind: Finding['kind'], expected: string, found: string): Misbooking {
  return { kind, expected, found };
}

/** Sums journals by account. With `isPaid`, the accounts of movements count as one. */
function sumOf(journals: Accounts[], isPaid: boolean): Accounts {
  const sums: Accounts = {};
  for (const [account, cents] of journals.flatMap((accounts) => Object.entries(accounts))) {
    const isMoved = ['gateway_float', 'suspense', 'losses'].includes(account);
    const name = isPaid && isMoved ? 'paid' : account;
    sums[name] = (sums[name] ?? 0) + cents;
  }
  return sums;
}

function textOf(accounts: Accounts): string {
  const parts = Object.entries(accounts).filter(([, cents]) => cents !== 0);
  const text = parts.map(([account, cents]) => `${account} ${formatAmount(cents)}`);
  return text.sort().join(', ') || 'nothing';
}

/** Journals that a payment must have, one of each kind, and their sums together. */
interface ExpectedJournals {
  kinds: string[];
  /** Kinds that it may have as well. */
  optional?: string[];
  accounts: Accounts;
}

/** The journals that a payment must have in its state. */
const EXPECTED_JOURNALS: Readonly<
  Record<GatewayPaymentKind, (payment: BookedPayment) => ExpectedJournals[]>
> = {
  collection: ifCompleted(({ amount_cents: gross, charge_cents: commission }) => ({
    kinds: ['completed'],
    accounts: { paid: -gross, commission, 'wallet:collection': gross - commission },
  })),
  reversal: ifCompleted(({ amount_cents: gross, charge_cents: commission }) => ({
    kinds: ['completed'],
    accounts: { paid: gross, commission: -commission, 'wallet:collection': commission - gross },
  })),
  return: ifCompleted(({ amount_cents }) => ({
    kinds: ['returned'],
    accounts: { gateway_float: amount_cents, suspense: -amount_cents },
  })),
  payout: (payout) => [journalsOfPayout(payout)],
};

/** A completion that was undone has both journals. One may have been corrected. */
function ifCompleted(expected: (payment: BookedPayment) => ExpectedJournals) {
  return (payment: BookedPayment): ExpectedJournals[] => {
    const optional = ['corrected'];
    if (payment.status === 'completed') return [{ optional, ...expected(payment) }];
    if (payment.undone_at === null) return [];
    const kinds = [...expected(payment).kinds, 'undone'];
    return [{ kinds, optional, accounts: { paid: 0 } }];
  };
}

/** Sums all journals of a payout: its cost while the wallet is debited, else nothing. */
function journalsOfPayout(payout: BookedPayment): ExpectedJournals {
  const { amount_cents, charge_cents: fee, status, undone_at } = payout;
  const isCompleted = status === 'completed';
  const isDebited = payout.refund_posted_at === null || payout.redebited_at !== null;
  const cost = isDebited ? amount_cents + fee : 0;
  return {
    kinds: [
      'accepted',
      ...(payout.refund_posted_at ? ['refunded'] : []),
      ...(payout.redebited_at ? ['redebited'] : []),
      ...(isCompleted || undone_at ? ['completed'] : []),
      ...(undone_at ? ['undone'] : []),
    ],
    // Support may have accepted another amount. Undoing a second debit returns that, too.
    optional: [
      ...(isCompleted || undone_at ? ['amount', 'corrected'] : []),
      ...(undone_at ? ['redebited'] : []),
    ],
    accounts: {
      'wallet:payout': -cost,
      ...(isCompleted ? { paid: amount_cents, fees: fee } : { paid: 0, payouts_in_flight: cost }),
    },
  };
}
