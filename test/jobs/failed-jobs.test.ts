import type { Queue } from 'bullmq';
import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { LostRaceError } from '../../src/domain/payments/payment.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { pollStep } from '../../src/domain/payments/schedule.ts';
import type { Gateway } from '../../src/gateways/gateway.ts';
import { type QueueBackend, queueBackendOf } from '../../src/jobs/backend.ts';
import { type JobData, jobId } from '../../src/jobs/job-types.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import { JOB_TRIES } from '../../src/jobs/queues.ts';
import { sweep } from '../../src/jobs/sweeper.ts';
import type { Service } from '../../src/service/service.ts';
import { startWorker } from '../../src/workers/run-worker.ts';
import { failedJobsOf as keptJobsOf, replay } from '../support/failed-jobs.ts';
import { eventually, NOT_FOUND, succeeded, UNKNOWN, useStore } from '../support/world.ts';

/** The pause between tries. Real queues wait for seconds. */
const BACKOFF_MS = 10;

describe('A job that fails', () => {
  const store = useStore({ merchant: 'all' });
  let context: Service;
  /** Runs at each query of the gateway, with its number. */
  let onQuery: (call: number) => Promise<void> | void;
  let queries: number;
  let submissions: number;
  let backend: QueueBackend;
  const queues = new Map<string, Queue>();

  before(async () => {
    context = store.parts();
    backend = await queueBackendOf(store);
  });

  after(() => Promise.all([...queues.values()].map((queue) => queue.close())));

  beforeEach(() => {
    queries = 0;
    submissions = 0;
  });

  /** A driver that fails as a test wants it. */
  const gateway: Gateway = {
    name: 'simulator',
    resubmit: () => 'never',
    settlingWindowMs: 0,
    answerWindowMs: 0,
    amounts: {},
    submit: async () => {
      submissions += 1;
      throw new TypeError('the driver has a bug');
    },
    query: async () => {
      queries += 1;
      await onQuery(queries);
      return { outcome: 'pending' };
    },
    parseCallback: () => null,
  };

  /** Opens each queue once, since its connections cost more than a test. */
  function queueOf(name: string): Queue {
    const queue = queues.get(name) ?? backend.createQueue(name);
    queues.set(name, queue);
    return queue;
  }

  /** Runs one job of a real queue until it has ended in any way. */
  async function run(name: string, data: JobData, gateways = [gateway]): Promise<void> {
    const queue = queueOf(name);
    await queue.add('test', data, {
      jobId: jobId(data),
      attempts: JOB_TRIES,
      backoff: { type: 'fixed', delay: BACKOFF_MS },
      removeOnComplete: true,
      removeOnFail: true,
    });
    const service = { ...context, gateways: new Map(gateways.map((each) => [each.name, each])) };
    const worker = startWorker(service, backend, name, 1);
    await eventually('the end of the job', async () => !(await queue.getJob(jobId(data))));
    await worker.close();
  }

  async function collectionToAskAbout() {
    const collection = await store.newCollection();
    await changeStep(store.database, refOf(collection), pollStep(collection, 0));
    const { id, step_no } = await store.reread(collection);
    const data: JobData = {
      kind: 'collection',
      step: 'poll',
      merchant_id: store.merchantId,
      row_id: id,
      step_no: step_no,
    };
    return { collection, data };
  }

  const failedJobsOf = (rowId: string) =>
    store.rows<Record<string, unknown>>('SELECT * FROM failed_jobs WHERE row_id = :rowId', {
      rowId,
    });

  it('five times by a bug is kept, with its row on the support list and still open', async () => {
    const { collection, data } = await collectionToAskAbout();
    onQuery = (call) => {
      throw new TypeError(`no. ${call}: cannot read postgres://user:hush@db/x\nsecond line`);
    };
    await run('polling-simulator', data);
    expect(queries).to.equal(5);
    const reason = 'no. 5: cannot read postgres://***@db/x';
    expect(await store.reread(collection)).to.include({
      status: 'pending',
      next_step: null,
      parked_reason: `job failed: ${reason}`,
    });
    const [failedJob, ...others] = await failedJobsOf(collection.id);
    expect(others).to.deep.equal([]);
    expect(failedJob).to.include({
      queue: 'polling-simulator',
      kind: 'collection',
      step: 'poll',
      merchant_id: store.merchantId,
      step_no: data.step_no,
      error: reason,
    });
    expect(failedJob!.stack).to.include('TypeError');
  });

  it('goes on when it is replayed after the bug is fixed, under a new step number', async () => {
    const collection = await store.newCollection();
    const work = store.workOn(collection);
    await work.answer(await work.claim(), UNKNOWN);
    const jobOf = ({ step_no: stepNo }: typeof collection): JobData => ({
      ...{ kind: 'collection', step: 'poll', merchant_id: store.merchantId },
      ...{ row_id: collection.id, step_no: stepNo },
    });
    const first = jobOf(await store.reread(collection));
    onQuery = () => {
      throw new TypeError('bug');
    };
    await run('polling-simulator', first);
    const [job] = await keptJobsOf(store.database, collection.id);
    expect(await replay(store.database, job!)).to.include({ action: 'ask_not_send' });
    onQuery = () => {};
    await run('polling-simulator', first);
    expect(queries, 'the job that failed does nothing any more').to.equal(JOB_TRIES);
    await run('polling-simulator', jobOf(await store.reread(collection)));
    expect(queries).to.equal(JOB_TRIES + 1);
    expect(await store.reread(collection)).to.include({
      ...{ status: 'processing', next_step: 'poll', parked_reason: null },
    });
    expect(submissions).to.equal(0);
  });

  it('by an outage or a lost race is only delayed, which spends no try', async () => {
    const { collection, data } = await collectionToAskAbout();
    const errors = [
      Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
      new LostRaceError('collection'),
      new LostRaceError('collection'),
      new TypeError('bug 1'),
      new TypeError('bug 2'),
      new TypeError('bug 3'),
      new TypeError('bug 4'),
    ];
    onQuery = (call) => {
      const error = errors[call - 1];
      if (error) throw error;
    };
    await run('polling-simulator', data);
    expect(queries).to.equal(errors.length + 1);
    expect(await failedJobsOf(collection.id)).to.deep.equal([]);
    expect(await store.reread(collection)).to.include({
      status: 'processing',
      parked_reason: null,
    });
  });

  it('leaves alone a row that has moved on meanwhile', async () => {
    const { collection, data } = await collectionToAskAbout();
    onQuery = async (call) => {
      if (call === JOB_TRIES) await store.learn(collection, succeeded());
      throw new TypeError('bug');
    };
    await run('polling-simulator', data);
    expect(queries).to.equal(JOB_TRIES);
    expect(await failedJobsOf(collection.id)).to.deep.equal([]);
    expect(await store.reread(collection)).to.include({
      status: 'completed',
      parked_reason: null,
    });
  });

  it('in the middle of a submission does not submit again, but asks', async () => {
    const collection = await store.newCollection();
    await run('submission-simulator', {
      kind: 'collection',
      step: 'submit',
      merchant_id: store.merchantId,
      row_id: collection.id,
      step_no: 1,
    });
    expect(submissions).to.equal(1);
    expect(await store.reread(collection)).to.include({
      status: 'pending',
      next_step: 'poll',
    });
    expect(await failedJobsOf(collection.id)).to.deep.equal([]);
  });

  it('in every submission, by a bug of the driver, is kept after the usual number of tries', async () => {
    const payout = await store.newPayout();
    const work = store.workOn(payout);
    const submit = async () =>
      run(
        'submission-simulator',
        {
          ...{ kind: 'payout', step: 'submit', merchant_id: store.merchantId },
          ...{ row_id: payout.id, step_no: (await work.current()).step_no },
        },
        [{ ...gateway, resubmit: () => 'safe' }],
      );
    const ruleOut = async () => {
      await work.setAttempts(`started_at = started_at - interval '1 minute'`);
      for (let asked = 0; asked < 3; asked += 1) await work.hear(NOT_FOUND);
      expect(await work.current()).to.include({ next_step: 'submit' });
    };
    for (let tries = 1; tries < JOB_TRIES; tries += 1) {
      await submit();
      expect(await work.current()).to.include({ status: 'pending', next_step: 'poll' });
      await ruleOut();
    }
    await submit();
    expect(submissions).to.equal(JOB_TRIES);
    expect((await work.results()).at(-1)).to.equal('unknown');
    expect(await work.current()).to.include({
      ...{ status: 'pending', next_step: null },
      parked_reason: 'job failed: the driver has a bug',
    });
    const [job, ...others] = await keptJobsOf(store.database, payout.id);
    expect(others).to.deep.equal([]);
    expect(job).to.include({ step: 'submit', error: 'the driver has a bug', state: 'waiting' });
    expect(await replay(store.database, job!)).to.include({ action: 'ask_not_send' });
    await ruleOut();
    expect(await work.claim()).to.include({ attemptNo: JOB_TRIES + 1 });
  });

  it('because its gateway is not configured spends no submission attempt', async () => {
    const payment = await store.newReturn();
    const data: JobData = {
      kind: 'return',
      step: 'submit',
      merchant_id: store.merchantId,
      row_id: payment.id,
      step_no: payment.step_no,
    };
    await run('refunds', data, []);
    const attempts = await store.countOf('attempts WHERE payment_id = :id', {
      id: payment.id,
    });
    expect(attempts).to.equal(0);
    const { parked_reason } = await store.reread(payment);
    expect(parked_reason).to.match(/^job failed: The gateway simulator is not configured/);
  });

  it('and cannot be recorded keeps its step, and the sweeper sends it again', async () => {
    const { collection, data } = await collectionToAskAbout();
    onQuery = () => {
      throw new TypeError('bug');
    };
    await rows(store.owner, 'ALTER TABLE failed_jobs RENAME TO failed_jobs_away');
    await run('polling-simulator', data);
    await rows(store.owner, 'ALTER TABLE failed_jobs_away RENAME TO failed_jobs');
    expect(await store.reread(collection)).to.include({
      ...{ next_step: 'poll', step_no: data.step_no, parked_reason: null },
    });
    await store.rows('DELETE FROM outbox');
    await store.rows(
      `UPDATE collections SET next_step_at = now() - interval '1 hour' WHERE id = :id`,
      { id: collection.id },
    );
    await sweep(store.database, 60_000);
    const [sent] = await store.outboxOf(collection.id);
    expect(sent).to.include({ step: 'poll', step_no: data.step_no });
    await run('polling-simulator', data);
    expect(queries).to.equal(2 * JOB_TRIES);
    expect(await failedJobsOf(collection.id)).to.have.length(1);
  });
});
