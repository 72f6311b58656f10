import { expect } from 'chai';
import fc from 'fast-check';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import type { Return } from '../../src/domain/payments/kinds.ts';
import type { PaymentStatus } from '../../src/domain/payments/payment.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { transition } from '../../src/domain/payments/transition.ts';
import type { Settlement } from '../../src/domain/settlement/settle.ts';
import { AMOUNT_CENTS, failed, receiptOf, succeeded, useStore } from '../support/world.ts';

const OTHER_AMOUNT_CENTS = 4_000;
const SUCCESS = succeeded({ transId: 'BACK1' });
const WITHOUT_RECEIPT = succeeded({ transId: null, externalRef: null });
const BARE = succeeded({ transId: null, externalRef: null, amountCents: null, account: null });
const SECOND = succeeded({ transId: 'BACK2' });
const OTHER_AMOUNT = succeeded({ transId: 'BACK1', amountCents: OTHER_AMOUNT_CENTS });
const STRANGER = succeeded({ transId: 'BACK1', account: '+254733999999' });
const FAILURE = failed({ code: 21, description: 'Not allowed' });

interface Story {
  known: Verdict[];
  news: Verdict;
  gives: Settlement;
  status: PaymentStatus;
  /** What the customer has got back in all. */
  returned?: number;
  discrepancies?: string[];
  parked?: boolean;
}

const DONE = { status: 'completed', returned: AMOUNT_CENTS } as const;
const FAILED: Pick<Story, 'status' | 'discrepancies'> = {
  status: 'failed',
  discrepancies: ['return_failed'],
};
const OPEN = { status: 'pending', parked: true } as const;

const STORIES: Readonly<Record<string, Story>> = {
  'nothing, then success': { known: [], news: SUCCESS, gives: 'completed', ...DONE },
  'nothing, then success without receipt': {
    known: [],
    news: WITHOUT_RECEIPT,
    gives: 'completed',
    ...DONE,
  },
  'nothing, then success without any detail': {
    known: [],
    news: BARE,
    gives: 'completed',
    ...DONE,
  },
  'nothing, then failure': { known: [], news: FAILURE, gives: 'failed', ...FAILED },
  'nothing, then success with another amount': {
    known: [],
    news: OTHER_AMOUNT,
    gives: 'discrepancy',
    ...OPEN,
    returned: OTHER_AMOUNT_CENTS,
    discrepancies: ['other_amount'],
  },
  'nothing, then success to another account': {
    known: [],
    news: STRANGER,
    gives: 'discrepancy',
    ...OPEN,
    returned: AMOUNT_CENTS,
    discrepancies: ['other_account'],
  },
  'success, then the same receipt': { known: [SUCCESS], news: SUCCESS, gives: 'repeat', ...DONE },
  'success, then success without receipt': {
    known: [SUCCESS],
    news: WITHOUT_RECEIPT,
    gives: 'repeat',
    ...DONE,
  },
  'success without receipt, then its receipt': {
    known: [WITHOUT_RECEIPT],
    news: SUCCESS,
    gives: 'repeat',
    ...DONE,
  },
  'success, then a second receipt': {
    known: [SUCCESS],
    news: SECOND,
    gives: 'discrepancy',
    status: 'completed',
    returned: 2 * AMOUNT_CENTS,
    discrepancies: ['second_success'],
  },
  'success, then failure twice': {
    known: [SUCCESS, FAILURE],
    news: FAILURE,
    gives: 'discrepancy',
    ...DONE,
    discrepancies: ['failure_after_success'],
  },
  'failure, then failure': { known: [FAILURE], news: FAILURE, gives: 'repeat', ...FAILED },
  'failure, then success': {
    known: [FAILURE],
    news: SUCCESS,
    gives: 'completed',
    ...DONE,
    discrepancies: ['return_failed (resolved)'],
  },
  'failure, success, then failure again': {
    known: [FAILURE, SUCCESS],
    news: FAILURE,
    gives: 'discrepancy',
    ...DONE,
    discrepancies: ['return_failed (resolved)', 'failure_after_success'],
  },
  'failure, then success with another amount': {
    known: [FAILURE],
    news: OTHER_AMOUNT,
    gives: 'discrepancy',
    status: 'failed',
    returned: OTHER_AMOUNT_CENTS,
    discrepancies: ['return_failed', 'other_amount'],
  },
  'another amount, then the same receipt': {
    known: [OTHER_AMOUNT],
    news: OTHER_AMOUNT,
    gives: 'repeat',
    ...OPEN,
    returned: OTHER_AMOUNT_CENTS,
    discrepancies: ['other_amount'],
  },
  'another amount, then failure': {
    known: [OTHER_AMOUNT],
    news: FAILURE,
    gives: 'discrepancy',
    ...OPEN,
    returned: OTHER_AMOUNT_CENTS,
    discrepancies: ['other_amount', 'failure_after_success'],
  },
};

