/** What the simulator says in its own words about a payment that did not succeed. */
export interface Refusal {
  code: number;
  description: string;
}

/** Everything that can go differently for one payment. */
export interface Behaviour {
  /** Refused in the answer to the submission; nothing follows. */
  declined: Refusal | null;
  /** The first requests of a reference are not processed: how many, and what the sender sees. */
  notProcessed: { requests: number; answer: 'none' | '503' };
  /** What the sender sees of the answer to a request that was taken. */
  answer: 'sent' | 'lost' | 'after the callback';
  /** Reported, by query and callback, one delay after the request was taken. */
  failed: Refusal | null;
  /** When the money moves: after one delay, after LATE_DELAYS, after the slow time, or never. */
  success: 'normal' | 'late' | 'slow' | 'never';
  /** Whether the amount that moves is the one that was asked for. */
  amount: 'asked' | 'another';
  /** How often each outcome is called back. */
  callbacks: 0 | 1 | 2;
}

/**
 * Where money goes: `forward` is what a merchant starts (a collection, a payout), `back`
 * what undoes it (a return, a reversal).
 */
export type Direction = 'forward' | 'back';

/** What disturbs the messages applies always; what the customer does, in one direction. */
interface BehaviourRow {
  always?: Partial<Behaviour>;
  forward?: Partial<Behaviour>;
  back?: Partial<Behaviour>;
}

/** How many delays after the request was taken a late success comes. */
export const LATE_DELAYS = 5;

const INSUFFICIENT_FUNDS = {
  code: 1,
  description: 'The balance is insufficient for the transaction',
};
const CANCELLED = { code: 1032, description: 'Request cancelled by user' };
const NO_ANSWER = { code: 1037, description: 'DS timeout: the user cannot be reached' };
const NOT_RETURNABLE = {
  code: 21,
  description: 'The initiator is not allowed to reverse this transaction',
};

/** By the last three characters of the customer's account. Every other one is NORMAL. */
const BEHAVIOURS: Record<string, BehaviourRow> = {
  '001': { forward: { declined: INSUFFICIENT_FUNDS } },
  '032': { forward: { failed: CANCELLED, success: 'never' } },
  '037': { forward: { failed: NO_ANSWER, success: 'never' } },
  '101': { always: { callbacks: 0 } },
  '102': { always: { callbacks: 2 } },
  '103': { always: { answer: 'after the callback' } },
  '104': { always: { answer: 'lost' } },
  '105': { always: { notProcessed: { requests: 1, answer: 'none' } } },
  '106': { always: { notProcessed: { requests: 2, answer: '503' } } },
  '107': { forward: { failed: NO_ANSWER, success: 'late' } },
  '108': { always: { success: 'slow' } },
  '109': { back: { declined: NOT_RETURNABLE } },
  '110': { back: { answer: 'lost', success: 'late' } },
  '111': { forward: { amount: 'another' } },
};

const NORMAL: Behaviour = {
  declined: null,
  notProcessed: { requests: 0, answer: 'none' },
  answer: 'sent',
  failed: null,
  success: 'normal',
  amount: 'asked',
  callbacks: 1,
};

/** What happens to a payment of this account in this direction. */
export function behaviourOf(account: string, direction: Direction): Behaviour {
  const row = BEHAVIOURS[account.slice(-3)] ?? {};
  return { ...NORMAL, ...row.always, ...row[direction] };
}
