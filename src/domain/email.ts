/** The longest address that mail servers accept. */
const MAX_LENGTH = 254;
/** Only ASCII: all mail servers, and all comparisons that ignore case, treat it alike. */
const FORM = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9-]+(\.[a-z0-9-]+)+$/i;

/** Checks the form of an e-mail address, not whether it exists. */
export function isEmail(value: string): boolean {
  return value.length <= MAX_LENGTH && FORM.test(value);
}
