import { parsePhoneNumberFromString } from 'libphonenumber-js/mobile';

const E164 = /^\+[1-9]\d{1,14}$/;

/** Whether this is a Kenyan mobile number in E.164 form. */
export function isKenyanMobile(value: unknown): value is string {
  if (typeof value !== 'string' || !E164.test(value)) return false;
  const phone = parsePhoneNumberFromString(value);
  // What the parser forgives, such as a zero after the country code, is not E.164.
  return phone?.number === value && phone.country === 'KE' && phone.isValid();
}
