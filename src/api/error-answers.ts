import type { ErrorCode } from '../domain/errors.ts';

/** The code of every error that the API answers with. */
export type AnswerCode = ErrorCode | 'internal_error' | 'request_timeout' | 'headers_too_large';

/** What a caller is told. `{subject}` stands for the subject of the refusal. */
export interface ErrorAnswer {
  status: number;
  /** The text of the specification, which never changes. */
  detail: string;
  /** The field, parameter or header to blame, if there is one. */
  field?: string;
  /** What the code means, for the documentation. */
  meaning: string;
}

const UNAVAILABLE = 'Service temporarily unavailable';

/**
 * Every code with its answer. The documentation is made from it. A new code does not compile
 * without its row.
 */
export const ERROR_ANSWERS: Readonly<Record<AnswerCode, ErrorAnswer>> = {
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
  credentials_missing: {
    status: 401,
    detail: 'Authentication credentials were not provided',
    field: 'Authorization',
    meaning: 'The request has no token',
  },
  invalid_token_format: {
    status: 401,
    detail: 'Invalid token format',
    field: 'Authorization',
    meaning: 'The header is not `Bearer`, a space and a token',
  },
  invalid_token: {
    status: 401,
    detail: 'Invalid or expired token',
    field: '{subject}',
    meaning: 'The token is not ours, is of the other kind, or has expired: get a new one',
  },
  token_revoked: {
    status: 401,
    detail: 'Token has been revoked',
    field: '{subject}',
    meaning: 'The log-in of this token was ended: log in again',
  },
  refresh_expired: {
    status: 401,
    detail: 'Refresh token has expired. Please login again.',
    field: 'refresh',
    meaning: 'The refresh token is older than 7 days, or the log-in is older than 30',
  },
  invalid_app_credentials: {
    status: 401,
    detail: 'Invalid app credentials',
    meaning: 'Key and secret do not belong to an app',
  },
  invalid_credentials: {
    status: 401,
    detail: 'Invalid credentials',
    meaning:
      'E-mail address and password do not belong to an active user, or the password of a change is wrong',
  },
  otp_required: {
    status: 401,
    detail: 'One-time password required',
    field: 'otp',
    meaning: 'The password is right. The person also uses one-time passwords: send `otp` too',
  },
  invalid_otp: {
    status: 401,
    detail: 'Invalid one-time password',
    field: 'otp',
    meaning:
      'Not the one-time password of this half minute or those beside it, used before, or no recovery code that is left',
  },
  https_required: {
    status: 403,
    detail: 'HTTPS is required',
    meaning: 'The request came over plain HTTP',
  },
  ip_not_allowed: {
    status: 403,
    detail: 'Access denied: IP address not allowed',
    meaning:
      'The caller’s address is not in the allow-list of the app that the token or `app_code` names, of the app of the collection to reverse, or of the merchant for its users',
  },
  merchant_inactive: {
    status: 403,
    detail: 'Merchant account is not active',
    meaning: 'The operator has suspended the merchant',
  },
  app_inactive: {
    status: 403,
    detail: 'App is not active',
    meaning: 'The app of the token, or the one that `app_code` names, is suspended',
  },
  role_insufficient: {
    status: 403,
    detail: 'You do not have permission to access this resource',
    meaning: 'The user’s role does not allow this, or only people may do it',
  },
  password_change_required: {
    status: 403,
    detail: 'Change your password first',
    meaning:
      'The operator has set the password. Until it is changed with `POST /auth/password`, the person may only log out and list sessions',
  },
  otp_login_required: {
    status: 403,
    detail: 'Log in with a one-time password before initiating {subject}',
    meaning:
      'The merchant or the operator wants a second factor for this. Set it up with `POST /auth/totp`, then log in with it',
  },
  merchant_not_approved: {
    status: 403,
    detail:
      'Your merchant profile is not approved. Please ensure your profile has been verified before initiating {subject}.',
    meaning: 'The operator has not approved the merchant yet',
  },
  product_missing: {
    status: 403,
    detail: 'App does not have {subject} product enabled',
    meaning: 'The app may not do this: the operator enables its products',
  },
  wallet_missing: {
    status: 403,
    detail: 'Wallet not found or not initialized',
    meaning: 'The merchant has no wallet for this',
  },
  app_not_found: {
    status: 404,
    detail: 'App not found',
    field: 'app_code',
    meaning: 'The merchant has no app with this code',
  },
  transaction_not_found: {
    status: 404,
    detail: 'Transaction not found',
    field: '{subject}',
    meaning: 'The merchant has no such record',
  },
  session_not_found: {
    status: 404,
    detail: 'Session not found',
    meaning: 'The person has no session with this id, or it has ended',
  },
  path_not_found: {
    status: 404,
    detail: 'Not found',
    meaning: 'There is no endpoint at this path',
  },
  method_not_allowed: {
    status: 405,
    detail: 'Method not allowed',
    meaning: 'The path has no such method. The header `Allow` lists those that it has',
  },
  request_timeout: {
    status: 408,
    detail: 'Request timeout',
    meaning: 'The request did not arrive in time',
  },
  totp_enabled: {
    status: 409,
    detail: 'One-time passwords are on already',
    meaning: 'Switch them off first to set them up anew, such as for another phone',
  },
  totp_not_enabled: {
    status: 409,
    detail: 'One-time passwords are not on',
    meaning: 'There is nothing to confirm or to change: begin with `POST /auth/totp`',
  },
  duplicate_ref_no: {
    status: 409,
    detail: 'Reference number already exists',
    field: 'ref_no',
    meaning: 'The merchant has used this reference for a record of this kind. Nothing was repeated',
  },
  reversal_done: {
    status: 409,
    detail: 'Collection has already been reversed',
    field: 'checkout_ref_no',
    meaning: 'A collection is reversed once',
  },
  reversal_in_progress: {
    status: 409,
    detail: 'A reversal is already in progress',
    field: 'checkout_ref_no',
    meaning: 'Another reversal of the collection has not ended',
  },
  idempotency_key_running: {
    status: 409,
    detail: 'A request with this idempotency key is still running',
    field: 'Idempotency-Key',
    meaning: 'Send it again in a moment to get its answer',
  },
  body_too_large: {
    status: 413,
    detail: 'Request body is too large',
    meaning: 'The body has more than 64 KiB',
  },
  media_type_unsupported: {
    status: 415,
    detail: 'Content-Type must be application/json',
    meaning: 'The body is not announced as JSON in UTF-8, or is in an unknown encoding',
  },
  idempotency_key_reused: {
    status: 422,
    detail: 'Idempotency key was used with a different request',
    field: 'Idempotency-Key',
    meaning: 'The key belongs to a request with another body: use a new one',
  },
  rate_limited: {
    status: 429,
    detail: 'Request rate limit exceeded',
    meaning: 'Too many requests, or too many failed log-ins: wait for `Retry-After` seconds',
  },
  headers_too_large: {
    status: 431,
    detail: 'Request headers are too large',
    meaning: 'Address and headers together have more than 16 KiB',
  },
  internal_error: {
    status: 500,
    detail: 'Internal server error',
    meaning:
      'A fault of ours. A payment may have been recorded: send it again as after `unavailable`',
  },
  gateway_unreachable: {
    status: 502,
    detail: 'Gateway unreachable, outcome unknown. Check GET /reversals/{ref_no} before any retry.',
    meaning: 'The reversal is recorded and goes on; the gateway has not answered yet',
  },
  channel_paused: {
    status: 503,
    detail: UNAVAILABLE,
    meaning: 'The channel takes no new payments for now. Nothing was recorded',
  },
  unavailable: {
    status: 503,
    detail: UNAVAILABLE,
    meaning:
      'Overload or maintenance. A payment may have been recorded: send it again after `Retry-After` seconds with the same `ref_no`, never with a new one. With the same Idempotency-Key its kept answer comes; without a key 409 `duplicate_ref_no` means that it is recorded',
  },
};

/** Returns the body of an error: the specified `detail`, its `code`, and `field` if one is to blame. */
export function errorBody(code: AnswerCode, subject = '') {
  const { detail, field = '' } = ERROR_ANSWERS[code];
  const fill = (text: string) => text.split('{subject}').join(subject);
  const blamed = fill(field);
  return { detail: fill(detail), code, ...(blamed && { field: blamed }) };
}
