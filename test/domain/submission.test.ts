import { expect } from 'chai';
import { databaseNow } from '../../src/connections/database.ts';
import type { SubmitResult } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { pollStep, submitStep } from '../../src/domain/payments/schedule.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import {
  ACKNOWLEDGED,
  DECLINED,
  eventually,
  failed,
  NOT_FOUND,
  NOT_TAKEN,
  PAYMENT_KINDS,
  POLL_FIRST_MS,
  rejection,
  STEP_AFTER_FAILURE,
  SUBMISSION_QUEUE,
  succeeded,
  UNKNOWN,
  useStore,
  type Work,
} from '../support/world.ts';

for (const kind of PAYMENT_KINDS) {
  describe(`Submitting a ${kind}`, () => {
    const afterFailure = STEP_AFTER_FAILURE[kind];
    const store = useStore({ merchant: 'all' });
    let payment: AnyPayment;
    let work: Work;

    beforeEach(async () => {
      payment = await store.newPayment(kind);
      work = store.workOn(payment);
    });

    it('is claimed once, however many try at once', async () => {
      const claims = await Promise.all(Array.from({ length: 10 }, () => work.claim()));
      expect(claims.filter((claimed) => claimed !== null)).to.have.length(1);
      expect(await work.results()).to.deep.equal([null]);
    });

    it('begins when its claim is made, however long that had to wait', async () => {
      const holder = await store.database.transaction();
      await lockPayment(holder, refOf(payment));
      const claimed = work.claim();
      await eventually('the claim to wait', async () => {
        const waiting = `SELECT 1 FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND datname = current_database()`;
        return (await store.rows(waiting)).length === 1;
      });
      const released = await databaseNow(holder);
      await holder.commit();
      await claimed;
      const begun = 'SELECT started_at >= :released AS later FROM attempts WHERE payment_id = :id';
      const found = await store.rows(begun, { released, id: payment.id });
      expect(found).to.deep.equal([{ later: true }]);
    });

    it('is not claimed by a job that has been overtaken', async () => {
      expect(await work.claim(payment.step_no - 1)).to.equal(null);
      expect(await work.claim(payment.step_no + 1)).to.equal(null);
      await changeStep(store.database, refOf(payment), pollStep(payment, POLL_FIRST_MS));
      expect(await work.claim()).to.equal(null);
      await changeStep(store.database, refOf(payment), { park: 'support looks at it' });
      expect(await work.claim()).to.equal(null);
      await store.learn(payment, failed());
      expect(await work.claim()).to.equal(null);
      expect(await work.attempts()).to.deep.equal([]);
    });

    it('is never done again after a claim without answer, but asked about', async () => {
      await work.claim();
      expect(await work.claim()).to.equal(null);
      const { next_step, status } = await work.current();
      expect([next_step, status]).to.deep.equal(['poll', 'pending']);
      expect(await work.results()).to.deep.equal([null]);
    });

    const ANSWERS: [SubmitResult, status: string, step: string | null, attempt: string][] = [
      [ACKNOWLEDGED, 'processing', 'poll', 'acknowledged'],
      [DECLINED, 'failed', afterFailure, 'declined'],
      [NOT_TAKEN, 'pending', 'submit', 'not_taken'],
      [UNKNOWN, 'pending', 'poll', 'unknown'],
    ];
    for (const [result, status, step, attempt] of ANSWERS) {
      it(`leads to ${status}, next ${step ?? 'nothing'}, when the answer is ${result.outcome}`, async () => {
        await work.answer(await work.claim(), result);
        const after = await work.current();
        expect([after.status, after.next_step]).to.deep.equal([status, step]);
        expect(await work.results()).to.deep.equal([attempt]);
        const [, next] = await store.outboxOf(payment.id);
        // A question gets its job when it is due.
        if (step === null || step === 'poll') expect(next).to.equal(undefined);
        if (step === 'submit') expect(next).to.include({ step, queue: SUBMISSION_QUEUE[kind] });
        expect(after.external_ref).to.equal('externalRef' in result ? 'GW-1' : null);
      });
    }

    it('uses the same reference again and again, each time later, while it is not taken', async () => {
      for (const attemptNo of [1, 2, 3]) {
        const claimed = await work.claim();
        expect(claimed).to.include({ attemptNo });
        expect(claimed!.payment.id).to.equal(payment.id);
        await work.answer(claimed, NOT_TAKEN);
      }
      expect(await work.results()).to.deep.equal(['not_taken', 'not_taken', 'not_taken']);
    });

    it('goes on when "not taken" is heard only after somebody began to ask', async () => {
      const claimed = await work.claim();
      expect(await work.claim()).to.equal(null);
      await work.answer(claimed, NOT_TAKEN);
      for (let asked = 0; asked < 4 && (await work.current()).next_step === 'poll'; asked += 1) {
        await work.hear(NOT_FOUND);
      }
      expect((await work.current()).next_step).to.equal('submit');
      expect(await work.claim()).to.include({ attemptNo: 2 });
    });

    /** A second attempt after the gateway has ruled out the first, whose call still goes on. */
    async function sendAgain() {
      const first = await work.claim();
      await work.claim();
      await work.setAttempts(`started_at = started_at - interval '1 minute'`);
      for (let asked = 0; asked < 3; asked += 1) await work.hear(NOT_FOUND);
      return { first, second: await work.claim() };
    }

    for (const late of [NOT_TAKEN, UNKNOWN, DECLINED]) {
      it(`keeps its step and its status when an old attempt ends late as ${late.outcome}`, async () => {
        const { first, second } = await sendAgain();
        for (const answered of [null, NOT_TAKEN]) {
          if (answered) await work.answer(second, answered);
          const before = await work.current();
          await work.answer(first, late);
          expect(await work.current()).to.deep.equal(before);
        }
        expect(await work.results()).to.deep.equal(['ruled_out', 'not_taken']);
      });
    }

    it('is not done again when the gateway acknowledges an attempt that was ruled out', async () => {
      const { first, second } = await sendAgain();
      await work.answer(second, NOT_TAKEN);
      await work.answer(first, ACKNOWLEDGED);
      expect(await work.current()).to.include({ status: 'processing', next_step: 'poll' });
      await work.hear(NOT_FOUND);
      expect(await work.claim()).to.equal(null);
    });

    it('never happens again after an acknowledgement, whatever is not found', async () => {
      await work.answer(await work.claim(), ACKNOWLEDGED);
      for (let asked = 0; asked < 4; asked += 1) {
        expect(await work.hear(NOT_FOUND)).to.include({ next_step: 'poll', status: 'processing' });
      }
      expect(await work.results()).to.deep.equal(['acknowledged']);
    });

    for (const [result, status, step] of [
      [succeeded({ externalRef: null }), 'completed', null],
      [failed({ externalRef: null }), 'failed', afterFailure],
    ] as const) {
      it(`keeps ${status} when the outcome overtakes the acknowledgement, and its reference`, async () => {
        const claimed = await work.claim();
        await store.learn(payment, result);
        await work.answer(claimed, ACKNOWLEDGED);
        expect(await work.current()).to.include({ status, external_ref: 'GW-1', next_step: step });
        expect(await work.results()).to.deep.equal(['acknowledged']);
      });

      for (const late of [NOT_TAKEN, UNKNOWN]) {
        it(`keeps ${status} when the answer afterwards is ${late.outcome}`, async () => {
          const claimed = await work.claim();
          await store.learn(payment, result);
          const before = await work.current();
          await work.answer(claimed, late);
          expect(await work.current()).to.deep.equal(before);
        });
      }
    }

    it('makes a discrepancy of an answer that declines what has succeeded', async () => {
      const claimed = await work.claim();
      await store.learn(payment, succeeded());
      await work.answer(claimed, DECLINED);
      expect(await work.current()).to.include({ status: 'completed' });
      const kinds = await store.discrepanciesOf(payment.id);
      expect(kinds).to.deep.equal(['failure_after_success']);
    });

    it('leaves on the support list what was put there meanwhile', async () => {
      const claimed = await work.claim();
      await changeStep(store.database, refOf(payment), { park: 'support looks at it' });
      await work.answer(claimed, ACKNOWLEDGED);
      expect(await work.current()).to.include({
        status: 'processing',
        next_step: null,
        parked_reason: 'support looks at it',
      });
    });

    for (const result of [null, 'acknowledged', 'declined', 'unknown']) {
      it(`is refused by the database while an attempt is ${result ?? 'not answered'}`, async () => {
        await work.claim();
        await work.setAttempts(`result = ${result === null ? 'NULL' : `'${result}'`}`);
        const second = store.rows(
          `INSERT INTO attempts (merchant_id, payment_kind, payment_id, attempt_no)
           SELECT merchant_id, payment_kind, payment_id, 2 FROM attempts WHERE payment_id = :id`,
          { id: payment.id },
        );
        expect(await rejection(second)).to.include({
          code: '23505',
          constraint: 'attempts_one_that_may_have_arrived',
        });
        expect(await work.results()).to.deep.equal([result]);
      });
    }

    it('comes again after longer and longer pauses, up to five minutes', () => {
      const delays = [0, 1, 2, 3, 4, 5, 6, 7, 8, 50].map((attemptNo) => {
        const step = submitStep(payment, attemptNo);
        return typeof step === 'object' && 'delayMs' in step ? step.delayMs / 1_000 : null;
      });
      expect(delays).to.deep.equal([0, 1, 2, 5, 15, 30, 60, 300, 300, 300]);
    });
  });
}
