import { randomUUID } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  firstRow,
  hasRow,
  inOneTransaction,
  inTransaction,
  type Transaction,
} from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import type { AccessHolder } from '../access/require-access.ts';
import { Refusal } from '../errors.ts';
import { shareBrakes } from '../merchants/outgoing-hold.ts';
import {
  countSecurityEvent,
  recordSecurityEvent,
  type SecurityEvent,
} from '../security/security-events.ts';

const ACCESS_LIFETIME_S = 15 * 60;
const DAY_S = 24 * 3_600;
const REFRESH_LIFETIME_S = 7 * DAY_S;
/** After this a family ends, however often it was refreshed: its holder logs in again. */
const FAMILY_LIFETIME_S = 30 * DAY_S;
const ALGORITHM = 'HS256';
/** Far longer than our tokens. A longer text is refused before it is parsed. */
const MAX_TOKEN_LENGTH = 2_048;

/** The app or the person that a family of tokens was issued to. */
export type TokenSubject =
  | { merchant_id: number; app_code: number; user_id?: undefined }
  | { merchant_id: number; user_id: string; app_code?: undefined };

export interface TokenPair {
  access: string;
  refresh: string;
}

/** The header or field of a request that has each kind of token. A refusal blames it. */
export const TOKEN_FIELDS = { access: 'Authorization', refresh: 'refresh' } as const;

interface Claims {
  typ: keyof typeof TOKEN_FIELDS;
  /** The family that a revocation ends as a whole. */
  fam: string;
  /** Makes every token unique, even two of the same second. */
  jti: string;
}

/**
 * What proved the log-in: a secret, or a password, and whether a one-time password came with it. It
 * must still hold when the family starts, and the merchant and the app be active. So a revocation at
 * the same moment either finds the family and ends it, or prevents it.
 */
type Proof = { secret_id: string } | { password_hash: string; with_totp: boolean };

/** Where a log-in comes from. */
export type Origin = Pick<SecurityEvent, 'account_hash'> & { ip: string | null };

/**
 * Starts a family of tokens for a log-in, with its event.
 * @returns its id and first tokens, or null when the proof no longer holds, or the merchant or the
 * app was just suspended.
 */
export async function startFamily(
  database: Database | Transaction,
  keys: KeyRing,
  subject: TokenSubject,
  proof: Proof,
  origin: Origin,
): Promise<(TokenPair & { family: string }) | null> {
  const id = uuidv7();
  const jti = randomUUID();
  const source =
    'secret_id' in proof
      ? `merchants m JOIN apps a ON a.merchant_id = m.id
         JOIN app_secrets s ON s.merchant_id = a.merchant_id AND s.app_code = a.code
         WHERE s.id = :secret_id AND (s.expires_at IS NULL OR s.expires_at > clock_timestamp())
           AND a.active`
      : `merchants m JOIN users u ON u.merchant_id = m.id
         WHERE u.id = :user_id AND u.active AND u.password_hash = :password_hash
           AND u.totp = :with_totp`;
  const nobody = { app_code: null, user_id: null, secret_id: null, with_totp: false };
  const bindings = { ...nobody, ...subject, ...proof, id, jti, ip: origin.ip };
  const isStarted = await inOneTransaction(database, async (trx) => {
    await shareBrakes(trx, subject.merchant_id);
    const started = await hasRow(
      trx,
      `INSERT INTO token_families (id, merchant_id, app_code, user_id, secret_id, with_totp, ip,
         current_jti, expires_at, ends_at)
       SELECT :id, m.id, CAST(:app_code AS bigint), CAST(:user_id AS uuid),
         CAST(:secret_id AS uuid), CAST(:with_totp AS boolean), CAST(:ip AS inet), :jti,
         now() + :lifetime_s * interval '1 second',
         now() + :family_lifetime_s * interval '1 second'
       FROM ${source} AND m.id = :merchant_id AND m.active
       FOR SHARE OF ${'secret_id' in proof ? 's' : 'u'}
       RETURNING id`,
      { ...bindings, lifetime_s: REFRESH_LIFETIME_S, family_lifetime_s: FAMILY_LIFETIME_S },
    );
    if (started) await recordLogIn(trx, { kind: 'log_in', ...subject, family: id, ...origin });
    return started;
  });
  return isStarted ? { family: id, ...pair(keys, id, jti, REFRESH_LIFETIME_S) } : null;
}

/** A program may ask for tokens with every request: of an app, one an hour and address has a row. */
async function recordLogIn(trx: Transaction, event: SecurityEvent): Promise<void> {
  if (event.app_code && (await hasRow(trx, IS_RECORDED, event)))
    return countSecurityEvent(trx, event);
  await recordSecurityEvent(trx, event);
}

