import type { GatewayPaymentKind, Verdict } from '../../src/domain/gateway-results.ts';
import type { Settlement } from '../../src/domain/settlement/settle.ts';
import { AMOUNT_CENTS, failed, succeeded } from './payments.ts';

export const OTHER_AMOUNT_CENTS = 5_000;
const NOTHING = { transId: null, externalRef: null };
export const SUCCESS = succeeded();
export const WITHOUT_RECEIPT = succeeded(NOTHING);
const BARE = succeeded({ ...NOTHING, amountCents: null, account: null });
export const SECOND = succeeded({ transId: 'RCPT2' });
const OTHER_AMOUNT = succeeded({ amountCents: OTHER_AMOUNT_CENTS });
export const STRANGER = succeeded({ account: '+254733999999' });
const STRANGER_AND_AMOUNT = { ...STRANGER, amountCents: OTHER_AMOUNT_CENTS };
export const FAILURE = failed();

/** What must come of some news. Each kind of payment shows it in its own way. */
export interface Outcome {
  ends: 'completed' | 'failed' | 'open';
  /** The cents that the gateway moved beyond what was asked for. */
  astray?: number;
  /** Without what a kind opens at each failure. */
  discrepancies?: readonly string[];
  /** What the merchant was told, in order, where the end does not say it. */
  told?: readonly string[];
  /** On the support list, where the end does not say it. */
  parked?: boolean;
  /** A payout's money is back in the wallet. */
  refunded?: boolean;
  /** The amounts on their way back to the customer. */
  returns?: readonly number[];
  /** They were not sent, because the money may have bounced. */
  returnsFailed?: boolean;
}

/** What is known of a payment, in order, then the news, what settling gives, and the outcome. */
export type Story = readonly [
  known: readonly (Verdict | 'refund')[],
  news: Verdict,
  gives: Settlement,
  outcome: Outcome,
];

const DONE = { ends: 'completed' } as const;
const FAILED = { ends: 'failed' } as const;
const SECOND_PAID = { astray: AMOUNT_CENTS, discrepancies: ['second_success'] } as const;
const OTHER_PAID = { astray: OTHER_AMOUNT_CENTS, discrepancies: ['other_amount'] } as const;
const STRANGER_PAID = { astray: AMOUNT_CENTS, discrepancies: ['other_account'] } as const;
const FAILED_LATER = { ...DONE, discrepancies: ['failure_after_success'] } as const;

/** What is the same for all kinds. */
const COMMON: Readonly<Record<string, Story>> = {
  'nothing, then success': [[], SUCCESS, 'completed', DONE],
  'nothing, then success without receipt': [[], WITHOUT_RECEIPT, 'completed', DONE],
  'nothing, then success without any detail': [[], BARE, 'completed', DONE],
  'nothing, then failure': [[], FAILURE, 'failed', FAILED],
  'nothing, then another amount': [
    [],
    OTHER_AMOUNT,
    'discrepancy',
    { ends: 'open', ...OTHER_PAID },
  ],
  'nothing, then another account': [
    [],
    STRANGER,
    'discrepancy',
    { ends: 'open', ...STRANGER_PAID },
  ],
  'success, then the same receipt': [[SUCCESS], SUCCESS, 'repeat', DONE],
  'success, then success without receipt': [[SUCCESS], WITHOUT_RECEIPT, 'repeat', DONE],
  'success without receipt, then its receipt': [[WITHOUT_RECEIPT], SUCCESS, 'repeat', DONE],
  'success without receipt, then a receipt with another amount': [
    [WITHOUT_RECEIPT],
    OTHER_AMOUNT,
    'discrepancy',
    { ...DONE, discrepancies: ['other_amount'] },
  ],
  'success, then the same receipt with another amount': [
    [SUCCESS],
    OTHER_AMOUNT,
    'discrepancy',
    { ...DONE, discrepancies: ['other_amount'] },
  ],
  'success, then the same receipt with another account': [
    [SUCCESS],
    STRANGER,
    'discrepancy',
    { ...DONE, discrepancies: ['other_account'] },
  ],
  'success, then a second receipt': [[SUCCESS], SECOND, 'discrepancy', { ...DONE, ...SECOND_PAID }],
  'success, then the second receipt twice': [
    [SUCCESS, SECOND],
    SECOND,
    'repeat',
    { ...DONE, ...SECOND_PAID },
  ],
  'success, then failure': [[SUCCESS], FAILURE, 'discrepancy', FAILED_LATER],
  'success, then failure twice': [[SUCCESS, FAILURE], FAILURE, 'discrepancy', FAILED_LATER],
  'failure, then failure': [[FAILURE], FAILURE, 'repeat', FAILED],
  'another amount, then the same receipt': [
    [OTHER_AMOUNT],
    OTHER_AMOUNT,
    'repeat',
    { ends: 'open', ...OTHER_PAID },
  ],
  'another amount, then the right one under a second receipt': [
    [OTHER_AMOUNT],
    SECOND,
    'discrepancy',
    {
      ends: 'open',
      astray: OTHER_AMOUNT_CENTS + AMOUNT_CENTS,
      discrepancies: ['other_amount', 'second_success'],
    },
  ],
  'another amount, then failure': [
    [OTHER_AMOUNT],
    FAILURE,
    'discrepancy',
    {
      ends: 'open',
      astray: OTHER_AMOUNT_CENTS,
      discrepancies: ['other_amount', 'failure_after_success'],
    },
  ],
};

