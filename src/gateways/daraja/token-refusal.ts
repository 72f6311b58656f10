/** What the products of Daraja say about a bad token. Each product has its own code. */
const BAD_TOKEN_CODES: readonly unknown[] = [
  '404.001.03',
  '401.002.01',
  '400.003.01',
  '401.003.01',
  '401.001',
];
/** The account has no subscription, which no other token changes. */
const NO_SUBSCRIPTION = '403.001';
/** The product is not approved. As text or as the code of the provider's proxy, without spaces. */
const NO_PRODUCT = /no\s*apiproduct\s*match/i;

/**
 * Returns in a few words how an answer refuses the token, or null when it does not. A call that is
 * refused so was not processed. So an answer that could mean anything else is not a refusal.
 */
export function tokenRefusal(status: number, body: unknown): string | null {
  // A server that fails may have begun. Errors come with 200 too.
  if (status >= 500) return null;
  const fields = isObject(body) ? body : {};
  if ('ResponseCode' in fields || NO_PRODUCT.test(JSON.stringify(fields))) return null;
  const code = fields.errorCode;
  if (BAD_TOKEN_CODES.includes(code)) return `HTTP ${status}, code ${code}`;
  return status === 401 && code !== NO_SUBSCRIPTION ? `HTTP ${status}` : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
