import type { Verdict } from '../../src/domain/gateway-results.ts';
import type { PaymentStatus } from '../../src/domain/payments/payment.ts';
import type { Settlement } from '../../src/domain/settlement/settle.ts';
import {
  FAILURE,
  OTHER_AMOUNT_CENTS,
  SECOND,
  STRANGER,
  SUCCESS,
  WITHOUT_RECEIPT,
} from './collection-stories.ts';
import { AMOUNT_CENTS, succeeded } from './payments.ts';

const BARE = succeeded({ transId: null, externalRef: null, amountCents: null, account: null });
const OTHER_AMOUNT = succeeded({ amountCents: OTHER_AMOUNT_CENTS });

/** What is known of a payout, news of it, and all that must come of the two. */
export interface PayoutStory {
  /** What happened before, in order; 'refund' is the job that puts the money back. */
  known: (Verdict | 'refund')[];
  news: Verdict;
  gives: Settlement;
  status: PaymentStatus;
  refunded?: boolean;
  event?: 'transaction.completed' | 'transaction.failed';
  step: 'submit' | 'refund' | 'parked' | 'none';
  /** What the gateway has paid beyond what was asked for, waiting for a decision. */
  suspense?: number;
  discrepancies?: string[];
}

const DONE = { status: 'completed', event: 'transaction.completed', step: 'none' } as const;
const REFUND_DUE = { status: 'failed', step: 'refund' } as const;
const REFUNDED = {
  status: 'failed',
  refunded: true,
  event: 'transaction.failed',
  step: 'none',
} as const;
const PAID_AFTER_REFUND = {
  ...REFUNDED,
  suspense: AMOUNT_CENTS,
  discrepancies: ['paid_after_refund'],
};
const OTHER_AMOUNT_PAID = { suspense: OTHER_AMOUNT_CENTS, discrepancies: ['other_amount'] };
const STRANGER_PAID = { suspense: AMOUNT_CENTS, discrepancies: ['other_account'] };

