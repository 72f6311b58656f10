import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import { installationId } from '../../src/connections/migrations.ts';
import { createQueueBackend, type QueueBackend } from '../../src/jobs/backend.ts';
import type { RestingQueues } from '../../src/jobs/dispatch-outbox.ts';
import type { JobData } from '../../src/jobs/job-types.ts';
import { AFTER_ERROR_MS } from '../../src/jobs/paced-worker.ts';
import { openQueues, type Queues } from '../../src/jobs/queues.ts';
import { addStuckWork } from '../../src/metrics/process-metrics.ts';
import { loadConfig } from '../../src/service/service.ts';
import {
  createLiveness,
  type Liveness,
  type ProbeResult,
  probeQueue,
  watchRound,
  watchWorker,
} from '../../src/workers/liveness.ts';
import { connectWorkers, startWorkers } from '../../src/workers/start-workers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { backendsUnderTest, environment } from '../support/environment.ts';
import { scrape, sumOf } from '../support/metrics.ts';
import { makeReadOnly, makeWritable } from '../support/read-only.ts';
import { eventually, rejection, SILENT, useStore } from '../support/world.ts';

const STUCK_AFTER_MS = 200;
/** Longer than the last two probes of a test lie apart, even on a slow machine. */
const LONGER_MS = 1_000;

describe('A process with work', () => {
  let liveness: Liveness;

  beforeEach(() => {
    liveness = createLiveness(STUCK_AFTER_MS);
  });

  afterEach(() => liveness.close());

  const isHealthy = () => liveness.health().isHealthy;
  const states = () =>
    (liveness.health().details as { work: { state: string }[] }).work.map(({ state }) => state);

  it('is healthy before the first probe', () => {
    liveness.watch('refunds', async () => 'due');
    expect(isHealthy()).to.equal(true);
  });

  it('is unhealthy when work stays due and none is begun, until some is', async () => {
    const begin = liveness.watch('refunds', async () => 'due');
    await eventually('the work to be stuck', async () => !isHealthy());
    begin();
    expect(isHealthy()).to.equal(true);
  });

  it('is unhealthy when one kind of its work is stuck, and says which', async () => {
    liveness.watch('callbacks', async () => 'nothing due');
    liveness.watch('refunds', async () => 'due');
    await eventually('the work to be stuck', async () => !isHealthy());
    const { work } = liveness.health().details as { work: { name: string; stuck: boolean }[] };
    expect(work.filter(({ stuck }) => stuck).map(({ name }) => name)).to.deep.equal(['refunds']);
  });

  it('shows in its metrics which work is stuck, and when it no longer is', async () => {
    const registry = new Registry();
    addStuckWork(registry, liveness.works);
    liveness.watch('callbacks', async () => 'nothing due');
    const begin = liveness.watch('refunds', async () => 'due');
    const stuck = async (work: string) =>
      sumOf(await scrape(registry), 'malipo_work_stuck', { work });
    expect([await stuck('callbacks'), await stuck('refunds')]).to.deep.equal([0, 0]);
    await eventually('the work to be stuck', async () => (await stuck('refunds')) === 1);
    expect(await stuck('callbacks')).to.equal(0);
    begin();
    expect(await stuck('refunds')).to.equal(0);
  });

  it('is healthy as long as it begins some of its work', async () => {
    const begin = liveness.watch('refunds', async () => 'due');
    for (let times = 0; times < 20; times += 1) {
      await sleep(STUCK_AFTER_MS / 8);
      begin();
      expect(isHealthy()).to.equal(true);
    }
  });

  const NO_REASON: Record<string, () => Promise<ProbeResult>> = {
    'nothing due': async () => 'nothing due',
    paused: async () => 'paused',
    'rate limited': async () => 'rate limited',
    disconnected: () => Promise.reject(new Error('away')),
  };
  for (const [state, look] of Object.entries(NO_REASON)) {
    it(`is healthy when it begins nothing because it is: ${state}`, async () => {
      liveness.watch('refunds', look);
      await sleep(STUCK_AFTER_MS * 2);
      expect(states()).to.deep.equal([state]);
      expect(isHealthy()).to.equal(true);
    });
  }

  it('starts its time again after each probe that finds nothing due', async () => {
    const patient = createLiveness(LONGER_MS);
    const results: ProbeResult[] = ['due', 'due', 'nothing due', 'due', 'due'];
    let next = 0;
    patient.watch('refunds', async () => results[next++] ?? 'nothing due');
    // It would be stuck by now if its time had started with the first probe.
    await eventually('all probes', async () => next === results.length);
    expect(patient.health().isHealthy).to.equal(true);
    patient.close();
  });
});

