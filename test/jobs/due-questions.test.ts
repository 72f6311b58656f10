import { expect } from 'chai';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { POLL_NOW, pollStep } from '../../src/domain/payments/schedule.ts';
import { sendDueQuestions } from '../../src/jobs/dispatch-outbox.ts';
import { changeStep, type StepChange } from '../../src/jobs/outbox.ts';
import { HOUR_MS } from '../../src/time.ts';
import { PAYMENT_KINDS, useStore } from '../support/world.ts';

describe('The job of a question', () => {
  const store = useStore({ merchant: 'all' });

  async function planned(kind: (typeof PAYMENT_KINDS)[number], step: StepChange) {
    const payment = await store.newPayment(kind);
    await changeStep(store.database, refOf(payment), step);
    // The first job is the one of its submission.
    return async () => (await store.outboxOf(payment.id)).slice(1);
  }

  for (const kind of PAYMENT_KINDS) {
    it(`comes when a question about a ${kind} is due, and once`, async () => {
      const jobs = await planned(kind, POLL_NOW);
      expect(await jobs()).to.deep.equal([]);
      expect(await sendDueQuestions(store.database)).to.equal(1);
      expect(await sendDueQuestions(store.database)).to.equal(0);
      expect(await jobs()).to.have.length(1);
      expect((await jobs())[0]).to.include({ kind, step: 'poll', queue: 'polling-simulator' });
    });
  }

  it('does not come before, nor for a payment that has moved on', async () => {
    const collection = await store.newPayment('collection');
    const later = await planned('collection', pollStep(collection, HOUR_MS));
    const ended = await store.newPayment('collection');
    await changeStep(store.database, refOf(ended), POLL_NOW);
    await changeStep(store.database, refOf(ended), { park: 'test' });
    expect(await sendDueQuestions(store.database)).to.equal(0);
    expect(await later()).to.deep.equal([]);
  });

  it('comes once when several dispatchers look at the same moment', async () => {
    const all = await Promise.all(
      Array.from({ length: 10 }, () => planned('collection', POLL_NOW)),
    );
    const sent = await Promise.all([1, 2, 3, 4].map(() => sendDueQuestions(store.database)));
    expect(sent.reduce((sum, count) => sum + count)).to.equal(10);
    for (const jobs of all) expect(await jobs()).to.have.length(1);
  });

  it('has the number of the step, so that it is stale when the payment has moved on', async () => {
    const collection = await store.newPayment('collection');
    await changeStep(store.database, refOf(collection), POLL_NOW);
    await sendDueQuestions(store.database);
    const { step_no } = await store.reread(collection);
    expect((await store.outboxOf(collection.id)).at(-1)).to.include({ step_no });
  });
});
