import type { Got } from 'got';
import { type Deadline, SECOND_MS } from '../../time.ts';
import { exchange } from '../http-exchange.ts';
import type { FetchedToken } from './tokens.ts';

export interface Credentials {
  consumerKey: string;
  consumerSecret: string;
}

/** Real tokens have 28 characters and live for an hour. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;
const SECONDS = /^[1-9]\d{0,5}$/;
const ERROR_CODE = /^[\d.]{1,20}$/;

/** Asks Daraja for a new access token, once. A reason never has a secret or a token in it. */
export async function fetchToken(
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
  return token ?? { outcome: 'failed', reason: refusalOf(answer.status, fields) };
}

type Fields = Record<string, unknown>;

function fieldsOf(body: unknown): Fields {
  return typeof body === 'object' && body !== null ? (body as Fields) : {};
}

/** Reads the time of life as a number and as text: Daraja sends text. */
function readToken({ access_token: value, expires_in: life }: Fields): FetchedToken | null {
  if (typeof value !== 'string' || !TOKEN.test(value)) return null;
  if (!SECONDS.test(String(life))) return null;
  return { outcome: 'fetched', value, lifeMs: Number(life) * SECOND_MS };
}

function refusalOf(status: number, { errorCode }: Fields): string {
  const code = typeof errorCode === 'string' && ERROR_CODE.test(errorCode) ? errorCode : null;
  const said = code ? `HTTP ${status}, code ${code}` : `HTTP ${status}`;
  // Wrong credentials are a 400 or 401, at times without a word.
  const isRefusal = status === 400 || status === 401;
  return isRefusal ? `${said}: check the consumer key and secret` : `Unexpected answer, ${said}`;
}
