import type { PaymentStatus } from '../../src/domain/payments/payment.ts';

/** What a chaos test sends, and how the simulator lets each of it end. */
export interface Order {
  kind: 'collection' | 'payout' | 'reversal';
  refNo: string;
  /** Whose last three digits choose the behaviour; of a reversal, the collection's payer. */
  account: string;
}

/** The driver that carries an order: Airtel's go to the general simulator, M-PESA's to Daraja's. */
export type Via = 'simulator' | 'daraja';

/** How a payment may end: its status, and the kind of the discrepancy that it may leave. */
type End = readonly [status: PaymentStatus, discrepancy?: string];
type Ends = Readonly<Record<string, readonly End[]>>;

const COMPLETED: End = ['completed'];
const FAILED: End = ['failed'];
const COMPLETE: readonly End[] = [COMPLETED];
const FAIL: readonly End[] = [FAILED];
const OTHER_AMOUNT: readonly End[] = [
  ['pending', 'other_amount'],
  ['processing', 'other_amount'],
];

/** On a busy machine the callback of the failure may come after that of the success. */
const OVERTAKEN: End = ['completed', 'failure_after_success'];

/**
 * Accounts' endings that disturb only the messages, and the ends that are right for them. What
 * Daraja has for the request that never arrives, 105, differs by kind.
 */
const DISTURBED: Ends = Object.fromEntries(
  ['678', '101', '102', '103', '104', '106', '108'].map((ending) => [ending, COMPLETE]),
);

/**
 * The other endings. 107 fails first: a success that is learned before the failure, or before the
 * refund, simply completes. 111 moves another amount, which waits for a person.
 */
const ENDS: Readonly<Record<Via, Readonly<Record<Order['kind'], Ends>>>> = {
  simulator: {
    collection: {
      ...DISTURBED,
      ...{ '105': COMPLETE, '001': FAIL, '032': FAIL, '037': FAIL, '111': OTHER_AMOUNT },
      '107': [FAILED, COMPLETED, OVERTAKEN],
    },
    payout: {
      ...DISTURBED,
      ...{ '105': COMPLETE, '001': FAIL, '037': FAIL, '111': OTHER_AMOUNT },
      '107': [['failed', 'paid_after_refund'], COMPLETED, OVERTAKEN],
    },
    reversal: {
      ...{ '678': COMPLETE, '102': COMPLETE, '104': COMPLETE, '105': COMPLETE },
      ...{ '109': FAIL, '110': COMPLETE },
    },
  },
  daraja: {
    // The answer to a question about a prompt states no amount, so 111 could go unnoticed.
    collection: {
      ...DISTURBED,
      ...{ '105': FAIL, '001': FAIL, '032': FAIL, '037': FAIL },
      '107': [FAILED, COMPLETED, OVERTAKEN],
    },
    payout: {
      ...DISTURBED,
      ...{ '105': COMPLETE, '001': FAIL, '032': FAIL, '037': FAIL, '111': OTHER_AMOUNT },
      ...{ '107': [['failed', 'paid_after_refund'], COMPLETED, OVERTAKEN], '123': COMPLETE },
    },
    reversal: {
      ...{ '678': COMPLETE, '102': COMPLETE, '104': COMPLETE, '109': FAIL, '110': COMPLETE },
    },
  },
};

/** The ends that are right for an order. */
export function endsOf(order: Order): readonly End[] {
  return ENDS[viaOf(order)][order.kind][order.account.slice(-3)]!;
}

/**
 * Tells whether the gateway may never have heard of an order, so that it may not go again: Daraja
 * keeps a reference of ours for payouts only. A lost prompt fails once a statement rules it out.
 */
export function mayBeLost(order: Order): boolean {
  return viaOf(order) === 'daraja' && order.kind !== 'payout';
}

/** Carriers' prefixes, by which the service chooses the channel. */
const PREFIXES: Readonly<Record<Via, string>> = { simulator: '+25473', daraja: '+25471' };

function viaOf({ account }: Order): Via {
  return account.startsWith(PREFIXES.daraja) ? 'daraja' : 'simulator';
}

/**
 * `count` orders of all kinds and behaviours, mixed, each of a phone of its own. A reversal needs
 * a collection of its own, which is sent first and counts too.
 */
export function mixedOrders(count: number, vias: readonly Via[] = ['simulator']): Order[] {
  const orders: Order[] = [];
  for (let index = 0; orders.length < count; index += 1) {
    for (const kind of ['collection', 'payout', 'reversal'] as const) {
      for (const via of vias) {
        if (orders.length >= count) break;
        const endings = Object.keys(ENDS[via][kind]);
        const number = String(orders.length).padStart(4, '0');
        const account = `${PREFIXES[via]}${number}${endings[index % endings.length]}`;
        orders.push({ kind, refNo: `${via}-${kind}-${index}`, account });
      }
    }
  }
  return orders;
}

/** The reference of the collection that a reversal is of. */
export function originalOf({ refNo }: Order): string {
  return `${refNo}-original`;
}
