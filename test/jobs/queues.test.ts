import { randomUUID } from 'node:crypto';
import type { Queue } from 'bullmq';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createQueueBackend, type QueueBackend } from '../../src/jobs/backend.ts';
import type { JobData } from '../../src/jobs/job-types.ts';
import { openQueues, type Queues, type StepJob } from '../../src/jobs/queues.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { backendsUnderTest, environment } from '../support/environment.ts';
import { SILENT } from '../support/world.ts';

/** A single job, and batches. */
const COUNTS = [1, 2, 50];
const MANY = 1_000;
/** Less than the ten thousand entries that are kept by default. */
const FEW_EVENTS = 500;

for (const name of backendsUnderTest()) {
  describe(`A queue in ${name}`, () => {
    const queueName = `test-${randomUUID()}`;
    let testDatabase: TestDatabase;
    let queues: Queues;
    let backend: QueueBackend;
    let queue: Queue<JobData>;

    before(async () => {
      testDatabase = await createTestDatabase();
      backend = createQueueBackend({
        databaseUrl: testDatabase.url,
        installationId: 'test',
        redisUrl: name === 'redis' ? environment.redisUrl : undefined,
      });
      queues = openQueues(backend, SILENT);
      queue = backend.createQueue(queueName);
    });

    after(async () => {
      await queue.close();
      await queues.close();
      await testDatabase.drop();
    });

    afterEach(() => queue.obliterate({ force: true }));

    for (const count of COUNTS) {
      it(`takes ${count} jobs, and each of them once however often it is added`, async () => {
        const jobs = newJobs(count);
        await queues.add(queueName, jobs);
        await queues.add(queueName, jobs);
        const found = await queue.getJobs(['waiting', 'prioritized', 'delayed']);
        expect(found.map(({ data }) => data.row_id)).to.have.members(
          jobs.map(({ row_id: rowId }) => rowId),
        );
        expect(new Set(found.map(({ opts }) => opts.attempts))).to.deep.equal(new Set([5]));
      });
    }

    it('takes some that are due later beside others', async () => {
      const [now, later] = newJobs(2);
      await queues.add(queueName, [now!, { ...later!, delay_ms: 60_000 }]);
      expect(await queue.getJobCounts('waiting', 'delayed')).to.include({ waiting: 1, delayed: 1 });
    });

    if (name === 'redis') {
      it('warns of queues whose keys have no id of an installation', async () => {
        const redis = new Redis(environment.redisUrl!);
        const former = `{malipo-${queueName}}:${queueName}:meta`;
        expect(await backend.warning([queueName, 'refunds'])).to.equal(null);
        await redis.hset(former, 'version', 'bullmq');
        const warning = await backend.warning([queueName, 'refunds']);
        await redis.del(former);
        await redis.quit();
        expect(warning).to.include(`(${queueName})`).and.include(`{malipo-${queueName}}`);
      });

      it('does not fill Redis with a history that nobody reads', async () => {
        // A queue of its own: removing the other queue's jobs removes its settings too.
        const busy = `test-${randomUUID()}`;
        for (let added = 0; added < MANY; added += 100) await queues.add(busy, newJobs(100));
        const redis = new Redis(environment.redisUrl!);
        const length = await redis.xlen(`{malipo-test-${busy}}:${busy}:events`);
        await redis.quit();
        const left = backend.createQueue(busy);
        await left.obliterate({ force: true });
        await left.close();
        expect(length).to.be.within(1, FEW_EVENTS);
      });
    }

    function newJobs(count: number): StepJob[] {
      return Array.from({ length: count }, () => ({
        queue: queueName,
        kind: 'callback',
        step: 'process',
        merchant_id: 1,
        row_id: randomUUID(),
        step_no: 1,
        delay_ms: 0,
      }));
    }
  });
}
