import type { Verdict } from '../../../src/domain/gateway-results.ts';
import { newPayout } from '../payment-kinds.ts';
import { learn } from '../payments.ts';
import { FAILURE, SECOND, STRANGER, SUCCESS } from '../settle-stories.ts';
import { ACKNOWLEDGED, workOn } from '../submissions.ts';
import { discrepancyOf, hear, makeOverdue, refund, resolve } from './scene.ts';
import { type Decided, type DiscrepancyStory, HALF, lost, type Stories, undo } from './story.ts';

const TOPPED_UP = { bank: -10_250 };
const PAID: Decided = {
  status: 'completed',
  told: ['completed'],
  books: { ...TOPPED_UP, gateway_float: 10_000, fees: 250 },
};
const REFUND_DUE: Decided = {
  status: 'failed',
  step: 'refund',
  books: { ...TOPPED_UP, payouts_in_flight: 10_250 },
};
/** What went out is not back, so suspense waits for it. */
const REFUND_AFTER_UNDO: Decided = {
  ...REFUND_DUE,
  told: ['completed'],
  books: { ...REFUND_DUE.books, gateway_float: 10_000, suspense: -10_000 },
};
const REFUNDED: Decided = {
  status: 'failed',
  told: ['failed'],
  books: { ...TOPPED_UP, 'wallet:payout': 10_250 },
};

function payout(...news: (Verdict | 'refund')[]): DiscrepancyStory['arrange'] {
  return async (scene) => {
    const payment = await newPayout(scene.database, scene.merchant);
    for (const item of news) {
      if (item === 'refund') await refund(scene, payment);
      else await hear(scene, payment, item);
    }
    return payment;
  };
}

