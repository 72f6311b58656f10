import type { ErrorRequestHandler, Response } from 'express';
import { isOutage, messageOf } from '../connections/database-errors.ts';
import { type ErrorCode, Refusal } from '../domain/errors.ts';
import type { HttpMeters } from '../metrics/meters.ts';
import type { Logger } from '../process/logger.ts';
import { logFieldsOf } from './middleware/request-context.ts';

const UNAVAILABLE = 'Service temporarily unavailable';

/** Status and text of every refusal. A new code does not compile without its row. */
export const ANSWERS: Readonly<
  Record<ErrorCode, [status: number, detail: (subject: string) => string]>
> = {
  invalid_request: [400, () => 'Invalid request'],
  field_required: [400, (field) => `${field} field is required`],
  invalid_field: [400, (field) => `Invalid ${field}`],
  invalid_phone_number: [400, () => 'Invalid phone number'],
  invalid_amount: [400, () => 'Invalid amount'],
  channel_not_available: [400, (code) => `Channel is not available: ${code}`],
  invalid_channel: [400, (code) => `Invalid channel code: ${code}`],
  channel_required: [400, () => 'Channel is required for bank account payouts'],
  collection_not_completed: [400, () => 'Only a completed collection can be reversed'],
  invalid_query: [400, (parameter) => `Invalid query parameter: ${parameter}`],
  insufficient_balance: [400, (wallet) => `Insufficient balance in ${wallet} wallet`],
  body_not_json: [400, () => 'JSON parse error'],
  credentials_missing: [401, () => 'Authentication credentials were not provided'],
  invalid_token_format: [401, () => 'Invalid token format'],
  invalid_token: [401, () => 'Invalid or expired token'],
  token_revoked: [401, () => 'Token has been revoked'],
  invalid_app_credentials: [401, () => 'Invalid app credentials'],
  invalid_credentials: [401, () => 'Invalid credentials'],
  refresh_expired: [401, () => 'Refresh token has expired. Please login again.'],
  https_required: [403, () => 'HTTPS is required'],
  ip_not_allowed: [403, () => 'Access denied: IP address not allowed'],
  role_insufficient: [403, () => 'You do not have permission to access this resource'],
  merchant_inactive: [403, () => 'Merchant account is not active'],
  app_inactive: [403, () => 'App is not active'],
  merchant_not_approved: [
    403,
    (operation) =>
      `Your merchant profile is not approved. Please ensure your profile has been verified before initiating ${operation}.`,
  ],
  product_missing: [403, (product) => `App does not have ${product} product enabled`],
  wallet_missing: [403, () => 'Wallet not found or not initialized'],
  app_not_found: [404, () => 'App not found'],
  transaction_not_found: [404, () => 'Transaction not found'],
  path_not_found: [404, () => 'Not found'],
  duplicate_ref_no: [409, () => 'Reference number already exists'],
  reversal_done: [409, () => 'Collection has already been reversed'],
  reversal_in_progress: [409, () => 'A reversal is already in progress'],
  idempotency_key_running: [409, () => 'A request with this idempotency key is still running'],
  idempotency_key_reused: [422, () => 'Idempotency key was used with a different request'],
  rate_limited: [429, () => 'Request rate limit exceeded'],
  body_too_large: [413, () => 'Request body is too large'],
  media_type_unsupported: [415, () => 'Content-Type must be application/json'],
  gateway_unreachable: [
    502,
    () => 'Gateway unreachable, outcome unknown. Check GET /reversals/{ref_no} before any retry.',
  ],
  // Callers see no difference. The metrics do: a pause is intended, an outage is not.
  channel_paused: [503, () => UNAVAILABLE],
  unavailable: [503, () => UNAVAILABLE],
};

const RETRY_AFTER_S = 5;

/** Answers every error as `{detail}`. Only unexpected errors are logged with their stack. */
export function errorHandler(
  logger: Logger,
  { refusals }: Pick<HttpMeters, 'refusals'>,
): ErrorRequestHandler {
  return (error, _req, res, next) => {
    if (res.headersSent) return next(error);
    const refusal = error instanceof Refusal ? error : refusalOf(error);
    const fields = { ...logFieldsOf(res), error: messageOf(error) };
    if (isOutage(error)) logger.warn('unavailable', fields);
    if (refusal) {
      refusals.inc({ code: refusal.code });
      return refuse(res, refusal);
    }
    logger.error('request failed', { ...fields, stack: error?.stack });
    res.status(500).json({ detail: 'Internal server error' });
  };
}

function refuse(res: Response, refusal: Refusal): void {
  const [status, detail] = ANSWERS[refusal.code];
  const retryAfterS = refusal.retryAfterS ?? (status === 503 ? RETRY_AFTER_S : null);
  if (retryAfterS !== null) res.set('Retry-After', String(retryAfterS));
  res.status(status).json({ detail: detail(refusal.subject) });
}

/** Translates errors of the body parser and the database. Returns null for unexpected errors. */
function refusalOf(error: { type?: string; status?: number }): Refusal | null {
  if (error.type === 'entity.too.large') return new Refusal('body_too_large');
  if (error.type === 'encoding.unsupported') return new Refusal('media_type_unsupported');
  // The path cannot be decoded, so it is not one of ours.
  if (error instanceof URIError) return new Refusal('path_not_found');
  if (isOutage(error)) return new Refusal('unavailable');
  // Aborted uploads and the like are the caller's doing.
  if (error.status !== undefined && error.status < 500) return new Refusal('invalid_request');
  return null;
}
