import type { PaymentStatus } from '../../src/domain/payments/payment.ts';

/** What a chaos test sends, and how the simulator lets each of it end. */
export interface Order {
  kind: 'collection' | 'payout' | 'reversal';
  refNo: string;
  /** Whose last three digits choose the behaviour; of a reversal, the collection's payer. */
  account: string;
}

/** How a payment may end: its status, and the kind of the discrepancy that it may leave. */
type End = readonly [status: PaymentStatus, discrepancy?: string];

const COMPLETED: End = ['completed'];
const FAILED: End = ['failed'];

/**
 * Accounts' endings, and the ends that are right for them. 107 fails first: a success that
 * is learned before the failure, or before the refund, simply completes. 111 moves another
 * amount, which waits for a person.
 */
const ENDS: Readonly<Record<'collection' | 'payout', Readonly<Record<string, readonly End[]>>>> = {
  collection: {
    '678': [COMPLETED],
    '101': [COMPLETED],
    '102': [COMPLETED],
    '103': [COMPLETED],
    '104': [COMPLETED],
    '105': [COMPLETED],
    '106': [COMPLETED],
    '108': [COMPLETED],
    '001': [FAILED],
    '032': [FAILED],
    '037': [FAILED],
    '107': [FAILED, COMPLETED],
    '111': [
      ['pending', 'other_amount'],
      ['processing', 'other_amount'],
    ],
  },
  payout: {
    '678': [COMPLETED],
    '101': [COMPLETED],
    '102': [COMPLETED],
    '103': [COMPLETED],
    '104': [COMPLETED],
    '105': [COMPLETED],
    '106': [COMPLETED],
    '108': [COMPLETED],
    '001': [FAILED],
    '037': [FAILED],
    '107': [['failed', 'paid_after_refund'], COMPLETED],
    '111': [
      ['pending', 'other_amount'],
      ['processing', 'other_amount'],
    ],
  },
};

const REVERSAL_ENDS: Readonly<Record<string, readonly End[]>> = {
  '678': [COMPLETED],
  '102': [COMPLETED],
  '104': [COMPLETED],
  '105': [COMPLETED],
  '109': [FAILED],
  '110': [COMPLETED],
};

/** The ends that are right for an order. */
export function endsOf({ kind, account }: Order): readonly End[] {
  const ends = kind === 'reversal' ? REVERSAL_ENDS : ENDS[kind];
  return ends[account.slice(-3)]!;
}

/**
 * `count` orders of all kinds and behaviours, mixed. A reversal needs a collection of its
 * own, which is sent first and counts too.
 */
export function mixedOrders(count: number): Order[] {
  const orders: Order[] = [];
  const endings = {
    collection: Object.keys(ENDS.collection),
    payout: Object.keys(ENDS.payout),
    reversal: Object.keys(REVERSAL_ENDS),
  };
  for (let index = 0; orders.length < count; index += 1) {
    for (const kind of ['collection', 'payout', 'reversal'] as const) {
      if (orders.length >= count) break;
      const ending = endings[kind][index % endings[kind].length]!;
      orders.push({ kind, refNo: `${kind}-${index}`, account: `+254712345${ending}` });
    }
  }
  return orders;
}

/** The reference of the collection that a reversal is of. */
export function originalOf({ refNo }: Order): string {
  return `${refNo}-original`;
}
