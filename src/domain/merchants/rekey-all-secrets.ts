import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { type KeyRing, type Sealed, seal } from '../../process/key-ring.ts';
import type { Audited } from '../audited-change.ts';
import {
  type AppRef,
  IS_VALID,
  openSecret,
  SECRET_KINDS,
  SECRET_TABLES,
  type SecretKind,
  sealContext,
} from './app-secrets.ts';

/** Small, so that no transaction locks apps' secrets for long. */
const BATCH_SIZE = 100;

/** The subject of the audit log's line. */
const SUBJECTS: Readonly<Record<SecretKind, string>> = {
  app: 'app secrets',
  own: 'webhook secrets',
};

export interface RekeyedSecrets {
  count: number;
  /** Apps with a secret in use that cannot be decrypted with the key that it names. */
  unreadable: number[];
  /** Secrets in use whose keys are not in the ring. */
  missing: { count: number; keyIds: string[] };
}

/**
 * Encrypts all secrets of apps again, with the first key of the ring, in batches. Each batch is a
 * transaction of its own, which an interruption does not undo.
 */
export async function rekeyAllSecrets(
  database: Database,
  audited: Audited,
  keys: KeyRing,
): Promise<RekeyedSecrets> {
  const unreadable = new Set<number>();
  let count = 0;
  for (const kind of SECRET_KINDS) {
    let after: string | null = null;
    do {
      const batch = await rekeyAudited(audited, keys, kind, after);
      count += batch.count;
      for (const code of batch.unreadable) unreadable.add(code);
      after = batch.next;
    } while (after !== null);
  }
  return { count, unreadable: [...unreadable], missing: await secretsWithoutKey(database, keys) };
}

function rekeyAudited(
  audited: Audited,
  keys: KeyRing,
  kind: SecretKind,
  after: string | null,
): Promise<RekeyedBatch> {
  return audited(async (trx) => {
    const value = await rekeySecrets(trx, keys, kind, after);
    const details = { count: value.count, from_keys: value.fromKeys, to_key: keys.current.id };
    const audit = { merchant_id: null, subject: SUBJECTS[kind], details };
    return { value, audit: value.count > 0 ? audit : null };
  });
}

interface RekeyedBatch {
  count: number;
  /** The ids of the keys that had encrypted these secrets. */
  fromKeys: string[];
  /** The codes of the apps with a valid secret that cannot be decrypted. */
  unreadable: number[];
  /** The next batch begins after this id; null when there is none. */
  next: string | null;
}

interface SecretRow extends Sealed, AppRef {
  id: string;
  valid: boolean;
}

/**
 * Encrypts the next secrets of a kind again that are not encrypted with the first key of the ring.
 * A secret that cannot be decrypted is left as it is.
 * @param after is the `next` of the previous batch.
 */
async function rekeySecrets(
  trx: Transaction,
  keys: KeyRing,
  kind: SecretKind,
  after: string | null,
): Promise<RekeyedBatch> {
  const secrets = await rows<SecretRow>(
    trx,
    `SELECT id, merchant_id, app_code, key_id AS "keyId", ciphertext, ${IS_VALID} AS valid
     FROM ${SECRET_TABLES[kind]}
     WHERE key_id <> :current AND key_id = ANY (:known)
       AND (CAST(:after AS uuid) IS NULL OR id > CAST(:after AS uuid))
     ORDER BY id LIMIT :limit FOR UPDATE`,
    { current: keys.current.id, known: [...keys.byId.keys()], after, limit: BATCH_SIZE },
  );
  const readable: SecretRow[] = [];
  for (const secret of secrets) {
    if (await rekeySecret(trx, keys, kind, secret)) readable.push(secret);
  }
  const unreadable = secrets.filter((secret) => secret.valid && !readable.includes(secret));
  return {
    count: readable.length,
    fromKeys: [...new Set(readable.map(({ keyId }) => keyId))].sort(),
    unreadable: unreadable.map(({ app_code }) => app_code),
    next: secrets.length < BATCH_SIZE ? null : secrets.at(-1)!.id,
  };
}

async function rekeySecret(
  trx: Transaction,
  keys: KeyRing,
  kind: SecretKind,
  secret: SecretRow,
): Promise<boolean> {
  let plaintext: string;
  try {
    plaintext = openSecret(keys, kind, secret, secret);
  } catch {
    return false;
  }
  await rows(
    trx,
    `UPDATE ${SECRET_TABLES[kind]} SET key_id = :keyId, ciphertext = :ciphertext
     WHERE merchant_id = :merchant_id AND id = :id`,
    { ...secret, ...seal(keys, plaintext, sealContext(kind, secret)) },
  );
  return true;
}

/** Counts the valid secrets whose key is not in the ring. */
async function secretsWithoutKey(
  database: Database,
  keys: KeyRing,
): Promise<RekeyedSecrets['missing']> {
  const lost = SECRET_KINDS.map(
    (kind) => `SELECT key_id FROM ${SECRET_TABLES[kind]}
      WHERE key_id <> ALL (:known) AND ${IS_VALID}`,
  ).join(' UNION ALL ');
  const row = await firstRow<RekeyedSecrets['missing']>(
    database,
    `SELECT count(*) AS count, coalesce(array_agg(DISTINCT key_id), '{}') AS "keyIds"
     FROM (${lost}) AS lost`,
    { known: [...keys.byId.keys()] },
  );
  return row!;
}
