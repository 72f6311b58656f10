import type { Verdict } from '../../src/domain/gateway-results.ts';
import type { PaymentStatus } from '../../src/domain/payments/payment.ts';
import type { Settlement } from '../../src/domain/settlement/settle.ts';
import { AMOUNT_CENTS, failed, succeeded } from './payments.ts';

export const OTHER_AMOUNT_CENTS = 5_000;
export const SUCCESS = succeeded();
export const WITHOUT_RECEIPT = succeeded({ transId: null, externalRef: null });
const BARE = succeeded({ transId: null, externalRef: null, amountCents: null, account: null });
export const SECOND = succeeded({ transId: 'RCPT2' });
const OTHER_AMOUNT = succeeded({ amountCents: OTHER_AMOUNT_CENTS });
export const STRANGER = succeeded({ account: '+254733999999' });
const STRANGER_AND_AMOUNT = succeeded({
  account: '+254733999999',
  amountCents: OTHER_AMOUNT_CENTS,
});
export const FAILURE = failed();

/** What is known of a collection, news of it, and all that must come of the two. */
export interface Story {
  /** What was learned before, in order. */
  known: Verdict[];
  news: Verdict;
  gives: Settlement;
  status: PaymentStatus;
  suspense?: number;
  event?: 'transaction.completed' | 'transaction.failed';
  discrepancies?: string[];
  /** The amounts on their way back to the customer. */
  returns?: number[];
  parked?: boolean;
}

const OPEN = { status: 'pending' } as const;
const DONE = { status: 'completed', event: 'transaction.completed' } as const;
const FAILED = { status: 'failed', event: 'transaction.failed' } as const;

export const COLLECTION_STORIES: Readonly<Record<string, Story>> = {
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
  'success without receipt, then a receipt with another amount': {
    known: [WITHOUT_RECEIPT],
    news: OTHER_AMOUNT,
    gives: 'discrepancy',
    ...DONE,
    discrepancies: ['other_amount'],
  },
  'success, then the same receipt from another account': {
    known: [SUCCESS],
    news: STRANGER,
    gives: 'discrepancy',
    ...DONE,
    discrepancies: ['other_account'],
  },
  'nothing, then failure': { known: [], news: FAILURE, gives: 'failed', ...FAILED },
  'nothing, then success with another amount': {
    known: [],
    news: OTHER_AMOUNT,
    gives: 'discrepancy',
    ...OPEN,
    suspense: OTHER_AMOUNT_CENTS,
    discrepancies: ['other_amount'],
    parked: true,
  },
  'nothing, then success from another account': {
    known: [],
    news: STRANGER,
    gives: 'discrepancy',
    ...OPEN,
    suspense: AMOUNT_CENTS,
    discrepancies: ['other_account'],
    parked: true,
  },
  'success, then the same receipt': {
    known: [SUCCESS],
    news: SUCCESS,
    gives: 'repeat',
    ...DONE,
  },
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
  'success, then failure': {
    known: [SUCCESS],
    news: FAILURE,
    gives: 'discrepancy',
    ...DONE,
    discrepancies: ['failure_after_success'],
  },
  'success, then failure twice': {
    known: [SUCCESS, FAILURE],
    news: FAILURE,
    gives: 'discrepancy',
    ...DONE,
    discrepancies: ['failure_after_success'],
  },
  'failure, then failure': { known: [FAILURE], news: FAILURE, gives: 'repeat', ...FAILED },
  'failure, then success': {
    known: [FAILURE],
    news: SUCCESS,
    gives: 'late_success',
    ...FAILED,
    suspense: AMOUNT_CENTS,
    returns: [AMOUNT_CENTS],
  },
  'failure, then success without any detail': {
    known: [FAILURE],
    news: BARE,
    gives: 'late_success',
    ...FAILED,
    suspense: AMOUNT_CENTS,
    returns: [AMOUNT_CENTS],
  },
  'failure, then success with another amount': {
    known: [FAILURE],
    news: OTHER_AMOUNT,
    gives: 'discrepancy',
    ...FAILED,
    suspense: OTHER_AMOUNT_CENTS,
    discrepancies: ['paid_after_failure'],
  },
  'failure, then success from another account': {
    known: [FAILURE],
    news: STRANGER,
    gives: 'discrepancy',
    ...FAILED,
    suspense: AMOUNT_CENTS,
    discrepancies: ['other_account'],
  },
  'failure, then success from another account with another amount': {
    known: [FAILURE],
    news: STRANGER_AND_AMOUNT,
    gives: 'discrepancy',
    ...FAILED,
    suspense: OTHER_AMOUNT_CENTS,
    discrepancies: ['other_account'],
  },
  'failure, late success, then the same receipt': {
    known: [FAILURE, SUCCESS],
    news: SUCCESS,
    gives: 'repeat',
    ...FAILED,
    suspense: AMOUNT_CENTS,
    returns: [AMOUNT_CENTS],
  },
  'failure, late success without receipt, then its receipt': {
    known: [FAILURE, WITHOUT_RECEIPT],
    news: SUCCESS,
    gives: 'repeat',
    ...FAILED,
    suspense: AMOUNT_CENTS,
    returns: [AMOUNT_CENTS],
  },
  'failure, late success, then a second receipt': {
    known: [FAILURE, SUCCESS],
    news: SECOND,
    gives: 'discrepancy',
    ...FAILED,
    suspense: 2 * AMOUNT_CENTS,
    discrepancies: ['second_success'],
    returns: [AMOUNT_CENTS],
  },
  'failure, late success, then failure again': {
    known: [FAILURE, SUCCESS],
    news: FAILURE,
    gives: 'repeat',
    ...FAILED,
    suspense: AMOUNT_CENTS,
    returns: [AMOUNT_CENTS],
  },
  'another amount, then the same receipt': {
    known: [OTHER_AMOUNT],
    news: OTHER_AMOUNT,
    gives: 'repeat',
    ...OPEN,
    suspense: OTHER_AMOUNT_CENTS,
    discrepancies: ['other_amount'],
    parked: true,
  },
  'another amount, then the right one under a second receipt': {
    known: [OTHER_AMOUNT],
    news: SECOND,
    gives: 'discrepancy',
    ...OPEN,
    suspense: OTHER_AMOUNT_CENTS + AMOUNT_CENTS,
    discrepancies: ['other_amount', 'second_success'],
    parked: true,
  },
  'another amount, then failure': {
    known: [OTHER_AMOUNT],
    news: FAILURE,
    gives: 'discrepancy',
    ...OPEN,
    suspense: OTHER_AMOUNT_CENTS,
    discrepancies: ['other_amount', 'failure_after_success'],
    parked: true,
  },
};
