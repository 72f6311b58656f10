import { expect } from 'chai';
import type { Succeeded } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { DAY_MS } from '../../src/time.ts';
import { lineOf, runStatement } from '../support/statements.ts';
import {
  ACKNOWLEDGED,
  newCollection,
  parserOf,
  SAFE,
  succeeded,
  useStore,
} from '../support/world.ts';

const dayIn = (ms: number) => new Date(Date.now() + ms).toISOString().slice(0, 'YYYY-MM-DD'.length);
/** Also when midnight passes meanwhile. */
const TODAY = { from: dayIn(0), to: dayIn(DAY_MS) };

describe('A receipt', () => {
  const store = useStore();

  afterEach(() => store.expectSoundLedger());

  /** The gateway's word with exactly this receipt, whoever else has it. */
  function settleWith(payment: AnyPayment, news: Succeeded) {
    return store.transaction(async (trx) => {
      const locked = await lockPayment(trx, refOf(payment));
      return settle(trx, locked!, news, { cause: 'callback', parserOf });
    });
  }

  const float = () => store.accountBalance('gateway_float');

  it('belongs to one payment, of whatever merchant, and books nothing for another', async () => {
    const other = await store.newMerchant();
    const first = await newCollection(store.database, other);
    const second = await store.newCollection();
    const news = succeeded({ transId: 'SHARED-1' });
    expect(await settleWith(first, news)).to.equal('completed');
    expect(await settleWith(second, news)).to.equal('discrepancy');
    expect(await store.reread(second)).to.include({ status: 'pending', next_step: 'submit' });
    expect(await store.discrepanciesOf(second.id)).to.deep.equal(['receipt_of_another']);
    expect(await store.eventsOf(second)).to.deep.equal([]);
    expect(await float()).to.equal(0);
    expect(await settleWith(first, news)).to.equal('repeat');
  });

  it('belongs to one payment also when two are told of it at once', async () => {
    const pair = [
      await store.newCollection(),
      await newCollection(store.database, await store.newMerchant()),
    ];
    const news = succeeded({ transId: 'SHARED-2' });
    const told = await Promise.all(pair.map((payment) => settleWith(payment, news)));
    expect(told.toSorted()).to.deep.equal(['completed', 'discrepancy']);
    expect(await store.countOf(`movements WHERE trans_id = 'SHARED-2'`)).to.equal(1);
  });

  it('of money that came in may be that of money that went out', async () => {
    const news = succeeded({ transId: 'BOTH-WAYS' });
    expect(await settleWith(await store.newCollection(), news)).to.equal('completed');
    expect(await settleWith(await store.newPayout(), news)).to.equal('completed');
  });

  it('of another payment brings no money to suspense, and sends none back', async () => {
    await settleWith(await store.newCollection(), succeeded({ transId: 'S-3' }));
    const floatBefore = await float();
    const stranger = succeeded({ transId: 'S-3', account: '+254733999999' });
    const open = await store.newCollection();
    expect(await settleWith(open, stranger)).to.equal('discrepancy');
    const failed = await store.newCollection();
    await store.hear(failed, { outcome: 'failed', code: 1, description: 'No', externalRef: null });
    expect(await settleWith(failed, succeeded({ transId: 'S-3' }))).to.equal('discrepancy');
    expect(await float()).to.equal(floatBefore);
    const { merchant_id } = store.merchant;
    expect(await store.countOf('returns WHERE merchant_id = :id', { id: merchant_id })).to.equal(0);
  });

  it('that comes after the money is not filled in when it is that of another payment', async () => {
    await settleWith(await store.newCollection(), succeeded({ transId: 'S-4' }));
    const second = await store.newCollection();
    await settleWith(second, succeeded({ transId: null }));
    expect(await settleWith(second, succeeded({ transId: 'S-4' }))).to.equal('discrepancy');
    expect(await store.reread(second)).to.include({ status: 'completed', trans_id: null });
    expect(await settleWith(second, succeeded({ transId: 'S-4-OWN' }))).to.equal('repeat');
    expect(await store.reread(second)).to.include({ trans_id: 'S-4-OWN' });
  });

  it('of another payment leaves one without a receipt to the next statement, once that is decided', async () => {
    const first = await store.newCollection();
    await settleWith(first, succeeded({ transId: 'S-7' }));
    const second = await store.newCollection();
    await settleWith(second, succeeded({ transId: null, completedAt: null }));
    await settleWith(second, succeeded({ transId: 'S-7' }));
    const lines = [lineOf(first, { transId: 'S-7', completedAt: new Date() })];
    const missing = async () =>
      (await runStatement(store.database, lines, TODAY)).missing.map((each) => each.payment_id);
    expect(await missing()).to.not.include(second.id);
    await store.resolve(await store.discrepancyOf('receipt_of_another', second), 'dismissed');
    expect(await missing()).to.include(second.id);
    await store.resolve(await store.discrepancyOf('missing_at_gateway', second), 'undo');
    expect(await store.reread(second)).to.include({ status: 'failed' });
  });

  it('is free for its own payment when the one that had it is undone', async () => {
    const wrong = await store.newCollection();
    await settleWith(wrong, succeeded({ transId: 'S-5' }));
    const right = await store.newCollection();
    await settleWith(right, succeeded({ transId: 'S-5' }));
    await store.resolve(await store.discrepancyOf('receipt_of_another', wrong), 'undo');
    expect(await settleWith(right, succeeded({ transId: 'S-5' }))).to.equal('completed');
  });

  it('of a reversal is claimed as well', async () => {
    const collection = await store.newCompletedCollection('IN-6');
    const news = succeeded({ transId: 'IN-6' });
    expect(await settleWith(collection, news)).to.equal('repeat');
    const payout = await store.newPayout();
    await settleWith(payout, succeeded({ transId: 'OUT-6' }));
    const second = await store.newPayout();
    expect(await settleWith(second, succeeded({ transId: 'OUT-6' }))).to.equal('discrepancy');
  });
});

describe('A reference of the gateway that is not the acknowledged one', () => {
  const store = useStore({ merchant: 'none' });

  for (const outcome of ['succeeded', 'failed'] as const) {
    it(`moves nothing when the gateway says ${outcome}, and the questions go on`, async () => {
      const collection = await newCollection(store.database, await store.newMerchant());
      const work = store.workOn(collection);
      await work.answer(await work.claim(), ACKNOWLEDGED);
      const news =
        outcome === 'succeeded'
          ? succeeded({ externalRef: 'ANOTHER' })
          : { outcome, code: 1, description: 'No', externalRef: 'ANOTHER' };
      const after = await work.hear(news, SAFE);
      expect(after).to.include({ status: 'processing', next_step: 'poll' });
      expect(await store.discrepanciesOf(collection.id)).to.deep.equal(['other_payment']);
      expect(await work.hear(succeeded())).to.include({ status: 'completed' });
    });
  }
});
