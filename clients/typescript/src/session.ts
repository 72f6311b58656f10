import { bodyOf, errorOf, isSuccess } from './malipo-error.ts';
import { type SendOptions, send } from './send.ts';
import { Turns } from './turns.ts';

/** An app’s key and secret. */
export interface AppCredentials {
  appKey: string;
  appSecret: string;
}

/** What a person logs in with. */
export interface PersonCredentials {
  email: string;
  password: string;
  /**
   * A one-time password, if the person uses them. It is good once, so a program that runs for long
   * gives a function: it is asked at each log-in.
   */
  otp?: string | (() => string | Promise<string>);
}

export type Credentials = AppCredentials | PersonCredentials;

/** A token is renewed so long before its end, or at half of its life if that is short. */
const RENEW_BEFORE_MS = 60_000;

interface Tokens {
  access: string;
  refresh: string;
  /** By this machine’s clock. */
  renewAt: number;
  refreshUntil: number;
}

export interface Session {
  /** Returns an access token. Gets or renews it first where that is needed. */
  access(): Promise<string>;
  /** Returns another access token than this one, which the service has refused. */
  replace(refused: string, why: 'expired' | 'revoked'): Promise<string>;
}

/**
 * Keeps the tokens of one log-in. However many calls ask at once, tokens are got or renewed once.
 * A refresh token is sent once, whatever comes of it: a second time would end the whole log-in.
 * When it is over, refused or of unknown fate, the session logs in again.
 */
export function createSession(baseUrl: string, credentials: Credentials & SendOptions): Session {
  const tokensFrom = tokensBy(baseUrl, credentials);
  let tokens: Tokens | null = null;
  let renewal: Promise<Tokens> | null = null;

  function renew(): Promise<Tokens> {
    const spent = tokens;
    tokens = null;
    renewal ??= (spent && Date.now() < spent.refreshUntil ? refreshed(spent) : logIn())
      .then((renewed) => {
        tokens = renewed;
        return renewed;
      })
      .finally(() => {
        renewal = null;
      });
    return renewal;
  }

  const refreshed = ({ refresh }: Tokens) =>
    tokensFrom('/auth/refresh', { refresh }, false).catch(logIn);

  const logIn = async () => {
    if ('appKey' in credentials) {
      const { appKey: app_key, appSecret: app_secret } = credentials;
      return tokensFrom('/auth/app/token', { app_key, app_secret }, true);
    }
    const { email, password } = credentials;
    const otp = await (typeof credentials.otp === 'function' ? credentials.otp() : credentials.otp);
    // A one-time password is spent by the first try.
    return tokensFrom('/auth/login', { email, password, otp }, otp === undefined);
  };

  const access = async () => {
    if (tokens && Date.now() < tokens.renewAt) return tokens.access;
    return (await renew()).access;
  };

  /** A log-in that was revoked has no good refresh token either. */
  const replace = async (refused: string, why: 'expired' | 'revoked') => {
    if (tokens?.access === refused) {
      tokens = why === 'revoked' ? null : { ...tokens, renewAt: 0 };
    }
    return access();
  };

  return { access, replace };
}

/** Returns what gets tokens from the service. It throws MalipoError. */
function tokensBy(baseUrl: string, options: SendOptions) {
  const turns = new Turns();
  return async (path: string, body: object, isSafe: boolean): Promise<Tokens> => {
    const answer = await send({
      ...{ url: `${baseUrl}${path}`, method: 'POST', isSafe, turns, options },
      headers: new Headers({ 'content-type': 'application/json' }),
      body: JSON.stringify(body),
    });
    const { access = '', refresh = '' } = await bodyOf(answer);
    const lifetimeMs = lifetimeOf(access);
    const refreshMs = lifetimeOf(refresh);
    if (!isSuccess(answer) || lifetimeMs === null || refreshMs === null) {
      throw await errorOf(answer);
    }
    return {
      ...{ access, refresh },
      renewAt: Date.now() + Math.max(lifetimeMs - RENEW_BEFORE_MS, lifetimeMs / 2),
      refreshUntil: Date.now() + refreshMs,
    };
  };
}

/** Returns how long a token is good, in ms, whatever this machine’s clock says; null if it is none. */
function lifetimeOf(token: string): number | null {
  try {
    const claims = Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString();
    const { iat, exp } = JSON.parse(claims) as { iat: number; exp: number };
    return Number.isFinite(exp - iat) ? (exp - iat) * 1_000 : null;
  } catch {
    return null;
  }
}
