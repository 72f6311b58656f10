import { expect } from 'chai';
import type { GatewayPaymentKind } from '../../src/domain/gateway-results.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';
import type { Outcome } from './settle-stories.ts';
import {
  AMOUNT_CENTS,
  COMMISSION_CENTS,
  NET_CENTS,
  PAYER,
  PAYOUT_FEE_CENTS,
  type StoreWorld,
} from './world.ts';

const COST_CENTS = AMOUNT_CENTS + PAYOUT_FEE_CENTS;

/** Fails unless everything that the outcome says has happened to the merchant's one payment of 100.00. */
export async function expectOutcome(
  store: StoreWorld,
  payment: AnyPayment,
  outcome: Outcome,
): Promise<void> {
  const { kind } = payment;
  const { ends, astray = 0, discrepancies = [], returns = [], returnsFailed = false } = outcome;
  const settled = await store.reread(payment);
  expect(settled.status).to.equal(ends === 'open' ? 'pending' : ends);
  const isParked = outcome.parked ?? ends === 'open';
  expect(settled.parked_reason !== null, 'is on the support list').to.equal(isParked);
  expect(await toldOf(store, payment), 'told').to.deep.equal(outcome.told ?? TOLD[kind](outcome));
  const failure = kind === 'return' && ends === 'failed' ? ['return_failed'] : [];
  const found = await store.discrepanciesOf(payment.id);
  expect(found).to.deep.equal([...failure, ...discrepancies]);
  await BOOKS[kind](store, ends === 'completed', astray, outcome);
  if (kind === 'payout') expectStep(settled as Payout, outcome, isParked);
  const back = kind === 'return' ? [] : await store.returnsOf();
  expect(back.map(({ amount_cents }) => amount_cents)).to.deep.equal(returns);
  const status = returnsFailed ? 'failed' : 'pending';
  for (const each of back) expect(each).to.include({ account: PAYER, status });
}

/** Reads what the merchant was told of a payment, in order. */
async function toldOf(store: StoreWorld, { id }: AnyPayment): Promise<string[]> {
  const events = await store.rows<{ type: string }>(
    'SELECT type FROM events WHERE payment_id = :id ORDER BY created_at',
    { id },
  );
  return events.map(({ type }) => type);
}

const toldOfEnd = ({ ends }: Outcome) => (ends === 'open' ? [] : [`transaction.${ends}`]);

/** What the merchant hears unless an outcome says more. */
const TOLD: Readonly<Record<GatewayPaymentKind, (outcome: Outcome) => string[]>> = {
  collection: toldOfEnd,
  reversal: toldOfEnd,
  // The merchant hears of a failure together with the refund.
  payout: (outcome) => (outcome.ends === 'failed' && !outcome.refunded ? [] : toldOfEnd(outcome)),
  // A return is our own doing.
  return: () => [],
};

type CheckBooks = (
  store: StoreWorld,
  isDone: boolean,
  astray: number,
  outcome: Outcome,
) => Promise<void>;

/** What the accounts of the merchant must hold, in cents. */
const BOOKS: Readonly<Record<GatewayPaymentKind, CheckBooks>> = {
  async collection(store, isDone, astray) {
    await expectSums(store, {
      'wallet:collection': isDone ? NET_CENTS : 0,
      commission: isDone ? COMMISSION_CENTS : 0,
      suspense: astray,
      gateway_float: -(isDone ? AMOUNT_CENTS : 0) - astray,
    });
  },
  async payout(store, isDone, astray, { refunded = false }) {
    await expectSums(store, {
      'wallet:payout': refunded ? COST_CENTS : 0,
      payouts_in_flight: refunded || isDone ? 0 : COST_CENTS,
      fees: isDone ? PAYOUT_FEE_CENTS : 0,
      gateway_float: astray + (isDone ? AMOUNT_CENTS : 0),
      suspense: -astray,
      bank: -COST_CENTS,
    });
  },
  async reversal(store, isDone, astray) {
    await expectSums(store, {
      'wallet:collection': isDone ? 0 : NET_CENTS,
      commission: isDone ? 0 : COMMISSION_CENTS,
      gateway_float: astray - (isDone ? 0 : AMOUNT_CENTS),
      suspense: -astray,
    });
  },
  /** The merchant neither pays for it nor hears of it. */
  async return(store, isDone, astray) {
    const kept = (isDone ? 0 : AMOUNT_CENTS) - astray;
    const { merchantId } = store;
    await expectSums(store, { suspense: kept, gateway_float: -kept });
    expect(await store.countOf('events WHERE merchant_id = :merchantId', { merchantId })).to.equal(
      1,
    );
  },
};

/** Fails unless the merchant's accounts hold these sums, and the others nothing. */
async function expectSums(store: StoreWorld, sums: Record<string, number>): Promise<void> {
  const uneven = Object.entries(sums).filter(([, sum]) => sum !== 0);
  expect(await store.booksOf()).to.deep.equal(Object.fromEntries(uneven));
}

function expectStep(payout: Payout, { ends, refunded = false }: Outcome, isParked: boolean): void {
  const isDue = ends === 'failed' && !refunded && !isParked;
  if (!isParked) expect(payout.next_step, 'next step').to.equal(isDue ? 'refund' : null);
  expect(payout.refund_posted_at !== null, 'refunded').to.equal(refunded);
}
