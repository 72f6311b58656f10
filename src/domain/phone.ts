import { parsePhoneNumberFromString } from 'libphonenumber-js/mobile';

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
/** What people dial in place of the plus. */
const DIALLED_PLUS = /^00/;

/**
 * Reads a Kenyan mobile number as people write it: +254712345678, 254712345678, 00254712345678,
 * 0712 345 678, (0712) 345.678 or 712-345-678. @returns it in E.164 form, or undefined when it is none.
 */
export function kenyanMobileIn(text: string): string | undefined {
  if (!AS_WRITTEN.test(text)) return undefined;
  const number = parsePhoneNumberFromString(text.replace(DIALLED_PLUS, '+'), 'KE')?.number;
  return isKenyanMobile(number) ? number : undefined;
}
