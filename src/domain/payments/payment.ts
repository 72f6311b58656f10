import type { Asker } from '../access/asker.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';

/** The columns that every kind of payment has. */
export interface Payment extends Asker {
  kind: GatewayPaymentKind;
  merchant_id: number;
  id: string;
  /** The gateway knows it by this, for ever. A payment that is accepted again gets the same. */
  reference: string;
  channel: number;
  gateway: string;
  amount_cents: number;
  status: PaymentStatus;
  result_code: number | null;
  result_description: string | null;
  trans_id: string | null;
  external_ref: string | null;
  payment_completed_at: Date | null;
  /** The time at which support undid the completion. The payment cannot complete again. */
  undone_at: Date | null;
  deadline_at: Date;
  /** Still open after its deadline, by the database's clock when it was read. */
  overdue: boolean;
  created_at: Date;
  next_step: string | null;
  next_step_at: Date | null;
  step_no: number;
  parked_reason: string | null;
  /** The gateway's last answer to a question that did not end the payment, and when it was asked. */
  last_answer: string | null;
  last_asked_at: Date | null;
}

/**
 * - pending: recorded. The gateway does not have it yet, or has not said so.
 * - processing: the gateway acknowledged it. The outcome follows.
 * - completed, failed: the gateway's definite word.
 */
export type PaymentStatus = 'pending' | 'processing' | 'completed' | 'failed';

/** The statuses in the order of their integer codes in the API. */
export const STATUS_CODES: readonly PaymentStatus[] = [
  'pending',
  'processing',
  'failed',
  'completed',
];

/** The machine of a kind of payment. Only the moves out of `failed` differ. */
function machine(afterFailed: readonly PaymentStatus[]): StateMachine<PaymentStatus> {
  return {
    initial: 'pending',
    transitions: {
      // Straight to the end when the outcome overtakes the acknowledgement.
      pending: ['processing', 'completed', 'failed'],
      processing: ['completed', 'failed'],
      // Support undoes a completion.
      completed: ['failed'],
      failed: afterFailed,
    },
  };
}

/** Every move of a payment. A trigger in the database knows the same moves. */
export const MACHINES: Readonly<Record<GatewayPaymentKind, StateMachine<PaymentStatus>>> = {
  collection: machine([]),
  payout: machine(['completed']),
  /** The API calls these states unprocessed, processed, reversed and failed. */
  reversal: machine(['completed']),
  return: machine(['completed']),
};

const UNDONE = 'Support undoes it, because the money did not move after all or has come back';

/** The conditions of the moves out of an end. `npm run states` documents them. */
export const LATE_MOVES: Readonly<
  Record<GatewayPaymentKind, Partial<Record<PaymentStatus, string>>>
> = {
  collection: { completed: UNDONE },
  payout: {
    completed: UNDONE,
    failed: 'It arrived after all, before its refund is posted or when support debits it again',
  },
  reversal: {
    completed: UNDONE,
    failed:
      'The customer was paid after all, and no other reversal of the collection is open or done',
  },
  return: {
    completed: UNDONE,
    failed: 'The customer was paid after all, and support has not given the money back otherwise',
  },
};

/** Tells whether the gateway's definite word is still awaited. */
export function isOpen(payment: Pick<Payment, 'status'>): boolean {
  return payment.status === 'pending' || payment.status === 'processing';
}

/** Every state of one kind of payment, and every move between them. */
interface StateMachine<State extends string = string> {
  /** The state of a new row. */
  initial: State;
  /** The states that each state may move to. */
  transitions: Readonly<Record<State, readonly State[]>>;
}

/** The code asked for a move that the machine does not have. That is a bug, never an outcome. */
export class IllegalTransitionError extends Error {
  constructor(from: string, to: string) {
    super(`There is no transition from ${from} to ${to}`);
    this.name = 'IllegalTransitionError';
  }
}

/** Another process moved the row first. The loser reads the row again and decides anew. */
export class LostRaceError extends Error {
  constructor(what: string) {
    super(`${what} was moved by somebody else at the same moment`);
    this.name = 'LostRaceError';
  }
}

export function canMove(machine: StateMachine, from: string, to: string): boolean {
  return machine.transitions[from]?.includes(to) ?? false;
}

/** @throws IllegalTransitionError */
export function assertCanMove(machine: StateMachine, from: string, to: string): void {
  if (!canMove(machine, from, to)) throw new IllegalTransitionError(from, to);
}
