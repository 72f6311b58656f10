import type { Queue } from 'bullmq';
import { expect } from 'chai';
import { createQueueBackend, type QueueBackend } from '../../src/jobs/backend.ts';
import { type JobData, queuesOf } from '../../src/jobs/job-types.ts';
import { emptyQueues } from '../../src/jobs/queue-reader.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { backendsUnderTest, environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';

const NAMES = queuesOf('settlement', ['simulator']);
const DATA: JobData = {
  kind: 'callback',
  step: 'process',
  merchant_id: 1001,
  row_id: '0192f0c0-0000-7000-8000-000000000001',
  step_no: 1,
};

for (const name of backendsUnderTest()) {
  describe(`Emptying queues in ${name}`, () => {
    let testDatabase: TestDatabase;
    let backend: QueueBackend;
    let queue: Queue<JobData>;

    before(async () => {
      testDatabase = await createTestDatabase();
      backend = createQueueBackend({
        databaseUrl: testDatabase.url,
        installationId: 'test',
        ...(name === 'redis' ? { redisUrl: `${environment.redisUrl}/9` } : {}),
      });
      queue = backend.createQueue(NAMES[0]!);
      queue.on('error', () => {});
      await queue.waitUntilReady();
    });

    after(async () => {
      await emptyQueues(backend, NAMES);
      await queue.close();
      await testDatabase.drop();
    });

    it('removes and counts jobs that wait, that are for later and that are under way', async () => {
      const worker = backend.createWorker(NAMES[0]!, () => new Promise(() => {}), {
        concurrency: 1,
        lockMs: 30_000,
      });
      worker.on('error', () => {});
      await queue.add('first', DATA, { jobId: 'first' });
      await eventually('a job to be under way', async () => (await queue.getActiveCount()) === 1);
      await queue.add('waits', DATA, { jobId: 'waits' });
      await queue.add('later', DATA, { jobId: 'later', delay: 60_000 });
      expect(await emptyQueues(backend, NAMES)).to.deep.equal([
        { queue: NAMES[0], jobs: 3 },
        { queue: NAMES[1], jobs: 0 },
      ]);
      expect(await emptyQueues(backend, NAMES)).to.deep.include({ queue: NAMES[0], jobs: 0 });
      await worker.close(true);
    });

    it('leaves queues that accept the same job again and give it to a worker', async () => {
      await queue.add('again', DATA, { jobId: 'waits' });
      const done: (string | undefined)[] = [];
      const worker = backend.createWorker(NAMES[0]!, async ({ id }) => void done.push(id), {
        concurrency: 1,
        lockMs: 30_000,
      });
      worker.on('error', () => {});
      await eventually('the job to run', async () => done.length > 0);
      expect(done).to.deep.equal(['waits']);
      await worker.close();
    });
  });
}
