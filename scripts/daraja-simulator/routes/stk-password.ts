import { type DarajaError, ERRORS, invalidField } from '../error-bodies.ts';
import { type Body, type FieldChecks, matching, shortCode, textOf } from '../fields.ts';
import { parseNairobiTime } from '../nairobi-time.ts';
import type { AppSettings } from '../world.ts';

const MAX_CLOCK_DIFFERENCE_MS = 10 * 60 * 1_000;

/** The fields that authorise an STK push or a question about one. */
export const STK_CALLER_FIELDS: FieldChecks = [
  ['BusinessShortCode', shortCode],
  ['Password', matching(/^[A-Za-z0-9+/]+={0,2}$/)],
  ['Timestamp', (value) => parseNairobiTime(textOf(value)) !== null && /^\d+$/.test(textOf(value))],
];

/** Checks the shortcode, the password and the time of an STK request. Returns null if all is well. */
export function stkCallerError(app: AppSettings, body: Body): DarajaError | null {
  const shortCode = textOf(body.BusinessShortCode);
  const timestamp = textOf(body.Timestamp);
  if (!app.anyTimestamp && !isNow(timestamp)) return invalidField('Timestamp');
  if (app.shortCode && shortCode !== app.shortCode) return ERRORS.noMerchant;
  if (app.passkey === undefined) return null;
  const password = Buffer.from(`${shortCode}${app.passkey}${timestamp}`).toString('base64');
  return body.Password === password ? null : ERRORS.wrongPassword;
}

function isNow(timestamp: string): boolean {
  const difference = parseNairobiTime(timestamp)!.getTime() - Date.now();
  return Math.abs(difference) <= MAX_CLOCK_DIFFERENCE_MS;
}
