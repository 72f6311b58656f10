import type { Transaction } from '../../../connections/database.ts';
import type { GatewayPaymentKind } from '../../gateway-results.ts';
import { formatAmount } from '../../money.ts';
import { awaitsRefund } from '../../payments/kinds.ts';
import { type Accounts, type BookedPayment, bookedPayments } from './booked-payments.ts';
import type { Finding } from './breaks.ts';
import type { Scope } from './scope.ts';
import { eachRow } from './snapshot.ts';

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

/** Lists what is wrong with the books of one payment. */
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

/** A completed payment has one movement, of its amount. Any other payment has none. */
function findingsOfMovements({ status, amount_cents, settled }: BookedPayment): Misbooking[] {
  const amounts = (cents: number[]) => cents.map(formatAmount).join(', ') || 'none';
  const expected = amounts(status === 'completed' ? [amount_cents] : []);
  const found = amounts(settled.map(Number));
  return expected === found ? [] : [misbooked('movement_amounts', expected, found)];
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

/** Sums journals by account. With `isPaid`, float and suspense count as one account. */
function sumOf(journals: Accounts[], isPaid: boolean): Accounts {
  const sums: Accounts = {};
  for (const [account, cents] of journals.flatMap((accounts) => Object.entries(accounts))) {
    const isMoved = account === 'gateway_float' || account === 'suspense';
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
  payout: (payout) => [
    debitOf(payout),
    ...ifCompleted(({ amount_cents, charge_cents: fee }) => ({
      kinds: ['completed'],
      accounts: { payouts_in_flight: -(amount_cents + fee), paid: amount_cents, fees: fee },
    }))(payout),
  ],
};

/** A completion that was undone has both journals. Undoing a second debit returns that, too. */
function ifCompleted(expected: (payment: BookedPayment) => ExpectedJournals) {
  return (payment: BookedPayment): ExpectedJournals[] => {
    if (payment.status === 'completed') return [expected(payment)];
    if (payment.undone_at === null) return [];
    const kinds = [...expected(payment).kinds, 'undone'];
    return [{ kinds, optional: ['redebited'], accounts: { paid: 0 } }];
  };
}

/** Sums a payout's debit, refund and second debit: its cost while it is debited, else nothing. */
function debitOf(payout: BookedPayment): ExpectedJournals {
  const cost = payout.amount_cents + payout.charge_cents;
  const isDebited = payout.refund_posted_at === null || payout.redebited_at !== null;
  return {
    kinds: [
      'accepted',
      ...(payout.refund_posted_at ? ['refunded'] : []),
      ...(payout.redebited_at ? ['redebited'] : []),
    ],
    // Support may have accepted that another amount was paid out.
    optional: payout.status === 'completed' || payout.undone_at ? ['amount'] : [],
    accounts: isDebited ? { payouts_in_flight: cost, 'wallet:payout': -cost } : {},
  };
}
