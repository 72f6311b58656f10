import { parsePhoneNumberFromString } from 'libphonenumber-js/mobile';
import { validate as isUuid } from 'uuid';

/** The longest address that mail servers accept. */
const MAX_LENGTH = 254;
/** Only ASCII: all mail servers, and all comparisons that ignore case, treat it alike. */
const FORM = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9-]+(\.[a-z0-9-]+)+$/i;

/** Checks the form of an e-mail address, not whether it exists. */
export function isEmail(value: string): boolean {
  return value.length <= MAX_LENGTH && FORM.test(value);
}

/**
 * Controls of the reading direction. With them a text shows other words than it has, such as
 * another amount or name, to the person who decides about a payment.
 */
const DIRECTION = /\p{Bidi_Control}/u;

/** Checks that text is what it shows: no control characters, no lone surrogates. */
export function isPlainText(value: string): boolean {
  return !/\p{Cc}/u.test(value) && !DIRECTION.test(value) && value.isWellFormed();
}

/**
 * Characters that nobody sees, but line breaks and tabs: controls, marks of the reading direction or
 * without width, letters that stand for nothing, separators of lines, and lone surrogates.
 */
const UNSEEN =
  /[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?![\t\n\r])\p{Cc}/gu;

/** The proof in a callback's address, perhaps cut off. */
const PROOF =
  /(~(?:collection|payout|reversal|return)~\d+~[0-9a-f-]{36}~)[\w~-]+|(~)[0-9a-f]{16,}/g;

/** Masks the proofs in addresses of callbacks: anybody who knows one could report an outcome. */
export function withoutProofs(text: string): string {
  return text.replace(PROOF, '$1$2…');
}

/** Spells unseen characters out, as JSON does: so they neither turn nor hide the words beside them. */
export function speltOut(text: string): string {
  return text.replace(UNSEEN, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** Removes the characters that take no place between others. */
export function withoutJoiners(text: string): string {
  return text.replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
}

/** Makes text storable in Postgres: masks proofs, replaces NUL and lone surrogates, and shortens it. */
export function storableText(text: string, maxLength: number): string {
  return withoutProofs(text.toWellFormed())
    .replaceAll('\u0000', '\uFFFD')
    .slice(0, maxLength)
    .toWellFormed();
}

const E164 = /^\+[1-9]\d{1,14}$/;

/** Checks for a Kenyan mobile number in E.164 form. */
export function isKenyanMobile(value: unknown): value is string {
  if (typeof value !== 'string' || !E164.test(value)) return false;
  const phone = parsePhoneNumberFromString(value);
  // The parser accepts more than E.164, such as a zero after the country code.
  return phone?.number === value && phone.country === 'KE' && phone.isValid();
}

const PHONE_IN_TEXT = /(?<!\d)((?:\+|00)?254|0)\d{6}(\d{3})(?!\d)/g;

/** Hides the middle digits of Kenyan phones in a text, in any usual form. */
export function maskPhones(text: string): string {
  return (kenyanMobileIn(text.trim()) ?? text).replace(PHONE_IN_TEXT, '$1******$2');
}

/** Digits with a space, a dash, a dot or a bracket between them, after a plus or not. */
const AS_WRITTEN = /^\+?\(?\d(?:(?:[ .-]|\) ?| ?\()?\d)*$/;
/** The digits that people dial in place of the plus. */
const DIALLED_PLUS = /^00/;

/**
 * Reads a Kenyan mobile number as people write it: +254712345678, 254712345678, 00254712345678,
 * 0712 345 678, (0712) 345.678 or 712-345-678. @returns it in E.164 form, or undefined for other text.
 */
export function kenyanMobileIn(text: string): string | undefined {
  if (!AS_WRITTEN.test(text)) return undefined;
  const number = parsePhoneNumberFromString(text.replace(DIALLED_PLUS, '+'), 'KE')?.number;
  return isKenyanMobile(number) ? number : undefined;
}

/** Returns a number with its noun: "1 webhook", "2 webhooks". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns a reference in its one form. Ours are UUIDs, which some gateways list in capital letters. */
export function referenceOf(text: string): string {
  return isUuid(text) ? text.toLowerCase() : text;
}

/**
 * Returns a receipt in its one form. It means the same in small and capital letters, and with blanks or unseen
 * characters around it.
 */
export function receiptOf(text: string): string {
  return withoutJoiners(text).trim().toUpperCase();
}
