import type { ErrorCode } from '../domain/errors.ts';
import type { Schema } from '../records/schema.ts';

/** The code of every error that the API answers with. */
type AnswerCode = ErrorCode | 'internal_error' | 'request_timeout' | 'headers_too_large';

/** An error as a caller sees it. `{subject}` stands for the subject of the refusal. */
interface ErrorAnswer {
  status: number;
  /** The text of the specification, which never changes. */
  detail: string;
  /** The field, parameter or header to blame, if there is one. */
  field?: string;
  /** The meaning of the code, for the documentation. */
  meaning: string;
  /** The advice to the caller, for the documentation. */
  remedy: string;
}

/** The answers to a caller who may not, status 401 and 403. */
const ACCESS = {
  credentials_missing: {
    status: 401,
    detail: 'Authentication credentials were not provided',
    field: 'Authorization',
    meaning: 'The request has no token',
    remedy: 'Send the header `Authorization: Bearer ACCESS`',
  },
  invalid_token_format: {
    status: 401,
    detail: 'Invalid token format',
    field: 'Authorization',
    meaning: 'The header is not `Bearer`, a space and a token',
    remedy: 'Write `Bearer`, one space, and the token without quotes',
  },
  invalid_token: {
    status: 401,
    detail: 'Invalid or expired token',
    field: '{subject}',
    meaning: 'The token is not ours, is of the other kind, or has expired: get a new one',
    remedy:
      'Get a new access token with `POST /auth/refresh`, or log in again, and send the request once more',
  },
  token_revoked: {
    status: 401,
    detail: 'Token has been revoked',
    field: '{subject}',
    meaning: 'The log-in of this token was ended: log in again',
    remedy:
      'Log in again. Two programs that share a refresh token end each other’s log-in: give each its own',
  },
  refresh_expired: {
    status: 401,
    detail: 'Refresh token has expired. Please login again.',
    field: 'refresh',
    meaning: 'The refresh token is older than 7 days, or the log-in is older than 30',
    remedy: 'Log in again',
  },
  invalid_app_credentials: {
    status: 401,
    detail: 'Invalid app credentials',
    meaning: 'Key and secret do not belong to an app',
    remedy: 'Check key and secret. If the secret was replaced, use the new one',
  },
  invalid_set_up_code: {
    status: 401,
    detail: 'The link is not good any more',
    meaning: 'The link was used, is older than 24 hours, or a newer one has taken its place',
    remedy: 'Use the newest e-mail, or ask the operator for another link',
  },
  invalid_credentials: {
    status: 401,
    detail: 'Invalid credentials',
    meaning:
      'E-mail address and password do not belong to an active user, or the password of a change is wrong',
    remedy:
      'Check address and password. After many failures wait, or ask a user with the role Admin',
  },
  otp_required: {
    status: 401,
    detail: 'One-time password required',
    field: 'otp',
    meaning: 'The password is right. The person also uses one-time passwords: send `otp` too',
    remedy: 'Ask the person for the one-time password, and send it as `otp`',
  },
  invalid_otp: {
    status: 401,
    detail: 'Invalid one-time password',
    field: 'otp',
    meaning:
      'Not the one-time password of this half minute or those beside it, used before, or no recovery code that is left',
    remedy: 'Ask for the next one. Check that the phone’s clock is right',
  },
  https_required: {
    status: 403,
    detail: 'HTTPS is required',
    meaning: 'The request came over plain HTTP',
    remedy: 'Use the `https://` address',
  },
  ip_not_allowed: {
    status: 403,
    detail: 'Access denied: IP address not allowed',
    meaning:
      'The caller’s address is not in the allow-list of the app that the token or `app_code` names, of the app of the collection to reverse, or of the merchant for its users',
    remedy: 'Call from an allowed address, or ask the operator to add yours',
  },
  merchant_inactive: {
    status: 403,
    detail: 'Merchant account is not active',
    meaning: 'The operator has suspended the merchant',
    remedy: 'Talk to the operator',
  },
  app_inactive: {
    status: 403,
    detail: 'App is not active',
    meaning: 'The app of the token, or the one that `app_code` names, is suspended',
    remedy: 'Talk to the operator, or use another app',
  },
  role_insufficient: {
    status: 403,
    detail: 'You do not have permission to access this resource',
    meaning: 'The user’s role does not allow this, or only people may do it',
    remedy: 'Have somebody with the role do it, or use an app’s token',
  },
  password_change_required: {
    status: 403,
    detail: 'Change your password first',
    meaning:
      'The operator has set the password. Until it is changed with `POST /auth/password`, the person may only log out and list sessions',
    remedy: 'Send `POST /auth/password` first',
  },
  otp_login_required: {
    status: 403,
    detail: 'Log in with a one-time password before initiating {subject}',
    meaning:
      'The merchant or the operator wants a second factor for this. Set it up with `POST /auth/totp`, then log in with it',
    remedy: 'Set up one-time passwords, then log in with one',
  },
  access_too_new: {
    status: 403,
    detail: 'This access is new and sends no money out before {subject}',
    meaning:
      'The operator has just given this password, role or secret. Payouts, transfers and reversals wait, so that the merchant can notice',
    remedy: 'Let a user with the role Admin release it with `POST /auth/access/release`, or wait',
  },
  merchant_not_approved: {
    status: 403,
    detail:
      'Your merchant profile is not approved. Please ensure your profile has been verified before initiating {subject}.',
    meaning: 'The operator has not approved the merchant yet',
    remedy: 'Talk to the operator: something about your profile is not verified yet',
  },
  product_missing: {
    status: 403,
    detail: 'App does not have {subject} product enabled',
    meaning: 'The app may not do this: the operator enables its products',
    remedy: 'Ask the operator to enable the product for the app',
  },
  wallet_missing: {
    status: 403,
    detail: 'Wallet not found or not initialized',
    meaning: 'The merchant has no wallet for this',
    remedy: 'Talk to the operator',
  },
} as const satisfies Partial<Record<AnswerCode, ErrorAnswer>>;

