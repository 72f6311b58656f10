import type { Queue, Worker } from 'bullmq';
import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { createQueueBackend, type QueueBackend } from '../../src/jobs/backend.ts';
import type { JobData } from '../../src/jobs/job-types.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const NAMES = Array.from({ length: 12 }, (_, index) => `shared-${index}`);
/** The connections of the pool, and the one that listens. */
const CONNECTIONS = 4;

describe('The queues of one process in PostgreSQL', () => {
  let testDatabase: TestDatabase;
  let proxy: TcpProxy;
  let backend: QueueBackend;
  let queues: Queue<JobData>[];
  let workers: Worker<JobData>[];
  const done = new Set<string>();

  before(async () => {
    testDatabase = await createTestDatabase();
    proxy = await startTcpProxy(testDatabase.url);
    backend = createQueueBackend({ databaseUrl: proxy.url });
    await proxy.cut();
    queues = NAMES.map((name) => backend.createQueue(name));
    workers = NAMES.map((name) =>
      backend.createWorker(name, async ({ id }) => void done.add(id!), {
        ...{ concurrency: 5, lockMs: 30_000 },
      }),
    );
    for (const queue of queues) queue.on('error', () => {});
    for (const worker of workers) worker.on('error', () => {});
  });

  after(async () => {
    await Promise.all([...queues, ...workers].map((user) => user.close()));
    await proxy.close();
    await testDatabase.drop();
  });

  const connections = async () => {
    const found = await rows(
      testDatabase.database,
      `SELECT 1 FROM pg_stat_activity WHERE application_name = 'malipo-queues'
         AND datname = current_database()`,
    );
    return found.length;
  };

  /** Sends a job through each queue. Repeats adding, as the dispatcher does. */
  async function passThrough(which: Queue<JobData>[], round: string): Promise<void> {
    for (const queue of which) {
      await eventually(`a job is added to ${queue.name}`, () =>
        queue
          .add('job', {} as JobData, { jobId: `${queue.name}-${round}`, removeOnComplete: true })
          .catch(() => null),
      );
    }
    await eventually(`the jobs of ${round} are done`, async () =>
      which.every(({ name }) => done.has(`${name}-${round}`)),
    );
  }

  it('work after an outage in which they were first used', async () => {
    const refused = await queues[0]!.add('job', {} as JobData).catch((error) => error);
    expect(refused).to.be.instanceOf(Error);
    await proxy.restore();
    await passThrough(queues, 'first');
  });

  it('share a few connections', async () => {
    expect(await connections()).to.be.within(2, CONNECTIONS);
  });

  it('listen again after their connections were cut', async () => {
    await proxy.cut();
    await proxy.restore();
    await passThrough(queues, 'second');
    expect(await connections()).to.be.within(2, CONNECTIONS);
  });

  it('go on when some of them are closed, and leave nothing open in the end', async () => {
    const [firstQueue, ...otherQueues] = queues as [Queue<JobData>, ...Queue<JobData>[]];
    const [firstWorker, ...otherWorkers] = workers as [Worker<JobData>, ...Worker<JobData>[]];
    await Promise.all([firstQueue.close(), firstWorker.close()]);
    await passThrough(otherQueues, 'third');
    await Promise.all([...otherQueues, ...otherWorkers].map((user) => user.close()));
    await eventually('no connection is left', async () => (await connections()) === 0);
  });
});
