import { createHash } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Got } from 'got';
import type { AccessToken, TokenStore } from '../../domain/gateway-accounts/access-token.ts';
import { type Deadline, deadlineIn } from '../../time.ts';
import { createHttpClient } from '../http-client.ts';
import { type Exchange, exchange } from '../http-exchange.ts';
import type { DarajaAnswer, DarajaClient } from './client-type.ts';
import { fetchToken } from './fetch-token.ts';
import { tokenRefusal } from './token-refusal.ts';
import { createTokens, type TokenAnswer, type Tokens } from './tokens.ts';

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
