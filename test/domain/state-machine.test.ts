import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import {
  canMove,
  IllegalTransitionError,
  LostRaceError,
  MACHINES,
  type PaymentStatus,
} from '../../src/domain/payments/payment.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { transition } from '../../src/domain/payments/transition.ts';
import { STEP_TABLES } from '../../src/jobs/job-types.ts';
import type { StepChange } from '../../src/jobs/outbox.ts';
import {
  newPayout,
  PAYMENT_KINDS,
  rejection,
  SUBMISSION_QUEUE,
  useStore,
} from '../support/world.ts';

const STATES: readonly PaymentStatus[] = ['pending', 'processing', 'completed', 'failed'];
const PAIRS = STATES.flatMap((from) => STATES.map((to) => [from, to] as const));
/** Moves that lead from the initial state to each state. */
const PATHS: Readonly<Record<PaymentStatus, PaymentStatus[]>> = {
  pending: [],
  processing: ['processing'],
  completed: ['processing', 'completed'],
  failed: ['failed'],
};
const POLL: StepChange = { next: 'poll', queue: 'polling-simulator', delayMs: 0 };

for (const kind of PAYMENT_KINDS) {
  const machine = MACHINES[kind];
  const { table } = STEP_TABLES[kind];

  describe(`The states of a ${kind}`, () => {
    const store = useStore({ merchant: 'all' });

    /** Raw SQL, past all of our own code. The next step stays, so that it refuses nothing. */
    async function putInto(status: PaymentStatus): Promise<AnyPayment> {
      const payment = await newPayment();
      for (const next of PATHS[status]) await update(payment, `status = '${next}'`);
      return store.reread(payment);
    }

    function newPayment(): Promise<AnyPayment> {
      return store.newPayment(kind);
    }

    function update(payment: AnyPayment, assignments: string): Promise<unknown> {
      return store.rows(`UPDATE ${table} SET ${assignments} WHERE id = :id`, {
        id: payment.id,
      });
    }

    function move(payment: AnyPayment, to: PaymentStatus, step: StepChange = POLL) {
      return store.transaction((trx) => transition(trx, payment, { to, step, cause: 'test' }));
    }

    for (const [from, to] of PAIRS) {
      const legal = canMove(machine, from, to);
      it(`${legal ? 'move' : 'never move'} from ${from} to ${to} by the code`, async () => {
        const payment = await putInto(from);
        if (legal) {
          expect((await move(payment, to)).status).to.equal(to);
          expect((await store.reread(payment)).status).to.equal(to);
        } else {
          expect(await rejection(move(payment, to))).to.be.instanceOf(IllegalTransitionError);
          expect(await store.reread(payment)).to.deep.equal(payment);
        }
      });

      // Writing the state that a row has already is no move, and changes nothing.
      if (from === to) continue;
      it(`${legal ? 'move' : 'never move'} from ${from} to ${to} in the database`, async () => {
        const payment = await putInto(from);
        const moving = update(payment, `status = '${to}'`);
        if (legal) await moving;
        else {
          const { message } = await rejection(moving);
          expect(message).to.include(`${table} cannot move from ${from} to ${to}`);
        }
        expect((await store.reread(payment)).status).to.equal(legal ? to : from);
      });
    }

    for (const status of STATES.filter((state) => state !== machine.initial)) {
      it(`never begin as ${status} in the database`, async () => {
        const { id } = await putInto('pending');
        const inserting = store.rows(
          `INSERT INTO ${table} SELECT (jsonb_populate_record(p,
             jsonb_build_object('id', gen_random_uuid(), 'status', CAST(:status AS text)))).*
           FROM ${table} p WHERE id = :id`,
          { id, status },
        );
        const { message } = await rejection(inserting);
        expect(message).to.include(`${table} must begin as pending, not as ${status}`);
      });
    }

    it('include none that the database does not know', async () => {
      const payment = await putInto('pending');
      await rejection(update(payment, `status = 'lost'`));
      expect((await store.reread(payment)).status).to.equal('pending');
    });

    it('never end by deletion', async () => {
      for (const status of STATES) {
        const payment = await putInto(status);
        const deletion = rows(store.owner, `DELETE FROM ${table} WHERE id = :id`, {
          id: payment.id,
        });
        expect((await rejection(deletion)).message).to.include(`DELETE of ${table} is refused`);
        expect(await store.reread(payment)).to.deep.equal(payment);
      }
      const emptying = rows(store.owner, `TRUNCATE ${table} CASCADE`);
      expect((await rejection(emptying)).message).to.include('is refused');
    });

    for (const status of STATES) {
      const isDone = status === 'completed' || (status === 'failed' && kind !== 'payout');
      it(`${isDone ? 'do without' : 'ask for'} a next step or a reason while ${status}`, async () => {
        const payment = await putInto(status);
        const withoutStep = 'next_step = NULL, next_step_at = NULL';
        if (isDone) {
          await update(payment, withoutStep);
        } else {
          expect(await rejection(update(payment, withoutStep))).to.have.property('code', '23514');
          await update(payment, `${withoutStep}, parked_reason = 'somebody must look'`);
        }
        const { next_step } = await store.reread(payment);
        expect(next_step).to.equal(null);
      });
    }

    it('have a time with every step, and no time without one', async () => {
      const payment = await putInto('processing');
      for (const half of ['next_step = NULL', 'next_step_at = NULL']) {
        const halving = update(payment, `${half}, parked_reason = 'x'`);
        expect(await rejection(halving)).to.have.property('code', '23514');
      }
    });

    it('leave a line of history and a job for every move', async () => {
      const payment = await newPayment();
      const processing = await move(payment, 'processing');
      await move(processing, 'completed', 'none');
      const [, ...moves] = await store.historyOf(refOf(payment));
      expect(moves).to.deep.equal([
        { from_status: 'pending', to_status: 'processing', cause: 'test' },
        { from_status: 'processing', to_status: 'completed', cause: 'test' },
      ]);
      const jobs = await store.outboxOf(payment.id);
      expect(jobs.map(({ step, queue, step_no }) => [step, queue, step_no])).to.deep.equal([
        ['submit', SUBMISSION_QUEUE[kind], 1],
        ['poll', 'polling-simulator', 2],
      ]);
      const ended = await store.reread(payment);
      expect([ended.next_step, ended.next_step_at, ended.step_no]).to.deep.equal([null, null, 3]);
    });

    it('leave nothing of a move whose transaction is rolled back', async () => {
      const payment = await putInto('pending');
      const failing = store.transaction(async (trx) => {
        await transition(trx, payment, { to: 'processing', step: POLL, cause: 'test' });
        throw new Error('and then it failed');
      });
      expect((await rejection(failing)).message).to.equal('and then it failed');
      expect(await store.reread(payment)).to.deep.equal(payment);
      expect(await store.historyOf(refOf(payment))).to.have.length(1);
      expect(await store.outboxOf(payment.id)).to.have.length(1);
    });

    it('are not moved by who has read an older one, who hears of the lost race', async () => {
      const stale = await newPayment();
      await move(stale, 'processing');
      const current = await store.reread(stale);
      for (const to of ['processing', 'completed', 'failed'] as const) {
        expect(await rejection(move(stale, to))).to.be.instanceOf(LostRaceError);
      }
      expect(await store.reread(stale)).to.deep.equal(current);
      expect(await store.historyOf(refOf(stale))).to.have.length(2);
      expect(await store.outboxOf(stale.id)).to.have.length(2);
    });

    it('are moved by one of many at once', async () => {
      const payment = await newPayment();
      const targets = ['processing', 'completed', 'failed'] as const;
      const outcomes = await Promise.allSettled(
        Array.from({ length: 9 }, (_, index) => move(payment, targets[index % 3]!)),
      );
      const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(lost).to.have.length(8);
      for (const { reason } of lost) expect(reason).to.be.instanceOf(LostRaceError);
      expect(await store.historyOf(refOf(payment))).to.have.length(2);
    });
  });
}