describe('A round of the outbox', () => {
  const RESTING: RestingQueues = new Map([['refunds', { until: 0, restMs: 5_000 }]]);
  const noted = async (round: () => Promise<number>, resting: RestingQueues = new Map()) => {
    let isNoted = false;
    await watchRound(round, resting, () => {
      isNoted = true;
    }).catch(() => {});
    return isNoted;
  };
  const throwing = (error: Error) => () => Promise.reject(error);

  it('shows that the dispatcher works when it moved something, or had nothing to move', async () => {
    expect(await noted(async () => 3, RESTING)).to.equal(true);
    expect(await noted(async () => 0)).to.equal(true);
  });

  it('shows nothing when all rows wait for queues that rest', async () => {
    expect(await noted(async () => 0, RESTING)).to.equal(false);
  });

  it('shows that the dispatcher works while the database or a queue is away', async () => {
    const refused = Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
    expect(await noted(throwing(refused))).to.equal(true);
    expect(await noted(throwing(new Error('The queue refunds does not answer')))).to.equal(true);
    expect(await noted(throwing(new Error('Command timed out')))).to.equal(true);
  });

  it('shows nothing when it fails for any other reason, and passes the error on', async () => {
    expect(await noted(throwing(new TypeError('a bug')))).to.equal(false);
    const failure = new Error('OOM command not allowed');
    const error = await rejection(watchRound(throwing(failure), new Map(), () => {}));
    expect(error).to.equal(failure);
  });
});

for (const backendName of backendsUnderTest()) {
  describe(`The probe of a queue in ${backendName}`, () => {
    let database: TestDatabase;
    let backend: QueueBackend;
    let queues: Queues;

    before(async () => {
      database = await createTestDatabase();
      const redisUrl = backendName === 'redis' ? environment.redisUrl : undefined;
      backend = createQueueBackend({
        ...{ redisUrl, databaseUrl: database.url },
        installationId: 'test',
      });
      queues = openQueues(backend, SILENT);
    });

    after(async () => {
      await queues.close();
      await database.drop();
    });

    const add = (queue: string, rowId: string, delayMs = 0) =>
      queues.add(queue, [
        {
          ...{ queue, kind: 'collection', step: 'submit', merchant_id: 1 },
          ...{ row_id: rowId, step_no: 1, delay_ms: delayMs },
        } as Parameters<Queues['add']>[1][number],
      ]);

    it('finds what is due and not begun, and nothing once all is under way', async () => {
      const queue = `probe-${process.pid}`;
      let finish = () => {};
      const held = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const worker = backend.createWorker(queue, () => held, { concurrency: 1, lockMs: 30_000 });
      const begun: string[] = [];
      worker.on('active', (job) => begun.push(job.data.row_id));
      const liveness = createLiveness(STUCK_AFTER_MS);
      watchWorker(worker, liveness);
      const isHealthy = () => liveness.health().isHealthy;
      expect(await probeQueue(worker)).to.equal('nothing due');
      await add(queue, 'first');
      await eventually('the first to be begun', async () => begun.length === 1);
      expect(await probeQueue(worker)).to.equal('nothing due');
      await add(queue, 'later', 60_000);
      expect(await probeQueue(worker)).to.equal('nothing due');
      // Nobody moves a delayed job whose time has come while all workers are stuck.
      await add(queue, 'soon', 100);
      await eventually('it to be due', async () => (await probeQueue(worker)) === 'due');
      await eventually('the worker to be unhealthy', async () => !isHealthy());
      await worker.getBackend().pause(true);
      await eventually('a paused one to be healthy', async () => isHealthy());
      expect(await probeQueue(worker)).to.equal('paused');
      await worker.getBackend().pause(false);
      await worker.getBackend().setRateLimit(60_000);
      expect(await probeQueue(worker)).to.equal('rate limited');
      await worker.getBackend().removeRateLimitKey();
      await worker.pause(true);
      expect(await probeQueue(worker)).to.equal('paused');
      worker.resume();
      await eventually('it to be unhealthy again', async () => !isHealthy());
      finish();
      await eventually('the next job to make it healthy', async () => isHealthy());
      liveness.close();
      await worker.close();
    });
  });
}

