/** The simulator's own code and words for a payment that did not succeed. */
export interface Refusal {
  code: number;
  description: string;
}

/** Everything that can go differently for one payment. */
export interface Behaviour {
  /** Refused in the answer to the submission; nothing follows. */
  declined: Refusal | null;
  /** The first requests of a reference are not processed: their number, and what the sender sees. */
  notProcessed: { requests: number; answer: 'none' | '503' };
  /** The answer to a request that was accepted, as the sender sees it. */
  answer: 'sent' | 'lost' | 'after the callback';
  /** Reported, by query and callback, one delay after the request was accepted. */
  failed: Refusal | null;
  /** When the money moves: after one delay, after LATE_DELAYS, after the slow time, or never. */
  success: 'normal' | 'late' | 'slow' | 'never';
  /** The amount that moves: the one in the request, or another. */
  amount: 'asked' | 'another';
  /** The number of callbacks for each outcome. */
  callbacks: 0 | 1 | 2;
  /** Questions about it before its outcome. */
  questions: 'answered' | 'lost';
}

/**
 * The direction of the money: a collection or a payout moves it `forward`, a return or a
 * reversal moves it `back`.
 */
export type Direction = 'forward' | 'back';

/** A disturbed message applies to every payment, an act of the customer to one direction. */
interface BehaviourRow {
  always?: Partial<Behaviour>;
  forward?: Partial<Behaviour>;
  back?: Partial<Behaviour>;
}

/**
 * A late success comes this many delays after the request was accepted, and not before a failure has
 * been told.
 */
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

/** The keys are the last three characters of the customer's account. Any others are NORMAL. */
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
  '110': { back: { answer: 'lost', success: 'slow', questions: 'lost' } },
  '111': { forward: { amount: 'another' } },
};

/** The one account that is never answered. Its last digits alone mean nothing. */
export const UNANSWERED = '+254733000112';

const NORMAL: Behaviour = {
  declined: null,
  notProcessed: { requests: 0, answer: 'none' },
  answer: 'sent',
  failed: null,
  success: 'normal',
  amount: 'asked',
  callbacks: 1,
  questions: 'answered',
};

/** Returns the behaviour of a payment of this account in this direction. */
export function behaviourOf(account: string, direction: Direction): Behaviour {
  const row = BEHAVIOURS[account.slice(-3)] ?? {};
  const isUnanswered = account.endsWith(UNANSWERED.slice(1)) && direction === 'forward';
  const success = isUnanswered ? { success: 'never' as const } : {};
  return { ...NORMAL, ...row.always, ...row[direction], ...success };
}
