import type { Verdict } from '../../../src/domain/gateway-results.ts';
import { newReturn } from '../payments.ts';
import { FAILURE, SECOND, STRANGER, SUCCESS } from '../settle-stories.ts';
import { discrepancyOf, hear, makeOverdue, resolve } from './scene.ts';
import {
  type Decided,
  type DiscrepancyStory,
  HALF,
  lost,
  type Stories,
  undo,
  undone,
} from './story.ts';

/** The customer's late money, which waits in suspense. */
const LATE = { gateway_float: -10_000, suspense: 10_000 };
const GIVEN_BACK: Decided = { status: 'completed', books: {}, returns: [10_000] };
const NOT_GIVEN_BACK: Decided = {
  status: 'failed',
  books: LATE,
  returns: [10_000],
  left: ['return_failed'],
};
const PAID_FROM_BANK: Decided = {
  status: 'failed',
  books: { gateway_float: -10_000, bank: 10_000 },
  returns: [10_000],
};

function giveBack(...news: (Verdict | 'bank')[]): DiscrepancyStory['arrange'] {
  return async (scene) => {
    const payment = await newReturn(scene.database, scene.merchant);
    for (const item of news) {
      if (item !== 'bank') await hear(scene, payment, item);
      else await resolve(scene, await discrepancyOf(scene, 'return_failed'), 'returned');
    }
    return payment;
  };
}

export const RETURN_DISCREPANCIES: Stories = {
  'a return that failed': {
    kind: 'return_failed',
    arrange: giveBack(FAILURE),
    decisions: { returned: PAID_FROM_BANK },
  },
  'another amount of an open return': {
    kind: 'other_amount',
    arrange: giveBack(HALF),
    decisions: { returned: NOT_GIVEN_BACK, failed: lost(NOT_GIVEN_BACK, 5_000) },
  },
  'an open return to a stranger': {
    kind: 'other_account',
    arrange: giveBack(STRANGER),
    decisions: {
      completed: GIVEN_BACK,
      returned: NOT_GIVEN_BACK,
      failed: lost(NOT_GIVEN_BACK, 10_000),
    },
  },
  'a failed return that went to a stranger': {
    kind: 'other_account',
    arrange: giveBack(FAILURE, STRANGER),
    decisions: {
      completed: GIVEN_BACK,
      returned: NOT_GIVEN_BACK,
      failed: lost(NOT_GIVEN_BACK, 10_000),
    },
  },
  'a return that arrived after the customer was paid from the bank': {
    kind: 'second_success',
    arrange: giveBack(FAILURE, 'bank', SUCCESS),
    decisions: { returned: PAID_FROM_BANK, failed: lost(PAID_FROM_BANK, 10_000) },
  },
  'a second receipt of a completed return': {
    kind: 'second_success',
    arrange: giveBack(SUCCESS, SECOND),
    decisions: { returned: GIVEN_BACK, failed: lost(GIVEN_BACK, 10_000) },
  },
  'the receipt of a completed return with another amount': {
    kind: 'other_amount',
    arrange: giveBack(SUCCESS, HALF),
    decisions: {
      dismissed: GIVEN_BACK,
      undo: undone(GIVEN_BACK, {
        books: { gateway_float: -5_000, suspense: 5_000 },
        left: ['return_failed', 'undone_money'],
      }),
    },
  },
  'a failure of a completed return': {
    kind: 'failure_after_success',
    arrange: giveBack(SUCCESS, FAILURE),
    decisions: {
      dismissed: GIVEN_BACK,
      undo: undone(GIVEN_BACK, { left: ['return_failed', 'undone_money'] }),
    },
  },
  'money of an undone return': {
    kind: 'undone_money',
    arrange: undo({
      kind: 'failure_after_success',
      arrange: giveBack(SUCCESS, FAILURE),
      decisions: {},
    }),
    decisions: { returned: NOT_GIVEN_BACK, failed: lost(NOT_GIVEN_BACK, 10_000) },
  },
  'an overdue return': {
    kind: 'overdue',
    arrange: async (scene) => makeOverdue(scene, await newReturn(scene.database, scene.merchant)),
    decisions: { completed: GIVEN_BACK, failed: NOT_GIVEN_BACK },
  },
};
