import { expect } from 'chai';
import type { GatewayPaymentKind } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { findPaymentToPoll } from '../../src/domain/submission/polling.ts';
import { failedHere } from '../../src/domain/support/resolution.ts';
import { discrepancyOf, refund, resolve, returnsOf } from '../support/discrepancies/scene.ts';
import { failJob, replay } from '../support/failed-jobs.ts';
import { SO_FAR } from '../support/so-far.ts';
import { lineOf, runStatement } from '../support/statements.ts';
import {
  ACKNOWLEDGED,
  failed,
  NOT_FOUND,
  PAYMENT_KINDS,
  parserOf,
  STEP_AFTER_FAILURE,
  succeeded,
  useStore,
  type Work,
} from '../support/world.ts';

const FINDING = 'taken_after_failure';
const NO_ANSWER = { outcome: 'noAnswer', reason: 'timeout' } as const;

for (const kind of PAYMENT_KINDS) {
  describe(`A failed ${kind} that the gateway acknowledges`, () => {
    const afterFailure = STEP_AFTER_FAILURE[kind];
    const store = useStore();
    let payment: AnyPayment;
    let work: Work;

    beforeEach(async () => {
      payment = await store.newPayment(kind);
      work = store.workOn(payment);
    });

    afterEach(() => store.expectSoundLedger());

    async function takeAfterFailure(cause = 'support') {
      const claimed = await work.claim();
      await store.learn(payment, failedHere('Not carried out'), cause);
      await work.answer(claimed, ACKNOWLEDGED);
      return work.current();
    }

    const findings = async () =>
      (await store.discrepanciesOf(payment.id)).filter(
        (found) => !found.startsWith('return_failed'),
      );

    for (const cause of ['support', 'statement', 'poll']) {
      it(`is a finding and is asked about when the word of failure came by ${cause}`, async () => {
        const { step_no, ...after } = await takeAfterFailure(cause);
        expect(after).to.include({ status: 'failed', next_step: 'poll', external_ref: 'GW-1' });
        expect(await findings()).to.deep.equal([FINDING]);
        expect(await findPaymentToPoll(store.database, refOf(payment), step_no)).to.not.equal(null);
      });
    }

    it('is neither when the callback of its failure has overtaken the acknowledgement', async () => {
      const after = await takeAfterFailure('callback');
      expect(after).to.include({ status: 'failed', next_step: afterFailure });
      expect(await findings()).to.deep.equal([]);
    });

    it('is asked about for as long as the gateway says nothing definite', async () => {
      await takeAfterFailure();
      for (const answer of [{ outcome: 'pending' } as const, NOT_FOUND, NO_ANSWER]) {
        expect(await work.hear(answer)).to.include({ status: 'failed', next_step: 'poll' });
      }
      expect(await findings()).to.deep.equal([FINDING]);
    });

    it('is asked about until the gateway says that it failed', async () => {
      await takeAfterFailure();
      expect(await work.hear(failed())).to.include({ status: 'failed', next_step: afterFailure });
      expect(await findings()).to.deep.equal([`${FINDING} (resolved)`]);
    });

    it('is asked about also after a word of failure from before the acknowledgement', async () => {
      const heardAt = new Date();
      await takeAfterFailure();
      await store.database.transaction(async (trx) => {
        const locked = await lockPayment(trx, refOf(payment));
        await settle(trx, locked!, failed(), { cause: 'callback', heardAt, parserOf });
      });
      expect(await work.current()).to.include({ next_step: 'poll' });
      expect(await findings()).to.deep.equal([FINDING]);
    });

    it('is asked about no more when the same acknowledgement is recorded once more', async () => {
      const claimed = await work.claim();
      await store.learn(payment, failedHere('Not carried out'), 'support');
      await work.answer(claimed, ACKNOWLEDGED);
      await work.hear(failed());
      await work.answer(claimed, ACKNOWLEDGED);
      expect(await work.current()).to.include({ status: 'failed', next_step: afterFailure });
      expect(await findings()).to.deep.equal([`${FINDING} (resolved)`]);
    });

    it('is booked when the money shows, and asked about no more', async () => {
      await takeAfterFailure();
      const after = await work.hear(succeeded({ transId: 'SHOWN1' }));
      const isCollection = kind === 'collection';
      expect(after).to.include({ status: isCollection ? 'failed' : 'completed', next_step: null });
      expect(after.parked_reason).to.equal(null);
      const returns = kind === 'return' || isCollection ? 1 : 0;
      expect(
        await returnsOf({ database: store.database, merchant: store.merchant }),
      ).to.have.length(returns);
      expect(await findings()).to.deep.equal([`${FINDING} (resolved)`]);
    });

    it('ends as support decides when the gateway never answers', async () => {
      await takeAfterFailure();
      const scene = { database: store.database, merchant: store.merchant };
      await resolve(scene, await discrepancyOf(scene, FINDING), 'failed');
      expect(await work.current()).to.include({ status: 'failed', next_step: afterFailure });
    });

    it('is asked about again when the question failed for good and is replayed', async () => {
      await takeAfterFailure();
      const job = await failJob(store.database, kind, payment.id);
      expect(await replay(store.database, job)).to.include({ action: 'ask' });
      expect(await work.current()).to.include({ status: 'failed', next_step: 'poll' });
    });

    it('goes on when the word of failure comes while it is parked for a failed question', async () => {
      await takeAfterFailure();
      await failJob(store.database, kind, payment.id);
      await store.learn(payment, failed());
      expect(await work.current()).to.include({ next_step: afterFailure, parked_reason: null });
    });
  });
}

