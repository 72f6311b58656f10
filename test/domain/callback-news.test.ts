import { expect } from 'chai';
import type { CallbackNews } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import {
  type CallbackPlace,
  findStoredCallback,
} from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { recordQuery } from '../../src/domain/submission/polling.ts';
import { MINUTE_MS } from '../../src/time.ts';
import {
  ACKNOWLEDGED,
  failed,
  NEVER,
  newsOf,
  parserOf,
  RECORDING,
  succeeded,
  UNKNOWN,
  useStore,
} from '../support/world.ts';

const NOT_FOUND = { outcome: 'notFound', settlingWindowMs: 0 } as const;

describe('News in a callback', () => {
  const store = useStore();

  function keep(payment: AnyPayment, news: CallbackNews, place: Partial<CallbackPlace> = {}) {
    const body = JSON.stringify(news);
    return store.keepCallback('simulator', { ...refOf(payment), ...place }, body);
  }

  async function process(id: string, verdict: CallbackNews) {
    const callback = await findStoredCallback(store.database, store.merchantId, id);
    return processCallback(store.database, callback!, () => () => ({ reference: null, verdict }));
  }

  async function tell(payment: AnyPayment, news: CallbackNews, place?: Partial<CallbackPlace>) {
    return process(await keep(payment, news, place), news);
  }

  /** Submitted long ago, without an answer. */
  async function unanswered<P extends AnyPayment>(payment: P) {
    const work = store.workOn(payment);
    await work.answer(await work.claim(), UNKNOWN);
    await work.setAttempts(`started_at = started_at - interval '10 minutes', answered_at = NULL`);
    return work;
  }

  const answerTo = (askedMsAgo: number) =>
    ({ address: 'answer', askedAt: new Date(Date.now() - askedMsAgo) }) as const;

  describe('that the gateway does not know the payment', () => {
    it('lets it go again, under its reference, once three questions were answered so', async () => {
      const payout = await store.newPayout();
      const work = await unanswered(payout);
      for (const ago of [3, 2]) await tell(payout, NOT_FOUND, answerTo(ago * MINUTE_MS));
      expect(await work.current()).to.include({ next_step: 'poll' });
      await tell(payout, NOT_FOUND, answerTo(MINUTE_MS));
      expect(await work.current()).to.include({
        next_step: 'submit',
        reference: payout.reference,
      });
    });

    it('counts once, however often the same answer comes', async () => {
      const payout = await store.newPayout();
      const work = await unanswered(payout);
      const answer = answerTo(MINUTE_MS);
      for (let count = 0; count < 5; count += 1) await tell(payout, NOT_FOUND, answer);
      expect(await work.current()).to.include({ next_step: 'poll' });
    });

    it('proves nothing when the question was asked within the settling window', async () => {
      const payout = await store.newPayout();
      const work = await unanswered(payout);
      const early = { ...NOT_FOUND, settlingWindowMs: 20 * MINUTE_MS };
      for (const ago of [4, 3, 2, 1]) await tell(payout, early, answerTo(ago * MINUTE_MS));
      expect(await work.current()).to.include({ next_step: 'poll' });
    });

    it('proves nothing at another address, nor about a payment that was acknowledged', async () => {
      const payout = await store.newPayout();
      const work = await unanswered(payout);
      for (let count = 0; count < 3; count += 1) await tell(payout, NOT_FOUND);
      expect(await work.current()).to.include({ next_step: 'poll' });
      await work.hear({ outcome: 'pending' });
      for (const ago of [3, 2, 1]) await tell(payout, NOT_FOUND, answerTo(ago * MINUTE_MS));
      expect(await work.current()).to.include({ status: 'processing', next_step: 'poll' });
    });
  });

  describe('with a code that the driver does not know', () => {
    const UNCLEAR = { outcome: 'unclear', code: '7777', description: 'Something new' } as const;

    it('leaves the payment open, asks on, and is put before support', async () => {
      const payout = await store.newPayout();
      await unanswered(payout);
      expect(await tell(payout, UNCLEAR)).to.equal('unclear');
      expect(await store.reread(payout)).to.include({ status: 'pending', next_step: 'poll' });
      const found = await store.discrepancyOf('unclear_result');
      expect(found.details).to.deep.equal({ code: '7777', description: 'Something new' });
    });

    it('is settled by the next clear word', async () => {
      const payout = await store.newPayout();
      await unanswered(payout);
      await tell(payout, UNCLEAR);
      await store.learn(payout, succeeded({ completedAt: null }));
      expect(await store.discrepanciesOf(payout.id)).to.deep.equal(['unclear_result (resolved)']);
    });

    it('fails no payment whose money has moved already, whatever unclear word came before', async () => {
      const payout = await store.newPayout();
      await unanswered(payout);
      await tell(payout, UNCLEAR);
      await tell(payout, { ...UNCLEAR, code: 'R000001', hasMoved: true });
      await store.learn(payout, failed({ externalRef: null }));
      expect(await store.reread(payout)).to.include({ status: 'pending' });
      expect(await store.discrepanciesOf(payout.id)).to.deep.equal(['unclear_result']);
    });

    it('is settled by support, who has asked the gateway’s staff', async () => {
      const payout = await store.newPayout();
      await unanswered(payout);
      await tell(payout, UNCLEAR);
      await store.resolve(await store.discrepancyOf('unclear_result'), 'failed');
      expect(await store.reread(payout)).to.include({ status: 'failed', next_step: 'refund' });
    });
  });

  describe('of a success that is too large to be believed alone', () => {
    const large = (payment: AnyPayment): CallbackNews => ({
      ...(newsOf(payment, succeeded({ completedAt: null })) as ReturnType<typeof succeeded>),
      mustConfirm: true,
    });

    it('books nothing, and asks the gateway at once', async () => {
      const collection = await store.newCollection();
      const work = await unanswered(collection);
      const id = await keep(collection, large(collection));
      expect(await process(id, large(collection))).to.equal('unconfirmed');
      expect(await work.current()).to.include({ status: 'pending', next_step: 'poll' });
      const due = (await work.current()).next_step_at!.getTime();
      expect(due).to.be.at.most(Date.now() + 1_000);
      expect(await process(id, large(collection))).to.equal('unconfirmed');
    });

    it('is not confirmed by another amount, or another receipt, that the gateway has told', async () => {
      const collection = await store.newCollection();
      await store.learn(collection, succeeded({ transId: 'SAME1' }), 'poll');
      for (const forged of [{ amountCents: 9_000_000 }, { transId: 'OTHER1' }]) {
        const news = { ...large(collection), transId: 'SAME1', ...forged } as CallbackNews;
        const id = await keep(collection, news);
        expect(await process(id, news)).to.equal('discrepancy');
      }
      const kinds = await store.rows<{ kind: string }>(
        'SELECT kind FROM discrepancies WHERE payment_id = :id ORDER BY kind',
        collection,
      );
      expect([...new Set(kinds.map(({ kind }) => kind))]).to.deep.equal(['unconfirmed_success']);
    });

    it('is not confirmed by a file, which people bring', async () => {
      const collection = await store.newCollection();
      const told = succeeded({ transId: 'SAME2', completedAt: null });
      await store.transaction(async (trx) => {
        const locked = await lockPayment(trx, refOf(collection));
        await settle(trx, locked!, told, { cause: 'statement', isFromFile: true, parserOf });
      });
      const news = { ...large(collection), transId: 'SAME2' } as CallbackNews;
      expect(await process(await keep(collection, news), news)).to.equal('discrepancy');
    });

    it('is believed once the gateway has confirmed it, and then gives its receipt', async () => {
      const collection = await store.newCollection();
      const work = store.workOn(collection);
      await work.answer(await work.claim(), ACKNOWLEDGED);
      const id = await keep(collection, large(collection));
      await process(id, large(collection));
      const bare = { transId: null, amountCents: null, account: null, completedAt: null };
      await store.learn(collection, succeeded({ ...bare, externalRef: null }), 'poll');
      expect(await store.reread(collection)).to.include({ status: 'completed' });
      expect(await process(id, large(collection))).to.equal('repeat');
      const news = large(collection) as ReturnType<typeof succeeded>;
      expect((await store.reread(collection)).trans_id).to.equal(news.transId);
      expect(await store.discrepanciesOf(collection.id)).to.deep.equal([]);
    });

    it('is not outrun by a failure that was heard before it', async () => {
      const collection = await store.newCollection();
      const work = await unanswered(collection);
      const asked = { payment: await work.current(), askedAt: new Date(Date.now() - 1_000) };
      const id = await keep(collection, large(collection));
      await process(id, large(collection));
      await recordQuery(store.database, asked, failed({ externalRef: null }), NEVER, RECORDING);
      expect(await work.current()).to.include({ status: 'pending', next_step: 'poll' });
      await store.learn(collection, succeeded({ transId: null, externalRef: null }), 'poll');
      expect(await work.current()).to.include({ status: 'completed' });
    });

    it('is not confirmed by what another callback tells', async () => {
      const collection = await store.newCollection();
      await unanswered(collection);
      const small = succeeded({ amountCents: 1_00, transId: 'BACK1', externalRef: null });
      expect(await tell(collection, newsOf(collection, small))).to.equal('discrepancy');
      expect(await tell(collection, large(collection))).to.equal('unconfirmed');
      expect(
        await store.countOf('movements WHERE payment_id = :id', {
          id: collection.id,
        }),
      ).to.equal(1);
    });

    it('is put before support at once when the gateway cannot be asked', async () => {
      const collection = await store.newCollection();
      await unanswered(collection);
      await process(await keep(collection, large(collection)), large(collection));
      const found = await store.discrepancyOf('unconfirmed_success');
      await store.resolve(found, 'completed', 'PORTAL7');
      expect(await store.reread(collection)).to.include({
        status: 'completed',
        trans_id: 'PORTAL7',
      });
    });

    it('goes to support when the gateway says the contrary, and no money is given back', async () => {
      const collection = await store.newCollection();
      await unanswered(collection);
      const id = await keep(collection, large(collection));
      await process(id, large(collection));
      await store.learn(collection, failed({ externalRef: null }));
      expect(await process(id, large(collection))).to.equal('discrepancy');
      expect(await store.reread(collection)).to.include({ status: 'failed', next_step: null });
      expect(await store.discrepanciesOf(collection.id)).to.deep.equal(['unconfirmed_success']);
    });
  });
});
