import type { AnswerCode, ErrorAnswer } from './answer.ts';

/** The answers to input that is wrong, status 400. */
export const INPUT = {
  invalid_request: {
    status: 400,
    detail: 'Invalid request',
    meaning:
      'The body is missing, broke off, or is no JSON object; there are more than 1,000 query parameters; or it is no HTTP',
    remedy: 'Send one JSON object. A proxy or library of yours may have cut the body off',
  },
  body_not_json: {
    status: 400,
    detail: 'JSON parse error',
    meaning: 'The body is no valid JSON',
    remedy: 'Build the body with a JSON library, not by joining texts',
  },
  field_required: {
    status: 400,
    detail: '{subject} field is required',
    field: '{subject}',
    meaning: 'A required field is missing, null or empty',
    remedy: 'Send the field that `field` names',
  },
  invalid_field: {
    status: 400,
    detail: 'Invalid {subject}',
    field: '{subject}',
    meaning: 'The value of a field or header has the wrong type or form',
    remedy: 'Correct the field that `field` names: the reference has its form and an example',
  },
  invalid_query: {
    status: 400,
    detail: 'Invalid query parameter: {subject}',
    field: '{subject}',
    meaning: 'The value of a query parameter is wrong',
    remedy: 'Correct the parameter that `field` names',
  },
  invalid_phone_number: {
    status: 400,
    detail: 'Invalid phone number',
    field: '{subject}',
    meaning: 'Not a Kenyan mobile number in E.164 form, or of a carrier without a channel',
    remedy: 'Ask the customer for the number again. Write it as `+254712345678`',
  },
  invalid_amount: {
    status: 400,
    detail: 'Invalid amount',
    field: 'amount',
    meaning: 'Not a string that holds a decimal with exactly two places',
    remedy: 'Send a string with two decimals, such as `"100.00"`',
  },
  amount_too_small: {
    status: 400,
    detail: 'Invalid amount',
    field: 'amount',
    meaning: 'Less than 1.00',
    remedy: 'Ask for at least 1.00',
  },
  amount_too_large: {
    status: 400,
    detail: 'Invalid amount',
    field: 'amount',
    meaning: 'More than 999999.99',
    remedy: 'Split the payment, or ask for less',
  },
  amount_not_whole: {
    status: 400,
    detail: 'Invalid amount',
    field: 'amount',
    meaning: 'The channel takes whole shillings only (`whole_shillings` of `GET /channels`)',
    remedy: 'Round to whole shillings before you show the price',
  },
  amount_below_channel: {
    status: 400,
    detail: 'Invalid amount',
    field: 'amount',
    meaning: 'Less than the channel carries (`min_amount` and `payouts` of `GET /channels`)',
    remedy: 'Show the channel’s limits to whoever chooses the amount',
  },
  amount_above_channel: {
    status: 400,
    detail: 'Invalid amount',
    field: 'amount',
    meaning: 'More than the channel carries (`max_amount` and `payouts` of `GET /channels`)',
    remedy: 'Show the channel’s limits to whoever chooses the amount',
  },
  invalid_channel: {
    status: 400,
    detail: 'Invalid channel code: {subject}',
    field: 'channel',
    meaning: 'There is no such channel, or it cannot pay this kind of recipient',
    remedy: 'Take the code from `GET /channels`, of the type that fits the recipient',
  },
  channel_required: {
    status: 400,
    detail: 'Channel is required for bank account payouts',
    field: 'channel',
    meaning: 'A payout to a bank account must name the channel of its bank',
    remedy: 'Send the `channel` of the recipient’s bank, from `GET /channels`',
  },
  channel_not_available: {
    status: 400,
    detail: 'Channel is not available: {subject}',
    meaning: 'The channel exists, but takes no payments here (`active` of `GET /channels`)',
    remedy: 'Offer only channels with `active: true`',
  },
  insufficient_balance: {
    status: 400,
    detail: 'Insufficient balance in {subject} wallet',
    meaning: 'The wallet does not hold the amount and the fee',
    remedy:
      'Top up the payout wallet, or move money with `POST /wallets/transfers`. Then send it with the same `ref_no`',
  },
  collection_not_completed: {
    status: 400,
    detail: 'Only a completed collection can be reversed',
    field: 'checkout_ref_no',
    meaning: 'The collection is still open, or has failed',
    remedy: 'Wait for its webhook. What has failed needs no reversal',
  },
} as const satisfies Partial<Record<AnswerCode, ErrorAnswer>>;
