import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { type KeyRing, open, type Sealed, seal } from '../../process/key-ring.ts';
import type { Audited } from '../audit/audit.ts';
import { IS_VALID, sealContext } from '../merchants/app-secrets.ts';
import { totpContext } from './one-time-passwords.ts';
import { STAFF, USERS } from './people.ts';

/** Small, so that no transaction locks secrets for long. */
const BATCH_SIZE = 100;

/** A table of sealed secrets. */
interface SealedTable {
  name: string;
  /** The subject of the audit log's line. */
  subject: string;
  /** SQL: whether a secret is in use. */
  isInUse: string;
  /** SQL: the owner of a secret `s`, as operators name it. */
  owner: string;
  /** SQL: what a secret is bound to. */
  boundTo: string;
  contextOf(boundTo: string): string;
}

const OF_APP = { isInUse: IS_VALID, owner: `'app ' || s.app_code`, boundTo: 'app_code' };

const TABLES: readonly SealedTable[] = [
  {
    name: 'app_secrets',
    subject: 'app secrets',
    ...OF_APP,
    contextOf: (app_code) => sealContext('app', { app_code: Number(app_code) }),
  },
  {
    name: 'webhook_secrets',
    subject: 'webhook secrets',
    ...OF_APP,
    contextOf: (app_code) => sealContext('own', { app_code: Number(app_code) }),
  },
  {
    name: 'totp_secrets',
    subject: 'secrets of one-time passwords',
    isInUse: 'true',
    owner: `'user ' || (SELECT u.email FROM users u
      WHERE u.merchant_id = s.merchant_id AND u.id = s.user_id)`,
    boundTo: 'user_id',
    contextOf: (user_id) => totpContext(USERS, user_id),
  },
  {
    name: 'staff_totp_secrets',
    subject: "secrets of staff's one-time passwords",
    isInUse: 'true',
    owner: `'staff ' || (SELECT m.email FROM staff m WHERE m.id = s.staff_id)`,
    boundTo: 'staff_id',
    contextOf: (staff_id) => totpContext(STAFF, staff_id),
  },
];

export interface RekeyedSecrets {
  count: number;
  /** The owners of secrets in use that cannot be decrypted with the key that they name. */
  unreadable: string[];
  /** Secrets in use whose keys are not in the ring. */
  missing: { count: number; keyIds: string[] };
}

/**
 * Encrypts all secrets of apps, users and staff again, with the first key of the ring, in batches. Each
 * batch is a transaction of its own, which an interruption does not undo.
 */
export async function rekeyAllSecrets(
  database: Database,
  audited: Audited,
  keys: KeyRing,
): Promise<RekeyedSecrets> {
  const unreadable = new Set<string>();
  let count = 0;
  for (const table of TABLES) {
    let after: string | null = null;
    do {
      const batch = await rekeyAudited(audited, keys, table, after);
      count += batch.count;
      for (const owner of batch.unreadable) unreadable.add(owner);
      after = batch.next;
    } while (after !== null);
  }
  return { count, unreadable: [...unreadable], missing: await secretsWithoutKey(database, keys) };
}

function rekeyAudited(
  audited: Audited,
  keys: KeyRing,
  table: SealedTable,
  after: string | null,
): Promise<RekeyedBatch> {
  return audited(async (trx) => {
    const value = await rekeySecrets(trx, keys, table, after);
    const details = { count: value.count, from_keys: value.fromKeys, to_key: keys.current.id };
    const audit = { merchant_id: null, subject: table.subject, details };
    return { value, audit: value.count > 0 ? audit : null };
  });
}

interface RekeyedBatch {
  count: number;
  /** The ids of the keys that had encrypted these secrets. */
  fromKeys: string[];
  /** The owners of secrets in use that cannot be decrypted. */
  unreadable: string[];
  /** The next batch begins after this id; null after the last batch. */
  next: string | null;
}

interface SecretRow extends Sealed {
  id: string;
  owner: string;
  bound_to: string;
  in_use: boolean;
}

/**
 * Encrypts the next secrets of a table again that are not encrypted with the first key of the ring.
 * A secret that cannot be decrypted is left as it is.
 * @param after is the `next` of the previous batch.
 */
async function rekeySecrets(
  trx: Transaction,
  keys: KeyRing,
  table: SealedTable,
  after: string | null,
): Promise<RekeyedBatch> {
  const secrets = await rows<SecretRow>(
    trx,
    `SELECT id, key_id AS "keyId", ciphertext, ${table.owner} AS owner,
       CAST(${table.boundTo} AS text) AS bound_to, ${table.isInUse} AS in_use
     FROM ${table.name} s
     WHERE key_id <> :current AND key_id = ANY (:known)
       AND (CAST(:after AS uuid) IS NULL OR id > CAST(:after AS uuid))
     ORDER BY id LIMIT :limit FOR UPDATE OF s`,
    { current: keys.current.id, known: [...keys.byId.keys()], after, limit: BATCH_SIZE },
  );
  const readable: SecretRow[] = [];
  for (const secret of secrets) {
    if (await rekeySecret(trx, keys, table, secret)) readable.push(secret);
  }
  const unreadable = secrets.filter((secret) => secret.in_use && !readable.includes(secret));
  return {
    count: readable.length,
    fromKeys: [...new Set(readable.map(({ keyId }) => keyId))].sort(),
    unreadable: unreadable.map(({ owner }) => owner),
    next: secrets.length < BATCH_SIZE ? null : secrets.at(-1)!.id,
  };
}

async function rekeySecret(
  trx: Transaction,
  keys: KeyRing,
  { name, contextOf }: SealedTable,
  secret: SecretRow,
): Promise<boolean> {
  const context = contextOf(secret.bound_to);
  let plaintext: string;
  try {
    plaintext = open(keys, secret, context);
  } catch {
    return false;
  }
  await rows(trx, `UPDATE ${name} SET key_id = :keyId, ciphertext = :ciphertext WHERE id = :id`, {
    ...secret,
    ...seal(keys, plaintext, context),
  });
  return true;
}

/** Counts the secrets in use whose key is not in the ring. */
async function secretsWithoutKey(
  database: Database,
  keys: KeyRing,
): Promise<RekeyedSecrets['missing']> {
  const lost = TABLES.map(
    ({ name, isInUse }) => `SELECT key_id FROM ${name} WHERE key_id <> ALL (:known) AND ${isInUse}`,
  ).join(' UNION ALL ');
  const row = await firstRow<RekeyedSecrets['missing']>(
    database,
    `SELECT count(*) AS count, coalesce(array_agg(DISTINCT key_id), '{}') AS "keyIds"
     FROM (${lost}) AS lost`,
    { known: [...keys.byId.keys()] },
  );
  return row!;
}