describe('An acknowledgement', () => {
  const store = useStore();

  async function claimed(kind: GatewayPaymentKind) {
    const payment = await store.newPayment(kind);
    const work = store.workOn(payment);
    return { payment, work, claim: await work.claim() };
  }

  for (const kind of PAYMENT_KINDS) {
    it(`of a completed ${kind} is nothing new`, async () => {
      const { payment, work, claim } = await claimed(kind);
      await store.learn(payment, succeeded());
      const before = await work.current();
      await work.answer(claim, ACKNOWLEDGED);
      expect(await work.current()).to.deep.equal(before);
      expect(await store.discrepanciesOf(payment.id)).to.deep.equal([]);
    });
  }

  it('of a failed collection whose money has shown is nothing new', async () => {
    const { payment, work, claim } = await claimed('collection');
    await store.learn(payment, failedHere('Not carried out'), 'support');
    await store.learn(payment, succeeded());
    const before = await work.current();
    await work.answer(claim, ACKNOWLEDGED);
    expect(await work.current()).to.deep.equal({
      ...before,
      external_ref: before.external_ref ?? 'GW-1',
    });
    expect(await store.discrepanciesOf(payment.id)).to.deep.equal([]);
  });

  it('of a failed payout is news though money of it was undone: that never moved', async () => {
    const { payment, work, claim } = await claimed('payout');
    const line = lineOf(payment, { amountCents: 5_000 });
    await runStatement(store.database, [line], SO_FAR, { covers: [] }, 'file.csv');
    await store.resolve(await store.discrepancyOf('other_amount', payment), 'undo');
    await store.learn(payment, failed(), 'poll');
    await work.answer(claim, ACKNOWLEDGED);
    expect(await work.current()).to.include({ status: 'failed', next_step: 'poll' });
  });

  describe('of a failed payout whose refund is posted', () => {
    async function refundedThenTaken() {
      const { payment, work, claim } = await claimed('payout');
      await store.learn(payment, failedHere('Not carried out'), 'support');
      await refund({ database: store.database, merchant: store.merchant }, payment);
      await work.answer(claim, ACKNOWLEDGED);
      expect(await work.current()).to.include({ status: 'failed', next_step: 'poll' });
      return { payment, work };
    }

    it('ends with the gateway’s word that it failed, and refunds nothing again', async () => {
      const { payment, work } = await refundedThenTaken();
      expect(await work.hear(failed())).to.include({ next_step: null, parked_reason: null });
      expect(await store.discrepanciesOf(payment.id)).to.deep.equal([`${FINDING} (resolved)`]);
      await store.expectSoundLedger();
    });

    it('is for support when the money has gone out', async () => {
      const { payment, work } = await refundedThenTaken();
      expect(await work.hear(succeeded())).to.include({ next_step: null, parked_reason: null });
      expect(await store.discrepanciesOf(payment.id)).to.have.members([
        `${FINDING} (resolved)`,
        'paid_after_refund',
      ]);
      await store.expectSoundLedger();
    });
  });

  it('of a refund that is due puts the refund aside, so that its job does nothing', async () => {
    const payout = await store.newPayout();
    const work = store.workOn(payout);
    const claim = await work.claim();
    await store.learn(payout, failedHere('Not carried out'), 'support');
    const { step_no } = await work.current();
    await work.answer(claim, ACKNOWLEDGED);
    await store.rows('UPDATE payouts SET next_step_at = now() WHERE id = :id', {
      id: payout.id,
    });
    await refund({ database: store.database, merchant: store.merchant }, payout);
    const after = await work.current();
    expect(after.step_no).to.be.greaterThan(step_no);
    expect(after).to.include({ refund_posted_at: null, next_step: 'poll' });
  });
});