describe('A worker of queues in a database that can only be read', () => {
  let database: TestDatabase;

  before(async () => {
    database = await createTestDatabase();
  });

  after(() => database.drop());

  it('is healthy though it begins nothing, and begins what is due when it can', async () => {
    const backend = createQueueBackend({ databaseUrl: database.url });
    const queue = backend.createQueue('refunds');
    await queue.add('due', {} as JobData, { jobId: 'due' });
    await queue.close();
    await makeReadOnly(database.url);
    const ended: unknown[] = [];
    const errors: Error[] = [];
    const worker = backend.createWorker('refunds', async (job) => void ended.push(job.name), {
      concurrency: 1,
      lockMs: 30_000,
    });
    const liveness = createLiveness(2.5 * AFTER_ERROR_MS);
    watchWorker(worker, liveness);
    worker.on('error', (error) => errors.push(error));
    const state = () => (liveness.health().details as { work: { state: string }[] }).work[0]!.state;
    await eventually('it to be probed', async () => state() === 'due');
    const before = errors.length;
    await eventually('more errors', async () => {
      expect(liveness.health().isHealthy).to.equal(true);
      return errors.length >= before + 4;
    });
    expect(state()).to.equal('due');
    expect(errors.map((error) => (error as { code?: string }).code)).to.include('25006');
    await makeWritable(database.url);
    await eventually('the job to be done', async () => ended.length === 1);
    liveness.close();
    await worker.close();
  });
});

describe('A dispatcher', () => {
  const store = useStore({ merchant: 'none' });

  it('is unhealthy while it leaves due rows in the outbox', async function () {
    if (!environment.redisUrl) return this.skip();
    const REDIS_URL = `${environment.redisUrl}/13`;
    const config = loadConfig({ DATABASE_URL: store.url, REDIS_URL });
    const service = store.parts(config);
    const redis = new Redis(REDIS_URL);
    // The queue refuses jobs, but is not away.
    const waitingList = `{malipo-${await installationId(store.database)}-refunds}:refunds:wait`;
    await redis.set(waitingList, 'no list');
    const liveness = createLiveness(STUCK_AFTER_MS);
    const parts = startWorkers(service, await connectWorkers(service), ['dispatcher'], liveness);
    const isHealthy = () => liveness.health().isHealthy;
    await store.rows(
      `INSERT INTO outbox (queue, kind, step, merchant_id, row_id, step_no, run_at)
       -- Due for long: a job that waits would go into the delayed ones, which are a good list.
       VALUES ('refunds', 'payout', 'refund', 1, :row_id, 1, now() - interval '1 minute')`,
      { row_id: crypto.randomUUID() },
    );
    await eventually('the dispatcher to be unhealthy', async () => !isHealthy());
    await redis.del(waitingList);
    await eventually('the dispatcher to be healthy', async () => isHealthy());
    await eventually('the row to be gone', async () => {
      return (await store.rows('SELECT id FROM outbox')).length === 0;
    });
    liveness.close();
    await Promise.all(parts.map((part) => part.close()));
    await redis.flushdb();
    redis.disconnect();
  });

  it('gives the lease of the sweeper back when it stops', async () => {
    const service = store.parts();
    const parts = startWorkers(service, await connectWorkers(service), ['dispatcher']);
    const isHeld = async () =>
      (await store.rows(`SELECT 1 FROM leases WHERE name = 'sweeper'`)).length === 1;
    await eventually('the sweeper to hold its lease', isHeld);
    await Promise.all(parts.map((part) => part.close()));
    expect(await isHeld()).to.equal(false);
  });
});

it('The probe of a queue that is away does not wait for it', async () => {
  const backend = createQueueBackend({
    ...{ redisUrl: 'redis://127.0.0.1:1', databaseUrl: '' },
    installationId: 'test',
  });
  const options = { concurrency: 1, lockMs: 30_000 };
  const worker = backend.createWorker('away', async () => {}, options);
  worker.on('error', () => {});
  expect(await rejection(probeQueue(worker))).to.be.instanceOf(Error);
  await worker.close(true);
});
