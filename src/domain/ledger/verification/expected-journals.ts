import type { GatewayPaymentKind } from '../../gateway-results.ts';
import type { PaymentStatus } from '../../payments/payment.ts';

/** What the books must say of a payment, from its own row: amounts are cents. */
export interface BookedPayment {
  id: string;
  status: PaymentStatus;
  amount_cents: number;
  /** A collection's or reversal's commission, or a payout's fee; a return has none. */
  charge_cents: number;
  refund_posted_at: Date | null;
  redebited_at: Date | null;
  has_next: boolean;
  /** What gateways have moved for it and is booked as its own, in cents. */
  settled: number[];
  /** By kind of journal and account, in cents. */
  booked: Record<string, Accounts>;
}

/** Sums by account, in cents. `paid` is float and suspense together: where a movement was booked. */
export type Accounts = Record<string, number>;

/** Journals that must be there, one of each, and what they come to together. */
export interface ExpectedJournals {
  kinds: string[];
  /** May be there as well. */
  optional?: string[];
  accounts: Accounts;
}

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

/** What was taken from the wallet and given back, and taken again, comes to the cost or to nothing. */
function debitOf(payout: BookedPayment): ExpectedJournals {
  const cost = payout.amount_cents + payout.charge_cents;
  const isDebited = payout.refund_posted_at === null || payout.redebited_at !== null;
  return {
    kinds: [
      'accepted',
      ...(payout.refund_posted_at ? ['refunded'] : []),
      ...(payout.redebited_at ? ['redebited'] : []),
    ],
    // Support has accepted that another amount was paid out.
    optional: payout.status === 'completed' ? ['amount'] : [],
    accounts: isDebited ? { payouts_in_flight: cost, 'wallet:payout': -cost } : {},
  };
}