const LATE = { ...FAILED, astray: AMOUNT_CENTS, returns: [AMOUNT_CENTS] } as const;

const OF_COLLECTIONS: Readonly<Record<string, Story>> = {
  'failure, then success': [[FAILURE], SUCCESS, 'late_success', LATE],
  'failure, then success without any detail': [[FAILURE], BARE, 'late_success', LATE],
  'failure, then another amount': [
    [FAILURE],
    OTHER_AMOUNT,
    'discrepancy',
    { ...FAILED, astray: OTHER_AMOUNT_CENTS, discrepancies: ['paid_after_failure'] },
  ],
  'failure, then another account': [
    [FAILURE],
    STRANGER,
    'discrepancy',
    { ...FAILED, ...STRANGER_PAID },
  ],
  'failure, then another account with another amount': [
    [FAILURE],
    STRANGER_AND_AMOUNT,
    'discrepancy',
    { ...FAILED, astray: OTHER_AMOUNT_CENTS, discrepancies: ['other_account'] },
  ],
  'failure, late success, then the same receipt': [[FAILURE, SUCCESS], SUCCESS, 'repeat', LATE],
  'failure, late success without receipt, then its receipt': [
    [FAILURE, WITHOUT_RECEIPT],
    SUCCESS,
    'repeat',
    LATE,
  ],
  'failure, late success, then a second receipt': [
    [FAILURE, SUCCESS],
    SECOND,
    'discrepancy',
    { ...LATE, astray: 2 * AMOUNT_CENTS, discrepancies: ['second_success'] },
  ],
  'failure, late success, then failure again': [
    [FAILURE, SUCCESS],
    FAILURE,
    'discrepancy',
    { ...LATE, returnsFailed: true, discrepancies: ['failure_after_success'] },
  ],
};

const REFUNDED = { ...FAILED, refunded: true } as const;
const PAID_AFTER_REFUND = {
  ...REFUNDED,
  astray: AMOUNT_CENTS,
  discrepancies: ['paid_after_refund'],
} as const;
const PARKED = { ...FAILED, parked: true } as const;

