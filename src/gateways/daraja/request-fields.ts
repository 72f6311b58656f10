import { constants, publicEncrypt } from 'node:crypto';
import type { SubmitRequest } from '../gateway.ts';
import { eatTimestamp } from './messages.ts';

/** The functions that write the fields of requests to Daraja. */

const CENTS_PER_SHILLING = 100;
const MAX_REFERENCE_LENGTH = 12;
const MAX_DESCRIPTION_LENGTH = 13;
const MAX_REMARKS_LENGTH = 100;
const MIN_REMARKS_LENGTH = 2;
/** Customers do not recognise a merchant's name that is cut shorter than this. */
const MIN_NAME_LENGTH = 4;
const NO_TEXT = 'Payment';
const KENYAN_PHONE = /^\+(254\d{9})$/;

/**
 * Writes cents as whole shillings: 10000 becomes "100".
 * @throws RangeError for anything but a positive number of whole shillings
 */
export function wholeShillings(cents: number): string {
  if (!Number.isSafeInteger(cents) || cents <= 0 || cents % CENTS_PER_SHILLING !== 0) {
    throw new RangeError(`Not a positive number of whole shillings: ${cents} cents`);
  }
  return String(cents / CENTS_PER_SHILLING);
}

/** Writes a Kenyan phone without its plus. @returns null if the account is not a Kenyan phone */
export function msisdnOf(account: string): string | null {
  return KENYAN_PHONE.exec(account)?.[1] ?? null;
}

/** Makes the remarks of a payout or reversal: 2 to 100 safe characters. */
export function remarksOf(narration: string | null, fallback: string): string {
  const remarks = cut(safeText(narration ?? ''), MAX_REMARKS_LENGTH);
  return remarks.length < MIN_REMARKS_LENGTH ? fallback : remarks;
}

/** Makes the two texts by which the payer recognises the merchant in the prompt. */
export function promptTexts({
  merchantName,
  accountNumber,
}: Pick<SubmitRequest, 'merchantName' | 'accountNumber'>) {
  const name = safeText(merchantName);
  const account = safeText(accountNumber ?? '');
  return {
    AccountReference: accountReference(name, account) || NO_TEXT,
    TransactionDesc: cut(account, MAX_DESCRIPTION_LENGTH) || NO_TEXT,
  };
}

/** Joins name and account. If the name would become too short, takes the name alone. */
function accountReference(name: string, account: string): string {
  const shortName = cut(name, MAX_REFERENCE_LENGTH - 1 - account.length);
  const fits = shortName === name || shortName.length >= MIN_NAME_LENGTH;
  if (account !== '' && name !== '' && fits) return `${shortName} ${account}`;
  return cut(name || account, MAX_REFERENCE_LENGTH);
}

/** Keeps letters, digits, spaces, dots and dashes. Letters lose their accents. */
function safeText(text: string): string {
  const plain = text.normalize('NFKD').replace(/[^A-Za-z0-9 .-]/g, '');
  return plain.replace(/ +/g, ' ').trim();
}

function cut(text: string, length: number): string {
  return text.slice(0, Math.max(0, length)).trim();
}

/**
 * Encrypts an initiator's password as Daraja wants it: RSA with PKCS#1 v1.5, in base64. The dates
 * of the certificate are not checked, because the certificates in use expired years ago.
 * @throws Error when the text is no certificate, or its key is too short for the password
 */
export function securityCredential(password: string, certificate: string): string {
  const key = { key: certificate, padding: constants.RSA_PKCS1_PADDING };
  return publicEncrypt(key, Buffer.from(password)).toString('base64');
}

/**
 * Makes the password of an STK push or query.
 * @param timestamp is the timestamp of that request.
 */
export function stkPassword(shortcode: string, passkey: string, timestamp: string): string {
  return Buffer.from(`${shortcode}${passkey}${timestamp}`).toString('base64');
}

/** The fields that authorise an STK push or query made now. */
export function stkAuthority(shortcode: string, passkey: string): Record<string, unknown> {
  const timestamp = eatTimestamp(new Date());
  return {
    BusinessShortCode: Number(shortcode),
    Password: stkPassword(shortcode, passkey, timestamp),
    Timestamp: timestamp,
  };
}
