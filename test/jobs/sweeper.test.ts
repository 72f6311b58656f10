import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { holdLease } from '../../src/connections/locks.ts';
import type { GatewayPaymentKind } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { POLL_NOW, pollStep, putOffStep, submitStep } from '../../src/domain/payments/schedule.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { sendDueQuestions } from '../../src/jobs/dispatch-outbox.ts';
import { STEP_TABLES, type StepKind } from '../../src/jobs/job-types.ts';
import { changeStep, type StepChange } from '../../src/jobs/outbox.ts';
import { sweep } from '../../src/jobs/sweeper.ts';
import { keepCallback } from '../support/callbacks.ts';
import { makeEndpoint } from '../support/endpoints.ts';
import { newEvent } from '../support/events.ts';
import { newPayment, newPayout, PAYMENT_KINDS } from '../support/payment-kinds.ts';
import {
  countOf,
  createTestStore,
  failed,
  learn,
  newCollection,
  outboxOf,
  reread,
  type TestStore,
} from '../support/payments.ts';
import type { TestMerchant } from '../support/test-merchant.ts';

const GRACE_MS = 60_000;

describe('The sweeper', () => {
  let store: TestStore;
  let merchant: TestMerchant;

  before(async () => {
    store = await createTestStore();
    merchant = await store.newMerchant();
  });

  after(() => store.drop());

  beforeEach(async () => {
    // Nothing that an earlier test has left is due any more.
    for (const { table } of Object.values(STEP_TABLES)) {
      await rows(
        store.database,
        `UPDATE ${table} SET next_step_at = now() + interval '1 day' WHERE next_step IS NOT NULL`,
      );
    }
    await rows(store.database, 'DELETE FROM outbox');
  });

  const sweepOnce = () => sweep(store.database, GRACE_MS);

  /** As if so much time had passed since the row's step was due and swept. */
  function age(kind: StepKind, id: string, ms: number): Promise<unknown> {
    const { table, id: column } = STEP_TABLES[kind];
    return rows(
      store.database,
      `UPDATE ${table} SET next_step_at = now() - :ms * interval '1 millisecond',
         step_swept_at = step_swept_at - :ms * interval '1 millisecond'
       WHERE ${column} = :id`,
      { id, ms },
    );
  }

  const loseJobs = () => rows(store.database, 'DELETE FROM outbox');

  type Make = () => Promise<[StepKind, string]>;

  /** The steps of a payment of this kind, each planned by who plans it in earnest. */
  function stepsOf(kind: GatewayPaymentKind): [string, Make][] {
    const made = (plan?: (payment: AnyPayment) => StepChange): Make => {
      return async () => {
        const payment = await newPayment(kind, store.database, merchant);
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
      const payout = await newPayout(store.database, merchant);
      await learn(store.database, payout, failed());
      return ['payout', payout.id];
    },
    'stored callback': async () => {
      const collection = await newCollection(store.database, merchant);
      return ['callback', await keepCallback(store.database, 'simulator', refOf(collection), '{}')];
    },
    'admitted webhook': async () => {
      await makeEndpoint(store.database, merchant.merchant_id, 'http://shop.example');
      const id = await newEvent(store.database, merchant);
      await prepareDeliveries(store.database, 100);
      return ['webhook', id];
    },
  };
  for (const [what, make] of Object.entries(STEPS)) {
    it(`sends a lost ${what} again, as the very same job`, async () => {
      const [kind, id] = await make();
      const original = (await outboxOf(store.database, id)).at(-1);
      expect(original).to.not.equal(undefined);
      await loseJobs();
      expect(await sweepOnce()).to.equal(0);
      await age(kind, id, GRACE_MS + 1_000);
      expect(await sweepOnce()).to.equal(1);
      expect(await outboxOf(store.database, id)).to.deep.equal([original]);
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
    const ended = await newCollection(store.database, merchant);
    await learn(store.database, ended, failed());
    const parked = await newCollection(store.database, merchant);
    await changeStep(store.database, refOf(parked), { park: 'support looks at it' });
    await newEvent(store.database, merchant);
    await prepareDeliveries(store.database, 0);
    await loseJobs();
    for (const { table } of Object.values(STEP_TABLES)) {
      await rows(
        store.database,
        `UPDATE ${table} SET next_step_at = now() - interval '1 day' WHERE next_step IS NOT NULL
           AND '${table}' = 'webhook_deliveries' AND to_jsonb(${table}) ->> 'admitted_at' IS NULL`,
      );
    }
    expect(await sweepOnce()).to.equal(0);
    expect(await countOf(store.database, 'outbox')).to.equal(0);
  });

  it('lets a new step start its own period of grace', async () => {
    const collection = await newCollection(store.database, merchant);
    await age('collection', collection.id, GRACE_MS + 1_000);
    await sweepOnce();
    await changeStep(store.database, refOf(collection), pollStep(collection, 0));
    await loseJobs();
    await age('collection', collection.id, GRACE_MS + 1_000);
    expect(await sweepOnce()).to.equal(1);
    const { step_no } = await reread(store.database, collection);
    const last = (await outboxOf(store.database, collection.id)).at(-1);
    expect(last).to.include({ step: 'poll', step_no });
  });

  it('sends each step once when several sweep at once', async () => {
    const made = await Promise.all(
      Array.from({ length: 10 }, () => newCollection(store.database, merchant)),
    );
    await loseJobs();
    await Promise.all(made.map(({ id }) => age('collection', id, GRACE_MS + 1_000)));
    const counts = await Promise.all([sweepOnce(), sweepOnce(), sweepOnce(), sweepOnce()]);
    expect(counts.reduce((sum, count) => sum + count)).to.equal(10);
    expect(await countOf(store.database, 'outbox')).to.equal(10);
  });

  it('sends everything that was lost in one round, however much it is', async () => {
    await rows(
      store.database,
      `INSERT INTO callbacks
         (id, gateway, merchant_id, payment_kind, payment_id, body, next_step, next_step_at)
       SELECT gen_random_uuid(), 'simulator', :merchant_id, 'collection', gen_random_uuid(), '{}',
         'process', now() - interval '1 hour' FROM generate_series(1, 1500)`,
      { merchant_id: merchant.merchant_id },
    );
    expect(await sweepOnce()).to.equal(1_500);
    expect(await sweepOnce()).to.equal(0);
  });
});

describe('A lease', () => {
  let store: TestStore;

  before(async () => {
    store = await createTestStore();
  });

  after(() => store.drop());

  const hold = (holder: string) => holdLease(store.database, 'sweeper', holder, 60_000);

  it('is held by one, who may renew it, until it has ended', async () => {
    expect(await hold('one')).to.equal(true);
    expect(await hold('two')).to.equal(false);
    expect(await hold('one')).to.equal(true);
    await rows(store.database, `UPDATE leases SET held_until = now() - interval '1 second'`);
    expect(await hold('two')).to.equal(true);
    expect(await hold('one')).to.equal(false);
  });

  it('goes to one of many who ask at once', async () => {
    await rows(store.database, 'DELETE FROM leases');
    const answers = await Promise.all(Array.from('abcdefgh', hold));
    expect(answers.filter((held) => held)).to.have.length(1);
  });

  it('is of its name only', async () => {
    expect(await holdLease(store.database, 'another', 'three', 60_000)).to.equal(true);
  });
});
