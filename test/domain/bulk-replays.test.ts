import { expect } from 'chai';
import { v7 as uuidv7 } from 'uuid';
import { rows } from '../../src/connections/database.ts';
import { OperatorRefusal } from '../../src/domain/errors.ts';
import { createStaff, hasStaff, newToken } from '../../src/domain/staff/staff.ts';
import {
  type BulkFilter,
  type BulkReplay,
  beginBulkReplay,
  findBulkReplay,
  lookedAt,
  MAX_REPLAYS_ALONE,
  STOP_AFTER_FAILED_AGAIN,
  stopBulkReplay,
} from '../../src/domain/support/bulk-replay.ts';
import { newestFailedJob } from '../../src/domain/support/failed-job-store.ts';
import { foreseeReplays } from '../../src/domain/support/replay-job.ts';
import { workBulkReplays, workOff } from '../../src/domain/support/work-bulk-replays.ts';
import { neverTake, passDeadline } from '../support/discrepancies/scene.ts';
import { failedJobsOf, failedPayout, failJob, replay } from '../support/failed-jobs.ts';
import { PAYMENT_KINDS, rejection, UNKNOWN, useStore } from '../support/world.ts';

describe('A replay of many failed jobs', () => {
  const store = useStore();
  let email: string;

  let members = 0;

  beforeEach(async () => {
    // What another test has left must not take part.
    await rows(store.owner, `DELETE FROM bulk_replays`);
    members += 1;
    email = `support-${members}@x.example`;
    await store.transaction(async (trx) =>
      createStaff(
        trx,
        { name: 'Support', email, role: members === 1 ? 'admin' : 'support', ...newToken() },
        !(await hasStaff(trx)),
      ),
    );
  });

  const failedPayouts = async (count: number) => {
    const made = [];
    for (let each = 0; each < count; each++)
      made.push(await failedPayout(store.database, store.merchant));
    return made;
  };

  async function begin(
    filter: Partial<BulkFilter> = {},
    { rate = 2, approved_by = null as string | null, holder = '' } = {},
  ): Promise<string> {
    const as_of = new Date().toISOString();
    const order = {
      ...{ id: uuidv7(), rate, last_job: await newestFailedJob(store.database) },
      stop_after: STOP_AFTER_FAILED_AGAIN,
      filter: { merchant_id: store.merchantId, ...filter, as_of },
    };
    const by = { requested_by: email, reason: 'Mended', approved_by, ...(holder && { holder }) };
    await store.transaction((trx) => beginBulkReplay(trx, order, by));
    return order.id;
  }

  const work = (holder = 'dispatcher 1') => workBulkReplays({ database: store.database, holder });
  const found = async (id: string): Promise<BulkReplay> =>
    (await findBulkReplay(store.database, id))!;

  it('does a share in each round, the oldest first, each with its line in the audit log', async () => {
    const made = await failedPayouts(5);
    const id = await begin();
    const progress = [];
    for (let round = 0; round < 3; round++) {
      await work();
      const { state, outcomes } = await found(id);
      progress.push([state, outcomes]);
    }
    expect(progress).to.deep.equal([
      ['running', { send: 2 }],
      ['running', { send: 4 }],
      ['done', { send: 5 }],
    ]);
    const lines = await store.rows<{ subject: string; reason: string; bulk: string }>(
      `SELECT subject, reason, details->>'bulk_replay' AS bulk FROM audit_log
       WHERE actor = :email AND action = 'jobs.replay' ORDER BY happened_at, id`,
      { email },
    );
    expect(lines).to.deep.equal(
      made.map(({ job }) => ({ subject: `failed job ${job.id}`, reason: 'Mended', bulk: id })),
    );
    for (const { payout } of made) {
      expect(await store.outboxOf(payout.id)).to.have.length(1);
    }
  });

  it('goes on in another process behind the last job when one has died', async () => {
    const made = await failedPayouts(4);
    const id = await begin();
    await work('dead');
    expect(await work('heir')).to.equal(0);
    await store.rows(`UPDATE bulk_replays SET leased_until = now() WHERE id = :id`, {
      id,
    });
    while ((await found(id)).state === 'running') await work('heir');
    expect((await found(id)).outcomes).to.deep.equal({ send: 4 });
    for (const { payout } of made) {
      expect(await store.outboxOf(payout.id)).to.have.length(1);
    }
  });

  it('replays each job once when two processes believe that it is theirs', async () => {
    const made = await failedPayouts(20);
    const id = await begin({}, { rate: 20 });
    const steal = async () => {
      const free = `UPDATE bulk_replays SET leased_until = now() - interval '1 second' WHERE id = :id`;
      for (let tries = 0; tries < 10; tries++) {
        await store.rows(free, { id });
        await work(`thief ${tries}`);
      }
    };
    await Promise.all([work('first'), steal()]);
    while ((await found(id)).state === 'running') {
      await store.rows(`UPDATE bulk_replays SET leased_until = now() WHERE id = :id`, {
        id,
      });
      await work('last');
    }
    const { outcomes, state } = await found(id);
    expect([state, outcomes]).to.deep.equal(['done', { send: 20 }]);
    for (const { payout } of made) {
      expect(await store.outboxOf(payout.id)).to.have.length(1);
    }
  });

  it('leaves alone what fails during it, so a job that fails again does not come round', async () => {
    const [first] = await failedPayouts(2);
    const id = await begin({}, { rate: 1 });
    await work();
    await failJob(store.database, 'payout', first!.payout.id);
    while ((await found(id)).state === 'running') await work();
    expect((await found(id)).outcomes).to.deep.equal({ send: 2 });
    const [, again] = await failedJobsOf(store.database, first!.payout.id);
    expect(again!.state).to.equal('waiting');
  });

  it('stops by itself when too many have failed again', async () => {
    const made = await failedPayouts(STOP_AFTER_FAILED_AGAIN + 2);
    const id = await begin({}, { rate: STOP_AFTER_FAILED_AGAIN });
    await work();
    for (const { payout } of made.slice(0, STOP_AFTER_FAILED_AGAIN)) {
      await failJob(store.database, 'payout', payout.id);
    }
    await work();
    const { state, why, outcomes } = await found(id);
    expect([state, outcomes]).to.deep.equal(['stopped', { send: STOP_AFTER_FAILED_AGAIN }]);
    expect(why).to.include('have failed again');
  });

  it('ends with the reason when its jobs cannot be read, and the others go on', async () => {
    const [made] = await failedPayouts(1);
    // No moment is so long ago: the query fails.
    const broken = await begin({ olderThanMs: Number.MAX_SAFE_INTEGER });
    const id = await begin();
    await work();
    const { state, why } = await found(broken);
    expect(state).to.equal('stopped');
    expect(why).to.include('out of range');
    expect((await found(id)).outcomes).to.deep.equal({ send: 1 });
    expect(await store.outboxOf(made!.payout.id)).to.have.length(1);
  });

  it('replays nothing more once somebody has stopped it', async () => {
    await failedPayouts(3);
    const id = await begin({}, { rate: 1 });
    await work();
    await store.transaction((trx) => stopBulkReplay(trx, id, email));
    await work();
    const { state, why, outcomes } = await found(id);
    expect([state, why, outcomes]).to.deep.equal([
      'stopped',
      `${email} has stopped it`,
      { send: 1 },
    ]);
    const again = store.transaction((trx) => stopBulkReplay(trx, id, email));
    expect(await rejection(again)).to.be.instanceOf(OperatorRefusal);
  });

  it('goes no further when whoever asked for it has lost access', async () => {
    await failedPayouts(2);
    const id = await begin({}, { rate: 1 });
    await work();
    await store.rows('UPDATE staff SET active = false WHERE email = :email', { email });
    await work();
    const { state, why, outcomes } = await found(id);
    expect([state, outcomes]).to.deep.equal(['stopped', { send: 1 }]);
    expect(why).to.include('may not replay jobs any more');
  });

  it('counts what it refuses, and says why', async () => {
    const [first, second] = await failedPayouts(2);
    await replay(store.database, first!.job);
    const id = await begin({ ids: [first!.job.id, second!.job.id] });
    await work();
    expect((await found(id)).outcomes).to.deep.equal({ replayed: 1, send: 1 });
  });

  it('takes only what its filter selects', async () => {
    const collection = await store.newCollection();
    const slow = await failJob(store.database, 'collection', collection.id, {
      ...{ queue: 'other', error: 'Too Slow' },
    });
    await failedPayouts(1);
    const selected = async (filter: Partial<BulkFilter>) => {
      const id = await begin(filter);
      while ((await found(id)).state === 'running') await work();
      return lookedAt(await found(id));
    };
    expect(await selected({ channel: 1 })).to.equal(0);
    expect(await selected({ error: 'nothing like it' })).to.equal(0);
    expect(await selected({ olderThanMs: 60_000 })).to.equal(0);
    expect(await selected({ queue: 'other', error: 'too slow', channel: 63902 })).to.equal(1);
    expect((await failedJobsOf(store.database, collection.id))[0]!.id).to.equal(slow.id);
    expect(await selected({ newerThanMs: 60_000 })).to.equal(1);
  });

  it('replays no more than one person may without a second one', async () => {
    await failedPayouts(MAX_REPLAYS_ALONE + 1);
    const id = await begin({}, { rate: 100 });
    await work();
    await work();
    const { state, why, outcomes } = await found(id);
    expect([state, outcomes]).to.deep.equal(['stopped', { send: MAX_REPLAYS_ALONE }]);
    expect(why).to.include('second person');
    // Nor by asking twice.
    const again = await begin({}, { rate: 100 });
    await work();
    expect((await found(again)).outcomes).to.deep.equal({});
    const approved = await begin({}, { rate: 100, approved_by: 'other@x.example' });
    while ((await found(approved)).state === 'running') await work();
    expect((await found(approved)).outcomes).to.deep.equal({ send: 1 });
  });

  it('begins once, and at a rate within bounds', async () => {
    const order = {
      ...{ id: uuidv7(), rate: 1, last_job: 0, stop_after: 1 },
      filter: { as_of: new Date().toISOString() },
    };
    const by = { requested_by: email, reason: 'Mended', approved_by: null };
    const start = (overrides = {}) =>
      store.transaction((trx) => beginBulkReplay(trx, { ...order, ...overrides }, by));
    await start();
    expect((await rejection(start())).message).to.include('has begun already');
    for (const rate of [0, 101, 1.5]) {
      expect((await rejection(start({ id: uuidv7(), rate }))).message).to.include('rate');
    }
  });

  it('is worked off by the process that has begun it, which hears of each job', async () => {
    const made = await failedPayouts(3);
    const id = await begin({}, { rate: 2, holder: 'command' });
    expect(await work('dispatcher')).to.equal(0);
    const heard: number[] = [];
    const ended = await workOff(store.database, await found(id), ({ job }) => heard.push(job.id));
    expect([ended.state, heard]).to.deep.equal(['done', made.map(({ job }) => job.id)]);
  });

  it('is foreseen for many jobs as it comes', async () => {
    const scene = { database: store.database, merchant: store.merchant };
    const payments = [];
    for (const kind of PAYMENT_KINDS) {
      payments.push(await store.newPayment(kind));
      const asked = await store.newPayment(kind);
      const submission = store.workOn(asked);
      await submission.answer(await submission.claim(), UNKNOWN);
      payments.push(asked);
    }
    const late = await store.newCollection();
    await passDeadline(scene, late);
    const jobs = [];
    for (const payment of [...payments, late]) {
      jobs.push(await failJob(store.database, payment.kind, payment.id));
    }
    await neverTake(scene, await store.newCollection());
    const foreseen = await foreseeReplays(store.database, jobs);
    const done: typeof foreseen = [];
    for (const job of jobs) done.push(await replay(store.database, job));
    const outcomes = (replays: typeof done) =>
      replays.map(({ job, action, refusal }) => [job.id, action ?? refusal]);
    expect(outcomes(foreseen)).to.deep.equal(outcomes(done));
    expect(new Set(foreseen.map(({ action }) => action)).size).to.be.above(2);
  });
});
