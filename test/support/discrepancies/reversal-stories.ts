import type { Verdict } from '../../../src/domain/gateway-results.ts';
import { createReversal } from '../../../src/domain/reversals/create-reversal.ts';
import { newCompletedCollection, newReversal, reversalRequest } from '../payment-kinds.ts';
import { FAILURE, SECOND, STRANGER, SUCCESS } from '../settle-stories.ts';
import { hear, makeOverdue } from './scene.ts';
import {
  COLLECTED,
  type Decided,
  type DiscrepancyStory,
  HALF,
  lost,
  type Stories,
  undo,
  undone,
} from './story.ts';

const REVERSED: Decided = { status: 'completed', told: ['completed'], books: {} };
const NOT_REVERSED: Decided = { status: 'failed', told: ['failed'], books: COLLECTED };

function reversal(...news: Verdict[]): DiscrepancyStory['arrange'] {
  return async (scene) => hear(scene, await newReversal(scene.database, scene.merchant), ...news);
}

/** A reversal that failed, another one with this news, and then success of the first. */
function overtaken(...news: Verdict[]): DiscrepancyStory['arrange'] {
  return async (scene) => {
    const original = await newCompletedCollection(scene.database, scene.merchant);
    const first = await createReversal(scene.database, reversalRequest(original));
    await hear(scene, first, FAILURE);
    const second = await createReversal(scene.database, reversalRequest(original));
    await hear(scene, first, SUCCESS);
    await hear(scene, second, ...news);
    return first;
  };
}

export const REVERSAL_DISCREPANCIES: Stories = {
  'another amount of an open reversal': {
    kind: 'other_amount',
    arrange: reversal(HALF),
    decisions: {
      'accept-amount': {
        ...REVERSED,
        books: { 'wallet:collection': 5_000, gateway_float: -5_000 },
      },
      returned: NOT_REVERSED,
      failed: lost(NOT_REVERSED, 5_000),
    },
  },
  'an open reversal to a stranger': {
    kind: 'other_account',
    arrange: reversal(STRANGER),
    decisions: {
      completed: REVERSED,
      returned: NOT_REVERSED,
      failed: lost(NOT_REVERSED, 10_000),
    },
  },
  'a failed reversal that went to a stranger': {
    kind: 'other_account',
    arrange: reversal(FAILURE, STRANGER),
    decisions: {
      completed: { ...REVERSED, told: ['failed', 'completed'] },
      returned: NOT_REVERSED,
      failed: lost(NOT_REVERSED, 10_000),
    },
  },
  'a second receipt of a completed reversal': {
    kind: 'second_success',
    arrange: reversal(SUCCESS, SECOND),
    decisions: { returned: REVERSED, failed: lost(REVERSED, 10_000) },
  },
  'a failed reversal that succeeds while another is open': {
    kind: 'second_reversal',
    arrange: overtaken(),
    decisions: {
      // The other one was not sent, and fails.
      completed: { ...REVERSED, told: ['failed', 'completed'] },
      returned: NOT_REVERSED,
      failed: lost(NOT_REVERSED, 10_000),
    },
  },
  'a failed reversal whose successor has failed too': {
    kind: 'second_reversal',
    arrange: overtaken(FAILURE),
    decisions: {
      completed: { ...REVERSED, told: ['failed', 'completed'] },
      returned: NOT_REVERSED,
      failed: lost(NOT_REVERSED, 10_000),
    },
  },
  'the receipt of a completed reversal with another amount': {
    kind: 'other_amount',
    arrange: reversal(SUCCESS, HALF),
    decisions: {
      'accept-amount': {
        ...REVERSED,
        told: ['completed', 'completed'],
        books: { 'wallet:collection': 5_000, gateway_float: -5_000 },
      },
      dismissed: REVERSED,
      undo: undone(REVERSED, {
        books: { ...COLLECTED, gateway_float: -5_000, suspense: -5_000 },
      }),
    },
  },
  'a failure of a completed reversal': {
    kind: 'failure_after_success',
    arrange: reversal(SUCCESS, FAILURE),
    decisions: {
      dismissed: REVERSED,
      undo: undone(REVERSED, {
        books: { 'wallet:collection': 9_850, commission: 150, suspense: -10_000 },
      }),
    },
  },
  'money of an undone reversal': {
    kind: 'undone_money',
    arrange: undo({
      kind: 'failure_after_success',
      arrange: reversal(SUCCESS, FAILURE),
      decisions: {},
    }),
    decisions: {
      returned: { ...NOT_REVERSED, told: ['completed', 'failed'] },
      failed: lost({ ...NOT_REVERSED, told: ['completed', 'failed'] }, 10_000),
    },
  },
  'an overdue reversal': {
    kind: 'overdue',
    arrange: async (scene) => makeOverdue(scene, await newReversal(scene.database, scene.merchant)),
    decisions: { completed: REVERSED, failed: NOT_REVERSED },
  },
};
