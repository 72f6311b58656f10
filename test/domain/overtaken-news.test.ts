import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { ParsedCallback } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { type Callback, findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { questionAbout, recordQuery } from '../../src/domain/submission/polling.ts';
import { failed, newsOf, PAYMENT_KINDS, parserOf, succeeded, useStore } from '../support/world.ts';

const SAFE = { resubmit: 'safe', settlingWindowMs: 0, answerWindowMs: 0 } as const;
const FAILURE: ParsedCallback = { reference: null, verdict: failed() };

describe('A failure that is heard before or after a success', () => {
  const store = useStore({ merchant: 'all' });

  for (const kind of PAYMENT_KINDS) {
    it(`is overtaken when it was heard before it, for a ${kind}`, async () => {
      const payment = await store.newPayment(kind);
      const id = await store.keepCallback('simulator', refOf(payment), '{}');
      await store.learn(payment, succeeded(), 'poll');
      expect(await process(id)).to.equal('repeat');
      expect(await store.discrepanciesOf(payment.id)).to.deep.equal([]);
      expect(await store.reread(payment)).to.include({ status: 'completed' });
    });

    it(`is contrary when it was heard after it, for a ${kind}`, async () => {
      const payment = await store.newPayment(kind);
      await store.learn(payment, succeeded(), 'poll');
      const id = await store.keepCallback('simulator', refOf(payment), '{}');
      expect(await process(id)).to.equal('discrepancy');
      expect(await store.discrepanciesOf(payment.id)).to.deep.equal(['failure_after_success']);
    });
  }

  for (const kind of PAYMENT_KINDS) {
    it(`is contrary when both have waited to be applied, for a ${kind}`, async () => {
      const payment = await store.newPayment(kind);
      const bodies = [newsOf(payment, succeeded()), failed()].map((news) => JSON.stringify(news));
      const ids = [];
      for (const body of bodies) {
        ids.push(await store.keepCallback('simulator', refOf(payment), body));
        // The gateway tells of both some milliseconds apart.
        await sleep(5);
      }
      const job = await findStoredCallback(store.database, payment.merchant_id, ids[0]!);
      await processCallback(store.database, job!, parserOf);
      expect(await store.reread(payment)).to.include({ status: 'completed' });
      expect(await store.discrepanciesOf(payment.id)).to.deep.equal(['failure_after_success']);
    });
  }

  it('is as old as the first one when it is sent once more', async () => {
    const payout = await store.newPayout();
    const body = JSON.stringify({ ...failed({ externalRef: null }), sent: 1 });
    const send = async () => {
      const id = await store.keepCallback('simulator', refOf(payout), body);
      const job = await findStoredCallback(store.database, payout.merchant_id, id);
      return processCallback(store.database, job!, parserOf);
    };
    expect(await send()).to.equal('failed');
    await store.learn(payout, succeeded({ externalRef: null }), 'poll');
    expect(await store.reread(payout)).to.include({ status: 'completed' });
    expect(await send()).to.equal('repeat');
    expect(await store.discrepanciesOf(payout.id)).to.deep.equal([]);
  });

  it('keeps late money here if it was told again after the question whose answer tells of that money', async () => {
    const collection = await store.newCollection();
    const fail = async (sent: number) => {
      const body = JSON.stringify({ ...failed({ externalRef: null }), sent });
      const id = await store.keepCallback('simulator', refOf(collection), body);
      const job = await findStoredCallback(store.database, collection.merchant_id, id);
      return processCallback(store.database, job!, parserOf);
    };
    expect(await fail(1)).to.equal('failed');
    await sleep(5);
    const asked = new Date();
    await sleep(5);
    expect(await fail(2)).to.equal('repeat');
    const news = succeeded({ externalRef: null });
    await store.transaction(async (trx) => {
      const locked = await lockPayment(trx, refOf(collection));
      return settle(trx, locked!, news, { cause: 'poll', heardAt: asked, parserOf });
    });
    expect(await store.discrepanciesOf(collection.id)).to.deep.equal(['paid_after_failure']);
  });

  describe('after the clock of the database has stepped back', () => {
    const LATER = `+ interval '3 seconds'`;

    it('is contrary to a success that is booked', async () => {
      const payment = await store.newPayment('collection');
      await store.learn(payment, succeeded(), 'poll');
      await store.rewrite(`UPDATE movements SET heard_at = heard_at ${LATER}`);
      const id = await store.keepCallback('simulator', refOf(payment), '{}');
      expect(await process(id)).to.equal('discrepancy');
      expect(await store.discrepanciesOf(payment.id)).to.deep.equal(['failure_after_success']);
    });

    for (const [how, tell] of [
      ['a callback', tellByCallback],
      ['an answer', tellByAnswer],
    ] as const) {
      it(`is contrary, by ${how}, to a success that waits to be applied`, async () => {
        const payment = await store.newPayment('collection');
        const success = JSON.stringify(newsOf(payment, succeeded()));
        const first = await store.keepCallback('simulator', refOf(payment), success);
        await store.rewrite(`UPDATE callbacks SET received_at = received_at ${LATER}`);
        await tell(payment, first);
        expect(await store.reread(payment)).to.include({ status: 'completed' });
        expect(await store.discrepanciesOf(payment.id)).to.deep.equal(['failure_after_success']);
      });
    }
  });

  async function tellByCallback(payment: AnyPayment, first: string) {
    await store.keepCallback('simulator', refOf(payment), JSON.stringify(failed()));
    const job = await findStoredCallback(store.database, payment.merchant_id, first);
    await processCallback(store.database, job!, parserOf);
  }

  async function tellByAnswer(payment: AnyPayment) {
    const question = await questionAbout(store.database, refOf(payment));
    await recordQuery(store.database, question!, failed(), SAFE, { pollFirstMs: 100, parserOf });
  }

  async function process(id: string) {
    const row = await store.firstRow<Callback>('SELECT * FROM callbacks WHERE id = :id', {
      id,
    });
    const callback = await findStoredCallback(store.database, row!.merchant_id, id);
    return processCallback(store.database, callback!, () => () => FAILURE);
  }
});