export const PAYOUT_DISCREPANCIES: Stories = {
  'another amount of an open payout': {
    kind: 'other_amount',
    arrange: payout(HALF),
    decisions: {
      'accept-amount': {
        ...PAID,
        books: { ...TOPPED_UP, gateway_float: 5_000, fees: 250, 'wallet:payout': 5_000 },
      },
      returned: REFUND_DUE,
      failed: lost(REFUND_DUE, 5_000),
    },
  },
  'an open payout to a stranger': {
    kind: 'other_account',
    arrange: payout(STRANGER),
    decisions: { completed: PAID, returned: REFUND_DUE, failed: lost(REFUND_DUE, 10_000) },
  },
  'a payout to a stranger before the refund': {
    kind: 'other_account',
    arrange: payout(FAILURE, STRANGER),
    decisions: { completed: PAID, returned: REFUND_DUE, failed: lost(REFUND_DUE, 10_000) },
  },
  'another amount of a payout before the refund': {
    kind: 'other_amount',
    arrange: payout(FAILURE, HALF),
    decisions: {
      'accept-amount': {
        ...PAID,
        books: { ...TOPPED_UP, gateway_float: 5_000, fees: 250, 'wallet:payout': 5_000 },
      },
      returned: REFUND_DUE,
      failed: lost(REFUND_DUE, 5_000),
    },
  },
  'a second receipt before the refund, with another amount undecided': {
    kind: 'second_success',
    arrange: payout(FAILURE, HALF, SECOND),
    decisions: {
      completed: {
        ...PAID,
        books: { ...PAID.books, gateway_float: 15_000, suspense: -5_000 },
        left: ['other_amount'],
      },
      returned: {
        status: 'failed',
        step: 'parked',
        books: { ...REFUND_DUE.books, gateway_float: 5_000, suspense: -5_000 },
        left: ['other_amount'],
      },
      failed: {
        status: 'failed',
        step: 'parked',
        books: { ...lost(REFUND_DUE, 10_000).books, gateway_float: 15_000, suspense: -5_000 },
        left: ['other_amount'],
      },
    },
  },
  'a payout that arrived after its refund': {
    kind: 'paid_after_refund',
    arrange: payout(FAILURE, 'refund', SUCCESS),
    decisions: {
      completed: { ...PAID, told: ['failed', 'completed'] },
      returned: REFUNDED,
      failed: lost(REFUNDED, 10_000),
    },
  },
  'half of a payout that arrived after its refund': {
    kind: 'paid_after_refund',
    arrange: payout(FAILURE, 'refund', HALF),
    decisions: {
      'accept-amount': {
        status: 'completed',
        told: ['failed', 'completed'],
        books: { ...TOPPED_UP, gateway_float: 5_000, fees: 250, 'wallet:payout': 5_000 },
      },
      returned: REFUNDED,
      failed: lost(REFUNDED, 5_000),
    },
  },
  'a second receipt of a completed payout': {
    kind: 'second_success',
    arrange: payout(SUCCESS, SECOND),
    decisions: { returned: PAID, failed: lost(PAID, 10_000) },
  },
  'the receipt of a payout that support completed under another one': {
    kind: 'second_success',
    arrange: async (scene) => {
      const payment = await newPayout(scene.database, scene.merchant);
      await makeOverdue(scene, payment);
      await resolve(
        scene,
        await discrepancyOf(scene, 'overdue'),
        'completed',
        `TYPO-${payment.id}`,
      );
      return hear(scene, payment, SUCCESS);
    },
    decisions: { same: PAID, returned: PAID, failed: lost(PAID, 10_000) },
  },
  'the receipt of a completed payout with another amount': {
    kind: 'other_amount',
    arrange: payout(SUCCESS, HALF),
    decisions: {
      'accept-amount': {
        ...PAID,
        told: ['completed', 'completed'],
        books: { ...TOPPED_UP, gateway_float: 5_000, fees: 250, 'wallet:payout': 5_000 },
      },
      dismissed: PAID,
      undo: {
        ...REFUND_AFTER_UNDO,
        books: { ...REFUND_DUE.books, gateway_float: 5_000, suspense: -5_000 },
        left: ['undone_money'],
      },
    },
  },
  'a failure of a completed payout': {
    kind: 'failure_after_success',
    arrange: payout(SUCCESS, FAILURE),
    // The refund tells the merchant, when it is posted.
    decisions: { dismissed: PAID, undo: { ...REFUND_AFTER_UNDO, left: ['undone_money'] } },
  },
  'money of an undone payout': {
    kind: 'undone_money',
    arrange: undo({
      kind: 'failure_after_success',
      arrange: payout(SUCCESS, FAILURE),
      decisions: {},
    }),
    decisions: {
      returned: { ...REFUND_DUE, told: ['completed'] },
      failed: lost({ ...REFUND_DUE, told: ['completed'] }, 10_000),
    },
  },
  'money of an undone payout of which the gateway tells again': {
    kind: 'undone_money',
    arrange: async (scene) => {
      const payment = await payout(SUCCESS, FAILURE)(scene);
      await resolve(scene, await discrepancyOf(scene, 'failure_after_success'), 'undo');
      return hear(scene, payment, SUCCESS);
    },
    decisions: {
      returned: { ...REFUND_DUE, told: ['completed'] },
      failed: lost({ ...REFUND_DUE, told: ['completed'] }, 10_000),
    },
  },
  'a failure of a payout that support debited again': {
    kind: 'failure_after_success',
    arrange: async (scene) => {
      const payment = await payout(FAILURE, 'refund', SUCCESS)(scene);
      await resolve(scene, await discrepancyOf(scene, 'paid_after_refund'), 'completed');
      return hear(scene, payment, FAILURE);
    },
    decisions: {
      dismissed: { ...PAID, told: ['failed', 'completed'] },
      undo: {
        ...REFUNDED,
        told: ['failed', 'completed', 'failed'],
        books: { ...REFUNDED.books, gateway_float: 10_000, suspense: -10_000 },
        left: ['undone_money'],
      },
    },
  },
  'a payout that the gateway took after support had failed it': {
    kind: 'taken_after_failure',
    arrange: async (scene) => {
      const payment = await newPayout(scene.database, scene.merchant);
      const work = workOn(scene.database, payment);
      const claimed = await work.claim();
      await learn(scene.database, payment, FAILURE, 'support');
      await work.answer(claimed, ACKNOWLEDGED);
      return payment;
    },
    decisions: { failed: REFUND_DUE },
  },
  'an overdue payout': {
    kind: 'overdue',
    arrange: async (scene) => makeOverdue(scene, await newPayout(scene.database, scene.merchant)),
    decisions: { completed: PAID, failed: REFUND_DUE },
  },
};
