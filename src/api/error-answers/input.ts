import type { AnswerCode, ErrorAnswer } from './answer.ts';

/** The answers to input that is wrong, status 400. */
export const INPUT = {
  invalid_request: {
    status: 400,
    detail: 'Invalid request',
    meaning:
      'The body is missing, broke off, or is no JSON object; there are more than 1,000 query parameters; or it is no HTTP',
  },
  body_not_json: { status: 400, detail: 'JSON parse error', meaning: 'The body is no valid JSON' },
  field_required: {
    status: 400,
    detail: '{subject} field is required',
    field: '{subject}',
    meaning: 'A required field is missing, null or empty',
  },
  invalid_field: {
    status: 400,
    detail: 'Invalid {subject}',
    field: '{subject}',
    meaning: 'The value of a field or header has the wrong type or form',
  },
  invalid_query: {
    status: 400,
    detail: 'Invalid query parameter: {subject}',
    field: '{subject}',
    meaning: 'The value of a query parameter is wrong',
  },
  invalid_phone_number: {
    status: 400,
    detail: 'Invalid phone number',
    field: '{subject}',
    meaning: 'Not a Kenyan mobile number in E.164 form, or of a carrier without a channel',
  },
  invalid_amount: {
    status: 400,
    detail: 'Invalid amount',
    field: 'amount',
    meaning: 'Not a string that holds a decimal with exactly two places',
  },
  amount_too_small: {
    status: 400,
    detail: 'Invalid amount',
    field: 'amount',
    meaning: 'Less than 1.00',
  },
  amount_too_large: {
    status: 400,
    detail: 'Invalid amount',
    field: 'amount',
    meaning: 'More than 999999.99',
  },
  amount_not_whole: {
    status: 400,
    detail: 'Invalid amount',
    field: 'amount',
    meaning: 'The channel takes whole shillings only (`whole_shillings` of `GET /channels`)',
  },
  amount_below_channel: {
    status: 400,
    detail: 'Invalid amount',
    field: 'amount',
    meaning: 'Less than the channel carries (`min_amount` and `payouts` of `GET /channels`)',
  },
  amount_above_channel: {
    status: 400,
    detail: 'Invalid amount',
    field: 'amount',
    meaning: 'More than the channel carries (`max_amount` and `payouts` of `GET /channels`)',
  },
  invalid_channel: {
    status: 400,
    detail: 'Invalid channel code: {subject}',
    field: 'channel',
    meaning: 'There is no such channel, or it cannot pay this kind of recipient',
  },
  channel_required: {
    status: 400,
    detail: 'Channel is required for bank account payouts',
    field: 'channel',
    meaning: 'A payout to a bank account must name the channel of its bank',
  },
  channel_not_available: {
    status: 400,
    detail: 'Channel is not available: {subject}',
    meaning: 'The channel exists, but takes no payments here (`active` of `GET /channels`)',
  },
  insufficient_balance: {
    status: 400,
    detail: 'Insufficient balance in {subject} wallet',
    meaning: 'The wallet does not hold the amount and the fee',
  },
  collection_not_completed: {
    status: 400,
    detail: 'Only a completed collection can be reversed',
    field: 'checkout_ref_no',
    meaning: 'The collection is still open, or has failed',
  },
} as const satisfies Partial<Record<AnswerCode, ErrorAnswer>>;
