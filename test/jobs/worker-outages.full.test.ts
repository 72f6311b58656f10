import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue, Worker } from 'bullmq';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../scripts/sandbox/embedded/redis.ts';
import { openDatabase, rows } from '../../src/connections/database.ts';
import { createQueueBackend, type QueueBackend } from '../../src/jobs/backend.ts';
import type { JobData } from '../../src/jobs/job-types.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { describeWith } from '../support/programs.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const QUEUE = 'refunds';
const SLOTS = 5;
const LOCK_MS = 2_000;
/** More jobs than the slots run while the store refuses. */
const MANY = 300;
const JOB_MS = 20;
const REFUSING_MS = 1_500;
/** Generous: some per job that ran, and a few more. Without a pause there are thousands. */
const MOST_ERRORS = 60;

class Taker {
  readonly runs: string[] = [];
  errors = 0;
  readonly #queue: Queue<JobData>;
  readonly worker: Worker<JobData>;

  constructor(backend: QueueBackend, queue: Queue<JobData>) {
    this.#queue = queue;
    queue.on('error', () => {});
    const options = { concurrency: SLOTS, lockMs: LOCK_MS };
    this.worker = backend.createWorker(QUEUE, (job) => this.#run(job.id!), options);
    this.worker.on('error', () => {
      this.errors += 1;
    });
  }

  async #run(id: string): Promise<void> {
    this.runs.push(id);
    await sleep(JOB_MS);
  }

  async add(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, (_, index) => `job-${index}`);
    const opts = { removeOnComplete: true, attempts: 5 };
    await this.#queue.addBulk(
      ids.map((jobId) => ({ name: 'job', data: {} as JobData, opts: { ...opts, jobId } })),
    );
    return ids;
  }

  /** Collects the errors of a time in which the store refuses everything. */
  async errorsWhile(refuse: () => Promise<unknown>): Promise<number> {
    await eventually('the worker is busy', async () => this.runs.length > SLOTS);
    this.errors = 0;
    await refuse();
    await sleep(REFUSING_MS);
    return this.errors;
  }

  async isEmpty(): Promise<boolean> {
    const counts = await this.#queue.getJobCounts();
    return Object.values(counts).every((count) => count === 0);
  }

  async close(): Promise<void> {
    await Promise.all([this.worker.close(), this.#queue.close()]);
  }
}

describe('A worker in PostgreSQL', () => {
  let testDatabase: TestDatabase;
  let direct: QueueBackend;

  beforeEach(async () => {
    testDatabase = await createTestDatabase();
    direct = createQueueBackend({ databaseUrl: testDatabase.url });
  });

  afterEach(() => testDatabase.drop());

  it('that was created in an outage does each job once, ends it, and is counted', async () => {
    const proxy = await startTcpProxy(testDatabase.url);
    const backend = createQueueBackend({ databaseUrl: proxy.url }, QUEUE);
    await proxy.cut();
    const queue = direct.createQueue(QUEUE);
    const taker = new Taker(backend, queue);
    await taker.worker.waitUntilReady().catch(() => {});
    await proxy.restore();
    await eventually('it is seen', async () => (await direct.countWorkers(queue)) === 1);
    const ids = await taker.add(4 * SLOTS);
    await eventually('the queue is empty', () => taker.isEmpty());
    expect(taker.runs).to.have.members(ids);
    await taker.close();
    await proxy.close();
  });

  it('pauses while the server refuses every session, and goes on afterwards', async () => {
    const taker = new Taker(direct, direct.createQueue(QUEUE));
    const ids = await taker.add(MANY);
    const name = new URL(testDatabase.url).pathname.slice(1);
    const allowSessions = (allowed: boolean) =>
      onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${allowed}`);
    const errors = await taker.errorsWhile(async () => {
      await allowSessions(false);
      await onServer(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
      );
    });
    expect(errors).to.be.within(1, MOST_ERRORS);
    await allowSessions(true);
    await eventually('each job has run', async () => new Set(taker.runs).size === ids.length);
    await taker.close();
  });

  it('survives a connection lost while it checks the queue tables', async () => {
    const proxy = await startTcpProxy(testDatabase.url);
    const backend = createQueueBackend({ databaseUrl: proxy.url });
    const lock = await testDatabase.owner.transaction();
    await rows(lock, 'LOCK TABLE bullmq.migration');
    const taker = new Taker(backend, direct.createQueue(QUEUE));
    const problem = backend.problem();
    // The worker, this query, and the queue, which does not go through the proxy.
    await eventually('all wait for the lock', async () => (await waiting(testDatabase)) === 3);
    await proxy.cut();
    expect(await problem).to.match(/^DATABASE_URL cannot be used/);
    await lock.rollback();
    await proxy.restore();
    await taker.worker.waitUntilReady();
    await taker.close();
    await proxy.close();
  });

  it('does not wait out its pause when it closes', async () => {
    const taker = new Taker(direct, direct.createQueue(QUEUE));
    await taker.worker.waitUntilReady();
    const pause = taker.worker.delay(10 * REFUSING_MS);
    await taker.close();
    await pause;
  });
});

async function waiting({ database }: TestDatabase): Promise<number> {
  const found = await rows(
    database,
    `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'
       AND application_name = 'malipo-queues' AND datname = current_database()`,
  );
  return found.length;
}

async function onServer(statement: string): Promise<void> {
  const server = openDatabase(environment.serverUrl, 1, 'malipo-test');
  try {
    await rows(server, statement);
  } finally {
    await server.destroy();
  }
}

describeWith(['redis-server'], 'A worker in a Redis that has become a replica', () => {
  let redis: EmbeddedRedis;
  let operator: Redis;

  before(async () => {
    redis = await startEmbeddedRedis({ reaper: environment.reaper });
    operator = new Redis(redis.url);
  });

  after(async () => {
    operator.disconnect();
    await redis.stop();
  });

  it('reconnects, pauses, and goes on when there is a primary again', async () => {
    const backend = createQueueBackend({
      ...{ databaseUrl: '', redisUrl: redis.url },
      installationId: 'test',
    });
    const taker = new Taker(backend, backend.createQueue(QUEUE));
    const ids = await taker.add(MANY);
    const before = await connectionsMade();
    const errors = await taker.errorsWhile(() => operator.replicaof('127.0.0.1', 1));
    expect(errors).to.be.within(1, MOST_ERRORS);
    expect(await connectionsMade()).to.be.greaterThan(before);
    await operator.replicaof('NO', 'ONE');
    await eventually('each job has run', async () => new Set(taker.runs).size === ids.length);
    await taker.close();
  });

  async function connectionsMade(): Promise<number> {
    const info = await operator.info('stats');
    return Number(/total_connections_received:(\d+)/.exec(info)?.[1]);
  }
});
