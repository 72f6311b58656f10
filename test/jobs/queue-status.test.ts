import { expect } from 'chai';
import { holdLease } from '../../src/connections/locks.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { STEP_TABLES, type StepKind } from '../../src/jobs/job-types.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import {
  type DueSteps,
  isStillDue,
  readDueSteps,
  readLeases,
  readOutboxLag,
  readWaitingDeliveries,
} from '../../src/jobs/queue-status.ts';
import { PAYMENT_KINDS, SUBMISSION_QUEUE, useStore } from '../support/world.ts';

const GRACE_MS = 60_000;

/** Every delivery of this file gets one. */
const MANY_SLOTS = 100_000;

describe('What PostgreSQL knows of jobs', () => {
  const store = useStore({ merchant: 'all' });

  beforeEach(async () => {
    for (const { table } of Object.values(STEP_TABLES)) {
      await store.rows(
        `UPDATE ${table} SET next_step_at = now() + interval '1 day' WHERE next_step IS NOT NULL`,
      );
    }
    await loseJobs();
  });

  const loseJobs = () => store.rows('DELETE FROM outbox');
  const due = () => readDueSteps(store.database, GRACE_MS);

  /** Makes the step of this row due for so long. */
  function age(kind: StepKind, id: string, ms: number): Promise<unknown> {
    const { table, id: column } = STEP_TABLES[kind];
    return store.rows(
      `UPDATE ${table} SET next_step_at = now() - :ms * interval '1 millisecond'
       WHERE ${column} = :id`,
      { id, ms },
    );
  }

  async function overdueCollection(ms = GRACE_MS + 1_000): Promise<AnyPayment> {
    const collection = await store.newCollection();
    await loseJobs();
    await age('collection', collection.id, ms);
    return collection;
  }

  async function admittedDelivery(): Promise<string> {
    for (const endpoint of ['http://shop.example', 'http://127.0.0.1:9']) {
      await store.makeEndpoint(endpoint);
    }
    const id = await store.newEvent();
    await prepareDeliveries(store.database, MANY_SLOTS);
    return id;
  }

  const MAKE: Readonly<Record<StepKind, () => Promise<{ id: string; queue: string }>>> = {
    ...(Object.fromEntries(
      PAYMENT_KINDS.map((kind) => [
        kind,
        async () => ({
          id: (await store.newPayment(kind)).id,
          queue: SUBMISSION_QUEUE[kind],
        }),
      ]),
    ) as Record<(typeof PAYMENT_KINDS)[number], () => Promise<{ id: string; queue: string }>>),
    callback: async () => {
      const of = refOf(await store.newCollection());
      const id = await store.keepCallback('simulator', of, '{}');
      return { id, queue: 'callbacks' };
    },
    webhook: async () => ({ id: await admittedDelivery(), queue: 'webhooks' }),
  };
  for (const kind of Object.keys(STEP_TABLES) as StepKind[]) {
    it(`names a ${kind} that is due and not in the outbox, with the queue of its job`, async () => {
      const { id, queue } = await MAKE[kind]();
      await age(kind, id, GRACE_MS + 1_000);
      expect(await due(), 'while it is in the outbox').to.deep.equal([]);
      await loseJobs();
      const [found, ...others] = await due();
      expect(others).to.deep.equal([]);
      expect(found).to.deep.include({ kind, count: 1 });
      const [step] = found!.sample;
      expect(step).to.include({ kind, queue, row_id: id, merchant_id: store.merchantId });
      expect(await isStillDue(store.database, step!, GRACE_MS)).to.equal(true);
    });
  }

  it('leaves out what has not been due for so long, has ended, or is parked', async () => {
    await overdueCollection(GRACE_MS - 10_000);
    const parked = await overdueCollection();
    await changeStep(store.database, refOf(parked), { park: 'support looks at it' });
    await store.newEvent();
    await loseJobs();
    expect(await due()).to.deep.equal([]);
  });

  it('leaves out a step that was overtaken', async () => {
    const collection = await overdueCollection();
    const [found] = await due();
    const step = found!.sample[0]!;
    expect(await isStillDue(store.database, step, GRACE_MS)).to.equal(true);
    await changeStep(store.database, refOf(collection), { park: 'support looks at it' });
    expect(await isStillDue(store.database, step, GRACE_MS)).to.equal(false);
  });

  it('names a few of many, those that have been due longest first', async () => {
    await store.rows(
      `INSERT INTO callbacks
         (id, gateway, merchant_id, payment_kind, payment_id, body, next_step, next_step_at)
       SELECT gen_random_uuid(), 'simulator', :merchant_id, 'collection', gen_random_uuid(), '{}',
         'process', now() - i * interval '1 hour' FROM generate_series(1, 100) i`,
      { merchant_id: store.merchantId },
    );
    const [found] = (await due()) as [DueSteps];
    expect(found).to.include({ kind: 'callback', count: 100 });
    expect(found.sample).to.have.length(20);
    const hours = found.sample.map(({ dueMs }) => Math.round(dueMs / 3_600_000));
    expect(hours).to.deep.equal(Array.from({ length: 20 }, (_, index) => 100 - index));
    expect(Math.round(found.oldestDueMs / 3_600_000)).to.equal(100);
  });

  it('says what waits in the outbox, by queue, and since when', async () => {
    await store.newCollection();
    await store.newCollection();
    await store.newPayment('return');
    await store.rewrite(
      `UPDATE outbox SET run_at = now() + interval '30 minutes' WHERE queue = 'returns-simulator'`,
    );
    await store.rewrite(`UPDATE outbox SET run_at = now() - interval '2 minutes'
       WHERE id = (SELECT min(id) FROM outbox WHERE queue = 'submission-simulator')`);
    const lag = await readOutboxLag(store.database);
    const found = lag.map((each) => ({
      ...each,
      oldestDueMs: Math.round(each.oldestDueMs / 60_000),
    }));
    expect(found).to.deep.equal([
      { queue: 'returns-simulator', count: 1, oldestDueMs: 0 },
      // The collection of the return waits there as well.
      { queue: 'submission-simulator', count: 3, oldestDueMs: 2 },
    ]);
  });

  it('says how many deliveries wait to be admitted', async () => {
    const none = { count: 0, oldestDueMs: 0 };
    await admittedDelivery();
    expect(await readWaitingDeliveries(store.database)).to.deep.equal(none);
    const id = await store.newEvent();
    await prepareDeliveries(store.database, 0);
    await age('webhook', id, 120_000);
    const waiting = await readWaitingDeliveries(store.database);
    expect(waiting.count).to.equal(1);
    expect(Math.round(waiting.oldestDueMs / 60_000)).to.equal(2);
    await prepareDeliveries(store.database, MANY_SLOTS);
    expect(await readWaitingDeliveries(store.database)).to.deep.equal(none);
  });

  it('says who holds a lease, and whether it has ended', async () => {
    await holdLease(store.database, 'sweeper', 'one', 60_000);
    await holdLease(store.database, 'ledger', 'two', 60_000);
    await store.rows(`UPDATE leases SET held_until = now() WHERE name = 'ledger'`);
    const leases = await readLeases(store.database);
    expect(leases.map(({ heldUntil: _, ...lease }) => lease)).to.deep.equal([
      { name: 'ledger', holder: 'two', isHeld: false },
      { name: 'sweeper', holder: 'one', isHeld: true },
    ]);
  });
});
