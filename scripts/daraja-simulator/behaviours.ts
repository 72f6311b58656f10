/** A result as Daraja states it. Some codes are numbers, some are texts. */
export interface Outcome {
  code: number | string;
  description: string;
  /** The words of a query, if they differ from the callback's words. */
  queryDescription?: string;
}

export type TransactionKind = 'collection' | 'payout' | 'reversal';

/** Everything that can go differently for one transaction. */
export interface Behaviour {
  /** The first requests are not processed: their number, and what the sender sees. */
  notTaken: { requests: number; answer: 'none' | 'spike arrest' };
  /** The answer to a request that was taken, as the sender sees it. */
  answer: 'sent' | 'lost' | 'after the callback';
  /** Reported after one delay. */
  failed: Outcome | null;
  /** Posted to the address for queue timeouts after one delay. It says nothing of the money. */
  queueTimeout: boolean;
  /** When the money moves: after one delay, after LATE_DELAYS, after the slow time, or never. */
  success: 'normal' | 'late' | 'slow' | 'never';
  /** The amount that moves: the one in the request, or another. */
  amount: 'asked' | 'another';
  /** The number of callbacks for each outcome. */
  callbacks: 0 | 1 | 2;
}

interface BehaviourRow extends Partial<Record<TransactionKind, Partial<Behaviour>>> {
  /** Disturbs the messages of every kind. */
  always?: Partial<Behaviour>;
}

export const SUCCESS: Outcome = {
  code: 0,
  description: 'The service request is processed successfully.',
};
export const BALANCE_TOO_LOW: Outcome = {
  code: 1,
  description: 'The balance is insufficient for the transaction.',
};

const CANCELLED: Outcome = { code: 1032, description: 'Request cancelled by user.' };
const NO_ANSWER: Outcome = {
  code: 1037,
  description: 'No response from user.',
  queryDescription: 'DS timeout user cannot be reached.',
};
const NOT_REGISTERED: Outcome = {
  code: 2040,
  description: 'Credit Party customer type cannot be supported by the service.',
};
const RECIPIENT_FULL: Outcome = {
  code: 8,
  description: 'The transaction would exceed the maximum balance of the Credit Party.',
};
const NO_SUCH_RECIPIENT: Outcome = {
  code: 'SFC_IC0003',
  description: 'The receiver does not exist.',
};
const CREDENTIAL_LOCKED: Outcome = {
  code: 8006,
  description: 'The security credential is locked.',
};
const UNHEARD_OF: Outcome = { code: 7777, description: 'A result that no list has.' };
const NOT_REVERSIBLE: Outcome = {
  code: 'R000002',
  description: 'The OriginalTransactionID is invalid.',
};

/**
 * The keys are the last three digits of the customer's phone. Any others are NORMAL. A reversal
 * goes by the phone that paid.
 */
const BEHAVIOURS: Record<string, BehaviourRow> = {
  '001': { collection: failing(BALANCE_TOO_LOW), payout: failing(NOT_REGISTERED) },
  '032': { collection: failing(CANCELLED), payout: failing(RECIPIENT_FULL) },
  '037': { collection: failing(NO_ANSWER), payout: failing(NO_SUCH_RECIPIENT) },
  '101': { always: { callbacks: 0 } },
  '102': { always: { callbacks: 2 } },
  '103': { always: { answer: 'after the callback' } },
  '104': { always: { answer: 'lost' } },
  '105': { always: { notTaken: { requests: 1, answer: 'none' } } },
  '106': { always: { notTaken: { requests: 2, answer: 'spike arrest' } } },
  '107': {
    collection: { failed: NO_ANSWER, success: 'late' },
    payout: { failed: NOT_REGISTERED, success: 'late' },
  },
  '108': { always: { success: 'slow' } },
  '109': { reversal: failing(NOT_REVERSIBLE) },
  '110': { reversal: { answer: 'lost', success: 'slow' } },
  '111': { collection: { amount: 'another' }, payout: { amount: 'another' } },
  '120': { payout: failing(BALANCE_TOO_LOW) },
  '121': { payout: failing(CREDENTIAL_LOCKED) },
  '122': { collection: failing(UNHEARD_OF), payout: failing(UNHEARD_OF) },
  '123': { payout: { queueTimeout: true, success: 'late' } },
};

const NORMAL: Behaviour = {
  notTaken: { requests: 0, answer: 'none' },
  answer: 'sent',
  failed: null,
  queueTimeout: false,
  success: 'normal',
  amount: 'asked',
  callbacks: 1,
};

/** Returns the behaviour of a transaction of this kind with this phone. */
export function behaviourOf(phone: string, kind: TransactionKind): Behaviour {
  const row = BEHAVIOURS[phone.slice(-3)] ?? {};
  return { ...NORMAL, ...row.always, ...row[kind] };
}

function failing(failed: Outcome): Partial<Behaviour> {
  return { failed, success: 'never' };
}
