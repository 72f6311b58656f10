import { CHANNEL_TYPES, channelByCode } from '../domain/channels/channel.ts';
import { formatAmount } from '../domain/money.ts';
import {
  asShown,
  type Collection,
  netOf,
  PAYOUT_CATEGORIES,
  type Payout,
  REVERSAL_STATES,
  type Return,
  type Reversal,
} from '../domain/payments/kinds.ts';
import { type Payment, STATUS_CODES } from '../domain/payments/payment.ts';
import type { AnyPayment } from '../domain/payments/payment-store.ts';
import {
  cents,
  column,
  columns,
  computed,
  type Face,
  type Fact,
  type Field,
  faceOf,
  factsOf,
  insideColumns,
  type PaymentTable,
} from './record.ts';
import {
  accountNumber,
  callbackUrl,
  checkoutRefNo,
  described,
  integer,
  integerOrNull,
  money,
  payto,
  phone,
  refNo,
  reversalRefNo,
  type Schema,
  string,
  stringOrNull,
  timestamp,
  timestampOrNull,
  uuid,
} from './schema.ts';

/**
 * Every column of the tables of payments: the answers of the API that show it, with its schema, and
 * its label in the console. A test fails for a column that has no place here.
 */

const EVERYWHERE: readonly Face[] = ['record', 'detail', 'listed'];

const status = described(
  { enum: ['pending', 'processing', 'completed', 'failed'] },
  '`pending`: recorded. `processing`: with the gateway, or about to be. `completed` and `failed`: ended',
);

/** The deprecated lists show `processing` as `pending`. */
const listedStatus = described(
  { enum: ['pending', 'completed', 'failed'] },
  '`pending` while open, then `completed` or `failed`',
);

function deprecatedStatus({ status }: Pick<Payment, 'status'>): string {
  return status === 'processing' ? 'pending' : status;
}

/** The form of the specification. */
const createdAt = described(
  { type: 'string', pattern: '^\\d{2}/\\d{2}/\\d{4} \\d{2}:\\d{2}:\\d{2}$' },
  'DD/MM/YYYY HH:MM:SS, UTC',
  '20/11/2026 09:30:00',
);

function formatDateTime({ created_at }: Pick<Payment, 'created_at'>): string {
  const [day = '', time = ''] = created_at.toISOString().split('T');
  return `${day.split('-').reverse().join('/')} ${time.slice(0, 8)}`;
}

const created = { created_at: computed(['created_at'], createdAt, formatDateTime) };
const createdIso = {
  created_at_iso: column('created_at', described(timestamp, '`created_at` in ISO 8601, UTC')),
};

const resultCode = described(integerOrNull, '0 on success; null while open');
const WORDS_ABOUT_RESULT = 'The gateway’s words about the result; null while open';
const resultWords = described(stringOrNull, WORDS_ABOUT_RESULT);
const receipt = described(stringOrNull, 'The network’s receipt; null while there is none');
const externalRef = described(stringOrNull, 'The gateway’s reference; null while there is none');
// Null, because the examples show open payments.
const completedAt = described(timestampOrNull, 'ISO 8601, UTC; null while open', null);

const outcome = columns({
  trans_id: [receipt, 'Receipt'],
  external_ref: [externalRef, 'Gateway’s reference'],
  payment_completed_at: [completedAt, 'Completed'],
});

/** The columns of all payments that no merchant sees. */
const inside = insideColumns({
  merchant_id: ['Merchant', 'merchant'],
  gateway: 'Gateway',
  reference: 'Our reference',
  created_at: 'Asked for',
  deadline_at: 'Deadline',
  undone_at: 'Completion undone',
  // The page tells these in words: what happens next, and who asked for the payment.
  next_step: null,
  next_step_at: null,
  parked_reason: null,
  asked_family: null,
  asked_app: null,
  asked_user: null,
  asked_ip: null,
});

/** Columns that drive jobs and tell support nothing. No face shows them. */
export const INNER_COLUMNS: readonly string[] = ['step_no', 'step_swept_at'];

