import { checkAnswer } from './answer-check.ts';

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever came, and tests look into it.
  body: any;
}

/**
 * One request as a merchant's program would make it. A string body is sent as it is. Fails
 * when the answer is not one that the endpoint's documentation promises.
 */
export async function request(
  method: string,
  url: string,
  options: {
    access?: string;
    body?: unknown;
    headers?: Record<string, string>;
    signal?: AbortSignal;
  } = {},
): Promise<Answer> {
  const { access, body, headers = {}, signal } = options;
  const response = await fetch(url, {
    method,
    ...(signal ? { signal } : {}),
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(access ? { authorization: `Bearer ${access}` } : {}),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  // The answer to HEAD has the header, but no body.
  const isJson = text !== '' && response.headers.get('content-type')?.includes('json');
  const answer = {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  };
  checkAnswer(method, url, answer);
  return answer;
}

/** Requests below the base address, with one access token. */
export function clientOf({ baseUrl }: { baseUrl: string }, { access }: { access: string }) {
  return {
    get: (path: string, headers: Record<string, string> = {}) =>
      request('GET', `${baseUrl}${path}`, { access, headers }),
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      request('POST', `${baseUrl}${path}`, { access, body, headers }),
    initiate: (overrides: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
      request('POST', `${baseUrl}/collections/checkouts/initiate`, {
        access,
        body: collectionBody(overrides),
        headers,
      }),
  };
}

export type Client = ReturnType<typeof clientOf>;

/** A valid body for initiating a payout of 100.00, booked on this app. */
export function payoutBody(
  { app_code }: { app_code: number },
  overrides: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    payto: '+254712345678',
    amount: '100.00',
    ref_no: `ref-${Math.random().toString(36).slice(2)}`,
    callback_url: 'http://127.0.0.1:9/hook',
    app_code,
    ...overrides,
  };
}

/** A valid body for giving a collection back. */
export function reversalBody(
  checkoutRefNo: string,
  overrides: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    checkout_ref_no: checkoutRefNo,
    ref_no: `ref-${Math.random().toString(36).slice(2)}`,
    callback_url: 'http://127.0.0.1:9/hook',
    ...overrides,
  };
}

/** A valid body for initiating a collection. */
export function collectionBody(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    payfrom: '+254712345678',
    amount: '100.00',
    ref_no: `ref-${Math.random().toString(36).slice(2)}`,
    account_number: 'INV-1',
    callback_url: 'http://127.0.0.1:9/hook',
    ...overrides,
  };
}
