import { UnrecoverableError } from 'bullmq';
import { expect } from 'chai';
import { createQueueBackend, type QueueBackend } from '../../src/jobs/backend.ts';
import { allQueues, queueOf } from '../../src/jobs/job-types.ts';
import { inLastMinute, openQueueReader, type QueueReader } from '../../src/jobs/queue-reader.ts';
import { openQueues, type Queues, type StepJob } from '../../src/jobs/queues.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { backendsUnderTest, environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { rejection } from '../support/payments.ts';
import { createRedisUser } from '../support/redis-user.ts';
import { SILENT } from '../support/world.ts';

function job(queue: string, delayMs: number, rowId: string): StepJob {
  return {
    queue,
    kind: 'collection',
    step: 'submit',
    merchant_id: 1,
    row_id: rowId,
    step_no: 1,
    delay_ms: delayMs,
  };
}

for (const backendName of backendsUnderTest()) {
  describe(`The state of a queue in ${backendName}`, () => {
    const queue = queueOf('collection', 'submit', `states-${process.pid}`);
    let database: TestDatabase;
    let backend: QueueBackend;
    let queues: Queues;
    let states: QueueReader;

    before(async () => {
      database = await createTestDatabase();
      const redisUrl = backendName === 'redis' ? environment.redisUrl : undefined;
      backend = createQueueBackend(
        { redisUrl, databaseUrl: database.url, installationId: 'test' },
        'dispatcher+submission',
      );
      queues = openQueues(backend, SILENT);
      states = openQueueReader(backend, SILENT);
    });

    after(async () => {
      await states.close();
      await queues.close();
      await database.drop();
    });

    it('is empty before anything was added', async () => {
      expect(await states.read(`${queue}-new`)).to.deep.equal({
        queue: `${queue}-new`,
        waiting: 0,
        active: 0,
        delayed: 0,
        isPaused: false,
        oldestWaitingMs: null,
        workers: 0,
        endedLastMinute: backendName === 'redis' ? 0 : null,
      });
    });

    it('says how many jobs wait, how many are for later, and how long the first has waited', async () => {
      await queues.add(queue, [job(queue, 0, 'a'), job(queue, 0, 'b'), job(queue, 60_000, 'c')]);
      const state = await states.read(queue);
      expect(state).to.deep.include({ waiting: 2, delayed: 1, active: 0 });
      expect(state.oldestWaitingMs).to.be.a('number');
    });

    it('says which jobs are under way, and that a worker is there', async () => {
      let finish = () => {};
      const held = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const worker = backend.createWorker(queue, () => held, { concurrency: 1, lockMs: 30_000 });
      try {
        await eventually('a job to be under way', async () => {
          const { active, waiting, workers } = await states.read(queue);
          return active === 1 && waiting === 1 && workers === 1;
        });
      } finally {
        finish();
        await worker.close();
      }
    });

    it('says whether a job is there, and whether it waits or is for later', async () => {
      const another = `${queue}-another`;
      await queues.add(another, [job(another, 0, 'a'), job(another, 60_000, 'b')]);
      const of = (rowId: string) => states.stateOf(job(another, 0, rowId));
      expect([await of('a'), await of('b'), await of('c')]).to.deep.equal([
        'waiting',
        'delayed',
        null,
      ]);
    });

    if (backendName === 'redis') {
      it('leaves out what its Redis user may not ask, and shows all else', async () => {
        const user = await createRedisUser('-@dangerous', '+info');
        const limited = createQueueBackend({
          ...{ redisUrl: user.url, databaseUrl: '' },
          installationId: 'test',
        });
        const reader = openQueueReader(limited, SILENT);
        const read = await reader.read(`${queue}-limited`).finally(() => reader.close());
        await user.drop();
        expect(read).to.deep.include({ waiting: 0, workers: null });
        expect(read.oldestWaitingMs).to.equal(null);
      });

      it('counts the jobs that its workers ended, failed ones too', async () => {
        const counted = `${queue}-counted`;
        await queues.add(counted, [job(counted, 0, 'a'), job(counted, 0, 'b')]);
        const work = ({ data }: { data: { row_id: string } }) =>
          data.row_id === 'a' ? Promise.resolve() : Promise.reject(new UnrecoverableError('bug'));
        const worker = backend.createWorker(counted, work, { concurrency: 1, lockMs: 30_000 });
        const reader = backend.createQueue(counted);
        await eventually('both to be counted', async () => {
          const kinds = await Promise.all([
            reader.getMetrics('completed'),
            reader.getMetrics('failed'),
          ]);
          return kinds.every(({ meta }) => meta.count === 1);
        });
        await Promise.all([worker.close(), reader.close()]);
      });
    }
  });
}

describe('The number of jobs that ended in the last whole minute', () => {
  const at = (minute: number, second = 30) => (minute * 60 + second) * 1_000;
  const counter = (prevTS: number) => ({ meta: { count: 9, prevTS, prevCount: 4 }, data: [3, 7] });

  it('is the newest closed part while jobs end in this minute too', () => {
    expect(inLastMinute(counter(at(100)), at(100, 59))).to.equal(3);
    expect(inLastMinute({ ...counter(at(100)), data: [] }, at(100, 59))).to.equal(0);
  });

  it('is the open part when no job has ended since', () => {
    expect(inLastMinute(counter(at(100, 59)), at(101, 0))).to.equal(5);
  });

  it('is 0 when the last job ended before that minute', () => {
    expect(inLastMinute(counter(at(100)), at(102))).to.equal(0);
    expect(
      inLastMinute({ meta: { count: 0, prevTS: 0, prevCount: 0 }, data: [] }, at(102)),
    ).to.equal(0);
  });
});

describe('The state of a queue', () => {
  it('is not waited for while its backend is away', async () => {
    const backend = createQueueBackend({
      ...{ redisUrl: 'redis://127.0.0.1:1', databaseUrl: '' },
      installationId: 'test',
    });
    const states = openQueueReader(backend, SILENT);
    const error = await rejection(states.read('away'));
    expect(error).to.be.instanceOf(Error);
    await states.close();
  });

  it('can be read for every queue that workers serve', () => {
    expect(allQueues(['one', 'two'])).to.deep.equal([
      'submission-one',
      'reversals-one',
      'submission-two',
      'reversals-two',
      'callbacks',
      'polling-one',
      'polling-two',
      'refunds',
      'returns-one',
      'returns-two',
      'webhooks',
    ]);
  });
});