/** The answers to input that is wrong, status 400. */
const INPUT = {
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
    meaning: 'The body is no valid JSON, or an object in it has a name twice',
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
    meaning:
      'The operation has no such query parameter, or its value is wrong, or it is sent twice',
    remedy: 'Correct the parameter that `field` names: the reference lists those of each operation',
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
    remedy: 'Show the channel’s limits where the amount is chosen',
  },
  amount_above_channel: {
    status: 400,
    detail: 'Invalid amount',
    field: 'amount',
    meaning: 'More than the channel carries (`max_amount` and `payouts` of `GET /channels`)',
    remedy: 'Show the channel’s limits where the amount is chosen',
  },
  amount_not_of_collection: {
    status: 400,
    detail: 'Invalid amount',
    field: 'amount',
    meaning: 'A reversal gives the whole collection back, and this is not its amount',
    remedy:
      'Leave `amount` out, or send the amount of the collection. Pay a part back with a payout',
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
    remedy:
      'Offer only channels whose `collections` or `payouts`, as you need, have `active: true`',
  },
  insufficient_balance: {
    status: 400,
    detail: 'Insufficient balance in {subject} wallet',
    meaning: 'The wallet does not hold the amount and the fee',
    remedy:
      'Top up the payout wallet, or move money with `POST /wallets/transfers`. While the collection wallet is below zero, the payout wallet keeps as much, until collections settle it. Then send it with the same `ref_no`',
  },
  collection_not_completed: {
    status: 400,
    detail: 'Only a completed collection can be reversed',
    field: 'checkout_ref_no',
    meaning: 'The collection is still open, or has failed',
    remedy: 'Wait for its webhook. What has failed needs no reversal',
  },
} as const satisfies Partial<Record<AnswerCode, ErrorAnswer>>;

const UNAVAILABLE = 'Service temporarily unavailable';

