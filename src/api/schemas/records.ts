import { CHANNEL_TYPES } from '../../domain/channels/channel.ts';
import { PAYOUT_CATEGORIES, REVERSAL_STATES } from '../../domain/payments/kinds.ts';
import { ERROR_ANSWERS } from '../error-answers.ts';
import {
  accountNumber,
  callbackUrl,
  checkoutRefNo,
  createdAt,
  createdAtIso,
  described,
  money,
  nullable,
  payto,
  phone,
  record,
  refNo,
  reversalRefNo,
  type Schema,
  string,
  timestamp,
  uuid,
} from './fields.ts';

/** Schemas of the API's answers. */

const collectionFields = {
  id: uuid,
  payfrom: { ...phone, description: 'The customer’s phone' },
  amount: money,
  ref_no: refNo,
  account_number: accountNumber,
  callback_url: callbackUrl,
  status: {
    enum: ['pending', 'processing', 'completed', 'failed'],
    description:
      '`pending`: recorded. `processing`: with the gateway, or about to be. `completed` and `failed`: ended',
  },
  category: described(string, 'Always `other`', 'other'),
  created_at: createdAt,
};

const collectionRecord = { ...collectionFields, created_at_iso: createdAtIso };

export const collection = record(collectionRecord);

/** Null in the examples, which are of payments that are open. */
const completedAt = described(nullable(timestamp), 'ISO 8601, UTC; null while open', null);

const outcome = {
  result_code: { type: ['integer', 'null'], description: '0 on success; null while open' },
  result_description: {
    type: ['string', 'null'],
    description: 'The gateway’s words about the result; null while open',
  },
  trans_id: {
    type: ['string', 'null'],
    description: 'The network’s receipt; null while there is none',
  },
  external_ref: {
    type: ['string', 'null'],
    description: 'The gateway’s reference; null while there is none',
  },
  payment_completed_at: completedAt,
};

/** The answer of the endpoint of one payment: its record, and what only Administrators get. */
export function withCreator(payment: Schema): Schema {
  const created_by = {
    type: 'string',
    description:
      'Who asked for it: `app`, or a user’s e-mail. Only users with the role Admin get it',
    examples: ['owner@duka.example'],
  };
  return { ...payment, properties: { ...(payment.properties as object), created_by } };
}

export const collectionDetail = record({
  ...collectionRecord,
  ...outcome,
  commission: described(money, 'KES, what we keep; 0.00 of one that failed', '3.75'),
  net_amount: described(money, 'KES, what your wallet gets; 0.00 of one that failed', '246.25'),
});

/** The deprecated lists show `processing` as `pending`. */
const listedStatus = {
  enum: ['pending', 'completed', 'failed'],
  description: '`pending` while open, then `completed` or `failed`',
};

export const listedCollection = record({ ...collectionFields, status: listedStatus });

const payoutFields = {
  id: uuid,
  payto,
  amount: money,
  ref_no: refNo,
  status: collectionFields.status,
  category: described({ enum: PAYOUT_CATEGORIES }, 'What you pay for', 'other'),
};

const channelCode = described({ type: 'integer' }, 'The code of the channel', 63902);
const channelName = described(string, 'The name of the channel', 'M-PESA');
const channelType = { enum: CHANNEL_TYPES, description: 'What the channel carries money to' };

const channelFields = {
  channel: channelCode,
  channel_name: channelName,
  channel_type: channelType,
};

const createdAtBoth = { created_at: createdAt, created_at_iso: createdAtIso };

export const payout = record({ ...payoutFields, ...channelFields, ...createdAtBoth });

export const payoutDetail = record({
  ...payoutFields,
  status: {
    ...payoutFields.status,
    description: `${payoutFields.status.description}. \`failed\` once the money is back in the wallet`,
  },
  ...createdAtBoth,
  ...outcome,
  ...channelFields,
  narration: described(string, 'What was sent to the gateway', 'Salary November'),
  fee: described(money, 'KES, debited with the amount', '0.00'),
});

export const listedPayout = record({
  ...payoutFields,
  status: listedStatus,
  created_at: createdAt,
});

/** The words in the order of their numbers. */
export const REVERSAL_LABELS = Object.values(REVERSAL_STATES)
  .toSorted((a, b) => a.code - b.code)
  .map(({ label }) => label);