export const collectionTable: PaymentTable<Collection> = [
  {
    on: EVERYWHERE,
    fields: {
      ...columns({
        id: [uuid, 'Id'],
        payfrom: [described(phone, 'The customer’s phone'), ['From', 'account']],
      }),
      amount: cents('amount_cents', money, 'Amount'),
      ...columns({
        ref_no: [refNo, 'Merchant’s reference'],
        account_number: [accountNumber, ['Pays for', 'text']],
        callback_url: callbackUrl,
      }),
    },
  },
  { on: ['record', 'detail'], fields: columns({ status }) },
  { on: ['listed'], fields: { status: computed(['status'], listedStatus, deprecatedStatus) } },
  {
    on: EVERYWHERE,
    fields: { ...columns({ category: described(string, 'Always `other`', 'other') }), ...created },
  },
  { on: ['record', 'detail'], fields: createdIso },
  {
    on: ['detail'],
    fields: {
      ...columns({
        result_code: [resultCode, 'Result'],
        result_description: [resultWords, ['Gateway’s words', 'text']],
      }),
      ...outcome,
      commission: computed(
        ['status', 'commission_cents'],
        described(money, 'KES, what we keep; 0.00 of one that failed', '3.75'),
        (row) => formatAmount(row.status === 'failed' ? 0 : row.commission_cents),
      ),
      net_amount: computed(
        ['status', 'amount_cents', 'commission_cents'],
        described(money, 'KES, what your wallet gets; 0.00 of one that failed', '246.25'),
        (row) => formatAmount(row.status === 'failed' ? 0 : netOf(row)),
      ),
    },
  },
  {
    on: [],
    fields: insideColumns({
      commission_cents: ['Commission', 'money'],
      channel: 'Channel',
      app_code: 'App',
    }),
  },
  { on: [], fields: inside },
];

export const collection = faceOf(collectionTable, 'record');
export const collectionDetail = faceOf(collectionTable, 'detail');
export const listedCollection = faceOf(collectionTable, 'listed');

/** What the API says of a channel. */
export const channelFields = {
  code: described(integer, 'The code of the channel', 63902),
  name: described(string, 'The name of the channel', 'M-PESA'),
  type: described({ enum: CHANNEL_TYPES }, 'What the channel carries money to'),
};

/** A field of a payout as its merchant sees it: `asShown` tells no failure before its refund. */
function untilRefund(
  name: 'status' | 'result_code' | 'result_description',
  schema: Schema,
): Field<Payout> {
  return computed([name, 'status', 'refund_posted_at'], schema, (row) => asShown(row)[name]);
}

const payoutStatus = described(
  status,
  `${status.description}. \`failed\` once the money is back in the wallet`,
);
const category = described({ enum: PAYOUT_CATEGORIES }, 'What you pay for', 'other');
const narration = described(string, 'What was sent to the gateway', 'Salary November');

export const payoutTable: PaymentTable<Payout> = [
  {
    on: EVERYWHERE,
    fields: {
      ...columns({ id: [uuid, 'Id'], payto: [payto, ['To', 'account']] }),
      amount: cents('amount_cents', money, 'Amount'),
      ...columns({ ref_no: [refNo, 'Merchant’s reference'] }),
    },
  },
  { on: ['record'], fields: columns({ status }) },
  { on: ['detail'], fields: { status: untilRefund('status', payoutStatus) } },
  {
    on: ['listed'],
    fields: {
      status: computed(['status', 'refund_posted_at'], listedStatus, (row) =>
        deprecatedStatus(asShown(row)),
      ),
    },
  },
  { on: EVERYWHERE, fields: columns({ category: [category, 'Category'] }) },
  { on: ['detail', 'listed'], fields: created },
  {
    on: ['detail'],
    fields: {
      ...createdIso,
      result_code: untilRefund('result_code', resultCode),
      result_description: untilRefund('result_description', resultWords),
      ...outcome,
    },
  },
  {
    on: ['record', 'detail'],
    fields: {
      channel: column('channel', channelFields.code, 'Channel'),
      channel_name: computed(['channel'], channelFields.name, (row) => channelOf(row).name),
      channel_type: computed(['channel'], channelFields.type, (row) => channelOf(row).type),
    },
  },
  // The record has its time at the end, as in the specification.
  { on: ['record'], fields: { ...created, ...createdIso } },
  {
    on: ['detail'],
    fields: {
      ...columns({ narration: [narration, ['Narration', 'text']] }),
      fee: cents('fee_cents', described(money, 'KES, debited with the amount', '0.00'), 'Fee'),
    },
  },
  {
    on: [],
    fields: insideColumns({
      result_code: 'Result',
      result_description: ['Gateway’s words', 'text'],
      refund_posted_at: 'Refunded',
      redebited_at: 'Debited again',
      app_code: 'App',
      callback_url: null,
    }),
  },
  { on: [], fields: inside },
];

