import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { StateMachine } from './state-machine.ts';

/** What all payments have in common: what gateways and steps need to know. */
export interface Payment {
  kind: GatewayPaymentKind;
  merchant_id: number;
  /** Also the reference under which the gateway knows it, for ever. */
  id: string;
  channel: number;
  gateway: string;
  amount_cents: number;
  status: PaymentStatus;
  result_code: number | null;
  result_description: string | null;
  trans_id: string | null;
  external_ref: string | null;
  payment_completed_at: Date | null;
  deadline_at: Date;
  /** Open past its deadline, by the database's clock when it was read. */
  overdue: boolean;
  created_at: Date;
  next_step: string | null;
  next_step_at: Date | null;
  step_no: number;
  parked_reason: string | null;
}

/**
 * - pending: recorded; whether the gateway has it is not known or not yet.
 * - processing: the gateway has acknowledged it; the outcome follows.
 * - completed, failed: the gateway's definite word.
 */
export type PaymentStatus = 'pending' | 'processing' | 'completed' | 'failed';

/** The integer statuses of the API, in the order of their codes; reversals have labels for them. */
export const STATUS_CODES: readonly PaymentStatus[] = [
  'pending',
  'processing',
  'failed',
  'completed',
];

export const COLLECTION_MACHINE: StateMachine<PaymentStatus> = {
  initial: 'pending',
  transitions: {
    // Straight to the end when the outcome overtakes the acknowledgement.
    pending: ['processing', 'completed', 'failed'],
    processing: ['completed', 'failed'],
    completed: [],
    failed: [],
  },
};

export const PAYOUT_MACHINE: StateMachine<PaymentStatus> = {
  initial: 'pending',
  transitions: {
    pending: ['processing', 'completed', 'failed'],
    processing: ['completed', 'failed'],
    completed: [],
    failed: ['completed'],
  },
};

/** The API has other names for these: unprocessed, processed, reversed, failed. */
export const REVERSAL_MACHINE: StateMachine<PaymentStatus> = {
  initial: 'pending',
  transitions: {
    pending: ['processing', 'completed', 'failed'],
    processing: ['completed', 'failed'],
    completed: [],
    failed: ['completed'],
  },
};

export const RETURN_MACHINE: StateMachine<PaymentStatus> = {
  initial: 'pending',
  transitions: {
    pending: ['processing', 'completed', 'failed'],
    processing: ['completed', 'failed'],
    completed: [],
    failed: ['completed'],
  },
};

export const MACHINES: Readonly<Record<GatewayPaymentKind, StateMachine<PaymentStatus>>> = {
  collection: COLLECTION_MACHINE,
  payout: PAYOUT_MACHINE,
  reversal: REVERSAL_MACHINE,
  return: RETURN_MACHINE,
};

/** On what condition a payment of each kind leaves a state that is an end for all others. */
export const LATE_MOVES: Readonly<
  Record<GatewayPaymentKind, Partial<Record<PaymentStatus, string>>>
> = {
  collection: {},
  payout: {
    failed: 'It arrived all the same, before its refund is posted or when support debits it again',
  },
  reversal: {
    failed:
      'The customer was paid all the same, and no other reversal of the collection is open or done',
  },
  return: {
    failed:
      'The customer was paid all the same, and support has not given the money back otherwise',
  },
};

/** Open: the gateway's definite word is still awaited. */
export function isOpen(payment: Pick<Payment, 'status'>): boolean {
  return payment.status === 'pending' || payment.status === 'processing';
}
