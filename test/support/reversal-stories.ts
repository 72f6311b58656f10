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

const OTHER_AMOUNT = succeeded({ amountCents: OTHER_AMOUNT_CENTS });
const BARE = succeeded({ transId: null, externalRef: null, amountCents: null, account: null });

/** What is known of a reversal, news of it, and all that must come of the two. */
export interface ReversalStory {
  known: Verdict[];
  news: Verdict;
  gives: Settlement;
  status: PaymentStatus;
  /** What the merchant was told, in order. */
  told?: readonly string[];
  /** What the gateway has paid beyond what was asked for, waiting for a decision. */
  suspense?: number;
  discrepancies?: string[];
  parked?: boolean;
}

const DONE = { status: 'completed', told: ['transaction.completed'] } as const;
const FAILED = { status: 'failed', told: ['transaction.failed'] } as const;
/** The merchant was told of the failure first. */
const CORRECTED = { status: 'completed', told: [...FAILED.told, ...DONE.told] } as const;
const PARKED = { status: 'pending', parked: true } as const;

export const REVERSAL_STORIES: Readonly<Record<string, ReversalStory>> = {
  'nothing, then success': { known: [], news: SUCCESS, gives: 'completed', ...DONE },
  'nothing, then success without any detail': {
    known: [],
    news: BARE,
    gives: 'completed',
    ...DONE,
  },
  'nothing, then failure': { known: [], news: FAILURE, gives: 'failed', ...FAILED },
  'nothing, then success with another amount': {
    known: [],
    news: OTHER_AMOUNT,
    gives: 'discrepancy',
    ...PARKED,
    suspense: OTHER_AMOUNT_CENTS,
    discrepancies: ['other_amount'],
  },
  'nothing, then success to another account': {
    known: [],
    news: STRANGER,
    gives: 'discrepancy',
    ...PARKED,
    suspense: AMOUNT_CENTS,
    discrepancies: ['other_account'],
  },
  'another amount, then failure': {
    known: [OTHER_AMOUNT],
    news: FAILURE,
    gives: 'discrepancy',
    ...PARKED,
    suspense: OTHER_AMOUNT_CENTS,
    discrepancies: ['other_amount', 'failure_after_success'],
  },
  'success, then the same receipt': { known: [SUCCESS], news: SUCCESS, gives: 'repeat', ...DONE },
  'success without receipt, then its receipt': {
    known: [WITHOUT_RECEIPT],
    news: SUCCESS,
    gives: 'repeat',
    ...DONE,
  },
  'success, then the same receipt with another amount': {
    known: [SUCCESS],
    news: OTHER_AMOUNT,
    gives: 'discrepancy',
    ...DONE,
    discrepancies: ['other_amount'],
  },
  'success, then a second receipt': {
    known: [SUCCESS],
    news: SECOND,
    gives: 'discrepancy',
    ...DONE,
    suspense: AMOUNT_CENTS,
    discrepancies: ['second_success'],
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
    gives: 'completed',
    ...CORRECTED,
  },
  'failure, success, then the same receipt': {
    known: [FAILURE, SUCCESS],
    news: SUCCESS,
    gives: 'repeat',
    ...CORRECTED,
  },
  'failure, then success with another amount': {
    known: [FAILURE],
    news: OTHER_AMOUNT,
    gives: 'discrepancy',
    ...FAILED,
    suspense: OTHER_AMOUNT_CENTS,
    discrepancies: ['other_amount'],
  },
};