function channelOf({ channel }: Pick<Payout, 'channel'>) {
  return channelByCode(channel)!;
}

export const payout = faceOf(payoutTable, 'record');
export const payoutDetail = faceOf(payoutTable, 'detail');
export const listedPayout = faceOf(payoutTable, 'listed');

/** The words in the order of their numbers. */
export const REVERSAL_LABELS = STATUS_CODES.map((status) => REVERSAL_STATES[status].label);

const { code, label } = REVERSAL_STATES.processing;
const numbered = REVERSAL_LABELS.map((word, number) => `${number} ${word}`).join(', ');
const reversalStatus = described({ enum: [...REVERSAL_LABELS.keys()] }, numbered, code);
const reversalLabel = described({ enum: REVERSAL_LABELS }, '`status` as a word', label);
const originalReceipt = described(
  stringOrNull,
  'The network’s receipt of the collection; null while it is not known',
  'TKJ7A1B2C3',
);
const ownReceipt = described(
  stringOrNull,
  'The network’s receipt of the reversal itself; null while there is none',
  null,
);
const reason = described(stringOrNull, 'Your reason; null when you gave none', 'Out of stock');
const recordedAt = described(timestamp, 'When it was recorded. ISO 8601, UTC');

export const reversalTable: PaymentTable<Reversal> = [
  {
    on: ['record'],
    fields: {
      ...columns({
        id: [uuid, 'Id'],
        ref_no: [reversalRefNo, 'Merchant’s reference'],
        checkout_ref_no: [checkoutRefNo, 'Reference of the collection'],
        original_trans_id: [originalReceipt, 'Receipt of the collection'],
      }),
      amount: cents('amount_cents', described(money, 'KES, what the customer gets'), 'Amount'),
      reversed_net_amount: computed(
        ['amount_cents', 'commission_cents'],
        described(money, 'KES, what the collection wallet gives', '246.25'),
        (row) => formatAmount(netOf(row)),
      ),
      reversed_commission: cents(
        'commission_cents',
        described(money, 'KES, commission that you get back', '3.75'),
        'Commission',
      ),
      status: computed(['status'], reversalStatus, (row) => REVERSAL_STATES[row.status].code),
      status_label: computed(['status'], reversalLabel, (row) => REVERSAL_STATES[row.status].label),
      ...columns({
        result_description: [
          described(stringOrNull, WORDS_ABOUT_RESULT, null),
          ['Gateway’s words', 'text'],
        ],
        trans_id: [ownReceipt, 'Receipt'],
        reason: [reason, ['Reason', 'text']],
        created_at: recordedAt,
        payment_completed_at: [completedAt, 'Completed'],
      }),
    },
  },
  {
    on: [],
    fields: insideColumns({
      account: ['To', 'account'],
      result_code: 'Result',
      external_ref: 'Gateway’s reference',
      channel: 'Channel',
      app_code: 'App',
      // The page has a link to the collection.
      collection_id: null,
      callback_url: null,
    }),
  },
  { on: [], fields: inside },
];

export const reversal = faceOf(reversalTable, 'record');

/** No merchant asked for a return, so no merchant sees it. */
export const returnTable: PaymentTable<Return> = [
  {
    on: [],
    fields: insideColumns({
      id: 'Id',
      account: ['To', 'account'],
      amount_cents: ['Amount', 'money'],
      original_trans_id: 'Receipt of the collection',
      result_code: 'Result',
      result_description: ['Gateway’s words', 'text'],
      trans_id: 'Receipt',
      external_ref: 'Gateway’s reference',
      payment_completed_at: 'Completed',
      channel: 'Channel',
      // The page shows the status beside the title, and has links to the collection.
      status: null,
      collection_id: null,
      movement_id: null,
    }),
  },
  { on: [], fields: inside },
];

const FACTS = {
  collection: factsOf(collectionTable),
  payout: factsOf(payoutTable),
  reversal: factsOf(reversalTable),
  return: factsOf(returnTable),
};

/** Lists the facts about a payment, for the console. */
export function factsAbout(payment: AnyPayment): Fact[] {
  switch (payment.kind) {
    case 'collection':
      return FACTS.collection(payment);
    case 'payout':
      return FACTS.payout(payment);
    case 'reversal':
      return FACTS.reversal(payment);
    case 'return':
      return FACTS.return(payment);
  }
}
