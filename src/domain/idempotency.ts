import { createHash } from 'node:crypto';
import {
  type Database,
  firstRow,
  inTransaction,
  rows,
  type Transaction,
} from '../connections/database.ts';
import { Refusal } from './errors.ts';

/** A key replays its answer for so long. After that it can be used again. */
export const KEPT_HOURS = 48;

/** A request of a merchant with an idempotency key. */
export interface IdempotentRequest {
  merchant_id: number;
  path: string;
  key: string;
  /** The fields of the request. The same key with other fields is refused. */
  fields: Record<string, unknown>;
}

/** An answer as it is sent and stored. */
export interface Kept {
  status: number;
  body: unknown;
}

export interface KeptAnswer extends Kept {
  /** An earlier request with this key stored it. */
  replayed: boolean;
  /** It was stored before the final answer was known. */
  provisional: boolean;
}

/**
 * Runs `work` once per key and stores its answer in the same transaction. If the process dies
 * after the commit, the key replays the answer. If it dies before, nothing is stored. Refusals
 * roll back and are not stored. With `provisional` the caller is not answered yet: `replaceKept`
 * stores the final answer later.
 * @throws Refusal `idempotency_key_running`, `idempotency_key_reused`, and what `work` throws
 */
export async function onceByKey(
  database: Database,
  request: IdempotentRequest,
  work: (trx: Transaction) => Promise<Kept>,
  provisional = false,
): Promise<KeptAnswer> {
  const fingerprint = fingerprintOf(request.fields);
  return inTransaction(database, async (trx) => {
    await lockKey(trx, request);
    const kept = await findKept(trx, request);
    if (kept) {
      if (!kept.fingerprint.equals(fingerprint)) throw new Refusal('idempotency_key_reused');
      const { status, body, provisional } = kept;
      return { status, body, provisional, replayed: true };
    }
    const answer = await work(trx);
    await keep(trx, request, { ...answer, fingerprint, provisional });
    return { ...answer, replayed: false, provisional };
  });
}

/** Stores the final answer in place of the provisional one. */
export async function replaceKept(
  database: Database,
  request: IdempotentRequest,
  answer: Kept,
): Promise<void> {
  await rows(
    database,
    `UPDATE idempotency_keys SET provisional = false, response_status = :status,
       response_body = CAST(:body AS json)
     WHERE merchant_id = :merchant_id AND path = :path AND key = :key AND provisional`,
    { ...request, ...answer, body: JSON.stringify(answer.body) },
  );
}

/** Locks the key until the transaction ends, also by a crash. */
async function lockKey(trx: Transaction, { merchant_id, path, key }: IdempotentRequest) {
  const row = await firstRow<{ locked: boolean }>(
    trx,
    'SELECT pg_try_advisory_xact_lock(hashtextextended(:name, 0)) AS locked',
    { name: `idempotency ${merchant_id} ${path} ${key}` },
  );
  if (!row?.locked) throw new Refusal('idempotency_key_running');
}

interface KeptRow extends Kept {
  fingerprint: Buffer;
  provisional: boolean;
}

function findKept(trx: Transaction, request: IdempotentRequest) {
  return firstRow<KeptRow>(
    trx,
    `SELECT fingerprint, response_status AS status, response_body AS body, provisional
     FROM idempotency_keys
     WHERE merchant_id = :merchant_id AND path = :path AND key = :key
       AND created_at > now() - :hours * interval '1 hour'`,
    { ...request, hours: KEPT_HOURS },
  );
}

async function keep(trx: Transaction, request: IdempotentRequest, kept: KeptRow): Promise<void> {
  await rows(
    trx,
    `INSERT INTO idempotency_keys
       (merchant_id, path, key, fingerprint, response_status, response_body, provisional)
     VALUES (:merchant_id, :path, :key, :fingerprint, :status, CAST(:body AS json), :provisional)
     ON CONFLICT (merchant_id, path, key) DO UPDATE SET fingerprint = excluded.fingerprint,
       response_status = excluded.response_status, response_body = excluded.response_body,
       provisional = excluded.provisional, created_at = excluded.created_at`,
    { ...request, ...kept, body: JSON.stringify(kept.body) },
  );
}

function fingerprintOf(fields: Record<string, unknown>): Buffer {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest();
}
