import type { Verdict } from '../../../src/domain/gateway-results.ts';
import { newCollection } from '../payments.ts';
import { FAILURE, SECOND, STRANGER, SUCCESS } from '../settle-stories.ts';
import { discrepancyOf, hear, makeOverdue, neverTake, resolve } from './scene.ts';
import {
  COLLECTED,
  type Decided,
  type DiscrepancyStory,
  HALF,
  HALF_OF_STRANGER,
  type Stories,
  undo,
  undone,
} from './story.ts';

const COMPLETED: Decided = { status: 'completed', told: ['completed'], books: COLLECTED };

const UNDONE = undone(COMPLETED, { books: { gateway_float: -10_000, suspense: 10_000 } });

function collection(...news: Verdict[]): DiscrepancyStory['arrange'] {
  return async (scene) => hear(scene, await newCollection(scene.database, scene.merchant), ...news);
}

function returned(cents: number): Decided {
  const books = { gateway_float: -cents, suspense: cents };
  return { status: 'failed', told: ['failed'], returns: [cents], books };
}

export const COLLECTION_DISCREPANCIES: Stories = {
  'another amount for an open collection': {
    kind: 'other_amount',
    arrange: collection(HALF),
    decisions: {
      'accept-amount': {
        ...COMPLETED,
        books: { 'wallet:collection': 4_925, commission: 75, gateway_float: -5_000 },
      },
      returned: returned(5_000),
    },
  },
  'money of a stranger for an open collection': {
    kind: 'other_account',
    arrange: collection(STRANGER),
    decisions: { completed: COMPLETED, returned: returned(10_000) },
  },
  'another amount of a stranger for an open collection': {
    kind: 'other_account',
    arrange: collection(HALF_OF_STRANGER),
    decisions: {
      'accept-amount': {
        ...COMPLETED,
        books: { 'wallet:collection': 4_925, commission: 75, gateway_float: -5_000 },
      },
      returned: returned(5_000),
    },
  },
  'money of a stranger for a failed collection': {
    kind: 'other_account',
    arrange: collection(FAILURE, STRANGER),
    decisions: { returned: returned(10_000) },
  },
  'another amount for a failed collection': {
    kind: 'paid_after_failure',
    arrange: collection(FAILURE, HALF),
    decisions: {
      returned: returned(5_000),
      // What the gateway itself has told can only have gone back.
      undo: { status: 'failed', told: ['failed'], books: {} },
    },
  },
  'a second receipt for a completed collection': {
    kind: 'second_success',
    arrange: collection(SUCCESS, SECOND),
    decisions: {
      returned: {
        ...COMPLETED,
        returns: [10_000],
        books: { ...COLLECTED, gateway_float: -20_000, suspense: 10_000 },
      },
    },
  },
  'a second receipt while another amount is undecided': {
    kind: 'second_success',
    arrange: collection(HALF, SECOND),
    decisions: {
      completed: {
        ...COMPLETED,
        books: { ...COLLECTED, gateway_float: -15_000, suspense: 5_000 },
        left: ['other_amount'],
      },
      returned: {
        status: 'pending',
        step: 'parked',
        returns: [10_000],
        books: { gateway_float: -15_000, suspense: 15_000 },
        left: ['other_amount'],
      },
    },
  },
  'the receipt of a collection that support completed under another one': {
    kind: 'second_success',
    arrange: async (scene) => {
      const payment = await newCollection(scene.database, scene.merchant);
      await makeOverdue(scene, payment);
      await resolve(
        scene,
        await discrepancyOf(scene, 'overdue'),
        'completed',
        `TYPO-${payment.id}`,
      );
      return hear(scene, payment, SUCCESS);
    },
    decisions: {
      same: COMPLETED,
      returned: {
        ...COMPLETED,
        returns: [10_000],
        books: { ...COLLECTED, gateway_float: -20_000, suspense: 10_000 },
      },
    },
  },
  'a failure of a completed collection': {
    kind: 'failure_after_success',
    arrange: collection(SUCCESS, FAILURE),
    decisions: {
      dismissed: COMPLETED,
      undo: UNDONE,
    },
  },
  'money of an undone collection': {
    kind: 'undone_money',
    arrange: undo({
      kind: 'failure_after_success',
      arrange: collection(SUCCESS, FAILURE),
      decisions: {},
    }),
    decisions: {
      undo: { status: 'failed', told: ['completed', 'failed'], books: {} },
      returned: { ...returned(10_000), told: ['completed', 'failed'] },
    },
  },
  'a failure while another amount is undecided': {
    kind: 'failure_after_success',
    arrange: collection(HALF, FAILURE),
    decisions: {
      dismissed: {
        status: 'pending',
        step: 'parked',
        books: { gateway_float: -5_000, suspense: 5_000 },
        left: ['other_amount'],
      },
    },
  },
  'the receipt of a completed collection with another amount': {
    kind: 'other_amount',
    arrange: collection(SUCCESS, HALF),
    // The amount that was told later is right. After an undo it waits.
    decisions: {
      'accept-amount': {
        ...COMPLETED,
        told: ['completed', 'completed'],
        books: { 'wallet:collection': 4_925, commission: 75, gateway_float: -5_000 },
      },
      dismissed: COMPLETED,
      undo: { ...UNDONE, books: { gateway_float: -5_000, suspense: 5_000 } },
    },
  },
  'the receipt of a completed collection with another account': {
    kind: 'other_account',
    arrange: collection(SUCCESS, STRANGER),
    decisions: { dismissed: COMPLETED, undo: UNDONE },
  },
  'an overdue collection': {
    kind: 'overdue',
    arrange: async (scene) =>
      makeOverdue(scene, await newCollection(scene.database, scene.merchant)),
    decisions: { completed: COMPLETED, failed: { status: 'failed', told: ['failed'], books: {} } },
  },
  'a collection that was never taken': {
    kind: 'never_taken',
    arrange: async (scene) => neverTake(scene, await newCollection(scene.database, scene.merchant)),
    decisions: { failed: { status: 'failed', told: ['failed'], books: {} } },
  },
};
