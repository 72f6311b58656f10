import { expect } from 'chai';
import type { CallbackNews, ToldTransaction } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { compareReceipt } from '../../src/domain/support/compare-receipt.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import { AMOUNT_CENTS, parserOf, rejection, succeeded, useStore } from '../support/world.ts';

const EARLIER = new Date('2026-11-20T10:00:00Z');
const LATER = new Date('2026-11-20T10:05:00Z');
const DAY = { from: '2026-11-20', to: '2026-11-20' };
const PAYER_HIDDEN = '+2547*****678';

describe('A receipt that the gateway was asked about', () => {
  const store = useStore();
  let collection: AnyPayment;
  let receipt: string;

  let amount_cents = AMOUNT_CENTS;

  beforeEach(async () => {
    receipt = newReceipt();
    // No other payment has this amount: the hidden digits may be those of its phone.
    amount_cents += 100;
    collection = await store.makeOverdue(await store.newCollection({ amount_cents }));
  });

  afterEach(() => store.expectRightBooks());

  const own = (facts: Partial<ToldTransaction> = {}): ToldTransaction => ({
    amountCents: amount_cents,
    account: PAYER_HIDDEN,
    reference: null,
    externalRef: null,
    isOfKind: true,
    completedAt: new Date(),
    ...facts,
  });

  /** Stores an answer as the API does, and lets its job run. */
  async function answer(news: CallbackNews, { askedAt = EARLIER, of = receipt } = {}) {
    const place = { ...refOf(collection), address: 'receipt', askedAt, receipt: of } as const;
    const id = await store.keepCallback(collection.gateway, place, JSON.stringify(news));
    const callback = await findStoredCallback(store.database, collection.merchant_id, id);
    return processCallback(store.database, callback!, parserOf);
  }
  const say = (told: ToldTransaction | null, options?: Parameters<typeof answer>[1]) =>
    answer({ outcome: 'receipt', transId: receipt, told }, options);

  const isProven = () => compareReceipt(store.database, collection, receipt, parserOf);
  const complete = async () =>
    store.resolve(await store.discrepancyOf('overdue', collection), 'completed', receipt);

  it('is proved by the same amount and phone, and settles nothing before support does', async () => {
    expect(await isProven()).to.equal(false);
    expect(await say(own())).to.equal('ignored');
    expect(await store.reread(collection)).to.include({ status: 'pending', trans_id: null });
    expect(await isProven()).to.equal(true);
    await complete();
    expect(await store.reread(collection)).to.include({ status: 'completed', trans_id: receipt });
  });

  it('is proved by our reference, also if a line without one may be of another payment', async () => {
    const now = new Date();
    await store.makeOverdue(await store.newCollection({ amount_cents }));
    const line = lineOf(collection, { transId: receipt, reference: null, completedAt: now });
    const day = now.toISOString().slice(0, 10);
    await runStatement(store.database, [line], { from: day, to: day }, { covers: [] });
    expect(await isProven()).to.equal(false);
    await say(own({ reference: collection.reference }));
    expect(await isProven()).to.equal(true);
  });

  it('is not proved by an amount alone', async () => {
    await say(own({ account: null }));
    expect(await isProven()).to.equal(false);
  });

  it('is not proved by amount and phone of a transaction of unknown type, and is by our reference', async () => {
    await say(own({ isOfKind: null }));
    expect(await isProven()).to.equal(false);
    await say(own({ isOfKind: null, reference: collection.reference }), { askedAt: LATER });
    expect(await isProven()).to.equal(true);
  });

  it('is refused by a file that has another phone, while the gateway has told only the amount', async () => {
    const file = { transId: receipt, reference: null, account: '+254799111222' };
    const run = (line: object, source?: string) =>
      runStatement(
        store.database,
        [lineOf(collection, { ...file, ...line })],
        DAY,
        { covers: [] },
        source,
      );
    await run({}, 'export.csv');
    expect((await rejection(isProven())).message).to.include('another phone');
    await run({ account: null });
    expect((await rejection(isProven())).message).to.include('another phone');
    await say(own());
    expect(await isProven(), 'the gateway tells the phone').to.equal(true);
  });

  it('is not proved by the line of a payout to the phone of a return', async () => {
    const payment = await store.newReturn();
    const proves = async (kind: 'payout' | 'reversal') => {
      const transId = newReceipt();
      const line = lineOf(payment, { kind, transId, reference: null, completedAt: new Date() });
      await runStatement(store.database, [line], DAY, { covers: [] });
      return compareReceipt(store.database, payment, transId, parserOf);
    };
    expect(await proves('payout')).to.equal(false);
    expect(await proves('reversal')).to.equal(true);
  });

  for (const [what, facts] of [
    ['type', { isOfKind: false }],
    ['amount', { amountCents: 5_000 }],
    ['phone or account', { account: '+254733000222' }],
    ['reference', { reference: 'OF-ANOTHER' }],
  ] as const) {
    it(`is refused when the gateway has it with another ${what}`, async () => {
      await say(own(facts));
      expect((await rejection(complete())).message).to.include(`with another ${what}`);
    });
  }

  it('is refused when the gateway does not know it, until a later question finds it', async () => {
    await say(null);
    expect((await rejection(complete())).message).to.include('no completed transaction');
    await say(own(), { askedAt: LATER });
    expect(await isProven()).to.equal(true);
    // The first answer comes once more.
    await say(null);
    expect(await isProven()).to.equal(true);
  });

  it('is refused by an earlier answer when a later one says nothing, or cannot be read', async () => {
    await say(own({ amountCents: 5_000 }));
    await answer({ outcome: 'pending' } as never, { askedAt: LATER });
    expect((await rejection(isProven())).message).to.include('another amount');
    const place = { ...refOf(collection), address: 'receipt', askedAt: LATER, receipt } as const;
    await store.keepCallback(collection.gateway, place, 'not what the gateway writes');
    expect((await rejection(complete())).message).to.include('another amount');
  });

  it('is refused when one question has two answers, one of them contrary', async () => {
    await say(own());
    await say(own({ amountCents: 5_000 }));
    expect((await rejection(isProven())).message).to.include('another amount');
  });

  it('is not proved by an answer about another receipt', async () => {
    await say(own(), { of: newReceipt() });
    await answer({ outcome: 'receipt', transId: newReceipt(), told: own() });
    expect(await isProven()).to.equal(false);
  });

  it('moves no money, whatever comes to the address of the answer', async () => {
    expect(await answer(succeeded())).to.equal('ignored');
    expect(await store.reread(collection)).to.include({ status: 'pending', trans_id: null });
    expect(await isProven()).to.equal(false);
  });
});
