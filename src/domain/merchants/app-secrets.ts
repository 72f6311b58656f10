import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { type Database, rows, type Transaction } from '../../connections/database.ts';
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
  const { keyId, ciphertext } = seal(secretsKeys, appSecret, sealContext(app));
  // Not now(): a transaction that waited for another one began earlier but has the newer secret.
  await rows(
    trx,
    `INSERT INTO app_secrets (id, merchant_id, app_code, key_id, ciphertext, created_at)
     VALUES (:id, :merchant_id, :app_code, :key_id, :ciphertext, clock_timestamp())`,
    { ...app, id: uuidv7(), key_id: keyId, ciphertext },
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
    `SELECT id, key_id AS "keyId", ciphertext FROM app_secrets
     WHERE merchant_id = :merchant_id AND app_code = :app_code
       AND (expires_at IS NULL OR expires_at > now())
     ORDER BY created_at DESC, id DESC`,
    app,
  );
  return sealed.map((row) => ({ id: row.id, secret: open(secretsKeys, row, sealContext(app)) }));
}

/** Binds a ciphertext to its app, so that it cannot be opened in another app's row. */
export function sealContext({ app_code }: Pick<AppRef, 'app_code'>): string {
  return `app_secret:${app_code}`;
}
