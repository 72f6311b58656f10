import { expect } from 'chai';
import { hasRow, rows } from '../../src/connections/database.ts';
import { holdLease } from '../../src/connections/locks.ts';
import type { GatewayPaymentKind } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { POLL_NOW, pollStep, putOffStep, submitStep } from '../../src/domain/payments/schedule.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { sendDueQuestions } from '../../src/jobs/dispatch-outbox.ts';
import { STEP_TABLES, type StepKind } from '../../src/jobs/job-types.ts';
import { changeStep, type StepChange } from '../../src/jobs/outbox.ts';
import { sweep } from '../../src/jobs/sweeper.ts';
import { failed, PAYMENT_KINDS, useStore } from '../support/world.ts';

const GRACE_MS = 60_000;

describe('The sweeper', () => {
  const store = useStore({ merchant: 'all' });

  beforeEach(async () => {
    // Nothing that an earlier test has left is due any more.
    for (const { table } of Object.values(STEP_TABLES)) {
      await store.rows(
        `UPDATE ${table} SET next_step_at = now() + interval '1 day' WHERE next_step IS NOT NULL`,
      );
    }
    await store.rows('DELETE FROM outbox');
  });

  const sweepOnce = () => sweep(store.database, GRACE_MS);

  /** As if so much time had passed since the row's step was due and swept. */
  function age(kind: StepKind, id: string, ms: number): Promise<unknown> {
    const { table, id: column } = STEP_TABLES[kind];
    return store.rows(
      `UPDATE ${table} SET next_step_at = now() - :ms * interval '1 millisecond',
         step_swept_at = step_swept_at - :ms * interval '1 millisecond'
       WHERE ${column} = :id`,
      { id, ms },
    );
  }

  const loseJobs = () => store.rows('DELETE FROM outbox');

  type Make = () => Promise<[StepKind, string]>;

  /** The steps of a payment of this kind, each planned by who plans it in earnest. */
  function stepsOf(kind: GatewayPaymentKind): [string, Make][] {
    const made = (plan?: (payment: AnyPayment) => StepChange): Make => {
      return async () => {
        const payment = await store.newPayment(kind);
        if (plan) await changeStep(store.database, refOf(payment), plan(payment));
        await sendDueQuestions(store.database);
        return [kind, payment.id];
      };
    };
    return [
      [`submission of a ${kind}`, made()],
      [`later submission of a ${kind}`, made((payment) => submitStep(payment, 1))],
      [`submission of a ${kind} that was put off`, made(putOffStep)],
      [`question about a ${kind}`, made(() => POLL_NOW)],
    ];
  }

  const STEPS: Readonly<Record<string, Make>> = {
    ...Object.fromEntries(PAYMENT_KINDS.flatMap(stepsOf)),
    'refund of a payout': async () => {
      const payout = await store.newPayout();
      await store.learn(payout, failed());
      return ['payout', payout.id];
    },
    'stored callback': async () => {
      const collection = await store.newCollection();
      return ['callback', await store.keepCallback('simulator', refOf(collection), '{}')];
    },
    'admitted webhook': async () => {
      await store.makeEndpoint('http://shop.example');
      const id = await store.newEvent();
      await prepareDeliveries(store.database, 100);
      return ['webhook', id];
    },
  };
  for (const [what, make] of Object.entries(STEPS)) {
    it(`sends a lost ${what} again, as the very same job`, async () => {
      const [kind, id] = await make();
      const original = (await store.outboxOf(id)).at(-1);
      expect(original).to.not.equal(undefined);
      await loseJobs();
      expect(await sweepOnce()).to.equal(0);
      await age(kind, id, GRACE_MS + 1_000);
      expect(await sweepOnce()).to.equal(1);
      expect(await store.outboxOf(id)).to.deep.equal([original]);
    });

    it(`sends a lost ${what} at most once in each period of grace`, async () => {
      const [kind, id] = await make();
      await loseJobs();
      await age(kind, id, GRACE_MS + 1_000);
      for (const _period of [1, 2]) {
        expect(await sweepOnce()).to.equal(1);
        await loseJobs();
        expect(await sweepOnce()).to.equal(0);
        await age(kind, id, GRACE_MS + 1_000);
      }
    });

    it(`leaves a ${what} alone that still waits in the outbox`, async () => {
      const [kind, id] = await make();
      await loseJobs();
      await age(kind, id, GRACE_MS + 1_000);
      expect(await sweepOnce()).to.equal(1);
      await age(kind, id, GRACE_MS + 1_000);
      expect(await sweepOnce()).to.equal(0);
    });
  }

  it('sends nothing again that has ended, is parked, or waits for its turn', async () => {
    const ended = await store.newCollection();
    await store.learn(ended, failed());
    const parked = await store.newCollection();
    await changeStep(store.database, refOf(parked), { park: 'support looks at it' });
    await store.newEvent();
    await prepareDeliveries(store.database, 0);
    await loseJobs();
    for (const { table } of Object.values(STEP_TABLES)) {
      await store.rows(`UPDATE ${table} SET next_step_at = now() - interval '1 day' WHERE next_step IS NOT NULL
           AND '${table}' = 'webhook_deliveries' AND to_jsonb(${table}) ->> 'admitted_at' IS NULL`);
    }
    expect(await sweepOnce()).to.equal(0);
    expect(await store.countOf('outbox')).to.equal(0);
  });

  it('lets a new step start its own period of grace', async () => {
    const collection = await store.newCollection();
    await age('collection', collection.id, GRACE_MS + 1_000);
    await sweepOnce();
    await changeStep(store.database, refOf(collection), pollStep(collection, 0));
    await loseJobs();
    await age('collection', collection.id, GRACE_MS + 1_000);
    expect(await sweepOnce()).to.equal(1);
    const { step_no } = await store.reread(collection);
    const last = (await store.outboxOf(collection.id)).at(-1);
    expect(last).to.include({ step: 'poll', step_no });
  });

  it('sends each step once when several sweep at once', async () => {
    const made = await Promise.all(Array.from({ length: 10 }, () => store.newCollection()));
    await loseJobs();
    await Promise.all(made.map(({ id }) => age('collection', id, GRACE_MS + 1_000)));
    const counts = await Promise.all([sweepOnce(), sweepOnce(), sweepOnce(), sweepOnce()]);
    expect(counts.reduce((sum, count) => sum + count)).to.equal(10);
    expect(await store.countOf('outbox')).to.equal(10);
  });

  it('sends everything that was lost in one round, however much it is', async () => {
    await store.rows(
      `INSERT INTO callbacks
         (id, gateway, merchant_id, payment_kind, payment_id, body, next_step, next_step_at)
       SELECT gen_random_uuid(), 'simulator', :merchant_id, 'collection', gen_random_uuid(), '{}',
         'process', now() - interval '1 hour' FROM generate_series(1, 1500)`,
      { merchant_id: store.merchantId },
    );
    expect(await sweepOnce()).to.equal(1_500);
    expect(await sweepOnce()).to.equal(0);
  });
});

