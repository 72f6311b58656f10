import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { FEW_ROWS, openDatabase, rows } from '../../src/connections/database.ts';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import {
  type AddedRows,
  dispatchOutbox,
  type RestingQueues,
  removeAdded,
} from '../../src/jobs/dispatch-outbox.ts';
import { MAX_ROOM, type Rooms } from '../../src/jobs/queue-rooms.ts';
import { JOB_TRIES, openQueues, type Queues, type StepJob } from '../../src/jobs/queues.ts';
import { sweep } from '../../src/jobs/sweeper.ts';
import { environment } from '../support/environment.ts';
import { rejection, SILENT, useStore } from '../support/world.ts';

const QUEUE = 'submission-simulator';
/** Long enough to hold up the other queues. */
const HANGING_MS = 1_100;

interface Recorder extends Queues {
  added: StepJob[];
}

/** Queues that only record what is added, which no real queue shows. */
function recorder(onAdd: (queue: string) => Promise<void> = async () => {}): Recorder {
  const added: StepJob[] = [];
  return {
    added,
    add: async (queue, jobs) => {
      await onAdd(queue);
      added.push(...jobs);
    },
    countWaiting: async () => 0,
    close: async () => {},
  };
}

describe('The dispatcher', () => {
  const store = useStore({ merchant: 'all' });

  beforeEach(async () => {
    await store.rows(
      `UPDATE collections SET next_step_at = now() + interval '1 day' WHERE next_step IS NOT NULL`,
    );
    await store.rows('DELETE FROM outbox');
  });

  /** Inserts the outbox rows of `count` payments. */
  async function fillOutbox(count: number, queue = QUEUE, runAt = 'now()'): Promise<void> {
    await store.rows(
      `INSERT INTO outbox (queue, kind, step, merchant_id, row_id, step_no, run_at)
       SELECT :queue, 'collection', 'submit', 1001, gen_random_uuid(), 1, ${runAt}
       FROM generate_series(1, CAST(:count AS integer))`,
      { queue, count },
    );
  }

  const waiting = () => store.countOf('outbox');

  it('keeps the rows of jobs that the queue in PostgreSQL refuses', async () => {
    await fillOutbox(3);
    const { service } = environment.roles;
    const queues = openQueues(
      createQueueBackend({ databaseUrl: store.url, installationId: 'test' }),
      SILENT,
    );
    const resting: RestingQueues = new Map();
    await rows(store.owner, `REVOKE INSERT ON bullmq.job FROM ${service}`);
    try {
      const added: AddedRows = [];
      const failure = await rejection(dispatchOutbox(store.database, queues, resting, added));
      expect(failure.message).to.include('permission denied for table job');
      expect([...resting.keys()]).to.deep.equal([QUEUE]);
      expect([added.length, await waiting()]).to.deep.equal([0, 3]);
    } finally {
      await rows(store.owner, `GRANT INSERT ON bullmq.job TO ${service}`);
      await queues.close();
    }
  });

  const dispatch = async (queues: Queues, resting: RestingQueues = new Map()) => {
    const added: AddedRows = [];
    const round = dispatchOutbox(store.database, queues, resting, added);
    return round.finally(() => removeAdded(store.database, added));
  };

  describe('with real queues', () => {
    const backend = () => createQueueBackend({ databaseUrl: store.url });
    let queues: Queues;
    let queue: ReturnType<ReturnType<typeof backend>['createQueue']>;

    before(() => {
      queues = openQueues(backend(), SILENT);
      queue = backend().createQueue(QUEUE);
    });

    after(async () => {
      await queue.close();
      await queues.close();
    });

    afterEach(() => queue.obliterate({ force: true }));

    const jobs = () => queue.getJobs(['waiting', 'delayed', 'prioritized']);

    it('moves a step’s job from the outbox to its queue', async () => {
      const collection = await store.newCollection();
      expect(await dispatch(queues)).to.equal(1);
      expect(await waiting()).to.equal(0);
      const [job] = await jobs();
      expect(job).to.include({ id: `collection-${collection.id}-1`, name: 'collection.submit' });
      expect(job!.data).to.include({
        kind: 'collection',
        step: 'submit',
        merchant_id: store.merchantId,
        row_id: collection.id,
        step_no: 1,
      });
      expect(job!.opts).to.include({ attempts: JOB_TRIES, removeOnComplete: true, delay: 0 });
      expect(await dispatch(queues)).to.equal(0);
    });

    it('delays what is to run later', async () => {
      await fillOutbox(1, QUEUE, `now() + interval '10 minutes'`);
      await dispatch(queues);
      const [job] = await jobs();
      expect(job!.opts.delay).to.be.within(500_000, 600_000);
      expect(await job!.getState()).to.equal('delayed');
    });

    it('adds a job once that is in the outbox twice', async () => {
      const collection = await store.newCollection();
      await store.rows(`INSERT INTO outbox (queue, kind, step, merchant_id, row_id, step_no, run_at)
         SELECT queue, kind, step, merchant_id, row_id, step_no, run_at FROM outbox`);
      expect(await dispatch(queues)).to.equal(2);
      expect((await jobs()).map(({ id }) => id)).to.deep.equal([`collection-${collection.id}-1`]);
    });

    it('adds every job once when several of it work at once', async () => {
      await fillOutbox(700);
      const rounds: number[] = [];
      const workUntilEmpty = async () => {
        while ((await waiting()) > 0) rounds.push(await dispatch(queues));
      };
      await Promise.all([workUntilEmpty(), workUntilEmpty(), workUntilEmpty()]);
      expect(rounds.reduce((sum, count) => sum + count)).to.equal(700);
      expect(await jobs()).to.have.length(700);
    });

    it('adds again what the queues have lost, under the same id, and nothing else', async () => {
      const { id } = await store.newCollection();
      const sweepAndDispatch = async () => {
        await store.rows(
          `UPDATE collections SET next_step_at = now() - interval '1 hour', step_swept_at = NULL
           WHERE id = :id`,
          { id },
        );
        expect(await sweep(store.database, 1_000)).to.equal(1);
        expect(await dispatch(queues)).to.equal(1);
        return (await jobs()).map((job) => job.id);
      };
      await dispatch(queues);
      expect(await sweepAndDispatch()).to.deep.equal([`collection-${id}-1`]);
      await queue.obliterate({ force: true });
      expect(await sweepAndDispatch()).to.deep.equal([`collection-${id}-1`]);
    });

    it('adds its batch again after a crash, which is harmless', async () => {
      await fillOutbox(3);
      const breaking: Queues = {
        ...queues,
        add: async (queue, batch) => {
          await queues.add(queue, batch);
          throw new Error('and then it broke down');
        },
      };
      await rejection(dispatch(breaking));
      expect(await waiting()).to.equal(3);
      expect(await dispatch(queues)).to.equal(3);
      expect(await jobs()).to.have.length(3);
    });
  });

  const rowsBy = (order: 'ASC' | 'DESC') =>
    store
      .rows<{ row_id: string }>(`SELECT row_id FROM outbox ORDER BY id ${order}`)
      .then((found) => found.map(({ row_id }) => row_id));
  const rowsOf = ({ added }: Recorder) => added.map(({ row_id }) => row_id);

  it('takes the oldest rows first while there are few', async () => {
    await fillOutbox(FEW_ROWS + 1);
    const [...oldest] = await rowsBy('ASC');
    const queues = recorder();
    expect(await dispatch(queues)).to.equal(FEW_ROWS);
    expect(rowsOf(queues)).to.have.members(oldest.slice(0, FEW_ROWS));
  });

  it('takes half of the oldest and half of the newest rows of a backlog, each once', async () => {
    await fillOutbox(500);
    const [oldest, newest] = [await rowsBy('ASC'), await rowsBy('DESC')];
    const queues = recorder();
    const added: AddedRows = [];
    const rooms: Rooms = new Map();
    const round = () => dispatchOutbox(store.database, queues, new Map(), added, rooms);
    expect(await round()).to.equal(FEW_ROWS);
    const few = rowsOf(queues);
    expect(await round()).to.equal(MAX_ROOM);
    expect(rowsOf(queues).slice(FEW_ROWS)).to.have.members([
      ...oldest.filter((row) => !few.includes(row)).slice(0, MAX_ROOM / 2),
      ...newest.slice(0, MAX_ROOM / 2),
    ]);
    while ((await waiting()) > 0) await round();
    expect(rowsOf(queues)).to.have.length(500).and.have.members(oldest);
  });

  it('adds no more than a queue has room for, and goes on when its workers have taken some', async () => {
    await fillOutbox(300);
    await fillOutbox(3, 'refunds');
    let taken = 0;
    const queues = recorder();
    const inQueue = () => queues.added.filter(({ queue }) => queue === QUEUE).length - taken;
    queues.countWaiting = async (queue) => (queue === QUEUE ? inQueue() : 0);
    const added: AddedRows = [];
    const rooms: Rooms = new Map();
    const round = () => {
      for (const room of rooms.values()) room.lookAt = 0;
      return dispatchOutbox(store.database, queues, new Map(), added, rooms);
    };
    while ((await round()) > 0);
    // The first round found few rows at a time.
    expect([inQueue(), queues.added.length]).to.deep.equal([FEW_ROWS, FEW_ROWS + 3]);
    expect(await waiting()).to.equal(300 - FEW_ROWS);
    taken = 20;
    expect([await round(), inQueue()]).to.deep.equal([MAX_ROOM - FEW_ROWS + taken, MAX_ROOM]);
  });

  it('takes a batch once, even where the planner expects an empty outbox', async () => {
    // Long in use and empty at the last look at it, as on a quiet day.
    await fillOutbox(6_000);
    await store.rows('DELETE FROM outbox');
    await rows(store.owner, 'ANALYZE outbox');
    await fillOutbox(3_000);
    const queues = recorder();
    const busy: AddedRows = Array.from({ length: FEW_ROWS }, (_, index) => -index);
    expect(await dispatchOutbox(store.database, queues, new Map(), busy)).to.equal(MAX_ROOM);
    expect([await waiting(), queues.added.length]).to.deep.equal([3_000, MAX_ROOM]);
  });

  it('removes with the next batch what it has added with the last', async () => {
    const queues = recorder();
    const added: AddedRows = [];
    const round = () => dispatchOutbox(store.database, queues, new Map(), added);
    await fillOutbox(3);
    expect([await round(), await waiting()]).to.deep.equal([3, 3]);
    await fillOutbox(2);
    expect([await round(), await waiting()]).to.deep.equal([2, 2]);
    expect([await round(), await waiting()]).to.deep.equal([0, 0]);
    expect(added).to.deep.equal([]);
    expect(queues.added).to.have.length(5);
  });

  it('does not add again what another one has removed or leased meanwhile', async () => {
    const [one, other] = [recorder(), recorder()];
    const added: AddedRows = [];
    await fillOutbox(2);
    await dispatchOutbox(store.database, one, new Map(), added);
    // As after a round that took longer than the lease.
    await store.rows(`UPDATE outbox SET leased_until = '-infinity'`);
    expect(await dispatchOutbox(store.database, one, new Map(), added)).to.equal(0);
    expect(await dispatch(other)).to.equal(0);
    expect([one.added.length, other.added.length, await waiting()]).to.deep.equal([2, 0, 0]);
  });

  it('remembers what it has added while the database is away', async () => {
    const added: AddedRows = [];
    await fillOutbox(1);
    await dispatchOutbox(store.database, recorder(), new Map(), added);
    const broken = openDatabase('postgres://127.0.0.1:9/nothing', 1);
    expect(await rejection(dispatchOutbox(broken, recorder(), new Map(), added))).to.be.an('error');
    await broken.destroy();
    expect(added).to.have.length(1);
    await removeAdded(store.database, added);
    expect(await waiting()).to.equal(0);
  });

  it('keeps the rows for the next round when adding fails', async () => {
    await fillOutbox(3);
    const broken = recorder(async () => {
      throw new Error('no queue');
    });
    expect((await rejection(dispatch(broken))).message).to.equal('no queue');
    expect(await waiting()).to.equal(3);
    const working = recorder();
    expect(await dispatch(working)).to.equal(3);
    expect(working.added).to.have.length(3);
    expect(await waiting()).to.equal(0);
  });

  it('serves the other queues when one fails', async () => {
    await fillOutbox(2, 'refunds');
    await fillOutbox(2);
    const queues = recorder(async (queue) => {
      if (queue === 'refunds') throw new Error('no queue');
    });
    await rejection(dispatch(queues));
    expect(queues.added.map(({ queue }) => queue)).to.deep.equal([QUEUE, QUEUE]);
    expect(await store.countOf(`outbox WHERE queue = 'refunds'`)).to.equal(2);
    expect(await waiting()).to.equal(2);
  });

  it('leaves a failed queue alone for a while, even if its rows come first', async () => {
    await fillOutbox(600, 'returns-broken');
    await fillOutbox(3);
    const queues = recorder(async (queue) => {
      if (queue === 'returns-broken') throw new Error('no queue');
    });
    const resting: RestingQueues = new Map();
    await rejection(dispatch(queues, resting));
    expect(await dispatch(queues, resting)).to.equal(3);
    expect([...resting.keys()]).to.deep.equal(['returns-broken']);
  });

  it('lets a queue that holds up the others rest twice as long each time in a row', async () => {
    await fillOutbox(1, 'hanging');
    let fails = async (): Promise<void> => {};
    const queues = recorder(() => fails());
    const resting: RestingQueues = new Map();
    /** Runs a round after the queue has rested. @returns the length of its next rest */
    const rest = async () => {
      for (const each of resting.values()) each.until = 0;
      await dispatch(queues, resting).catch(() => {});
      return resting.get('hanging')?.restMs;
    };
    fails = async () => {
      throw new Error('refused');
    };
    expect([await rest(), await rest()]).to.deep.equal([5_000, 5_000]);
    fails = async () => {
      await sleep(HANGING_MS);
      throw new Error('no answer');
    };
    expect([await rest(), await rest()]).to.deep.equal([10_000, 20_000]);
    expect(await rest()).to.equal(30_000);
    fails = async () => {};
    expect(await rest()).to.equal(undefined);
    expect(await waiting()).to.equal(0);
  });

  it('keeps its batch from other dispatchers until its lease ends', async () => {
    await fillOutbox(2);
    let adding = (): void => {};
    const isAdding = new Promise<void>((resolve) => {
      adding = resolve;
    });
    let finish = (): void => {};
    const hanging = recorder(() => {
      adding();
      return new Promise<void>((resolve) => {
        finish = resolve;
      });
    });
    const dying = dispatch(hanging);
    await isAdding;
    const other = recorder();
    expect(await dispatch(other)).to.equal(0);
    await store.rows(`UPDATE outbox SET leased_until = leased_until - interval '1 hour'`);
    expect(await dispatch(other)).to.equal(2);
    expect(await waiting()).to.equal(0);
    // The first dispatcher was only slow. What it does now has no effect.
    finish();
    expect(await dying).to.equal(2);
    expect(await waiting()).to.equal(0);
  });
});
