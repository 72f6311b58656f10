import { DelayedError, type Queue } from 'bullmq';
import { expect } from 'chai';
import { isOutage } from '../../src/connections/database-errors.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { pollStep } from '../../src/domain/payments/schedule.ts';
import type { Gateway } from '../../src/gateways/gateway.ts';
import { createQueueBackend, type QueueBackend } from '../../src/jobs/backend.ts';
import { type JobData, jobId } from '../../src/jobs/job-types.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import type { Service } from '../../src/service/service.ts';
import { earlierDelaysOf, outageBackoffMs, startWorker } from '../../src/workers/run-worker.ts';
import { pollPayment } from '../../src/workers/steps.ts';
import { backendsUnderTest, environment } from '../support/environment.ts';
import { makeReadOnly, makeWritable } from '../support/read-only.ts';
import { eventually, newCollection, rejection, useStore } from '../support/world.ts';

const CLOCK_STEP_MS = 100;
const QUEUE = 'polling-simulator';
const LOCK_MS = 30_000;
const LONG_MS = 3_600_000;

it('A job that outages delay comes again soon at first, then later each time, up to a minute', () => {
  const delays = Array.from({ length: 12 }, (_, earlier) => outageBackoffMs(earlier) / 1_000);
  expect(delays).to.deep.equal([2, 2, 2, 2, 2, 4, 8, 16, 32, 60, 60, 60]);
});

describe('A question to a gateway', () => {
  const store = useStore({ merchant: 'none' });
  let service: Service;
  let asked: number;

  const away = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  const gateway: Gateway = {
    name: 'simulator',
    resubmit: () => 'never',
    settlingWindowMs: 0,
    answerWindowMs: 0,
    amounts: {},
    submit: async () => ({ outcome: 'unknown', reason: 'not asked here' }),
    query: async () => {
      asked += 1;
      throw away;
    },
    parseCallback: () => null,
  };

  before(async () => {
    const real = store.parts();
    service = { ...real, gateways: new Map([[gateway.name, gateway]]) };
  });

  beforeEach(() => {
    asked = 0;
  });

  async function newJob(): Promise<JobData> {
    const merchant = await store.newMerchant();
    const collection = await newCollection(store.database, merchant);
    await changeStep(store.database, refOf(collection), pollStep(collection, 0));
    const { id: rowId, step_no: stepNo } = await store.reread(collection);
    return {
      kind: 'collection',
      step: 'poll',
      merchant_id: merchant.merchant_id,
      row_id: rowId,
      step_no: stepNo,
    };
  }

  it('is not asked while its answer could not be recorded', async () => {
    const { merchant_id, row_id: rowId, step_no: stepNo } = await newJob();
    const poll = () => pollPayment(service, { kind: 'collection', merchant_id, id: rowId }, stepNo);
    await makeReadOnly(store.url);
    const error = await rejection(poll());
    await makeWritable(store.url);
    expect(isOutage(error)).to.equal(true);
    expect(asked).to.equal(0);
    expect(await rejection(poll())).to.equal(away);
    expect(asked).to.equal(1);
  });

  /** Delays a job five times, and lets it fail once in between. @returns the counts seen */
  async function playOutages(backend: QueueBackend, queue: Queue<JobData>, id: string) {
    const seen: number[] = [];
    const worker = backend.createWorker(
      QUEUE,
      async (job, token) => {
        seen.push(earlierDelaysOf(job));
        if (seen.length === 3) throw new Error('a try');
        await job.moveToDelayed(Date.now() + (seen.length === 6 ? LONG_MS : 0), token);
        throw new DelayedError();
      },
      { concurrency: 1, lockMs: LOCK_MS },
    );
    await eventually('all runs', async () => {
      return seen.length === 6 && (await queue.getDelayedCount()) === 1;
    });
    await worker.close();
    await (await queue.getJob(id))!.promote();
    return seen;
  }

  for (const backendName of backendsUnderTest()) {
    it(`is delayed longer the more often it was delayed, with its queues in ${backendName}`, async () => {
      const redisUrl = backendName === 'redis' ? `${environment.redisUrl}/14` : undefined;
      const backend = createQueueBackend({
        ...{ redisUrl, databaseUrl: store.url },
        installationId: 'test',
      });
      const queue = backend.createQueue(QUEUE);
      const data = await newJob();
      const opts = { jobId: jobId(data), attempts: 5, removeOnComplete: true };
      await queue.add('collection.poll', data, opts);
      expect(await playOutages(backend, queue, jobId(data))).to.deep.equal([0, 1, 2, 2, 3, 4]);
      const worker = startWorker(service, backend, QUEUE, 1);
      await eventually('the worker to delay it', async () => {
        return asked === 1 && (await queue.getDelayedCount()) === 1;
      });
      const job = (await queue.getJob(jobId(data)))!;
      // The queue counts from its own clock.
      expect(job.delay).to.be.closeTo(outageBackoffMs(5), CLOCK_STEP_MS);
      expect(job.attemptsMade).to.equal(1);
      await worker.close();
      await queue.obliterate({ force: true });
      await queue.close();
    });
  }
});
