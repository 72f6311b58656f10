import { expect } from 'chai';
import fc from 'fast-check';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { transition } from '../../src/domain/payments/transition.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import { expectOutcome } from '../support/settle-outcomes.ts';
import {
  FAILURE,
  OTHER_AMOUNT_CENTS,
  SECOND,
  STORIES,
  STRANGER,
  type Story,
  SUCCESS,
  WITHOUT_RECEIPT,
} from '../support/settle-stories.ts';
import { AMOUNT_CENTS, PAYMENT_KINDS, receiptOf, succeeded, useStore } from '../support/world.ts';

/** The gateway's float before the payment, in cents, and whether the payment takes from it. */
const FLOAT = {
  collection: { before: 0, sign: -1 },
  reversal: { before: -AMOUNT_CENTS, sign: 1 },
  return: { before: -AMOUNT_CENTS, sign: 1 },
} as const;
/** How often the merchant may hear of one payment: a reversal's failure can be corrected. */
const TELLINGS = { collection: 1, reversal: 2, return: 0 } as const;

for (const kind of PAYMENT_KINDS) {
  describe(`News of a ${kind}`, () => {
    const store = useStore();
    const stories = STORIES[kind];
    let payment: AnyPayment;

    beforeEach(async () => {
      payment = await store.newPayment(kind);
    });

    afterEach(() => store.expectRightBooks());

    async function hear(story: Story) {
      const [known, news, gives, outcome] = story;
      for (const each of known) {
        if (each === 'refund') await store.refund(payment);
        else await store.learn(payment, each);
      }
      expect(await store.learn(payment, news)).to.equal(gives);
      await expectOutcome(store, payment, outcome);
    }

    for (const [text, story] of Object.entries(stories)) {
      it(`is understood: ${text}`, () => hear(story));
    }

    for (const text of ['nothing, then success', 'nothing, then failure']) {
      it(`ends one that the gateway has acknowledged: ${text}`, async () => {
        await store.transaction((trx) =>
          transition(trx, payment, {
            to: 'processing',
            step: { next: 'poll', queue: 'polling-simulator', delayMs: 0 },
            cause: 'submission',
          }),
        );
        await hear(stories[text]!);
      });
    }

    it('ends one that stands on the support list, and takes it off', async () => {
      await changeStep(store.database, refOf(payment), { park: 'job failed: whatever' });
      await hear(stories['nothing, then success']!);
    });

    it('is written down with the end', async () => {
      await store.learn(payment, SUCCESS);
      expect(await store.reread(payment)).to.include({
        result_code: 0,
        result_description: 'Done',
        trans_id: receiptOf(payment),
        external_ref: 'GW-1',
        next_step: null,
      });
      const [, end] = await store.historyOf(refOf(payment));
      expect(end).to.include({ from_status: 'pending', to_status: 'completed', cause: 'callback' });
    });

    it('fills what was empty when it repeats, and overwrites nothing', async () => {
      await store.learn(payment, WITHOUT_RECEIPT);
      await store.learn(payment, SUCCESS);
      await store.learn(payment, succeeded({ description: 'No' }));
      expect(await store.reread(payment)).to.include({
        trans_id: receiptOf(payment),
        external_ref: 'GW-1',
        result_description: 'Done',
      });
    });

    it('that comes many times at once counts once', async () => {
      const settlements = await Promise.all(
        Array.from({ length: 10 }, () => store.learn(payment, SUCCESS)),
      );
      expect(settlements.filter((settlement) => settlement === 'completed')).to.have.length(1);
      expect(settlements.filter((settlement) => settlement === 'repeat')).to.have.length(9);
      await expectOutcome(store, payment, { ends: 'completed' });
      expect(await store.historyOf(refOf(payment))).to.have.length(2);
    });

    // Payouts meet their refund, too (settle-payout.test.ts).
    if (kind === 'payout') return;

    it('in any order books every receipt once', async () => {
      const verdicts = fc.constantFrom<Verdict>(
        SUCCESS,
        SECOND,
        FAILURE,
        succeeded({ transId: 'RCPT3', amountCents: OTHER_AMOUNT_CENTS }),
        { ...STRANGER, transId: 'RCPT4' },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(verdicts, { minLength: 1, maxLength: 7 }), async (news) => {
          store.merchant = await store.newMerchant();
          payment = await store.newPayment(kind);
          for (const verdict of news) await store.learn(payment, verdict);
          const receipts = new Map(
            news.flatMap((each) =>
              each.outcome === 'succeeded' ? [[each.transId, each.amountCents!]] : [],
            ),
          );
          const total = [...receipts.values()].reduce((sum, cents) => sum + cents, 0);
          const { before, sign } = FLOAT[kind];
          expect(await store.accountBalance('gateway_float')).to.equal(before + sign * total);
          const { id } = payment;
          const told = await store.countOf('events WHERE payment_id = :id', { id });
          expect(told).to.be.at.most(TELLINGS[kind]);
          const returns = kind === 'return' ? [payment] : await store.returnsOf();
          expect(returns.length).to.be.at.most(1);
          await store.expectRightBooks();
        }),
        { numRuns: 20 },
      );
    });
  });
}