describe('A lease', () => {
  const store = useStore({ merchant: 'none' });

  const hold = (holder: string) => holdLease(store.database, 'sweeper', holder, 60_000);

  it('is held by one, who may renew it, until it has ended', async () => {
    expect(await hold('one')).to.equal(true);
    expect(await hold('two')).to.equal(false);
    expect(await hold('one')).to.equal(true);
    await store.rows(`UPDATE leases SET held_until = now() - interval '1 second'`);
    expect(await hold('two')).to.equal(true);
    expect(await hold('one')).to.equal(false);
  });

  it('goes to one of many who ask at once', async () => {
    await store.rows('DELETE FROM leases');
    const answers = await Promise.all(Array.from('abcdefgh', hold));
    expect(answers.filter((held) => held)).to.have.length(1);
  });

  it('counts from its own moment in a long transaction', async () => {
    const isWhole = await store.transaction(async (trx) => {
      await rows(trx, 'SELECT pg_sleep(0.01)');
      await holdLease(trx, 'long', 'one', 60_000);
      return hasRow(
        trx,
        `SELECT 1 FROM leases WHERE name = 'long' AND held_until > now() + interval '60 seconds'`,
      );
    });
    expect(isWhole).to.equal(true);
  });

  it('is of its name only', async () => {
    expect(await holdLease(store.database, 'another', 'three', 60_000)).to.equal(true);
  });
});
