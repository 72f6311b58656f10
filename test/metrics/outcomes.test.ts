import type { Queue, Worker } from 'bullmq';
import { expect } from 'chai';
import winston from 'winston';
import { createWaitingRoom } from '../../src/api/waiting-room.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { pollStep } from '../../src/domain/payments/schedule.ts';
import { LostRaceError } from '../../src/domain/payments/state-machine.ts';
import type { Gateway } from '../../src/gateways/gateway.ts';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { type JobData, jobId } from '../../src/jobs/job-types.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import { JOB_TRIES } from '../../src/jobs/queues.ts';
import { measuredGateway } from '../../src/metrics/measured-gateway.ts';
import { createMeters } from '../../src/metrics/meters.ts';
import { createService, type Service } from '../../src/process/boot.ts';
import { startWorker } from '../../src/workers/run-worker.ts';
import { eventually } from '../support/eventually.ts';
import { type Sample, scrape, sumOf } from '../support/metrics.ts';
import { createTestStore, newCollection, reread, type TestStore } from '../support/payments.ts';

const QUEUE = 'polling-simulator';
const BACKOFF_MS = 10;

describe('What a worker counts of a job that throws', () => {
  let store: TestStore;
  let open: (Queue<JobData> | Worker<JobData>)[];
  let samples: Sample[];

  /** Thrown in this order. After these, every try meets the driver's bug. */
  const throwFirst = [
    new TypeError('the driver has a bug'),
    new LostRaceError('collection'),
    Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
  ];

  const gateway: Gateway = {
    name: 'simulator',
    resubmit: 'never',
    settlingWindowMs: 0,
    answerWindowMs: 0,
    amountStepCents: 1,
    submit: async () => ({ outcome: 'unknown', reason: 'not asked here' }),
    query: async () => {
      throw throwFirst.shift() ?? new TypeError('the driver has a bug');
    },
    parseCallback: () => null,
  };

  before(async () => {
    store = await createTestStore();
    const logger = winston.createLogger({ silent: true });
    const service = createService(store.config, logger, store.database);
    const driver = measuredGateway(gateway, service.meters.gatewayCalls);
    await runToItsEnd({ ...service, gateways: new Map([[driver.name, driver]]) });
    samples = await scrape(service.meters.registry);
  });

  after(async () => {
    await Promise.all(open.map((each) => each.close()));
    await store.drop();
  });

  async function runToItsEnd(service: Service): Promise<void> {
    const merchant = await store.newMerchant();
    const collection = await newCollection(store.database, merchant);
    await changeStep(store.database, refOf(collection), pollStep(collection, 0));
    const { id: rowId, step_no: stepNo } = await reread(store.database, collection);
    const { merchant_id } = merchant;
    const data: JobData = {
      kind: 'collection',
      step: 'poll',
      merchant_id,
      row_id: rowId,
      step_no: stepNo,
    };
    const backend = createQueueBackend(store.config);
    const queue = backend.createQueue(QUEUE);
    await queue.add('test', data, {
      jobId: jobId(data),
      attempts: JOB_TRIES,
      backoff: { type: 'fixed', delay: BACKOFF_MS },
      removeOnComplete: true,
      removeOnFail: true,
    });
    open = [queue, startWorker(service, backend, QUEUE, 1)];
    await eventually('the end of the job', async () => !(await queue.getJob(jobId(data))));
  }

  for (const [outcome, times] of Object.entries({
    lost_race: 1,
    put_off: 1,
    retried: JOB_TRIES - 1,
    failed: 1,
  })) {
    it(`says ${outcome} ${times} time(s)`, () => {
      const jobs = 'malipo_job_duration_seconds_count';
      expect(sumOf(samples, jobs, { queue: QUEUE, outcome })).to.equal(times);
    });
  }

  it('says that the gateway’s driver threw', () => {
    const labels = { gateway: 'simulator', call: 'query', result: 'threw' };
    const calls = 'malipo_gateway_call_duration_seconds_count';
    expect(sumOf(samples, calls, labels)).to.equal(JOB_TRIES + 2);
  });
});

describe('What the API counts of requests that wait for a reversal', () => {
  it('is how many wait, and how many were refused', async () => {
    const { http, registry } = createMeters();
    const room = createWaitingRoom(1, http);
    const [first, second] = [{}, {}];
    room.enter(first);
    expect(() => room.enter(second)).to.throw('unavailable');
    const waiting = await scrape(registry);
    expect(sumOf(waiting, 'malipo_http_reversal_waiters')).to.equal(1);
    expect(sumOf(waiting, 'malipo_http_reversal_waiters_refused_total')).to.equal(1);
    room.leave(first);
    expect(sumOf(await scrape(registry), 'malipo_http_reversal_waiters')).to.equal(0);
  });
});
