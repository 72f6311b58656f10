import { expect } from 'chai';
import type { Succeeded } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { resolveDiscrepancy } from '../../src/domain/support/resolve-discrepancy.ts';
import { DAY_MS } from '../../src/time.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import {
  ACKNOWLEDGED,
  failed,
  newCollection,
  parserOf,
  RESOLVING,
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
  function settleWith(payment: AnyPayment, news: Succeeded, cause = 'callback') {
    return store.transaction(async (trx) => {
      const locked = await lockPayment(trx, refOf(payment));
      return settle(trx, locked!, news, { cause, parserOf, isFromFile: cause === 'file' });
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

  it('is the same one in small letters', async () => {
    const [first, second] = [await store.newCollection(), await store.newCollection()];
    const receipt = newReceipt();
    await settleWith(first, succeeded({ transId: receipt }));
    const small = succeeded({ transId: receipt.toLowerCase() });
    expect(await settleWith(second, small, 'file')).to.equal('discrepancy');
    expect(await store.discrepanciesOf(second.id)).to.deep.equal(['receipt_of_another']);
    expect(await settleWith(first, small)).to.equal('repeat');
    await store.resolve(await store.discrepancyOf('receipt_of_another', first), 'dismissed');
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

  for (const [what, cause] of [
    ['that the gateway told for two payments', 'callback'],
    ['that support gave to another payment', 'support'],
    ['that a file gave to another payment', 'file'],
  ] as const) {
    it(`${what} leaves the one without it to a question at once, when that is decided`, async () => {
      const transId = `S-8-${cause}`;
      const first = await store.newCollection();
      await settleWith(first, succeeded({ transId }), cause);
      const second = await store.newCollection();
      await settleWith(second, succeeded({ transId: null, completedAt: null }));
      if (cause === 'callback') await settleWith(second, succeeded({ transId }));
      // The line names nobody but the receipt.
      const line = { reference: null, account: null, transId, completedAt: new Date() };
      await runStatement(store.database, [lineOf(first, line)], TODAY);
      expect(await store.discrepanciesOf(second.id)).to.deep.equal(['receipt_of_another']);
      const question = await store.discrepancyOf('receipt_of_another', second);
      await store.resolve(question, 'dismissed');
      expect(await store.discrepanciesOf(second.id)).to.include('missing_at_gateway');
      await store.resolve(await store.discrepancyOf('missing_at_gateway', second), 'undo');
      expect(await store.reread(second)).to.include({ status: 'failed' });
    });
  }

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
    expect(await store.reread(right)).to.include({ status: 'completed', trans_id: 'S-5' });
  });

  it('is free for its own payment when two payments with each other’s receipts are undone at once', async () => {
    for (let run = 0; run < 20; run += 1) {
      const payments = [await store.newCollection(), await store.newCollection()];
      const receipts = payments.map((_, index) => `S-9-${run}-${index}`);
      for (const [index, payment] of payments.entries()) {
        await settleWith(payment, succeeded({ transId: receipts[index]! }));
      }
      for (const [index, payment] of payments.entries()) {
        await settleWith(payment, succeeded({ transId: receipts[1 - index]! }));
      }
      const questions = await Promise.all(
        payments.map(async (payment, index) =>
          (await casesOf(store.database, refOf(payment))).find(
            ({ trans_id }) => trans_id === receipts[index],
          ),
        ),
      );
      const decision = { as: 'undo', actor: 'tester', reason: 'because', transId: null } as const;
      // Without repetition: a deadlock is an error here.
      await Promise.all(
        questions.map((question) =>
          store.database.transaction((trx) =>
            resolveDiscrepancy(trx, question!.id, decision, RESOLVING),
          ),
        ),
      );
      const asked = [];
      for (const payment of payments) {
        const { status, next_step } = await store.reread(payment);
        expect(status).to.equal('failed');
        asked.push(next_step);
      }
      // The second undo asks about the first payment.
      expect(asked).to.have.members(['poll', null]);
    }
  });

  describe('of money in suspense that the gateway tells for another payment too', () => {
    let receipt: string;

    beforeEach(() => {
      receipt = newReceipt();
    });

    /** A refunded payout, of which the gateway tells by mistake that it arrived. */
    async function wronglyPaid() {
      const payout = await store.newPayout();
      await store.hear(payout, failed());
      await store.refund(payout);
      await settleWith(payout, succeeded({ transId: receipt }));
      return payout;
    }

    const waiting = async (payout: AnyPayment) =>
      (await casesOf(store.database, refOf(payout))).find(
        ({ kind }) => kind === 'paid_after_refund',
      )!;

    const undo = async (payout: AnyPayment) => store.resolve(await waiting(payout), 'undo');

    it('goes at once to a completed payment that lacks it, and money counts once', async () => {
      const wrong = await wronglyPaid();
      const right = await store.newPayout();
      await settleWith(right, succeeded({ transId: null }));
      await settleWith(right, succeeded({ transId: receipt }));
      const before = await float();
      expect((await waiting(wrong)).allowed).to.include('undo');
      await undo(wrong);
      expect(await store.reread(right)).to.include({ status: 'completed', trans_id: receipt });
      expect((await store.discrepanciesOf(right.id)).at(-1)).to.match(/resolved/);
      // Its own money may have moved under another receipt.
      expect((await store.discrepanciesOf(wrong.id)).at(-1)).to.equal('taken_after_failure');
      expect(await float()).to.equal(before - right.amount_cents);
      expect(await store.accountBalance('suspense')).to.equal(0);
      expect(await settleWith(wrong, succeeded({ transId: receipt }))).to.equal('discrepancy');
      expect(await store.accountBalance('suspense')).to.equal(0);
    });

    it('goes to nobody when two payments lack it', async () => {
      const wrong = await wronglyPaid();
      const others = [await store.newPayout(), await store.newPayout()];
      for (const payout of others) {
        await settleWith(payout, succeeded({ transId: null }));
        await settleWith(payout, succeeded({ transId: receipt }));
      }
      await undo(wrong);
      for (const payout of others) {
        expect(await store.reread(payout)).to.include({ status: 'completed', trans_id: null });
      }
    });

    it('lets the gateway be asked about a failed payment that claims it', async () => {
      const wrong = await wronglyPaid();
      const right = await store.newPayout();
      await store.hear(right, failed());
      await settleWith(right, succeeded({ transId: receipt }));
      await undo(wrong);
      expect(await store.reread(right)).to.include({ status: 'failed', next_step: 'poll' });
      expect(await settleWith(right, succeeded({ transId: receipt }))).to.equal('completed');
    });

    it('stays where it is once somebody has decided so', async () => {
      const wrong = await wronglyPaid();
      const right = await store.newPayout();
      await settleWith(right, succeeded({ transId: receipt }));
      await store.resolve(await store.discrepancyOf('receipt_of_another', wrong), 'dismissed');
      expect((await waiting(wrong)).allowed).to.deep.equal(['completed', 'returned', 'failed']);
    });
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
