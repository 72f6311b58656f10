import { randomUUID } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { v7 as uuidv7 } from 'uuid';
import { type Database, firstRow, inTransaction, rows } from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { Refusal } from '../errors.ts';

export const ACCESS_LIFETIME_S = 15 * 60;
export const REFRESH_LIFETIME_S = 7 * 24 * 3_600;
const ALGORITHM = 'HS256';
/** No token of ours comes near; a longer one is not worth the arithmetic. */
const MAX_TOKEN_LENGTH = 2_048;

/** Who the tokens of a family stand for: an app, or a person who logged in. */
export type TokenSubject =
  | { merchant_id: number; app_code: number; user_id?: undefined }
  | { merchant_id: number; user_id: string; app_code?: undefined };

export interface TokenPair {
  access: string;
  refresh: string;
}

interface Claims {
  typ: 'access' | 'refresh';
  /** The family that a revocation ends as a whole. */
  fam: string;
  jti?: string;
}

/**
 * What the log-in was proven with, as it must still be when the family starts: whoever
 * takes it back at the same moment either finds the family to end, or prevents it.
 */
export type Proof = { secretId: string } | { passwordHash: string };

/** Starts a family of tokens, as every log-in does. @returns null when the proof has lapsed. */
export async function startFamily(
  database: Database,
  keys: KeyRing,
  subject: TokenSubject,
  proof: Proof,
): Promise<TokenPair | null> {
  const family = uuidv7();
  const jti = randomUUID();
  const source =
    'secretId' in proof
      ? `app_secrets WHERE id = :secret_id AND (expires_at IS NULL OR expires_at > clock_timestamp())`
      : `users WHERE id = :user_id AND active AND password_hash = :password_hash`;
  const started = await firstRow(
    database,
    `INSERT INTO token_families (id, merchant_id, app_code, user_id, secret_id,
       current_jti, expires_at)
     SELECT :id, merchant_id, CAST(:app_code AS bigint), CAST(:user_id AS uuid),
       CAST(:secret_id AS uuid), :jti, now() + :lifetime_s * interval '1 second'
     FROM ${source} AND merchant_id = :merchant_id FOR SHARE
     RETURNING id`,
    {
      secret_id: 'secretId' in proof ? proof.secretId : null,
      password_hash: 'passwordHash' in proof ? proof.passwordHash : null,
      id: family,
      merchant_id: subject.merchant_id,
      app_code: subject.app_code ?? null,
      user_id: subject.user_id ?? null,
      jti,
      lifetime_s: REFRESH_LIFETIME_S,
    },
  );
  return started ? pair(keys, family, jti) : null;
}

/** Whether the secret that a family `f` was got with counts no more. */
export const SECRET_LAPSED = `EXISTS (
  SELECT FROM app_secrets s WHERE s.id = f.secret_id AND s.expires_at <= now())`;

/**
 * Spends a refresh token for a new pair. A token that was spent before is in two hands, so
 * the whole family ends: the revocation is committed before the refusal goes out.
 * @throws Refusal `refresh_expired`, `token_invalid`, `token_revoked`
 */
export async function rotateFamily(
  database: Database,
  keys: KeyRing,
  refresh: string,
): Promise<TokenPair> {
  const claims = verifyToken(keys, refresh, 'refresh');
  const jti = randomUUID();
  const rotated = await inTransaction(database, async (trx) => {
    const row = await firstRow(
      trx,
      `UPDATE token_families f
       SET current_jti = :new_jti, expires_at = now() + :lifetime_s * interval '1 second'
       WHERE id = :family AND current_jti = :jti AND revoked_at IS NULL
         AND NOT ${SECRET_LAPSED} RETURNING id`,
      { family: claims.fam, jti: claims.jti, new_jti: jti, lifetime_s: REFRESH_LIFETIME_S },
    );
    if (row) return true;
    await rows(
      trx,
      'UPDATE token_families SET revoked_at = now() WHERE id = :family AND revoked_at IS NULL',
      { family: claims.fam },
    );
    return false;
  });
  if (!rotated) throw new Refusal('token_revoked');
  return pair(keys, claims.fam, jti);
}

function pair(keys: KeyRing, family: string, jti: string): TokenPair {
  return {
    access: sign(keys, { typ: 'access', fam: family }, ACCESS_LIFETIME_S),
    refresh: sign(keys, { typ: 'refresh', fam: family, jti }, REFRESH_LIFETIME_S),
  };
}

function sign(keys: KeyRing, claims: Claims, lifetimeS: number): string {
  const { id, secret } = keys.current;
  // An id of its own makes every token another one, even two of the same second.
  return jwt.sign({ jti: randomUUID(), ...claims }, secret, {
    algorithm: ALGORITHM,
    keyid: id,
    expiresIn: lifetimeS,
  });
}

/** Access tokens of the release before have no id, and need none. */
const NO_JTI = { access: '00000000-0000-0000-0000-000000000000', refresh: '' };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Checks a token's signature, age and kind, with the one algorithm that we sign with.
 * @throws Refusal `token_invalid`, and `refresh_expired` for a refresh token that was good once
 */
export function verifyToken(keys: KeyRing, token: string, type: Claims['typ']): Claims {
  try {
    if (token.length > MAX_TOKEN_LENGTH) throw new Refusal('token_invalid');
    const keyId = jwt.decode(token, { complete: true })?.header.kid ?? '';
    const key = keys.byId.get(keyId);
    if (!key) throw new Refusal('token_invalid');
    const claims = jwt.verify(token, key.secret, { algorithms: [ALGORITHM] }) as Claims;
    const isOurs =
      claims.typ === type && UUID.test(claims.fam) && UUID.test(claims.jti ?? NO_JTI[type]);
    if (!isOurs) throw new Refusal('token_invalid');
    return claims;
  } catch (error) {
    // Its signature was right, so what it says of itself is true.
    const expired = error instanceof jwt.TokenExpiredError && type === 'refresh';
    const wasRefresh = expired && (jwt.decode(token) as Claims | null)?.typ === 'refresh';
    throw new Refusal(wasRefresh ? 'refresh_expired' : 'token_invalid');
  }
}
