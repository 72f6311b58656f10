import { expect } from 'chai';
import { databaseNow } from '../../src/connections/database.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { pollStep } from '../../src/domain/payments/schedule.ts';
import { findPaymentToPoll, recordQuery } from '../../src/domain/submission/polling.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import {
  asking,
  failed,
  NEVER,
  NOT_FOUND,
  NOT_TAKEN,
  PAYMENT_KINDS,
  POLL_FIRST_MS,
  RECORDING,
  SAFE,
  succeeded,
  UNKNOWN,
  useStore,
  type Work,
} from '../support/world.ts';

for (const kind of PAYMENT_KINDS) {
  describe(`Asking about a ${kind}`, () => {
    const store = useStore({ merchant: 'all' });
    let payment: AnyPayment;
    let work: Work;

    beforeEach(async () => {
      payment = await store.newPayment(kind);
      work = store.workOn(payment);
    });

    it('leads to another submission when the gateway has not found it three times and that is safe', async () => {
      await work.answer(await work.claim(), UNKNOWN);
      expect(await work.hear(NOT_FOUND)).to.include({ next_step: 'poll', status: 'pending' });
      expect(await work.hear(NOT_FOUND)).to.include({ next_step: 'poll', status: 'pending' });
      expect(await work.claim()).to.equal(null);
      expect(await work.hear(NOT_FOUND)).to.include({ next_step: 'submit', status: 'pending' });
      expect(await work.claim()).to.include({ attemptNo: 2 });
      expect(await work.results()).to.deep.equal(['ruled_out', null]);
    });

    it('never leads to another submission through a gateway that does not allow it', async () => {
      await work.answer(await work.claim(), UNKNOWN);
      for (let asked = 0; asked < 5; asked += 1) {
        expect(await work.hear(NOT_FOUND, NEVER)).to.include({
          next_step: 'poll',
          status: 'pending',
        });
      }
      expect(await work.results()).to.deep.equal(['unknown']);
    });

    for (const rule of [SAFE, NEVER]) {
      it(`leads to a submission when nothing was sent and the gateway (${rule.resubmit}) does not know it`, async () => {
        await work.answer(await work.claim(), NOT_TAKEN);
        await changeStep(store.database, refOf(payment), pollStep(payment, POLL_FIRST_MS));
        expect(await work.hear(NOT_FOUND, rule)).to.include({ next_step: 'submit' });
        expect(await work.claim()).to.include({ attemptNo: 2 });
      });
    }

    it('counts no "not found" within the gateway’s settling window', async () => {
      await work.answer(await work.claim(), UNKNOWN);
      const slow = { ...SAFE, settlingWindowMs: 60_000 };
      for (let asked = 0; asked < 4; asked += 1) {
        await work.hear(NOT_FOUND, slow);
      }
      expect(await work.attempts()).to.deep.equal([
        { attempt_no: 1, result: 'unknown', not_found_count: 0 },
      ]);
      await work.setAttempts(`answered_at = now() - interval '61 seconds'`);
      for (let asked = 0; asked < 3; asked += 1) {
        await work.hear(NOT_FOUND, slow);
      }
      expect(await work.current()).to.include({ next_step: 'submit' });
    });

    it('counts no "not found" while a call without answer may still be under way', async () => {
      await work.claim();
      await work.claim();
      for (let asked = 0; asked < 4; asked += 1) await work.hear(NOT_FOUND);
      expect(await work.current()).to.include({ next_step: 'poll' });
      await work.setAttempts(`started_at = now() - interval '10 minutes'`);
      for (let asked = 0; asked < 3; asked += 1) await work.hear(NOT_FOUND);
      expect(await work.current()).to.include({ next_step: 'submit' });
    });

    it('counts a "not found" by when it was asked for, however late it is told', async () => {
      await work.claim();
      await work.claim();
      await work.setAttempts(`started_at = now() - interval '40 seconds'`);
      for (let asked = 0; asked < 4; asked += 1) {
        const question = {
          ...asking(await work.current()),
          askedAt: new Date(Date.now() - 15_000),
        };
        await recordQuery(store.database, question, NOT_FOUND, SAFE, RECORDING);
      }
      expect(await work.attempts()).to.deep.equal([
        { attempt_no: 1, result: null, not_found_count: 0 },
      ]);
      for (let asked = 0; asked < 3; asked += 1) await work.hear(NOT_FOUND);
      expect(await work.current()).to.include({ next_step: 'submit' });
    });

    it('takes "pending" for the acknowledgement that was lost', async () => {
      await work.answer(await work.claim(), UNKNOWN);
      expect(await work.hear({ outcome: 'pending' })).to.include({
        status: 'processing',
        next_step: 'poll',
      });
    });

    it('keeps what the gateway has said last, while it does not know the end', async () => {
      await work.answer(await work.claim(), UNKNOWN);
      expect(await work.current()).to.include({ last_answer: null, last_asked_at: null });
      for (const [answer, words] of [
        [NOT_FOUND, 'the gateway does not know it'],
        [{ outcome: 'asked' }, 'the gateway has taken the question, and answers with a callback'],
        [{ outcome: 'noAnswer', reason: 'HTTP 503' }, 'no answer: HTTP 503'],
        [{ outcome: 'pending' }, 'it has not ended yet'],
        [{ outcome: 'pending' }, 'it has not ended yet'],
      ] as const) {
        const question = asking(await work.current());
        await recordQuery(store.database, question, answer, NEVER, RECORDING);
        const { last_answer, last_asked_at } = await work.current();
        expect([last_answer, last_asked_at]).to.deep.equal([words, question.askedAt]);
      }
    });

    it('does not ask again while the answer to the last question may still come', async () => {
      await work.answer(await work.claim(), UNKNOWN);
      const rule = { ...SAFE, answerWindowMs: 60_000 };
      const { next_step_at, next_step } = await work.hear({ outcome: 'asked' }, rule);
      expect(next_step).to.equal('poll');
      const now = await databaseNow(store.database);
      expect(next_step_at!.getTime() - now.getTime()).to.be.greaterThan(50_000);
    });

    it('goes on after a question without answer', async () => {
      await work.answer(await work.claim(), UNKNOWN);
      const { step_no } = await work.current();
      for (const outcome of ['noAnswer', 'asked'] as const)
        await work.hear({ outcome, reason: 'x' });
      expect(await work.current()).to.include({ next_step: 'poll', step_no: step_no + 2 });
    });

    it('believes a verdict even of a question that was overtaken, but lets it plan nothing', async () => {
      await work.answer(await work.claim(), UNKNOWN);
      const asked = asking(await work.current());
      await work.hear({ outcome: 'pending' });
      const before = await work.current();
      await recordQuery(store.database, asked, NOT_FOUND, SAFE, RECORDING);
      expect(await work.current()).to.deep.equal(before);
      await recordQuery(store.database, asked, succeeded(), SAFE, RECORDING);
      expect(await work.current()).to.include({ status: 'completed' });
    });

    it('is not contrary when it hears of a failure while the success comes otherwise', async () => {
      await work.answer(await work.claim(), UNKNOWN);
      const asked = asking(await work.current());
      await store.learn(payment, succeeded());
      await recordQuery(store.database, asked, failed(), SAFE, RECORDING);
      expect(await store.discrepanciesOf(payment.id)).to.deep.equal([]);
      expect(await work.current()).to.include({ status: 'completed' });
    });

    it('is contrary when it hears of a failure of what only support has completed', async () => {
      await work.answer(await work.claim(), UNKNOWN);
      const asked = asking(await work.current());
      await store.learn(payment, succeeded(), 'support');
      await recordQuery(store.database, asked, failed(), SAFE, RECORDING);
      expect(await store.discrepanciesOf(payment.id)).to.deep.equal(['failure_after_success']);
    });

    it('is done by the job of the newest step only, and only while it is open', async () => {
      await work.answer(await work.claim(), UNKNOWN);
      const { step_no } = await work.current();
      const find = (stepNo: number) => findPaymentToPoll(store.database, refOf(payment), stepNo);
      expect(await find(step_no - 1)).to.equal(null);
      expect((await find(step_no))?.payment).to.include({ id: payment.id });
      await store.learn(payment, succeeded());
      expect(await find(step_no)).to.equal(null);
      expect(await find(step_no + 1)).to.equal(null);
    });
  });
}
