import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { type KeyRing, open, type Sealed, seal } from '../../process/key-ring.ts';

export interface AppRef {
  merchant_id: number;
  app_code: number;
}

const APP_SECRET_BYTES = 32;

/** Gives an app a fresh secret, now its newest, and stores it encrypted. @returns the secret. */
export async function storeAppSecret(
  trx: Transaction,
  secretsKeys: KeyRing,
  app: AppRef,
): Promise<string> {
  const appSecret = `as_${randomBytes(APP_SECRET_BYTES).toString('base64url')}`;
  // Not now(): a transaction that waited for another one began earlier but has the newer secret.
  await rows(
    trx,
    `INSERT INTO app_secrets (id, merchant_id, app_code, key_id, ciphertext, created_at)
     VALUES (:id, :merchant_id, :app_code, :keyId, :ciphertext, clock_timestamp())`,
    { ...app, ...seal(secretsKeys, appSecret, sealContext(app)), id: uuidv7() },
  );
  return appSecret;
}

/** Reads the valid secrets of an app, newest first. The first one signs; each authenticates. */
export async function appSecrets(
  database: Database,
  secretsKeys: KeyRing,
  app: AppRef,
): Promise<{ id: string; secret: string }[]> {
  const sealed = await rows<Sealed & { id: string }>(
    database,
    validSecretsOf(':merchant_id', ':app_code'),
    app,
  );
  return sealed.map((row) => ({ id: row.id, secret: openSecret(secretsKeys, row, app) }));
}

/** Returns SQL for the valid secrets of an app, newest first. */
export function validSecretsOf(merchantId: string, appCode: string): string {
  return `SELECT id, key_id AS "keyId", ciphertext FROM app_secrets
    WHERE merchant_id = ${merchantId} AND app_code = ${appCode}
      AND (expires_at IS NULL OR expires_at > now())
    ORDER BY created_at DESC, id DESC`;
}

/** Decrypts a secret of an app. @throws Error when the key is not in the ring */
export function openSecret(secretsKeys: KeyRing, sealed: Sealed, app: AppRef): string {
  return open(secretsKeys, sealed, sealContext(app));
}

export interface RekeyedBatch {
  count: number;
  /** The ids of the keys that had encrypted these secrets. */
  fromKeys: string[];
  /** The codes of the apps with a valid secret that cannot be decrypted. */
  unreadable: number[];
  /** The next batch begins after this id; null when there is none. */
  next: string | null;
}

interface SecretRow extends Sealed {
  id: string;
  app_code: number;
  valid: boolean;
}

/**
 * Encrypts the next `limit` app secrets again that are not encrypted with the first key of the
 * ring. A secret that cannot be decrypted is left as it is.
 * @param after is the `next` of the previous batch.
 */
export async function rekeySecrets(
  trx: Transaction,
  keys: KeyRing,
  after: string | null,
  limit: number,
): Promise<RekeyedBatch> {
  const secrets = await rows<SecretRow>(
    trx,
    `SELECT id, app_code, key_id AS "keyId", ciphertext,
       expires_at IS NULL OR expires_at > now() AS valid
     FROM app_secrets
     WHERE key_id <> :current AND key_id = ANY (:known)
       AND (CAST(:after AS uuid) IS NULL OR id > CAST(:after AS uuid))
     ORDER BY id LIMIT :limit FOR UPDATE`,
    { current: keys.current.id, known: [...keys.byId.keys()], after, limit },
  );
  const readable: SecretRow[] = [];
  for (const secret of secrets) {
    if (await rekeySecret(trx, keys, secret)) readable.push(secret);
  }
  const unreadable = secrets.filter((secret) => secret.valid && !readable.includes(secret));
  return {
    count: readable.length,
    fromKeys: [...new Set(readable.map(({ keyId }) => keyId))].sort(),
    unreadable: unreadable.map(({ app_code }) => app_code),
    next: secrets.length < limit ? null : secrets.at(-1)!.id,
  };
}

async function rekeySecret(trx: Transaction, keys: KeyRing, secret: SecretRow): Promise<boolean> {
  const context = sealContext(secret);
  let plaintext: string;
  try {
    plaintext = open(keys, secret, context);
  } catch {
    return false;
  }
  await rows(
    trx,
    'UPDATE app_secrets SET key_id = :keyId, ciphertext = :ciphertext WHERE id = :id',
    { id: secret.id, ...seal(keys, plaintext, context) },
  );
  return true;
}

/** Counts the valid secrets whose key is not in the ring. */
export async function secretsWithoutKey(
  database: Database,
  keys: KeyRing,
): Promise<{ count: number; keyIds: string[] }> {
  const row = await firstRow<{ count: number; keyIds: string[] }>(
    database,
    `SELECT count(*) AS count, coalesce(array_agg(DISTINCT key_id), '{}') AS "keyIds"
     FROM app_secrets
     WHERE key_id <> ALL (:known) AND (expires_at IS NULL OR expires_at > now())`,
    { known: [...keys.byId.keys()] },
  );
  return row!;
}

/** Binds a ciphertext to its app, so that it cannot be opened in another app's row. */
function sealContext({ app_code }: Pick<AppRef, 'app_code'>): string {
  return `app_secret:${app_code}`;
}
