import { parsePhoneNumberFromString } from 'libphonenumber-js/mobile';

const E164 = /^\+[1-9]\d{1,14}$/;

/** Checks for a Kenyan mobile number in E.164 form. */
export function isKenyanMobile(value: unknown): value is string {
  if (typeof value !== 'string' || !E164.test(value)) return false;
  const phone = parsePhoneNumberFromString(value);
  // The parser accepts more than E.164, such as a zero after the country code.
  return phone?.number === value && phone.country === 'KE' && phone.isValid();
}
