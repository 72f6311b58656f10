/**
 * All codes of Daraja and what they mean for a payment. A code that is not here stays unknown: it
 * is never taken for a failure.
 */

/**
 * What was asked for: a prompt, a payout, a reversal, or some question. A `state` is no code of an
 * answer but the word for a transaction's fate.
 */
export type Product = 'stk' | 'b2c' | 'reversal' | 'question' | 'state';

/**
 * - succeeded: the money moved, or the request was taken.
 * - declined: no money moves, for a reason of the customer, the recipient or the merchant.
 * - operator: no money moves, because of the operator's account or configuration.
 * - duplicate: this reference was taken before.
 * - reversed: something has reversed the payment before. Nobody says whether this request has.
 * - locked: the customer has another prompt open, so nothing was processed.
 * - busy: turned away before processing, because there is too much traffic.
 * - down: the service is away. Nobody knows whether the request was processed.
 * - pending: still under way.
 * - unknown: the gateway itself does not say what has happened.
 */
export type Meaning =
  | { class: 'succeeded' | 'declined' | 'locked'; code: number; description: string }
  /** As a submission's answer it was turned away. As a payment's result it ends it with `code`. */
  | { class: 'busy'; code: number | null; description: string }
  | { class: 'operator' | 'duplicate' | 'reversed' | 'down' | 'pending' | 'unknown' };

/** The code that our API has for every trouble of the operator's own. */
export const OPERATOR_CODE = 90_000;

/** The words with which merchants hear of the operator's troubles. */
export const OPERATOR_DESCRIPTIONS: Readonly<Record<Product, string>> = {
  stk: 'Payment could not be requested, try again later',
  b2c: 'Payout could not be sent, try again later',
  reversal: 'Reversal could not be sent, try again later',
  question: 'Try again later',
  state: 'Try again later',
};

const BUSY_DESCRIPTION = 'M-PESA is busy, try again later';
const OPERATOR: Meaning = { class: 'operator' };
const UNKNOWN: Meaning = { class: 'unknown' };
const PENDING: Meaning = { class: 'pending' };
const DUPLICATE: Meaning = { class: 'duplicate' };
const DOWN: Meaning = { class: 'down' };
/** Only as the answer to a submission: as a result these codes end nothing. */
const BUSY: Meaning = { class: 'busy', code: null, description: BUSY_DESCRIPTION };

const succeeded = (description: string): Meaning => ({ class: 'succeeded', code: 0, description });
const declined = (code: number, description: string): Meaning => ({
  class: 'declined',
  code,
  description,
});

const ANY: readonly Product[] = ['stk', 'b2c', 'reversal', 'question'];
const STK: readonly Product[] = ['stk'];
const B2C: readonly Product[] = ['b2c'];
const REVERSAL: readonly Product[] = ['reversal'];
const STATE: readonly Product[] = ['state'];
/** The requests that an initiator of the operator makes. */
const INITIATED: readonly Product[] = ['b2c', 'reversal'];

type Row = readonly [code: string | null, products: readonly Product[], Meaning, says?: RegExp];

/**
 * The first row that fits is the meaning. Without a code only the words decide. Numeric codes keep
 * their numbers in our API. Codes with letters have numbers of our own, from 90001 on:
 * 90001 SFC_IC0003, 90002 R000002, 90003 Cancelled, 90004 Declined, 90005 Expired, 90006 400.002.02.
 */
