import type { SecurityEvent } from './security/security-events.ts';

/** The reasons to refuse a caller. The API maps each to a status and a text, and answers with both. */
export type ErrorCode =
  | 'invalid_request'
  | 'field_required'
  | 'invalid_field'
  | 'invalid_phone_number'
  | 'invalid_amount'
  | 'amount_too_small'
  | 'amount_too_large'
  | 'amount_not_whole'
  | 'amount_below_channel'
  | 'amount_above_channel'
  | 'amount_not_of_collection'
  | 'channel_not_available'
  | 'invalid_channel'
  | 'channel_required'
  | 'collection_not_completed'
  | 'reversal_done'
  | 'reversal_in_progress'
  | 'gateway_unreachable'
  | 'duplicate_ref_no'
  | 'wallet_missing'
  | 'transaction_not_found'
  | 'session_not_found'
  | 'webhook_not_found'
  | 'webhook_test_running'
  | 'signing_secret_missing'
  | 'totp_enabled'
  | 'totp_not_enabled'
  | 'credentials_missing'
  | 'invalid_token_format'
  | 'invalid_token'
  | 'token_revoked'
  | 'invalid_app_credentials'
  | 'invalid_set_up_code'
  | 'invalid_credentials'
  | 'otp_required'
  | 'invalid_otp'
  | 'refresh_expired'
  | 'ip_not_allowed'
  | 'https_required'
  | 'role_insufficient'
  | 'otp_login_required'
  | 'access_too_new'
  | 'password_change_required'
  | 'app_not_found'
  | 'rate_limited'
  | 'invalid_query'
  | 'insufficient_balance'
  | 'idempotency_key_reused'
  | 'idempotency_key_running'
  | 'merchant_inactive'
  | 'merchant_not_approved'
  | 'app_inactive'
  | 'product_missing'
  | 'body_not_json'
  | 'body_too_large'
  | 'media_type_unsupported'
  | 'path_not_found'
  | 'method_not_allowed'
  | 'channel_paused'
  | 'unavailable';

/** Refuses a caller. `subject` fills the blank in some texts, or names the field to blame. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly subject: string;
  /** Seconds after which the caller may try again; null when that is not known. */
  readonly retryAfterS: number | null;
  /** The security event that the API records with this refusal. Null: none. */
  event: SecurityEvent | null = null;

  constructor(code: ErrorCode, subject = '', retryAfterS: number | null = null) {
    super(subject ? `${code}: ${subject}` : code);
    this.code = code;
    this.subject = subject;
    this.retryAfterS = retryAfterS;
  }

  /** Adds the event that the API records when it refuses. The API knows the caller's address. */
  recordedAs(event: SecurityEvent): this {
    this.event = event;
    return this;
  }
}

/**
 * Refuses what an operator asked for. The message is one line for that person. Thrown in a
 * transaction, it rolls everything back.
 */
export class OperatorRefusal extends Error {
  override readonly name = 'OperatorRefusal';
}