const IS_RECORDED = `
  SELECT FROM security_events
  WHERE account_hash = :account_hash AND kind = 'log_in' AND at > now() - interval '1 hour'
    AND ip IS NOT DISTINCT FROM CAST(:ip AS inet) LIMIT 1`;

/** SQL: whether the secret that the family `f` was issued for is no longer valid. */
export const SECRET_LAPSED = `EXISTS (
  SELECT FROM app_secrets s WHERE s.id = f.secret_id AND s.expires_at <= now())`;

/**
 * Exchanges a refresh token for a new pair, which never outlives the family. If the token was spent
 * before, two parties have it, so the whole family ends. The revocation is committed before the
 * refusal is sent.
 * @throws Refusal `token_revoked`
 */
export async function rotateFamily(
  database: Database,
  keys: KeyRing,
  { fam, jti }: Claims,
  holder: AccessHolder,
  ip: string | null,
): Promise<TokenPair> {
  const new_jti = randomUUID();
  const outcome = await inTransaction(database, async (trx) => {
    const rotated = await firstRow<{ lifetime_s: number }>(
      trx,
      `UPDATE token_families f
       SET current_jti = :new_jti, refreshed_at = now(), ip = CAST(:ip AS inet),
         expires_at = least(now() + :lifetime_s * interval '1 second', ends_at)
       WHERE id = :fam AND current_jti = :jti AND revoked_at IS NULL
         AND NOT ${SECRET_LAPSED}
       RETURNING CAST(floor(extract(epoch FROM expires_at - now())) AS integer) AS lifetime_s`,
      { fam, jti, new_jti, ip, lifetime_s: REFRESH_LIFETIME_S },
    );
    if (rotated) return rotated;
    const ended = await firstRow<{ was_current: boolean }>(
      trx,
      `UPDATE token_families SET revoked_at = now() WHERE id = :fam AND revoked_at IS NULL
       RETURNING current_jti = :jti AS was_current`,
      { fam, jti },
    );
    if (!ended) return 'revoked before';
    // The current token was not spent: its secret has ended.
    const kind = ended.was_current ? 'tokens_revoked' : 'refresh_token_reused';
    await recordSecurityEvent(trx, { kind, ...holder, ip });
    return 'revoked now';
  });
  if (outcome === 'revoked before') throw tokenRevoked('refresh', holder);
  if (outcome === 'revoked now') throw new Refusal('token_revoked', TOKEN_FIELDS.refresh);
  return pair(keys, fam, new_jti, outcome.lifetime_s);
}

/** Refuses a token whose family was revoked, or whose user was deactivated. */
export function tokenRevoked(type: Claims['typ'], holder: AccessHolder): Refusal {
  const event = { kind: 'revoked_token_used', ...holder } as const;
  return new Refusal('token_revoked', TOKEN_FIELDS[type]).recordedAs(event);
}

/** Signs an access token and a refresh token. Neither outlives the family's lifetime. */
function pair(keys: KeyRing, fam: string, jti: string, lifetimeS: number): TokenPair {
  const accessLifetimeS = Math.min(ACCESS_LIFETIME_S, lifetimeS);
  return {
    access: sign(keys, { typ: 'access', fam, jti: randomUUID() }, accessLifetimeS),
    refresh: sign(keys, { typ: 'refresh', fam, jti }, lifetimeS),
  };
}

function sign(keys: KeyRing, claims: Claims, lifetimeS: number): string {
  const { id, secret } = keys.current;
  return jwt.sign(claims, secret, { algorithm: ALGORITHM, keyid: id, expiresIn: lifetimeS });
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Checks a token's signature, age and kind. Accepts only the algorithm that we sign with.
 * @throws Refusal `invalid_token`, and `refresh_expired` for a refresh token that has expired
 */
export function verifyToken(keys: KeyRing, token: string, type: Claims['typ']): Claims {
  try {
    if (token.length > MAX_TOKEN_LENGTH) throw new Refusal('invalid_token');
    const keyId = jwt.decode(token, { complete: true })?.header.kid ?? '';
    const key = keys.byId.get(keyId);
    if (!key) throw new Refusal('invalid_token');
    const claims = jwt.verify(token, key.secret, { algorithms: [ALGORITHM] }) as Claims;
    const isOurs = claims.typ === type && UUID.test(claims.fam) && UUID.test(claims.jti);
    if (!isOurs) throw new Refusal('invalid_token');
    return claims;
  } catch (error) {
    // The signature was checked before the expiry, so the claims can be trusted.
    const expired = error instanceof jwt.TokenExpiredError && type === 'refresh';
    const wasRefresh = expired && (jwt.decode(token) as Claims | null)?.typ === 'refresh';
    throw new Refusal(wasRefresh ? 'refresh_expired' : 'invalid_token', TOKEN_FIELDS[type]);
  }
}