export const CODES: readonly Row[] = [
  // One bank's resale of M-PESA says FAILED with these words of a live payment.
  [null, ANY, PENDING, /still under processing/i],
  ['0', ANY, succeeded('Processed')],

  // Results of STK pushes.
  ['1', STK, declined(1, 'The customer’s balance is too low')],
  ['2', STK, declined(2, 'The amount is too small for M-PESA')],
  ['3', STK, declined(3, 'The amount is too large for M-PESA')],
  ['4', STK, declined(4, 'The customer would pass the daily limit of M-PESA')],
  ['8', STK, OPERATOR],
  ['17', STK, declined(17, 'The customer has just paid the same amount, try again in 2 minutes')],
  [
    '1001',
    STK,
    { class: 'locked', code: 1001, description: 'The customer has another prompt open' },
  ],
  ['1019', STK, declined(1019, 'The request expired before the customer answered')],
  ['1025', STK, declined(1025, 'The prompt could not be shown to the customer')],
  ['1031', STK, declined(1031, 'The prompt timed out')],
  ['1032', STK, declined(1032, 'The customer cancelled the request')],
  ['1036', STK, declined(1036, 'The prompt could not be delivered to the phone')],
  ['1037', STK, declined(1037, 'The customer’s phone was not reached, or did not answer')],
  ['2001', STK, declined(2001, 'The customer entered a wrong PIN')],
  ['2028', STK, OPERATOR],
  ['8006', STK, declined(8006, 'The customer’s PIN is locked')],
  ['9999', STK, declined(9999, 'The prompt could not be sent to the customer')],
  ['SFC_IC0003', STK, OPERATOR],
  ['4999', STK, PENDING],

  // Results of payouts.
  ['2', B2C, declined(2, 'The amount is too small for M-PESA')],
  ['3', B2C, declined(3, 'The amount is too large for M-PESA')],
  // Ours or the recipient's: nobody says whose limit it is. So it must not pause all payouts.
  ['4', B2C, declined(4, 'Payout could not be sent, try again later')],
  ['8', B2C, declined(8, 'The recipient’s account would pass its balance limit')],
  ['2040', B2C, declined(2040, 'The recipient is not a registered M-PESA customer')],
  ['SFC_IC0003', B2C, declined(90_001, 'The recipient has no M-PESA account')],
  // Says nothing about the first request with this reference.
  ['15', B2C, DUPLICATE],

  // Results of reversals.
  ['R000001', REVERSAL, { class: 'reversed' }],
  ['R000002', REVERSAL, declined(90_002, 'M-PESA does not know the original payment')],

  // Results of payouts and reversals alike. 1 is the operator's float.
  ['1', INITIATED, OPERATOR],
  ['11', INITIATED, OPERATOR],
  ...['18', '20', '21', '22', '24', '25', '29'].map((code): Row => [code, INITIATED, OPERATOR]),
  ...['2001', '2006', '2028', '8006'].map((code): Row => [code, INITIATED, OPERATOR]),

  // States of transactions.
  ['Completed', STATE, succeeded('Processed')],
  ['Cancelled', STATE, declined(90_003, 'M-PESA cancelled the transaction')],
  ['Canceled', STATE, declined(90_003, 'M-PESA cancelled the transaction')],
  ['Declined', STATE, declined(90_004, 'M-PESA declined the transaction')],
  ['Expired', STATE, declined(90_005, 'The transaction expired')],

  // Traffic.
  ['26', ANY, { class: 'busy', code: 26, description: BUSY_DESCRIPTION }],
  ['500.003.02', ANY, BUSY],
  ['500.003.03', ANY, BUSY],
  // Nobody says whether these were turned away before they were processed.
  ['100000001', ANY, DOWN],
  ['100000002', ANY, DOWN],
  ['100000011', ANY, DOWN],
  ['00.002.1001', ANY, DOWN],

  // Refusals of submissions. One code has many meanings, which only the words tell apart.
  [
    '500.001.1001',
    STK,
    { class: 'locked', code: 1001, description: 'The customer has another prompt open' },
    /lock subscriber/i,
  ],
  ['500.001.1001', ANY, OPERATOR, /merchant does not exist|wrong credentials/i],
  ['500.001.1001', ANY, UNKNOWN],
  ['500.002.1001', B2C, DUPLICATE, /duplicate/i],
  ['500.002.1001', ANY, UNKNOWN],
  ['500.003.1001', ANY, UNKNOWN],
  // Only these fields are the merchant's or the other side's. The others are the operator's.
  [
    '400.002.02',
    STK,
    declined(90_006, 'M-PESA refused the phone or the amount'),
    /invalid (phone ?number|msisdn|party ?a|amount|account ?reference|transaction ?desc)/i,
  ],
  [
    '400.002.02',
    B2C,
    declined(90_006, 'M-PESA refused the phone or the amount'),
    /invalid (msisdn|party ?b|amount|remarks|occass?ion)/i,
  ],
  [
    '400.002.02',
    REVERSAL,
    declined(90_006, 'M-PESA refused the original payment or the amount'),
    /invalid (transaction ?id|amount|remarks|occass?ion)/i,
  ],
  ['400.002.02', ANY, OPERATOR, /invalid/i],
  ['403.001', ANY, OPERATOR],
  ['404.001.01', ANY, OPERATOR],
  ['405.001', ANY, OPERATOR],
  [null, ANY, OPERATOR, /no apiproduct match/i],
  ['100000005', ANY, OPERATOR],
  ['100000010', ANY, OPERATOR],
  ['100000000', ANY, UNKNOWN],
  ['100000004', ANY, UNKNOWN],
  ['100000007', ANY, UNKNOWN],
  ['100000009', ANY, UNKNOWN],
  [null, ANY, BUSY, /spike ?arrest|quota violation|system is busy/i],
];

/** Finds what a code with these words means for a product. @returns null for an unknown code. */
export function meaningOf(product: Product, code: string | null, words: string): Meaning | null {
  const row = CODES.find(
    ([known, products, , says]) =>
      (known === null || known === code) &&
      products.includes(product) &&
      (says?.test(words) ?? true),
  );
  return row?.[2] ?? null;
}

/** The fields of a refusal for the operator's own trouble. `words` are for the operator only. */
export function operatorRefusal(product: Product, words: string) {
  const description = OPERATOR_DESCRIPTIONS[product];
  return { code: OPERATOR_CODE, description, operatorTrouble: words };
}
