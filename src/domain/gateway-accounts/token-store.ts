import { randomUUID } from 'node:crypto';
import { type Database, firstRow, hasRow, rows } from '../../connections/database.ts';
import { type KeyRing, open, type Sealed, seal } from '../../process/key-ring.ts';
import {
  type AccessToken,
  type FreshToken,
  RENEW_EARLY_MS,
  RENEWAL_PAUSE_MS,
  type TokenState,
  type TokenStore,
} from './access-token.ts';

/**
 * Keeps access tokens in the database, encrypted. All times are the database's. A token whose key
 * has left the ring counts as none, so tokens need no rekeying.
 */
export function createTokenStore(database: Database, secretsKeys: KeyRing): TokenStore {
  return {
    read: (account) => read(database, secretsKeys, account),
    claim: (account, number, leaseMs) => claim(database, account, number, leaseMs),
    save: (account, holder, fresh) => save(database, secretsKeys, { account, holder, ...fresh }),
    fail: (account, holder, reason) => fail(database, account, holder, reason),
  };
}

/** SQL: the rest of the pause after a failed renewal, in ms. Not positive or null: none is on. */
const PAUSED_FOR_MS = `:pause_ms - extract(epoch FROM now() - t.failed_at)::float8 * 1000`;

interface StateRow {
  number: number;
  keyId: string | null;
  ciphertext: Buffer | null;
  endsInMs: number | null;
  lifeMs: number | null;
  ageMs: number | null;
  isRenewing: boolean;
  failure: string | null;
  pausedForMs: number | null;
}

async function read(database: Database, keys: KeyRing, account: string): Promise<TokenState> {
  const row = await firstRow<StateRow>(
    database,
    `SELECT token_no AS number, key_id AS "keyId", ciphertext, failure,
       extract(epoch FROM expires_at - now())::float8 * 1000 AS "endsInMs",
       extract(epoch FROM expires_at - renewed_at)::float8 * 1000 AS "lifeMs",
       extract(epoch FROM now() - renewed_at)::float8 * 1000 AS "ageMs",
       coalesce(lease_until > now(), false) AS "isRenewing",
       ${PAUSED_FOR_MS} AS "pausedForMs"
     FROM gateway_tokens t WHERE account = :account`,
    { account, pause_ms: RENEWAL_PAUSE_MS },
  );
  if (!row) return { number: 0, token: null, ageMs: 0, isRenewing: false, pause: null };
  // A read that began just before the failure sees it early, so its rest would be too long.
  const retryAfterMs = Math.min(RENEWAL_PAUSE_MS, Math.ceil(row.pausedForMs ?? 0));
  return {
    number: row.number,
    token: tokenOf(keys, account, row),
    ageMs: row.ageMs ?? 0,
    isRenewing: row.isRenewing,
    pause: retryAfterMs > 0 ? { reason: row.failure!, retryAfterMs } : null,
  };
}

function tokenOf(keys: KeyRing, account: string, row: StateRow): AccessToken | null {
  const { number, keyId, ciphertext, endsInMs, lifeMs } = row;
  if (!keyId || !ciphertext || endsInMs === null || lifeMs === null) return null;
  const value = opened(keys, { keyId, ciphertext }, account);
  const validForMs = endsInMs - Math.min(RENEW_EARLY_MS, lifeMs / 2);
  return value === null ? null : { number, value, validForMs, endsInMs };
}

function opened(keys: KeyRing, sealed: Sealed, account: string): string | null {
  try {
    return open(keys, sealed, sealContext(account));
  } catch {
    return null;
  }
}

async function claim(database: Database, account: string, number: number, leaseMs: number) {
  const holder = randomUUID();
  const isHeld = await hasRow(
    database,
    `INSERT INTO gateway_tokens AS t (account, lease_holder, lease_until)
     VALUES (:account, :holder, now() + :lease_ms * interval '1 millisecond')
     ON CONFLICT (account) DO UPDATE
       SET lease_holder = excluded.lease_holder, lease_until = excluded.lease_until
       WHERE t.token_no = :number
         AND (t.lease_until IS NULL OR t.lease_until <= now())
         AND coalesce(${PAUSED_FOR_MS}, 0) <= 0
     RETURNING account`,
    { account, holder, number, lease_ms: leaseMs, pause_ms: RENEWAL_PAUSE_MS },
  );
  return isHeld ? holder : null;
}

async function save(
  database: Database,
  keys: KeyRing,
  fresh: FreshToken & { account: string; holder: string },
): Promise<void> {
  const { account, holder, value, lifeMs } = fresh;
  await rows(
    database,
    `UPDATE gateway_tokens
     SET token_no = token_no + 1, key_id = :keyId, ciphertext = :ciphertext,
       expires_at = now() + :life_ms * interval '1 millisecond', renewed_at = now(),
       lease_holder = NULL, lease_until = NULL, failed_at = NULL, failure = NULL
     WHERE account = :account AND lease_holder = :holder`,
    { account, holder, life_ms: lifeMs, ...seal(keys, value, sealContext(account)) },
  );
}

async function fail(database: Database, account: string, holder: string, reason: string) {
  await rows(
    database,
    `UPDATE gateway_tokens
     SET failed_at = now(), failure = :reason, lease_holder = NULL, lease_until = NULL
     WHERE account = :account AND lease_holder = :holder`,
    { account, holder, reason },
  );
}

/** Binds a ciphertext to its account, so that it cannot be opened in another one's row. */
function sealContext(account: string): string {
  return `gateway_token:${account}`;
}