/** The answers about records, the transport, limits and outages: all other statuses. */
const OTHER = {
  app_not_found: {
    status: 404,
    detail: 'App not found',
    field: 'app_code',
    meaning: 'The merchant has no app with this code',
    remedy: 'Check `app_code`: it names one of your apps',
  },
  transaction_not_found: {
    status: 404,
    detail: 'Transaction not found',
    field: '{subject}',
    meaning: 'The merchant has no such record',
    remedy: 'Check the id or reference, and that it is of this merchant',
  },
  session_not_found: {
    status: 404,
    detail: 'Session not found',
    meaning: 'The person has no session with this id, or it has ended',
    remedy: 'Nothing: the session is over',
  },
  webhook_not_found: {
    status: 404,
    detail: 'Webhook not found',
    meaning: 'The merchant has no webhook with this id',
    remedy: 'Check the id: it is the `webhook-id`, and that the webhook is of this merchant',
  },
  path_not_found: {
    status: 404,
    detail: 'Not found',
    meaning: 'There is no endpoint at this path',
    remedy: 'Check the path. It begins with `/api/v1`',
  },
  method_not_allowed: {
    status: 405,
    detail: 'Method not allowed',
    meaning: 'The path has no such method. The header `Allow` lists those that it has',
    remedy: 'Use a method that the header `Allow` names',
  },
  request_timeout: {
    status: 408,
    detail: 'Request timeout',
    meaning: 'The request did not arrive in time',
    remedy: 'Send it again, with the same `Idempotency-Key`',
  },
  totp_enabled: {
    status: 409,
    detail: 'One-time passwords are on already',
    meaning: 'Switch them off first to set them up anew, such as for another phone',
    remedy: 'Switch them off first',
  },
  totp_not_enabled: {
    status: 409,
    detail: 'One-time passwords are not on',
    meaning: 'There is nothing to confirm or to change: begin with `POST /auth/totp`',
    remedy: 'Begin with `POST /auth/totp`',
  },
  duplicate_ref_no: {
    status: 409,
    detail: 'Reference number already exists',
    field: 'ref_no',
    meaning: 'The merchant has used this reference for a record of this kind. Nothing was repeated',
    remedy:
      'Look the payment up by its `ref_no`: it may be your own first try. Use a new `ref_no` only for a new payment',
  },
  reversal_done: {
    status: 409,
    detail: 'Collection has already been reversed',
    field: 'checkout_ref_no',
    meaning: 'A collection is reversed once',
    remedy: 'Nothing: the customer has the money back',
  },
  reversal_in_progress: {
    status: 409,
    detail: 'A reversal is already in progress',
    field: 'checkout_ref_no',
    meaning: 'Another reversal of the collection has not ended',
    remedy: 'Wait for the webhook of the other reversal',
  },
  webhook_test_running: {
    status: 409,
    detail: 'A webhook test is already running',
    meaning: 'A merchant tests one receiver at a time',
    remedy: 'Wait for the answer of the first test',
  },
  signing_secret_missing: {
    status: 409,
    detail: 'App has no valid secret to sign with',
    field: 'app_code',
    meaning: 'All secrets that sign the webhooks of the app have ended',
    remedy: 'Ask the operator for a new secret',
  },
  idempotency_key_running: {
    status: 409,
    detail: 'A request with this idempotency key is still running',
    field: 'Idempotency-Key',
    meaning: 'Send it again in a moment to get its answer',
    remedy: 'Wait a second and send the same request again',
  },
  body_too_large: {
    status: 413,
    detail: 'Request body is too large',
    meaning: 'The body has more than 64 KiB',
    remedy: 'Send less',
  },
  media_type_unsupported: {
    status: 415,
    detail: 'Content-Type must be application/json',
    meaning: 'The body is not announced as JSON in UTF-8, or is in an unknown encoding',
    remedy: 'Send the header `Content-Type: application/json`',
  },
  idempotency_key_reused: {
    status: 422,
    detail: 'Idempotency key was used with a different request',
    field: 'Idempotency-Key',
    meaning: 'The key belongs to a request with another body: use a new one',
    remedy: 'Make a new key for each new request, and keep it only for repeats',
  },
  rate_limited: {
    status: 429,
    detail: 'Request rate limit exceeded',
    meaning: 'Too many requests, or too many failed log-ins: wait for `Retry-After` seconds',
    remedy: 'Wait for `Retry-After` seconds. Receive webhooks instead of asking often',
  },
  headers_too_large: {
    status: 431,
    detail: 'Request headers are too large',
    meaning: 'Address and headers together have more than 16 KiB',
    remedy: 'Send fewer or shorter headers',
  },
  internal_error: {
    status: 500,
    detail: 'Internal server error',
    meaning:
      'A fault of ours. A payment may have been recorded: send it again as after `unavailable`',
    remedy:
      'Send it again with the same `Idempotency-Key` and `ref_no`. Report `X-Request-Id` if it stays',
  },
  gateway_unreachable: {
    status: 502,
    detail: 'Gateway unreachable, outcome unknown. Check GET /reversals/{ref_no} before any retry.',
    meaning: 'The reversal is recorded and goes on; the gateway has not answered yet',
    remedy:
      'Ask `GET /reversals/{ref_no}`, or wait for the webhook. Never send it with a new `ref_no`',
  },
  channel_paused: {
    status: 503,
    detail: UNAVAILABLE,
    meaning: 'The channel takes no new payments for now. Nothing was recorded',
    remedy: 'Wait for `Retry-After` seconds, or offer another channel',
  },
  unavailable: {
    status: 503,
    detail: UNAVAILABLE,
    meaning:
      'Overload or maintenance. A payment may have been recorded: send it again after `Retry-After` seconds with the same `ref_no`, never with a new one. With the same Idempotency-Key its kept answer comes; without a key 409 `duplicate_ref_no` means that it is recorded',
    remedy:
      'Send it again after `Retry-After` seconds with the same `Idempotency-Key` and `ref_no`',
  },
} as const satisfies Partial<Record<AnswerCode, ErrorAnswer>>;

export type { AnswerCode };

/**
 * Every code with its answer, by status. The documentation is made from it. A new code does not
 * compile without its row.
 */
export const ERROR_ANSWERS: Readonly<Record<AnswerCode, ErrorAnswer>> = {
  ...INPUT,
  ...ACCESS,
  ...OTHER,
};

/** Returns the body of an error: the specified `detail`, its `code`, and `field` if one is to blame. */
export function errorBody(code: AnswerCode, subject = '') {
  const { detail, field = '' } = ERROR_ANSWERS[code];
  const fill = (text: string) => text.split('{subject}').join(subject);
  const blamed = fill(field);
  return { detail: fill(detail), code, ...(blamed && { field: blamed }) };
}

const CODES = Object.entries(ERROR_ANSWERS);

/** The schema of every error. Only the codes that blame a field have `field`. */
export const errorSchema: Schema = {
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
