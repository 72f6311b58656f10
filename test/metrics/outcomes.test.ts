import type { Queue, Worker } from 'bullmq';
import { expect } from 'chai';
import { createWaitingRoom } from '../../src/api/middleware/mount-awaited.ts';
import { LostRaceError } from '../../src/domain/payments/payment.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { pollStep } from '../../src/domain/payments/schedule.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import type { Gateway } from '../../src/gateways/gateway.ts';
import { queueBackendOf } from '../../src/jobs/backend.ts';
import { type JobData, jobId } from '../../src/jobs/job-types.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import { JOB_TRIES, openQueues } from '../../src/jobs/queues.ts';
import { createMeters, measuredGateway } from '../../src/metrics/meters.ts';
import type { Service } from '../../src/service/service.ts';
import { startWorker } from '../../src/workers/run-worker.ts';
import { type Sample, scrape, sumOf } from '../support/metrics.ts';
import {
  createTestStore,
  eventually,
  learn,
  newCollection,
  succeeded,
  useStore,
} from '../support/world.ts';

const QUEUE = 'polling-simulator';
const BACKOFF_MS = 10;

describe('What a worker counts of a job that throws', () => {
  const store = useStore({ merchant: 'none' });
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
    resubmit: () => 'never',
    settlingWindowMs: 0,
    answerWindowMs: 0,
    amounts: {},
    submit: async () => ({ outcome: 'unknown', reason: 'not asked here' }),
    query: async () => {
      throw throwFirst.shift() ?? new TypeError('the driver has a bug');
    },
    parseCallback: () => null,
  };

  before(async () => {
    const service = store.parts();
    const driver = measuredGateway(gateway, service.meters);
    await runToItsEnd({ ...service, gateways: new Map([[driver.name, driver]]) });
    samples = await scrape(service.meters.registry);
  });

  after(async () => {
    await Promise.all(open.map((each) => each.close()));
  });

  async function runToItsEnd(service: Service): Promise<void> {
    const merchant = await store.newMerchant();
    const collection = await newCollection(store.database, merchant);
    await changeStep(store.database, refOf(collection), pollStep(collection, 0));
    const { id: rowId, step_no: stepNo } = await store.reread(collection);
    const { merchant_id } = merchant;
    const data: JobData = {
      kind: 'collection',
      step: 'poll',
      merchant_id,
      row_id: rowId,
      step_no: stepNo,
    };
    const backend = await queueBackendOf(store);
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

describe('What a worker counts of a job that finds nothing to do', () => {
  const store = useStore();

  it('is that it has no row, unless it is only stale', async () => {
    const service = store.parts();
    const { id, merchant_id } = await store.newCollection();
    const queues = ['refunds', 'callbacks', 'webhooks', QUEUE, 'submission-simulator'];
    const steps = [
      ['payout', 'refund', 'refunds'],
      ['callback', 'process', 'callbacks'],
      ['webhook', 'deliver', 'webhooks'],
      ['return', 'poll', QUEUE],
      ['collection', 'submit', 'submission-simulator'],
    ] as const;
    const backend = await queueBackendOf(store);
    const producer = openQueues(backend, service.logger);
    const workers = queues.map((queue) => startWorker(service, backend, queue, 1));
    const job = { merchant_id, step_no: 99, delay_ms: 0 };
    for (const [kind, step, queue] of steps) {
      await producer.add(queue, [{ ...job, kind, step, queue, row_id: crypto.randomUUID() }]);
    }
    // Its row is there, with another step.
    const stale = { ...job, kind: 'collection', step: 'submit', row_id: id } as const;
    await producer.add('submission-simulator', [{ ...stale, queue: 'submission-simulator' }]);
    const count = async (labels: Record<string, string>) =>
      sumOf(await scrape(service.meters.registry), 'malipo_job_duration_seconds_count', labels) ??
      0;
    await eventually('all to be counted', async () => (await count({})) === steps.length + 1);
    for (const queue of queues)
      expect(await count({ queue, outcome: 'no_row' }), queue).to.equal(1);
    expect(await count({ outcome: 'completed' })).to.equal(1);
    await Promise.all([producer.close(), ...workers.map((worker) => worker.close())]);
  });
});

describe('How the ends of payments were learned', () => {
  it('is counted by channel, as their history says', async () => {
    const store = await createTestStore();
    const merchant = await store.newMerchant();
    for (const cause of ['callback', 'poll', 'poll', 'statement']) {
      await learn(
        store.database,
        await newCollection(store.database, merchant),
        succeeded(),
        cause,
      );
    }
    const ended: string[] = [];
    await prepareDeliveries(store.database, 0, ({ channel, cause }) =>
      ended.push(`${channel} ${cause}`),
    );
    expect(ended.sort()).to.deep.equal([
      '63902 callback',
      '63902 poll',
      '63902 poll',
      '63902 statement',
    ]);
    await store.drop();
  });
});

describe('What the API counts of requests that wait for a reversal', () => {
  it('is how many wait, and how many were refused: one merchant cannot take all places', async () => {
    const { http, registry } = createMeters();
    const room = createWaitingRoom(
      { places: 3, placesOfMerchant: 2 },
      { waiters: http.reversalWaiters, refused: http.reversalWaitersRefused },
    );
    const [first, second, third, fourth] = [{}, {}, {}, {}];
    room.enter(first, 1001);
    room.enter(second, 1001);
    // The same request again takes no second place.
    room.enter(second, 1001);
    expect(() => room.enter(third, 1001), 'its share is taken').to.throw('unavailable');
    room.enter(third, 1002);
    expect(() => room.enter(fourth, 1003), 'all are taken').to.throw('unavailable');
    room.leave(second);
    room.enter(fourth, 1001);
    const waiting = await scrape(registry);
    expect(sumOf(waiting, 'malipo_http_reversal_waiters')).to.equal(3);
    expect(sumOf(waiting, 'malipo_http_reversal_waiters_refused_total')).to.equal(2);
    for (const each of [first, third, fourth]) room.leave(each);
    expect(sumOf(await scrape(registry), 'malipo_http_reversal_waiters')).to.equal(0);
  });
});
