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
  computed,
  type Face,
  type Fact,
  faceOf,
  fact,
  factsOf,
  groupsOf,
  insideColumns,
  type PaymentTable,
} from './record.ts';
import * as is from './schema.ts';

/**
 * Every column of the tables of payments: the answers of the API that show it, with its schema, and
 * its label in the console. A test fails for a column that nobody has decided about.
 */

const EVERYWHERE: readonly Face[] = ['record', 'detail', 'listed'];

const status = is.oneOf(
  ['pending', 'processing', 'completed', 'failed'],
  '`pending`: recorded. `processing`: with the gateway, or about to be. `completed` and `failed`: ended',
);

/** The deprecated lists show `processing` as `pending`. */
const listedStatus = is.oneOf(
  ['pending', 'completed', 'failed'],
  '`pending` while open, then `completed` or `failed`',
);

function deprecatedStatus({ status }: Pick<Payment, 'status'>): string {
  return status === 'processing' ? 'pending' : status;
}

/** The form of the specification. */
const createdAt = is.described(
  { type: 'string', pattern: '^\\d{2}/\\d{2}/\\d{4} \\d{2}:\\d{2}:\\d{2}$' },
  'DD/MM/YYYY HH:MM:SS, UTC',
  '20/11/2026 09:30:00',
);

function formatDateTime({ created_at }: Pick<Payment, 'created_at'>): string {
  const [day = '', time = ''] = created_at.toISOString().split('T');
  return `${day.split('-').reverse().join('/')} ${time.slice(0, 8)}`;
}

const created = { created_at: computed(createdAt, formatDateTime) };
const createdIso = {
  created_at_iso: column('created_at', is.time('`created_at` in ISO 8601, UTC')),
};

const resultCode = is.integerOrNull('0 on success; null while open');
const WORDS_ABOUT_RESULT = 'The gateway’s words about the result; null while open';
const resultWords = is.stringOrNull(WORDS_ABOUT_RESULT);
const receipt = is.stringOrNull('The network’s receipt; null while there is none');
const externalRef = is.stringOrNull('The gateway’s reference; null while there is none');
// Null, because the examples show open payments.
const completedAt = is.timeOrNull('ISO 8601, UTC; null while open', null);

const outcome = {
  trans_id: fact(receipt, 'Receipt'),
  external_ref: fact(externalRef, 'Gateway’s reference'),
  payment_completed_at: fact(completedAt, 'Completed'),
};

/** The columns of all payments that no merchant sees. */
const inside = insideColumns({
  merchant_id: ['Merchant', 'merchant'],
  gateway: 'Gateway',
  reference: 'Our reference',
  created_at: 'Asked for',
  deadline_at: 'Deadline',
  undone_at: 'Completion undone',
  // The page tells these in words: what happens next, what the gateway said, and who asked for the payment.
  next_step: null,
  next_step_at: null,
  parked_reason: null,
  last_answer: null,
  last_asked_at: null,
  asked_family: null,
  asked_app: null,
  asked_user: null,
  asked_ip: null,
  asked_request: null,
});

/** Columns that drive jobs and tell support nothing. Neither console nor command line shows them. */
export const INNER_COLUMNS: readonly string[] = ['step_no', 'step_swept_at'];

/** An amount of a collection that comes to nothing when the collection fails. */
function unlessFailed(of: (row: Collection) => number) {
  return (row: Collection) => formatAmount(row.status === 'failed' ? 0 : of(row));
}

const ofCollection = groupsOf<Collection>();

export const collectionTable: PaymentTable<Collection> = [
  ofCollection(EVERYWHERE, {
    id: fact(is.uuid, 'Id'),
    payfrom: fact(is.described(is.phone, 'The customer’s phone'), 'From', 'account'),
    amount: cents('amount_cents', is.money, 'Amount'),
    ref_no: fact(is.refNo, 'Merchant’s reference', 'reference'),
    account_number: fact(is.accountNumber, 'Pays for', 'foreign'),
    callback_url: is.callbackUrl,
  }),
  ofCollection(['record', 'detail'], { status }),
  ofCollection(['listed'], { status: computed(listedStatus, deprecatedStatus) }),
  ofCollection(EVERYWHERE, { category: is.string('Always `other`', 'other'), ...created }),
  ofCollection(['record', 'detail'], createdIso),
  ofCollection(['detail'], {
    result_code: fact(resultCode, 'Result'),
    result_description: fact(resultWords, 'Result in words', 'text'),
    ...outcome,
    commission: computed(
      is.amountOf('KES, what we keep; 0.00 of one that failed', '3.75'),
      unlessFailed((row) => row.commission_cents),
    ),
    net_amount: computed(
      is.amountOf('KES, what your wallet gets; 0.00 of one that failed', '246.25'),
      unlessFailed(netOf),
    ),
  }),
  ofCollection([], {
    ...insideColumns({
      commission_cents: ['Commission', 'money'],
      channel: ['Channel', 'channel'],
      app_code: 'App',
    }),
    ...inside,
  }),
];

export const collection = faceOf(collectionTable, 'record');
export const collectionDetail = faceOf(collectionTable, 'detail');
export const listedCollection = faceOf(collectionTable, 'listed');

/** A channel as the API shows it. */
export const channelFields = {
  code: is.integer('The code of the channel', 63902),
  name: is.string('The name of the channel', 'M-PESA'),
  type: is.oneOf(CHANNEL_TYPES, 'What the channel carries money to'),
};

