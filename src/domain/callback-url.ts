export const MAX_CALLBACK_URL_LENGTH = 2_048;
/** Of a name in DNS, in the form in which it is looked up. */
const MAX_HOST_LENGTH = 253;

/** Whether this is text without control characters, which belong in no field, and lone surrogates. */
export function isStorableText(value: string): boolean {
  return !/\p{Cc}/u.test(value) && value.isWellFormed();
}

/** Whether this is an absolute http(s) address without user information. */
export function isCallbackUrl(value: string): boolean {
  // The URL parser forgives white space and backslashes, which our own copy must not contain.
  if (!/^https?:\/\/[^\s\\/?#][^\s\\]*$/i.test(value) || !isStorableText(value)) return false;
  if (!URL.canParse(value)) return false;
  const { username, password, hostname } = new URL(value);
  return username === '' && password === '' && hostname.length <= MAX_HOST_LENGTH;
}
