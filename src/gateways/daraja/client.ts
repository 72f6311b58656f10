import { createHash } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Got } from 'got';
import type { AccessToken, TokenStore } from '../../domain/gateway-accounts/access-token.ts';
import { type Deadline, deadlineIn, SECOND_MS } from '../../time.ts';
import { createHttpClient, type Exchange, exchange } from '../http-exchange.ts';
import type { DarajaAnswer, DarajaClient } from './account.ts';
import { type Fields, fieldsOf } from './messages.ts';
import { createTokens, type FetchedToken, type TokenAnswer, type Tokens } from './tokens.ts';

interface DarajaClientOptions {
  /** The address of the sandbox or of production. */
  baseUrl: string;
  consumerKey: string;
  consumerSecret: string;
  /** The limit for one exchange, and for a whole call that has no deadline of its own. */
  timeoutMs: number;
  tokenStore: TokenStore;
}

/**
 * Creates the HTTP client of Daraja. A call goes a second time only after a complete answer that
 * refuses its access token, because such a call was not processed.
 */
export function createDarajaClient(options: DarajaClientOptions): DarajaClient {
  const { baseUrl, consumerKey, timeoutMs, tokenStore } = options;
  const http = createHttpClient(baseUrl, timeoutMs, UNKEPT);
  const tokens = createTokens({
    store: tokenStore,
    account: accountOf(baseUrl, consumerKey),
    fetchToken: (deadline) => fetchToken(http, options, deadline),
  });
  return {
    authenticate: async () => {
      const answer = await tokens.get(deadlineIn(timeoutMs));
      return answer.outcome === 'none' ? answer.reason : null;
    },
    post: (path, body, deadline = deadlineIn(timeoutMs)) =>
      post({ http, tokens }, { path: path.replace(/^\//, ''), body, deadline }),
  };
}

/**
 * Each call has a connection of its own. A server may close a kept one at the moment of the next
 * call, and nobody could say then whether that was processed.
 */
const UNKEPT = {
  http: new HttpAgent({ keepAlive: false }),
  https: new HttpsAgent({ keepAlive: false }),
};

/** Names an account in the store of tokens. The key itself is not to be read there. */
function accountOf(baseUrl: string, consumerKey: string): string {
  const account = JSON.stringify([new URL(baseUrl).href, consumerKey]);
  return createHash('sha256').update(account).digest('base64url');
}

interface Wire {
  http: Got;
  tokens: Tokens;
}

interface Call {
  path: string;
  body: Record<string, unknown>;
  deadline: Deadline;
}

async function post(wire: Wire, call: Call): Promise<DarajaAnswer> {
  const first = await wire.tokens.get(call.deadline);
  if (first.outcome === 'none') return notSent(first);
  const answer = await send(wire.http, call, first.token);
  const refusal = refusalIn(answer);
  if (refusal === null) return answer;
  const second = await wire.tokens.afterRefusal(first.token, call.deadline);
  if (second.outcome === 'none') return notSent(second, `${refusal}. `);
  const last = await send(wire.http, call, second.token);
  const again = refusalIn(last);
  return again === null
    ? last
    : neverSent(`Two access tokens were refused (${again}). Is the product approved?`);
}

function send(http: Got, { path, body, deadline }: Call, token: AccessToken): Promise<Exchange> {
  const headers = { authorization: `Bearer ${token.value}` };
  return exchange(http, path, { method: 'POST', json: body, headers }, { deadline });
}

function refusalIn(answer: Exchange): string | null {
  return answer.outcome === 'answered' ? tokenRefusal(answer.status, answer.body) : null;
}

function notSent(
  { reason, retryAfterMs }: Extract<TokenAnswer, { outcome: 'none' }>,
  refusal = '',
): DarajaAnswer {
  return neverSent(refusal + reason, retryAfterMs);
}

function neverSent(reason: string, retryAfterMs?: number): DarajaAnswer {
  return { outcome: 'neverSent', reason, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

export interface Credentials {
  consumerKey: string;
  consumerSecret: string;
}

/** Real tokens have 28 characters and live for an hour. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;
const LIFE_SECONDS = /^[1-9]\d{0,5}$/;
const ERROR_CODE = /^[\d.]{1,20}$/;

/** Asks Daraja for a new access token, once. A reason never has a secret or a token in it. */
async function fetchToken(
  client: Got,
  { consumerKey, consumerSecret }: Credentials,
  deadline: Deadline,
): Promise<FetchedToken> {
  const user = Buffer.from(`${consumerKey}:${consumerSecret}`).toString('base64');
  const request = {
    method: 'GET',
    searchParams: { grant_type: 'client_credentials' },
    headers: { authorization: `Basic ${user}` },
  } as const;
  const answer = await exchange(client, 'oauth/v1/generate', request, { deadline });
  if (answer.outcome !== 'answered') return { outcome: 'failed', reason: answer.reason };
  const fields = fieldsOf(answer.body);
  const token = answer.status === 200 ? readToken(fields) : null;
  return token ?? { outcome: 'failed', reason: tokenTrouble(answer.status, fields) };
}

/** Reads the time of life as a number and as text: Daraja sends text. */
function readToken({ access_token: value, expires_in: life }: Fields): FetchedToken | null {
  if (typeof value !== 'string' || !TOKEN.test(value)) return null;
  if (!LIFE_SECONDS.test(String(life))) return null;
  return { outcome: 'fetched', value, lifeMs: Number(life) * SECOND_MS };
}

function tokenTrouble(status: number, { errorCode }: Fields): string {
  const code = typeof errorCode === 'string' && ERROR_CODE.test(errorCode) ? errorCode : null;
  const said = code ? `HTTP ${status}, code ${code}` : `HTTP ${status}`;
  // Wrong credentials are a 400 or 401, at times without a word.
  const isRefusal = status === 400 || status === 401;
  return isRefusal ? `${said}: check the consumer key and secret` : `Unexpected answer, ${said}`;
}

/** The codes with which the products of Daraja refuse a bad token. Each product has its own. */
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
function tokenRefusal(status: number, body: unknown): string | null {
  // A server that fails may have begun. Errors come with 200 too.
  if (status >= 500) return null;
  const fields = fieldsOf(body);
  if ('ResponseCode' in fields || NO_PRODUCT.test(JSON.stringify(fields))) return null;
  const code = fields.errorCode;
  if (BAD_TOKEN_CODES.includes(code)) return `HTTP ${status}, code ${code}`;
  return status === 401 && code !== NO_SUBSCRIPTION ? `HTTP ${status}` : null;
}
