import { expect } from 'chai';
import { type AnyPayment, accountOf } from '../../src/domain/payments/payment-store.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { HOUR_MS } from '../../src/time.ts';
import { newReceipt } from '../support/statements.ts';
import { ACKNOWLEDGED, workOn } from '../support/submissions.ts';
import { toldIn } from '../support/told.ts';
import { RESOLVING, rejection, succeeded, useStore } from '../support/world.ts';

const PHONE = '+254712003001';

/* One wrong or unusual row of a file must not book money twice. */

describe('Money of a payment that a file lists otherwise', () => {
  const store = useStore({ fresh: true });
  const { at, read, tell } = toldIn(store);

  beforeEach(() => store.topUp(1_000_000, 'more'));

  const line = (kind: StatementLine['kind'], more: Partial<StatementLine> = {}): StatementLine => ({
    ...{ kind, reference: null, transId: newReceipt(), account: PHONE, amountCents: 10_000 },
    ...{ completedAt: at(9), ...more },
  });
  const list = (...lines: StatementLine[]) => read(lines, `${newReceipt()}.csv`);

  const open = () =>
    store.rows<{ id: string; kind: string; booked_for: string | null }>(
      `SELECT id, kind, details->>'booked_for' AS booked_for FROM discrepancies
       WHERE resolved_at IS NULL ORDER BY id`,
    );

  async function begun<P extends AnyPayment>(payment: P): Promise<P> {
    const work = workOn(store.database, payment);
    await work.answer(await work.claim(), ACKNOWLEDGED);
    return payment;
  }

  /** The gateway answers, most often without a receipt. */
  const done = (payment: AnyPayment, transId: string | null = null) =>
    tell(payment, succeeded({ transId, account: accountOf(payment), completedAt: at(9) }), null);

  const byHand = (reference: string, wallet: 'collection' | 'payout', amount_cents: number) => {
    const entry = { kind: 'adjustment', wallet, against: 'losses', reason: 'Found' } as const;
    const money = { merchant_id: store.merchantId, amount_cents, reference };
    return store.transaction((trx) => bookOperatorEntry(trx, { ...entry, ...money }));
  };
  const whyNotByHand = async (...entry: Parameters<typeof byHand>) =>
    (await rejection(byHand(...entry))).message;
  const whyNotAdopted = async (...receipts: string[]) => {
    const asked = { merchant_id: store.merchantId, receipts };
    return (await rejection(planAdoption(store.database, asked, RESOLVING))).message;
  };

  const newPayout = () => store.newPayout({ payto: PHONE });

  for (const state of ['open', 'completed'] as const) {
    it(`in two parts is neither adopted nor booked by hand beside its ${state} payout`, async () => {
      const payout = await begun(await newPayout());
      if (state === 'completed') await done(payout);
      const [one, other] = [newReceipt(), newReceipt()];
      await list(
        line('payout', { transId: one, amountCents: 6_000 }),
        line('payout', { transId: other, amountCents: 4_000 }),
      );
      expect(await whyNotAdopted(one, other)).to.include(`a part of payout ${payout.id}`);
      expect(await whyNotByHand(other, 'payout', -4_250)).to.include(
        `a part of the payout ${payout.id}`,
      );
      // Money that does not come to the amount is other money.
      const more = newReceipt();
      await list(line('payout', { transId: more, amountCents: 3_000 }));
      await byHand(more, 'payout', -3_250);
    });
  }

  for (const [listed, typed] of [
    ['FT26/123', 'FT26-123'],
    ['FT26.124', 'ft26124'],
    ['FT26/125', 'FT26/125'],
  ] as const) {
    it(`under the receipt ${listed} is not adopted after it was booked by hand as ${typed}`, async () => {
      await list(line('collection', { transId: listed }));
      await byHand(typed, 'collection', 9_850);
      expect(await whyNotAdopted(listed)).to.include('booked by hand');
      // One entry, in whatever letters.
      expect(await byHand(listed, 'collection', 9_850)).to.include({ repeated: true });
      expect(await store.countOf("journals WHERE source_kind = 'adjustment'")).to.equal(1);
    });
  }

  it('under a word with a blank is asked about when its payment completes after it was booked by hand', async () => {
    await list(line('payout', { transId: null, reference: 'RENT JAN' }));
    await byHand('RENT JAN', 'payout', -10_250);
    const payout = await begun(await newPayout());
    await done(payout, newReceipt());
    expect((await open()).map(({ booked_for }) => booked_for)).to.deep.equal([
      `payout ${payout.id} of merchant ${store.merchantId}`,
    ]);
  });

  it('as a reversal without a receipt is not booked by hand once more under its row', async () => {
    const reversal = await begun(await store.newReversal());
    await done(reversal);
    const transId = newReceipt();
    await list(line('reversal', { transId, account: accountOf(reversal) }));
    expect(await whyNotByHand(transId, 'collection', -9_850)).to.include(
      `the completed reversal ${reversal.id}`,
    );
  });

  for (const hours of [-3, 3]) {
    it(`by a clock that is ${hours} hours off is not adopted`, async () => {
      const payout = await begun(await newPayout());
      await done(payout);
      const transId = newReceipt();
      const completedAt = new Date(at(9).getTime() + hours * HOUR_MS);
      await list(line('payout', { transId, completedAt }));
      expect(await whyNotAdopted(transId)).to.include(`it may be that of payout ${payout.id}`);
    });
  }

  it('in the other direction is neither adopted nor booked by hand', async () => {
    const collection = await begun(await store.newCollection({ payfrom: PHONE }));
    await done(collection);
    const transId = newReceipt();
    await list(line('payout', { transId }));
    expect(await whyNotAdopted(transId)).to.include(
      `it may be that of collection ${collection.id}`,
    );
    expect(await whyNotByHand(transId, 'payout', -10_250)).to.include(
      `the completed collection ${collection.id}`,
    );
  });

  it('in the other direction, with its own receipt, completes no open prompt', async () => {
    const transId = newReceipt();
    await done(await begun(await newPayout()), transId);
    const collection = await begun(await store.newCollection({ payfrom: PHONE }));
    await list(line('collection', { transId, completedAt: new Date() }));
    expect(await store.reread(collection)).to.include({ status: 'processing' });
    expect((await open()).map(({ kind }) => kind)).to.deep.equal(['unknown_movement']);
  });

  it('under a receipt that lacks its zeros is not booked by hand once more', async () => {
    await done(await begun(await newPayout()), '0012345678');
    await list(line('payout', { transId: '12345678' }));
    expect(await whyNotByHand('12345678', 'payout', -10_250)).to.include('only a file has told it');
  });

  it('is asked about, if it was booked by hand under its row before the payment came without a receipt', async () => {
    const transId = newReceipt();
    await list(line('payout', { transId }));
    await byHand(transId, 'payout', -10_250);
    const payout = await begun(await newPayout());
    await done(payout);
    const name = `payout ${payout.id} of merchant ${store.merchantId}`;
    expect((await open()).map(({ booked_for }) => booked_for)).to.deep.equal([name]);
  });

  it('that went back in the portal keeps a reversal of it from being sent, until somebody has decided', async () => {
    const reversal = await store.newReversal();
    const work = workOn(store.database, reversal);
    const now = { completedAt: new Date() };
    await list(line('reversal', { account: accountOf(reversal), ...now }));
    expect(await work.claim()).to.equal(null);
    const [question] = await open();
    await store.resolve(question!, 'dismissed');
    expect(await workOn(store.database, await store.reread(reversal)).claim()).to.not.equal(null);
  });
});