export const PAYOUT_STORIES: Readonly<Record<string, PayoutStory>> = {
  'nothing, then success': { known: [], news: SUCCESS, gives: 'completed', ...DONE },
  'nothing, then success without receipt': {
    known: [],
    news: WITHOUT_RECEIPT,
    gives: 'completed',
    ...DONE,
  },
  'nothing, then success without any detail': {
    known: [],
    news: BARE,
    gives: 'completed',
    ...DONE,
  },
  'nothing, then failure': { known: [], news: FAILURE, gives: 'failed', ...REFUND_DUE },
  'nothing, then success with another amount': {
    known: [],
    news: OTHER_AMOUNT,
    gives: 'discrepancy',
    status: 'pending',
    step: 'parked',
    ...OTHER_AMOUNT_PAID,
  },
  'nothing, then success to another account': {
    known: [],
    news: STRANGER,
    gives: 'discrepancy',
    status: 'pending',
    step: 'parked',
    ...STRANGER_PAID,
  },
  'success, then the same receipt': { known: [SUCCESS], news: SUCCESS, gives: 'repeat', ...DONE },
  'success, then success without receipt': {
    known: [SUCCESS],
    news: WITHOUT_RECEIPT,
    gives: 'repeat',
    ...DONE,
  },
  'success without receipt, then its receipt': {
    known: [WITHOUT_RECEIPT],
    news: SUCCESS,
    gives: 'repeat',
    ...DONE,
  },
  'success, then a second receipt': {
    known: [SUCCESS],
    news: SECOND,
    gives: 'discrepancy',
    ...DONE,
    suspense: AMOUNT_CENTS,
    discrepancies: ['second_success'],
  },
  'success, then the second receipt twice': {
    known: [SUCCESS, SECOND],
    news: SECOND,
    gives: 'repeat',
    ...DONE,
    suspense: AMOUNT_CENTS,
    discrepancies: ['second_success'],
  },
  'success, then the same receipt with another amount': {
    known: [SUCCESS],
    news: OTHER_AMOUNT,
    gives: 'discrepancy',
    ...DONE,
    discrepancies: ['other_amount'],
  },
  'success, then failure twice': {
    known: [SUCCESS, FAILURE],
    news: FAILURE,
    gives: 'discrepancy',
    ...DONE,
    discrepancies: ['failure_after_success'],
  },
  'another amount, then the same receipt': {
    known: [OTHER_AMOUNT],
    news: OTHER_AMOUNT,
    gives: 'repeat',
    status: 'pending',
    step: 'parked',
    ...OTHER_AMOUNT_PAID,
  },
  'another amount, then the right one under a second receipt': {
    known: [OTHER_AMOUNT],
    news: SECOND,
    gives: 'discrepancy',
    status: 'pending',
    step: 'parked',
    suspense: OTHER_AMOUNT_CENTS + AMOUNT_CENTS,
    discrepancies: ['other_amount', 'second_success'],
  },
  'another amount, then failure': {
    known: [OTHER_AMOUNT],
    news: FAILURE,
    gives: 'discrepancy',
    status: 'pending',
    step: 'parked',
    suspense: OTHER_AMOUNT_CENTS,
    discrepancies: ['other_amount', 'failure_after_success'],
  },
  'failure, then failure': { known: [FAILURE], news: FAILURE, gives: 'repeat', ...REFUND_DUE },
  'failure, then success before the refund': {
    known: [FAILURE],
    news: SUCCESS,
    gives: 'completed',
    ...DONE,
  },
  'failure, then success without any detail before the refund': {
    known: [FAILURE],
    news: BARE,
    gives: 'completed',
    ...DONE,
  },
  'failure, success, then the refund and the same receipt': {
    known: [FAILURE, SUCCESS, 'refund'],
    news: SUCCESS,
    gives: 'repeat',
    ...DONE,
  },
  'failure, success, then failure again': {
    known: [FAILURE, SUCCESS],
    news: FAILURE,
    gives: 'discrepancy',
    ...DONE,
    discrepancies: ['failure_after_success'],
  },
  'failure, then success with another amount before the refund': {
    known: [FAILURE],
    news: OTHER_AMOUNT,
    gives: 'discrepancy',
    status: 'failed',
    step: 'parked',
    ...OTHER_AMOUNT_PAID,
  },
  'failure, another amount, then the refund and failure again': {
    known: [FAILURE, OTHER_AMOUNT, 'refund'],
    news: FAILURE,
    gives: 'repeat',
    status: 'failed',
    step: 'parked',
    ...OTHER_AMOUNT_PAID,
  },
  'failure, another account, then the refund and the same receipt': {
    known: [FAILURE, STRANGER, 'refund'],
    news: STRANGER,
    gives: 'repeat',
    status: 'failed',
    step: 'parked',
    ...STRANGER_PAID,
  },
  'failure, refund, then failure': {
    known: [FAILURE, 'refund'],
    news: FAILURE,
    gives: 'repeat',
    ...REFUNDED,
  },
  'failure, refund, then success': {
    known: [FAILURE, 'refund'],
    news: SUCCESS,
    gives: 'discrepancy',
    ...PAID_AFTER_REFUND,
  },
  'failure, refund, then success with another amount': {
    known: [FAILURE, 'refund'],
    news: OTHER_AMOUNT,
    gives: 'discrepancy',
    ...PAID_AFTER_REFUND,
    suspense: OTHER_AMOUNT_CENTS,
  },
  'failure, refund, success, then the same receipt': {
    known: [FAILURE, 'refund', SUCCESS],
    news: SUCCESS,
    gives: 'repeat',
    ...PAID_AFTER_REFUND,
  },
  'failure, refund, success without receipt, then its receipt': {
    known: [FAILURE, 'refund', WITHOUT_RECEIPT],
    news: SUCCESS,
    gives: 'repeat',
    ...PAID_AFTER_REFUND,
  },
  'failure, refund, success, then a second receipt': {
    known: [FAILURE, 'refund', SUCCESS],
    news: SECOND,
    gives: 'discrepancy',
    ...PAID_AFTER_REFUND,
    suspense: 2 * AMOUNT_CENTS,
    discrepancies: ['paid_after_refund', 'second_success'],
  },
  'failure, refund, success, then the refund and failure again': {
    known: [FAILURE, 'refund', SUCCESS, 'refund'],
    news: FAILURE,
    gives: 'repeat',
    ...PAID_AFTER_REFUND,
  },
};
