import { createHash, randomBytes } from 'node:crypto';

const MARK = 'staff_';
const TOKEN_BYTES = 32;
const SHOWN_LENGTH = MARK.length + 6;

/** The number of days for which a token is good. */
export const TOKEN_LIFETIME_DAYS = 90;

/** A token that is shown once, with what is stored of it. */
export interface NewToken {
  token: string;
  token_hash: Buffer;
  token_prefix: string;
}

export function newToken(): NewToken {
  const token = `${MARK}${randomBytes(TOKEN_BYTES).toString('base64url')}`;
  return { token, token_hash: hashOf(token), token_prefix: prefixOf(token) };
}

export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Returns the part of a token that may be shown. Of another text it shows nothing. */
export function prefixOf(token: string): string {
  return token.startsWith(MARK) ? token.slice(0, SHOWN_LENGTH) : '';
}
