import type { GatewayPaymentKind } from '../../gateway-results.ts';
import type { PaymentStatus } from '../../payments/payment.ts';

/** A payment with what is booked for it. */
export interface BookedPayment {
  id: string;
  status: PaymentStatus;
  amount_cents: number;
  /** The commission of a collection or reversal, the fee of a payout, or 0 for a return. */
  charge_cents: number;
  refund_posted_at: Date | null;
  redebited_at: Date | null;
  has_next: boolean;
  /** The amounts of its own movements, in cents. */
  settled: number[];
  /** Sums by kind of journal and by account, in cents. */
  booked: Record<string, Accounts>;
}

/** Sums by account, in cents. `paid` is float and suspense together: a movement is on either. */
export type Accounts = Record<string, number>;

/** Journals that a payment must have, one of each kind, and their sums together. */
export interface ExpectedJournals {
  kinds: string[];
  /** Kinds that it may have as well. */
  optional?: string[];
  accounts: Accounts;
}

/** The journals that a payment must have in its state. */
export const EXPECTED_JOURNALS: Readonly<
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

function ifCompleted(expected: (payment: BookedPayment) => ExpectedJournals) {
  return (payment: BookedPayment) => (payment.status === 'completed' ? [expected(payment)] : []);
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
    optional: payout.status === 'completed' ? ['amount'] : [],
    accounts: isDebited ? { payouts_in_flight: cost, 'wallet:payout': -cost } : {},
  };
}
