import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { type KeyRing, open, type Sealed, seal } from '../../process/key-ring.ts';
import { sealContext } from './merchant.ts';

export interface RekeyedBatch {
  count: number;
  /** The ids of the keys that these secrets were encrypted with before. */
  fromKeys: string[];
  /** Apps with a secret that still counts and cannot be decrypted. */
  unreadable: number[];
  /** Where the next batch begins; null when there is none. */
  next: string | null;
}

interface SecretRow extends Sealed {
  id: string;
  app_code: number;
  counts: boolean;
}

/**
 * Encrypts app secrets again, with the first key of the ring: the next `limit` of those
 * that have another one. What cannot be decrypted is left as it is.
 * @param after is the `next` of the batch before.
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
       expires_at IS NULL OR expires_at > now() AS counts
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
  const unreadable = secrets.filter((secret) => secret.counts && !readable.includes(secret));
  return {
    count: readable.length,
    fromKeys: [...new Set(readable.map(({ keyId }) => keyId))].sort(),
    unreadable: unreadable.map(({ app_code: appCode }) => appCode),
    next: secrets.length < limit ? null : secrets.at(-1)!.id,
  };
}

async function rekeySecret(trx: Transaction, keys: KeyRing, secret: SecretRow): Promise<boolean> {
  const context = sealContext(secret.app_code);
  let plaintext: string;
  try {
    plaintext = open(keys, secret, context);
  } catch {
    return false;
  }
  const sealed = seal(keys, plaintext, context);
  await rows(
    trx,
    'UPDATE app_secrets SET key_id = :key_id, ciphertext = :ciphertext WHERE id = :id',
    { id: secret.id, key_id: sealed.keyId, ciphertext: sealed.ciphertext },
  );
  return true;
}

/** Secrets that still count and need a key that the ring does not have. */
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