export const reversal = record({
  id: uuid,
  ref_no: reversalRefNo,
  checkout_ref_no: checkoutRefNo,
  original_trans_id: described(
    nullable(string),
    'The network’s receipt of the collection; null while it is not known',
    'TKJ7A1B2C3',
  ),
  amount: { ...money, description: 'KES, what the customer gets' },
  reversed_net_amount: described(money, 'KES, what the collection wallet gives', '246.25'),
  reversed_commission: described(money, 'KES, commission that you get back', '3.75'),
  status: {
    enum: [...REVERSAL_LABELS.keys()],
    description: REVERSAL_LABELS.map((label, number) => `${number} ${label}`).join(', '),
    examples: [REVERSAL_STATES.processing.code],
  },
  status_label: {
    enum: REVERSAL_LABELS,
    description: '`status` as a word',
    examples: [REVERSAL_STATES.processing.label],
  },
  result_description: described(
    nullable(string),
    'The gateway’s words about the result; null while open',
    null,
  ),
  trans_id: described(
    nullable(string),
    'The network’s receipt of the reversal itself; null while there is none',
    null,
  ),
  reason: described(nullable(string), 'Your reason; null when you gave none', 'Out of stock'),
  created_at: { ...timestamp, description: 'When it was recorded. ISO 8601, UTC' },
  payment_completed_at: completedAt,
});

export const walletBalance = record({
  payout_wallet_balance: { ...money, description: 'What you can pay out, in KES' },
  collection_wallet_balance: {
    ...money,
    description: 'What customers have paid you, in KES. May be below zero',
  },
  currency: { const: 'KES', description: 'The currency of both' },
});

export const WALLETS = ['collection', 'payout'] as const;
export const TRANSACTION_TYPES = [
  'collection',
  'payout',
  'fee',
  'payout_refund',
  'fee_refund',
  'reversal',
  'topup',
  'transfer',
  'adjustment',
] as const;

export const walletTransaction = record({
  id: { ...uuid, description: 'The id of this movement' },
  wallet: { enum: WALLETS, description: 'Which wallet moved' },
  type: { enum: TRANSACTION_TYPES, description: 'What moved it' },
  direction: {
    enum: ['credit', 'debit'],
    description: '`credit` into the wallet, `debit` out of it',
  },
  amount: { ...money, description: 'In KES, never below zero' },
  balance_after: { ...money, description: 'The balance of the wallet after it, in KES' },
  ref_no: described(
    nullable(string),
    'Your reference of the payment or transfer; null when there is none',
    'order-1001',
  ),
  account: {
    type: ['string', 'null'],
    description: 'The other side: phone or bank account; null when there is none',
  },
  trans_id: {
    type: ['string', 'null'],
    description: 'The network’s receipt; null when there is none',
  },
  description: described(string, 'What it is, in words', 'Collection, net of commission'),
  created_at: { ...timestamp, description: 'When it was booked. ISO 8601, UTC' },
});

const active = { type: 'boolean', description: 'Takes new payments now' };

const amountRule = {
  min_amount: { ...money, description: 'The least that one payment may have, in KES' },
  max_amount: { ...money, description: 'The most that one payment may have, in KES' },
  whole_shillings: { type: 'boolean', description: 'Takes no cents' },
};

const amountRuleOrNull = (kind: string) => ({
  ...nullable(record({ active, ...amountRule })),
  description: `The amounts of ${kind}; null when the channel carries none`,
});

export const channel = record({
  code: channelCode,
  name: channelName,
  type: channelType,
  active,
  ...amountRule,
  collections: amountRuleOrNull('collections'),
  payouts: amountRuleOrNull('payouts'),
});

const CODES = Object.entries(ERROR_ANSWERS);

/** Every error. Only the codes that blame a field have `field`. */
export const error: Schema = {
  type: 'object',
  description: [
    'Every error has this form. Unless an error says otherwise, nothing was changed.\n',
    ...CODES.map(([code, { status, meaning }]) => `- \`${code}\` (${status}): ${meaning}`),
  ].join('\n'),
  properties: {
    detail: { type: 'string', description: 'What is wrong, in words' },
    code: {
      type: 'string',
      description: 'What is wrong, for programs. Codes may be added',
      'x-enumDescriptions': Object.fromEntries(
        CODES.map(([code, { status, meaning }]) => [code, `${status}. ${meaning}`]),
      ),
    },
    field: { type: 'string', description: 'The field, parameter or header to blame, if any' },
  },
  required: ['detail', 'code'],
};
