import { randomUUID } from 'node:crypto';
import createFetchClient from 'openapi-fetch';
import type { Api, Call, Method, NamedCalls } from './calls.ts';
import { KEYED_OPERATIONS, OPERATIONS } from './generated/operations.ts';
import { bodyOf, errorOf, type Fate, isSuccess, withFate } from './malipo-error.ts';
import { createPaginate, type Paginate } from './paginate.ts';
import { IDEMPOTENCY_KEY, type Message, type SendOptions, send } from './send.ts';
import { type Credentials, createSession, type Session } from './session.ts';
import { Turns } from './turns.ts';

/** Where the API is, with `/api/v1` at its end, who calls, and how. */
export type ClientOptions = { baseUrl: string } & Credentials & SendOptions;

/** Calls by path, and by the names of the operations: `getBalance()` is `get('/wallets/balance')`. */
export type MalipoClient = PathCalls & NamedCalls;

interface PathCalls {
  get: Call<'get'>;
  /** Sends a fresh Idempotency-Key with each operation that takes one, unless you give yours. */
  post: Call<'post'>;
  delete: Call<'delete'>;
  /** Walks through all pages of a list, record by record. */
  paginate: Paginate;
}

/**
 * Creates a client. It gets its tokens at the first call and renews them by itself. Make one for
 * each app or person, and keep it. What is safe to repeat is repeated when no answer comes.
 */
export function createClient({ baseUrl: address, ...options }: ClientOptions): MalipoClient {
  const baseUrl = address.replace(/\/+$/, '');
  const session = createSession(baseUrl, options);
  const turns = new Turns();
  const api: Api = createFetchClient({
    baseUrl,
    querySerializer: searchOf,
    fetch: (request) => perform(session, request, { turns, options }),
  });
  api.use({ onRequest: ({ request, schemaPath }) => addKey(request, schemaPath) });
  // The types of the calls are those of openapi-fetch for the same path and method.
  const call = (method: Method) => async (path: never, init: never) =>
    (await api.request(method, path, init)).data;
  const get = call('get') as Call<'get'>;
  const named = Object.entries(OPERATIONS).map(([id, [method, path]]) => [
    id,
    (init: never) => call(method)(path as never, init),
  ]);
  return {
    ...(Object.fromEntries(named) as NamedCalls),
    get,
    post: call('post') as Call<'post'>,
    delete: call('delete') as Call<'delete'>,
    paginate: createPaginate(get),
  };
}

/** Writes the query of a call. A filter that got lost would make a list of everything. */
function searchOf(query: Record<string, unknown>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const texts = given.map(([name, value]): [string, string] => {
    if (value instanceof Date) return [name, value.toISOString()];
    if (typeof value !== 'object') return [name, String(value)];
    throw new TypeError(`The query parameter ${name} must be a text, a number or a Date`);
  });
  return String(new URLSearchParams(texts));
}

/** An operation that keeps no key must have none: a key says that it is safe to repeat. */
function addKey({ method, headers }: Request, schemaPath: string): void {
  if (!KEYED_OPERATIONS.has(`${method} ${schemaPath}`)) headers.delete(IDEMPOTENCY_KEY);
  else if (!headers.has(IDEMPOTENCY_KEY)) headers.set(IDEMPOTENCY_KEY, randomUUID());
}

/** Performs a call. Its error tells what is known of all tries, and not of the last one alone. */
async function perform(
  session: Session,
  request: Request,
  of: Pick<Message, 'turns' | 'options'>,
): Promise<Response> {
  const idempotencyKey = request.headers.get(IDEMPOTENCY_KEY) ?? undefined;
  const fate: Fate = { idempotencyKey, mayBeDone: false };
  try {
    const answer = await sendWithToken(session, request, { fate, ...of });
    if (isSuccess(answer)) return answer;
    throw await errorOf(answer);
  } catch (error) {
    throw withFate(error, fate);
  }
}

/** Sends a request with a token. A token that is refused is replaced, once. */
async function sendWithToken(
  session: Session,
  request: Request,
  { fate, ...of }: Pick<Message, 'turns' | 'options'> & { fate: Fate },
): Promise<Response> {
  const { url, method, signal } = request;
  const body = request.body ? await request.text() : undefined;
  const isSafe = method === 'GET' || fate.idempotencyKey !== undefined;
  const sendWith = (access: string) => {
    const headers = new Headers(request.headers);
    headers.set('authorization', `Bearer ${access}`);
    return send({ url, method, headers, body, signal, isSafe, fate, ...of });
  };
  const access = await unlessEnded(session.access(), signal);
  const first = await sendWith(access);
  const refusal = await tokenRefusal(first);
  if (!refusal) return first;
  return sendWith(await unlessEnded(session.replace(access, refusal), signal));
}

/** Ends the wait of one call for a token. The renewal goes on, because other calls wait for it too. */
async function unlessEnded(token: Promise<string>, signal: AbortSignal): Promise<string> {
  let end = () => {};
  const ended = new Promise<never>((_, reject) => {
    end = () => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
  try {
    return await Promise.race([token, ended]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Returns why a token was refused. Such a request was not processed: the token is checked first. */
async function tokenRefusal(answer: Response): Promise<'expired' | 'revoked' | null> {
  if (answer.status !== 401) return null;
  const { code, field } = await bodyOf(answer);
  if (field !== 'Authorization') return null;
  if (code === 'token_revoked') return 'revoked';
  return code === 'invalid_token' ? 'expired' : null;
}
