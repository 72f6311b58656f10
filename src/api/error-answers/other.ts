import type { AnswerCode, ErrorAnswer } from './answer.ts';

const UNAVAILABLE = 'Service temporarily unavailable';

/** The answers about records, the transport, limits and outages: all other statuses. */
export const OTHER = {
  app_not_found: {
    status: 404,
    detail: 'App not found',
    field: 'app_code',
    meaning: 'The merchant has no app with this code',
    remedy: 'Check `app_code`: it is that of one of your apps',
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
