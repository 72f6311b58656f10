/** What mail servers accept at most. */
const MAX_LENGTH = 254;
/** Plain ASCII: what every mail server, and a comparison without regard to case, agrees on. */
const FORM = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9-]+(\.[a-z0-9-]+)+$/i;

/** Whether this has the form of an e-mail address; whether anybody reads it is another matter. */
export function isEmail(value: string): boolean {
  return value.length <= MAX_LENGTH && FORM.test(value);
}
