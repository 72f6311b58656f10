import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { openDiscrepancy } from '../../src/domain/discrepancies/discrepancy.ts';
import { openOverdue } from '../../src/domain/discrepancies/overdue.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { pollStep } from '../../src/domain/payments/schedule.ts';
import type { Callback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { type FailedJob, listFailedJobs } from '../../src/domain/support/failed-job-store.ts';
import { foreseeReplays } from '../../src/domain/support/replay-job.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { sendDueQuestions } from '../../src/jobs/dispatch-outbox.ts';
import type { StepKind } from '../../src/jobs/job-types.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import { passDeadline, refund } from '../support/discrepancies/scene.ts';
import { failedJobsOf, failJob, replay, stepRow } from '../support/failed-jobs.ts';
import {
  ACKNOWLEDGED,
  failed,
  NOT_TAKEN,
  PAYMENT_KINDS,
  SUBMISSION_QUEUE,
  succeeded,
  UNKNOWN,
  useStore,
} from '../support/world.ts';

const POLLING = 'polling-simulator';

describe('Replaying a failed job', () => {
  const store = useStore({ merchant: 'all' });

  const plan = async ({ id }: FailedJob) => {
    const page = { order: 'oldest first', limit: 1 } as const;
    const jobs = await listFailedJobs(store.database, { ids: [id] }, page);
    return (await foreseeReplays(store.database, jobs))[0];
  };

  interface Expected {
    action: string;
    step: string;
    queue: string;
  }

  /** Looks at the plan, which changes nothing, and then at what replaying has done. */
  async function expectReplay(kind: StepKind, id: string, expected: Expected): Promise<void> {
    const job = await failJob(store.database, kind, id);
    const before = await stepRow(store.database, kind, id);
    expect(before).to.include({ next_step: null, parked_reason: 'job failed: bug' });
    expect(await plan(job)).to.include({ action: expected.action });
    expect(await stepRow(store.database, kind, id)).to.deep.equal(before);
    expect((await failedJobsOf(store.database, id)).at(-1)).to.include({ state: 'waiting' });

    expect(await replay(store.database, job)).to.include({ action: expected.action });
    const after = await stepRow(store.database, kind, id);
    expect(after).to.include({
      status: before.status,
      next_step: expected.step,
      step_no: before.step_no + 1,
      parked_reason: null,
    });
    expect(after.next_step_at!.getTime()).to.be.at.most(Date.now());
    await sendDueQuestions(store.database);
    expect((await store.outboxOf(id)).at(-1)).to.include({
      queue: expected.queue,
      step: expected.step,
      step_no: after.step_no,
    });
    expect((await failedJobsOf(store.database, id)).at(-1)).to.include({
      state: 'replayed',
      replayed_by: 'tester',
      replayed_step: expected.step,
    });
  }

  const ASK = { step: 'poll', queue: POLLING };

  for (const kind of PAYMENT_KINDS) {
    describe(`of a ${kind}`, () => {
      let payment: AnyPayment;
      const work = () => store.workOn(payment);
      const send = { action: 'send', step: 'submit', queue: SUBMISSION_QUEUE[kind] };

      beforeEach(async () => {
        payment = await store.newPayment(kind);
      });

      it('sends it when it was never attempted', async () => {
        await expectReplay(kind, payment.id, send);
      });

      it('sends it when it should be asked about, but was never attempted', async () => {
        await changeStep(store.database, refOf(payment), pollStep(payment, 0));
        await expectReplay(kind, payment.id, send);
      });

      it('sends it when its only attempt was not taken', async () => {
        await work().answer(await work().claim(), NOT_TAKEN);
        await expectReplay(kind, payment.id, send);
      });

      it('asks, and does not send, when an attempt has no answer', async () => {
        await work().claim();
        await expectReplay(kind, payment.id, { action: 'ask_not_send', ...ASK });
        expect(await work().claim(), 'what a submission could claim').to.equal(null);
        expect(await work().results()).to.deep.equal([null]);
      });

      it('asks, and does not send, when the answer to an attempt was lost', async () => {
        await work().answer(await work().claim(), UNKNOWN);
        await expectReplay(kind, payment.id, { action: 'ask_not_send', ...ASK });
      });

      it('asks when the gateway has acknowledged it', async () => {
        await work().answer(await work().claim(), ACKNOWLEDGED);
        await expectReplay(kind, payment.id, { action: 'ask', ...ASK });
      });

      it('asks about it at once when it is overdue, whoever else waits for support', async () => {
        await work().answer(await work().claim(), UNKNOWN);
        await passDeadline({ database: store.database, merchant: store.merchant }, payment);
        await openOverdue(store.database);
        expect(await store.discrepanciesOf(payment.id)).to.deep.equal(['overdue']);
        await expectReplay(kind, payment.id, { action: 'ask_not_send', ...ASK });
      });

      it('is refused once it has ended', async () => {
        const job = await failJob(store.database, kind, payment.id);
        await store.learn(payment, succeeded());
        await expectRefused(job, 'ended');
      });

      it('is refused once it goes on in another way', async () => {
        const job = await failJob(store.database, kind, payment.id);
        await changeStep(store.database, refOf(payment), pollStep(payment, 0));
        await expectRefused(job, 'moved_on');
      });

      it('is refused while its money is in suspense', async () => {
        const job = await failJob(store.database, kind, payment.id);
        await store.learn(payment, succeeded({ amountCents: 1 }));
        await expectRefused(job, 'parked_otherwise');
      });

      it('is refused while something does not add up', async () => {
        const job = await failJob(store.database, kind, payment.id);
        await store.transaction((trx) =>
          openDiscrepancy(trx, { kind: 'other_payment', payment: refOf(payment), details: {} }),
        );
        await expectRefused(job, 'discrepancy');
      });
    });
  }

  /** Refused, with nothing changed. */
  async function expectRefused(job: FailedJob, refusal: string): Promise<void> {
    const all = () =>
      Promise.all([
        stepRow(store.database, job.kind, job.row_id),
        store.outboxOf(job.row_id),
        failedJobsOf(store.database, job.row_id),
      ]);
    const before = await all();
    expect(await plan(job)).to.include({ refusal });
    expect(await replay(store.database, job)).to.include({ refusal });
    expect(await all()).to.deep.equal(before);
  }

  it('puts a collection before support that could not be sent in time', async () => {
    const collection = await store.newCollection();
    await passDeadline({ database: store.database, merchant: store.merchant }, collection);
    await expectReplay('collection', collection.id, {
      ...{ action: 'report_untaken', step: 'submit', queue: SUBMISSION_QUEUE.collection },
    });
    expect(await store.workOn(collection).claim()).to.equal(null);
    expect(await store.discrepanciesOf(collection.id)).to.deep.equal(['never_taken']);
  });

  it('sends money that goes out also when it is late', async () => {
    const payout = await store.newPayout();
    await passDeadline({ database: store.database, merchant: store.merchant }, payout);
    await expectReplay('payout', payout.id, {
      ...{ action: 'send', step: 'submit', queue: SUBMISSION_QUEUE.payout },
    });
  });

  it('refunds a payout that has failed, once', async () => {
    const payout = await store.newPayout();
    await store.learn(payout, failed());
    await expectReplay('payout', payout.id, { action: 'refund', step: 'refund', queue: 'refunds' });
    const job = (await failedJobsOf(store.database, payout.id))[0]!;
    await refund({ database: store.database, merchant: store.merchant }, payout);
    expect((await store.reread(payout)).refund_posted_at).to.be.instanceOf(Date);
    await expectRefused(job, 'replayed');
  });

  it('is refused for a payout that arrived before its refund', async () => {
    const payout = await store.newPayout();
    await store.learn(payout, failed());
    const job = await failJob(store.database, 'payout', payout.id);
    await store.learn(payout, succeeded());
    await expectRefused(job, 'ended');
  });

  it('applies a stored callback, unless a later one took it along', async () => {
    const collection = await store.newCollection();
    const keepEmpty = () => store.keepCallback('simulator', refOf(collection), '{}');
    await expectReplay('callback', await keepEmpty(), {
      ...{ action: 'apply', step: 'process', queue: 'callbacks' },
    });
    const id = await keepEmpty();
    const job = await failJob(store.database, 'callback', id);
    const [newest] = await store.rows<Callback>('SELECT * FROM callbacks WHERE id = :id', {
      id: await keepEmpty(),
    });
    await processCallback(store.database, newest!, () => () => null);
    await expectRefused(job, 'ended');
  });

  it('delivers a webhook again when there is room at its endpoint', async () => {
    const id = await store.newEvent();
    await prepareDeliveries(store.database, 1_000);
    const job = await failJob(store.database, 'webhook', id);
    expect(await plan(job)).to.include({ action: 'deliver' });
    expect(await replay(store.database, job)).to.include({ action: 'deliver' });
    expect(await store.deliveryOf(id)).to.include({
      ...{ admitted: false, next_step: 'deliver', parked_reason: null },
    });
    await prepareDeliveries(store.database, 1_000);
    const { step_no, admitted } = await store.deliveryOf(id);
    expect(admitted).to.equal(true);
    expect((await store.outboxOf(id)).at(-1)).to.include({ queue: 'webhooks', step_no });
  });

  it('is refused for a webhook that is not kept any more', async () => {
    const id = await store.newEvent();
    await prepareDeliveries(store.database, 0);
    const job = await failJob(store.database, 'webhook', id);
    await rows(store.owner, 'DELETE FROM webhook_deliveries WHERE event_id = :id', { id });
    expect(await plan(job)).to.include({ refusal: 'gone' });
    expect(await replay(store.database, job)).to.include({ refusal: 'gone' });
  });

  it('of one that has failed again takes the newest failure only', async () => {
    const payout = await store.newPayout();
    const first = await failJob(store.database, 'payout', payout.id);
    await replay(store.database, first);
    const second = await failJob(store.database, 'payout', payout.id);
    const states = (await failedJobsOf(store.database, payout.id)).map(({ state }) => state);
    expect(states).to.deep.equal(['failed_again', 'waiting']);
    await expectRefused(first, 'replayed');
    expect(await replay(store.database, second)).to.include({ action: 'send' });
  });

  it('leaves to the newest failure what an older one nobody replayed was for', async () => {
    const payout = await store.newPayout();
    const first = await failJob(store.database, 'payout', payout.id);
    await changeStep(store.database, refOf(payout), pollStep(payout, 0));
    expect((await failedJobsOf(store.database, payout.id))[0]).to.include({ state: 'moved_on' });
    await failJob(store.database, 'payout', payout.id);
    await expectRefused(first, 'failed_since');
  });
});
