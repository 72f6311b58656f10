import { channelOfPhone } from '../channels/channel.ts';
import { Refusal } from '../errors.ts';
import { parseAmount } from '../money.ts';
import type { Payment } from '../payments/payment.ts';
import { isKenyanMobile } from '../phone.ts';

/** An incoming payment: a customer is prompted on the phone and pays a merchant. */
export interface Collection extends Payment {
  kind: 'collection';
  app_code: number;
  payfrom: string;
  /** Computed once, when it was accepted, as are all that follow from it. */
  commission_cents: number;
  ref_no: string;
  account_number: string;
  callback_url: string;
  category: string;
}

/** What a merchant asks for, checked. */
export interface CollectionRequest {
  payfrom: string;
  amountCents: number;
  refNo: string;
  accountNumber: string;
  callbackUrl: string;
  channel: number;
}

const REQUIRED = ['payfrom', 'amount', 'ref_no', 'account_number', 'callback_url'] as const;
const REF_NO = /^[A-Za-z0-9_-]{1,50}$/;
const MAX_ACCOUNT_NUMBER_LENGTH = 50;
const MAX_CALLBACK_URL_LENGTH = 2_048;
/** Of a name in DNS, in the form in which it is looked up. */
const MAX_HOST_LENGTH = 253;

/**
 * Checks the body of a request to initiate a collection. Missing fields are reported
 * first, in the order of the documented table, then the first that is wrong.
 * @throws Refusal
 */
export function parseCollectionRequest(body: Record<string, unknown>): CollectionRequest {
  for (const field of REQUIRED) {
    if (body[field] === undefined || body[field] === null || body[field] === '') {
      throw new Refusal('field_required', field);
    }
  }
  const { payfrom, amount, ref_no, account_number, callback_url } = body;
  if (!isKenyanMobile(payfrom)) throw new Refusal('invalid_phone_number');
  const channel = channelOfPhone(payfrom);
  if (channel === null) throw new Refusal('invalid_phone_number');
  const amountCents = parseAmount(amount);
  if (amountCents === null) throw new Refusal('invalid_amount');
  if (typeof ref_no !== 'string' || !REF_NO.test(ref_no))
    throw new Refusal('invalid_field', 'ref_no');
  if (!isAccountNumber(account_number)) throw new Refusal('invalid_field', 'account_number');
  if (!isCallbackUrl(callback_url)) throw new Refusal('invalid_field', 'callback_url');
  return {
    payfrom,
    amountCents,
    refNo: ref_no,
    accountNumber: account_number,
    callbackUrl: callback_url,
    channel,
  };
}

function isAccountNumber(value: unknown): value is string {
  return (
    typeof value === 'string' && value.length <= MAX_ACCOUNT_NUMBER_LENGTH && isStorableText(value)
  );
}

/** Whether this is text without control characters and lone surrogates: Postgres stores neither. */
function isStorableText(value: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  return !/[\u0000-\u001f\u007f]/.test(value) && value.isWellFormed();
}

/** An absolute http(s) address without user information. */
function isCallbackUrl(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_CALLBACK_URL_LENGTH) return false;
  // The URL parser forgives white space and backslashes, which our own copy must not contain.
  if (!/^https?:\/\/[^\s\\/?#][^\s\\]*$/i.test(value) || !isStorableText(value)) return false;
  if (!URL.canParse(value)) return false;
  const { username, password, hostname } = new URL(value);
  return username === '' && password === '' && hostname.length <= MAX_HOST_LENGTH;
}
