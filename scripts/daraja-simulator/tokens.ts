import { randomBytes } from 'node:crypto';

const TOKEN_BYTES = 21;

export interface TokenOptions {
  lifetimeS: number;
  /** The time for which a token stays valid after the next one was issued. */
  overlapS: number;
}

export type Tokens = ReturnType<typeof createTokens>;

/** Issues access tokens. A new token of an app soon ends the one before. */
export function createTokens({ lifetimeS, overlapS }: TokenOptions) {
  const tokens = new Map<string, { app: string; endsAtMs: number }>();

  function retire(app: string, nowMs: number): void {
    for (const [token, issued] of tokens) {
      if (issued.app === app) issued.endsAtMs = Math.min(issued.endsAtMs, nowMs + overlapS * 1_000);
      if (issued.endsAtMs <= nowMs) tokens.delete(token);
    }
  }

  return {
    /** Returns a token of 28 characters and its lifetime, which Daraja states as text. */
    issue(app: string): { access_token: string; expires_in: string } {
      const nowMs = Date.now();
      retire(app, nowMs);
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      tokens.set(token, { app, endsAtMs: nowMs + lifetimeS * 1_000 });
      return { access_token: token, expires_in: String(lifetimeS) };
    },
    isValid: (token: string): boolean => (tokens.get(token)?.endsAtMs ?? 0) > Date.now(),
    revoke: (token: string): void => void tokens.delete(token),
  };
}