describe('A payout’s refund, in the database', () => {
  const WITHOUT_STEP = 'next_step = NULL, next_step_at = NULL';
  const store = useStore({ merchant: 'none' });
  let payout: Payout;

  beforeEach(async () => {
    payout = await newPayout(store.database, await store.newMerchant());
  });

  const update = (assignments: string) =>
    store.rows(`UPDATE payouts SET ${assignments} WHERE id = :id`, { id: payout.id });

  async function expectRefused(assignments: string): Promise<void> {
    const before = await store.reread(payout);
    expect(await rejection(update(assignments)), assignments).to.have.property('code', '23514');
    expect(await store.reread(payout)).to.deep.equal(before);
  }

  it('can be posted of a failed one only, which needs no step any more', async () => {
    for (const status of ['pending', 'processing']) {
      await update(`status = '${status}'`);
      await expectRefused('refund_posted_at = now()');
    }
    await update(`status = 'failed'`);
    await update(`refund_posted_at = now(), ${WITHOUT_STEP}`);
  });

  it('is never posted of one that has arrived', async () => {
    await update(`status = 'completed', ${WITHOUT_STEP}`);
    await expectRefused('refund_posted_at = now()');
  });

  it('keeps it from completing once it is posted, unless the money was taken again', async () => {
    await update(`status = 'failed', refund_posted_at = now(), ${WITHOUT_STEP}`);
    await expectRefused(`status = 'completed'`);
    await update(`status = 'completed', redebited_at = now()`);
    expect(await store.reread(payout)).to.include({ status: 'completed' });
  });

  it('comes before the money can be taken again', async () => {
    await update(`status = 'failed'`);
    await expectRefused('redebited_at = now()');
    await expectRefused(`status = 'completed', redebited_at = now()`);
  });
});
