import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { type KeyRing, open, type Sealed, seal } from '../../process/key-ring.ts';
import { sealContext } from './app-secrets.ts';

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
  const { keyId, ciphertext } = seal(keys, plaintext, context);
  await rows(
    trx,
    'UPDATE app_secrets SET key_id = :key_id, ciphertext = :ciphertext WHERE id = :id',
    { id: secret.id, key_id: keyId, ciphertext },
  );
  return true;
}

/** Counts the valid secrets whose key is not in the ring. */
export async function secretsWithoutKey(
  database: Database,
  keys: KeyRing,
): Promise<{ count: number; keyIds: string[] }> {
  const row = await firstRow<{ count: number; key_ids: string[] }>(
    database,
    `SELECT count(*) AS count, coalesce(array_agg(DISTINCT key_id), '{}') AS key_ids
     FROM app_secrets
     WHERE key_id <> ALL (:known) AND (expires_at IS NULL OR expires_at > now())`,
    { known: [...keys.byId.keys()] },
  );
  return { count: row!.count, keyIds: row!.key_ids };
}