const OF_PAYOUTS: Readonly<Record<string, Story>> = {
  'failure, then success': [[FAILURE], SUCCESS, 'completed', DONE],
  'failure, then success without any detail': [[FAILURE], BARE, 'completed', DONE],
  'failure, success, then the refund and the same receipt': [
    [FAILURE, SUCCESS, 'refund'],
    SUCCESS,
    'repeat',
    DONE,
  ],
  'failure, success, then failure again': [
    [FAILURE, SUCCESS],
    FAILURE,
    'discrepancy',
    FAILED_LATER,
  ],
  'failure, then another amount before the refund': [
    [FAILURE],
    OTHER_AMOUNT,
    'discrepancy',
    { ...PARKED, ...OTHER_PAID },
  ],
  'failure, another amount, then the refund and failure again': [
    [FAILURE, OTHER_AMOUNT, 'refund'],
    FAILURE,
    'discrepancy',
    { ...PARKED, ...OTHER_PAID, discrepancies: ['other_amount', 'failure_after_success'] },
  ],
  'failure, another account, then the refund and the same receipt': [
    [FAILURE, STRANGER, 'refund'],
    STRANGER,
    'repeat',
    { ...PARKED, ...STRANGER_PAID },
  ],
  'failure, refund, then failure': [[FAILURE, 'refund'], FAILURE, 'repeat', REFUNDED],
  'failure, refund, then success': [[FAILURE, 'refund'], SUCCESS, 'discrepancy', PAID_AFTER_REFUND],
  'failure, refund, then another amount': [
    [FAILURE, 'refund'],
    OTHER_AMOUNT,
    'discrepancy',
    { ...PAID_AFTER_REFUND, astray: OTHER_AMOUNT_CENTS },
  ],
  'failure, refund, success, then the same receipt': [
    [FAILURE, 'refund', SUCCESS],
    SUCCESS,
    'repeat',
    PAID_AFTER_REFUND,
  ],
  'failure, refund, success without receipt, then its receipt': [
    [FAILURE, 'refund', WITHOUT_RECEIPT],
    SUCCESS,
    'repeat',
    PAID_AFTER_REFUND,
  ],
  'failure, refund, success, then a second receipt': [
    [FAILURE, 'refund', SUCCESS],
    SECOND,
    'discrepancy',
    {
      ...REFUNDED,
      astray: 2 * AMOUNT_CENTS,
      discrepancies: ['paid_after_refund', 'second_success'],
    },
  ],
  'failure, refund, success, then the refund and failure again': [
    [FAILURE, 'refund', SUCCESS, 'refund'],
    FAILURE,
    'discrepancy',
    { ...PAID_AFTER_REFUND, discrepancies: ['paid_after_refund', 'failure_after_success'] },
  ],
};

/** The merchant was told of the failure first. */
const CORRECTED = { ...DONE, told: ['transaction.failed', 'transaction.completed'] } as const;

const OF_REVERSALS: Readonly<Record<string, Story>> = {
  'failure, then success': [[FAILURE], SUCCESS, 'completed', CORRECTED],
  'failure, success, then the same receipt': [[FAILURE, SUCCESS], SUCCESS, 'repeat', CORRECTED],
  'failure, then another amount': [
    [FAILURE],
    OTHER_AMOUNT,
    'discrepancy',
    { ...FAILED, ...OTHER_PAID },
  ],
};

const MENDED = 'return_failed (resolved)';

const OF_RETURNS: Readonly<Record<string, Story>> = {
  'failure, then success': [[FAILURE], SUCCESS, 'completed', { ...DONE, discrepancies: [MENDED] }],
  'failure, success, then failure again': [
    [FAILURE, SUCCESS],
    FAILURE,
    'discrepancy',
    { ...DONE, discrepancies: [MENDED, 'failure_after_success'] },
  ],
  'failure, then another amount': [
    [FAILURE],
    OTHER_AMOUNT,
    'discrepancy',
    { ...FAILED, ...OTHER_PAID },
  ],
};

export const STORIES: Readonly<Record<GatewayPaymentKind, Readonly<Record<string, Story>>>> = {
  collection: { ...COMMON, ...OF_COLLECTIONS },
  payout: { ...COMMON, ...OF_PAYOUTS },
  reversal: { ...COMMON, ...OF_REVERSALS },
  return: { ...COMMON, ...OF_RETURNS },
};