/** A field of a payout as its merchant sees it: `asShown` tells no failure before its refund. */
function untilRefund(schema: is.Schema, value: (shown: Payout) => unknown) {
  return computed<Payout>(schema, (row) => value(asShown(row)));
}

const refundedStatus = is.described(
  status,
  `${status.description}. \`failed\` once the money is back in the wallet`,
);
const category = is.oneOf(PAYOUT_CATEGORIES, 'What you pay for', 'other');
const narration = is.string('What was sent to the gateway', 'Salary November');

const ofPayout = groupsOf<Payout>();

export const payoutTable: PaymentTable<Payout> = [
  ofPayout(EVERYWHERE, {
    id: fact(is.uuid, 'Id'),
    payto: fact(is.payto, 'To', 'account'),
    amount: cents('amount_cents', is.money, 'Amount'),
    ref_no: fact(is.refNo, 'Merchant’s reference', 'reference'),
  }),
  ofPayout(['record'], { status }),
  ofPayout(['detail'], { status: untilRefund(refundedStatus, (row) => row.status) }),
  ofPayout(['listed'], { status: untilRefund(listedStatus, deprecatedStatus) }),
  ofPayout(EVERYWHERE, { category: fact(category, 'Category') }),
  ofPayout(['detail', 'listed'], created),
  ofPayout(['detail'], {
    ...createdIso,
    result_code: untilRefund(resultCode, (row) => row.result_code),
    result_description: untilRefund(resultWords, (row) => row.result_description),
    ...outcome,
  }),
  ofPayout(['record', 'detail'], {
    channel: fact(channelFields.code, 'Channel', 'channel'),
    channel_name: computed(channelFields.name, (row) => channelOf(row).name),
    channel_type: computed(channelFields.type, (row) => channelOf(row).type),
  }),
  // The record has its time at the end, as in the specification.
  ofPayout(['record'], { ...created, ...createdIso }),
  ofPayout(['detail'], {
    narration: fact(narration, 'Narration', 'foreign'),
    fee: cents('fee_cents', is.amountOf('KES, debited with the amount', '0.00'), 'Fee'),
  }),
  ofPayout([], {
    ...insideColumns({
      result_code: 'Result',
      result_description: ['Result in words', 'text'],
      refund_posted_at: 'Refunded',
      redebited_at: 'Debited again',
      app_code: 'App',
      callback_url: null,
    }),
    ...inside,
  }),
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
const NUMBERED = REVERSAL_LABELS.map((word, number) => `${number} ${word}`).join(', ');
const reversalStatus = is.oneOf([...REVERSAL_LABELS.keys()], NUMBERED, code);
const reversalLabel = is.oneOf(REVERSAL_LABELS, '`status` as a word', label);
const originalReceipt = is.stringOrNull(
  'The network’s receipt of the collection; null while it is not known',
  'TKJ7A1B2C3',
);
const ownReceipt = is.stringOrNull(
  'The network’s receipt of the reversal itself; null while there is none',
  null,
);
const noWords = is.stringOrNull(WORDS_ABOUT_RESULT, null);
const reason = is.stringOrNull('Your reason; null when you gave none', 'Out of stock');
const gives = is.amountOf('KES, what the collection wallet gives', '246.25');
const commission = is.amountOf('KES, commission that you get back', '3.75');

const ofReversal = groupsOf<Reversal>();

export const reversalTable: PaymentTable<Reversal> = [
  ofReversal(['record'], {
    id: fact(is.uuid, 'Id'),
    ref_no: fact(is.reversalRefNo, 'Merchant’s reference', 'reference'),
    checkout_ref_no: fact(is.checkoutRefNo, 'Reference of the collection', 'reference'),
    original_trans_id: fact(originalReceipt, 'Receipt of the collection'),
    amount: cents('amount_cents', is.amountOf('KES, what the customer gets'), 'Amount'),
    reversed_net_amount: computed(gives, (row) => formatAmount(netOf(row))),
    reversed_commission: cents('commission_cents', commission, 'Commission'),
    status: computed(reversalStatus, (row) => REVERSAL_STATES[row.status].code),
    status_label: computed(reversalLabel, (row) => REVERSAL_STATES[row.status].label),
    result_description: fact(noWords, 'Result in words', 'text'),
    trans_id: fact(ownReceipt, 'Receipt'),
    reason: fact(reason, 'Reason', 'foreign'),
    created_at: is.time('When it was recorded. ISO 8601, UTC'),
    payment_completed_at: fact(completedAt, 'Completed'),
  }),
  ofReversal([], {
    ...insideColumns({
      account: ['To', 'account'],
      result_code: 'Result',
      external_ref: 'Gateway’s reference',
      channel: ['Channel', 'channel'],
      app_code: 'App',
      // The page has a link to the collection.
      collection_id: null,
      callback_url: null,
    }),
    ...inside,
  }),
];

export const reversal = faceOf(reversalTable, 'record');

/** No merchant asked for a return, so no merchant sees it. */
export const returnTable: PaymentTable<Return> = [
  groupsOf<Return>()([], {
    ...insideColumns({
      id: 'Id',
      account: ['To', 'account'],
      amount_cents: ['Amount', 'money'],
      original_trans_id: 'Receipt of the collection',
      result_code: 'Result',
      result_description: ['Result in words', 'text'],
      trans_id: 'Receipt',
      external_ref: 'Gateway’s reference',
      payment_completed_at: 'Completed',
      channel: ['Channel', 'channel'],
      // The page shows the status beside the title, and has links to the collection.
      status: null,
      collection_id: null,
      movement_id: null,
    }),
    ...inside,
  }),
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