describe('News of a return', () => {
  const store = useStore();
  let payment: Return;

  beforeEach(async () => {
    payment = await store.newReturn();
  });

  afterEach(() => store.expectRightBooks());

  const balance = (account: string) => store.accountBalance(account);

  async function expectOutcome(story: Story): Promise<void> {
    const settled = await store.reread(payment);
    expect(settled.status).to.equal(story.status);
    expect(settled.parked_reason !== null, 'is on the support list').to.equal(
      story.parked ?? false,
    );
    const kept = AMOUNT_CENTS - (story.returned ?? 0);
    expect(await balance('suspense'), 'suspense').to.equal(kept);
    expect((await balance('gateway_float')) + kept, 'float and suspense').to.equal(0);
    const discrepancies = await store.discrepanciesOf(payment.id);
    expect(discrepancies).to.deep.equal(story.discrepancies ?? []);
    await expectMerchantUntouched();
  }

  /** A return is our own doing: the merchant neither pays for it nor hears of it. */
  async function expectMerchantUntouched(): Promise<void> {
    for (const kind of ['collection', 'payout'] as const) {
      expect(await store.walletBalance(kind), kind).to.equal(0);
    }
    const events = await store.countOf('events WHERE merchant_id = :id', {
      id: store.merchantId,
    });
    expect(events, 'events').to.equal(1);
  }

  for (const [text, story] of Object.entries(STORIES)) {
    it(`is understood: ${text}`, async () => {
      for (const verdict of story.known) await store.learn(payment, verdict);
      expect(await store.learn(payment, story.news)).to.equal(story.gives);
      await expectOutcome(story);
    });
  }

  for (const text of ['nothing, then success', 'nothing, then failure']) {
    it(`ends one that the gateway has acknowledged: ${text}`, async () => {
      const story = STORIES[text]!;
      await store.transaction((trx) =>
        transition(trx, payment, {
          to: 'processing',
          step: { next: 'poll', queue: 'polling-simulator', delayMs: 0 },
          cause: 'submission',
        }),
      );
      expect(await store.learn(payment, story.news)).to.equal(story.gives);
      await expectOutcome(story);
    });
  }

  it('is written down with the end', async () => {
    await store.learn(payment, SUCCESS);
    expect(await store.reread(payment)).to.include({
      result_code: 0,
      result_description: 'Done',
      trans_id: receiptOf(payment, 'BACK1'),
      external_ref: 'GW-1',
      next_step: null,
    });
    const [, end] = await store.historyOf(refOf(payment));
    expect(end).to.include({ from_status: 'pending', to_status: 'completed', cause: 'callback' });
  });

  it('fills what was empty when it repeats, and overwrites nothing', async () => {
    await store.learn(payment, WITHOUT_RECEIPT);
    await store.learn(payment, SUCCESS);
    await store.learn(payment, succeeded({ transId: 'BACK1', description: 'No' }));
    const settled = await store.reread(payment);
    expect(settled).to.include({ trans_id: receiptOf(payment, 'BACK1'), external_ref: 'GW-1' });
  });

  it('that comes many times at once counts once', async () => {
    const settlements = await Promise.all(
      Array.from({ length: 10 }, () => store.learn(payment, SUCCESS)),
    );
    expect(settlements.filter((settlement) => settlement === 'completed')).to.have.length(1);
    await expectOutcome(STORIES['nothing, then success']!);
  });

  it('in any order books every receipt once', async () => {
    const verdicts = fc.constantFrom<Verdict>(SUCCESS, SECOND, FAILURE);
    await fc.assert(
      fc.asyncProperty(fc.array(verdicts, { minLength: 1, maxLength: 6 }), async (news) => {
        store.merchant = await store.newMerchant();
        payment = await store.newReturn();
        for (const verdict of news) await store.learn(payment, verdict);
        const receipts = new Set(
          news.flatMap((verdict) => ('transId' in verdict ? [verdict.transId] : [])),
        );
        const kept = AMOUNT_CENTS - receipts.size * AMOUNT_CENTS;
        expect(await balance('suspense')).to.equal(kept);
        await expectMerchantUntouched();
      }),
      { numRuns: 15 },
    );
  });
});
