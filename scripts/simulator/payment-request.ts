import { parseWireAmount } from '../../src/gateways/simulator/messages.ts';

/** A valid submission. */
export interface PaymentRequest {
  reference: string;
  account: string;
  amountCents: number;
  callbackUrl: string;
}

const REFERENCE = /^[A-Za-z0-9._:-]{1,100}$/;
const ACCOUNT = /^\+?[A-Za-z0-9]{5,34}$/;
const MAX_URL_LENGTH = 2048;
const MAX_TEXT_LENGTH = 100;

/** Reads a submission from a body. Returns a string that says why it is not valid. */
export function readPaymentRequest(body: unknown): PaymentRequest | string {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'Invalid request';
  const fields = body as Record<string, unknown>;
  const { reference, account, callback_url: callbackUrl } = fields;
  if (!isMatch(reference, REFERENCE)) return 'Invalid reference';
  if (!isMatch(account, ACCOUNT)) return 'Invalid account';
  const amountCents = parseWireAmount(fields.amount);
  if (amountCents === null) return 'Invalid amount';
  if (!isHttpUrl(callbackUrl)) return 'Invalid callback_url';
  if (!isOptionalText(fields.account_number)) return 'Invalid account_number';
  if (!isOptionalText(fields.original_trans_id)) return 'Invalid original_trans_id';
  return { reference, account, amountCents, callbackUrl };
}

function isMatch(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}

function isHttpUrl(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_URL_LENGTH) return false;
  return /^https?:\/\//i.test(value) && URL.canParse(value);
}

function isOptionalText(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_TEXT_LENGTH;
}
