import { createHash } from 'node:crypto';
import { type Database, firstRow, inTransaction, rows, type Transaction } from '../database.ts';
import { Refusal } from './errors.ts';

/** How long a key replays; after that it is free again. */
const KEPT_HOURS = 48;

/** One request of a merchant that may come twice. */
export interface IdempotentRequest {
  merchantId: number;
  path: string;
  key: string;
  /** What was asked: the same key with something else is a mistake of the caller. */
  fields: Record<string, unknown>;
}

/** An answer as it went out, or goes out again. */
export interface KeptAnswer {
  status: number;
  body: unknown;
  replayed: boolean;
}

/**
 * Does `work` once per key: its answer is kept in the transaction of what it did, so a
 * process that dies before it can answer leaves a key that replays, and one that dies
 * before the commit leaves nothing. Refusals roll back and are not kept.
 * @throws Refusal `idempotency_key_running`, `idempotency_key_reused`, and what `work` throws
 */
export async function onceByKey(
  database: Database,
  request: IdempotentRequest,
  work: (trx: Transaction) => Promise<{ status: number; body: unknown }>,
): Promise<KeptAnswer> {
  const fingerprint = fingerprintOf(request.fields);
  return inTransaction(database, async (trx) => {
    await lockKey(trx, request);
    const kept = await findKept(trx, request);
    if (kept) {
      if (!kept.fingerprint.equals(fingerprint)) throw new Refusal('idempotency_key_reused');
      return { status: kept.response_status, body: kept.response_body, replayed: true };
    }
    const answer = await work(trx);
    await keep(trx, request, fingerprint, answer);
    return { ...answer, replayed: false };
  });
}

/** The lock ends with the transaction, however that ends: a crash frees the key. */
async function lockKey(trx: Transaction, { merchantId, path, key }: IdempotentRequest) {
  const row = await firstRow<{ locked: boolean }>(
    trx,
    'SELECT pg_try_advisory_xact_lock(hashtextextended(:name, 0)) AS locked',
    { name: `idempotency ${merchantId} ${path} ${key}` },
  );
  if (!row?.locked) throw new Refusal('idempotency_key_running');
}

interface KeptRow {
  fingerprint: Buffer;
  response_status: number;
  response_body: unknown;
}

async function findKept(
  trx: Transaction,
  request: IdempotentRequest,
): Promise<KeptRow | undefined> {
  return firstRow<KeptRow>(
    trx,
    `SELECT fingerprint, response_status, response_body FROM idempotency_keys
     WHERE merchant_id = :merchant_id AND path = :path AND key = :key
       AND created_at > now() - :hours * interval '1 hour'`,
    { ...keyOf(request), hours: KEPT_HOURS },
  );
}

async function keep(
  trx: Transaction,
  request: IdempotentRequest,
  fingerprint: Buffer,
  answer: { status: number; body: unknown },
): Promise<void> {
  await rows(
    trx,
    `INSERT INTO idempotency_keys
       (merchant_id, path, key, fingerprint, response_status, response_body)
     VALUES (:merchant_id, :path, :key, :fingerprint, :status, CAST(:body AS json))
     ON CONFLICT (merchant_id, path, key) DO UPDATE SET fingerprint = excluded.fingerprint,
       response_status = excluded.response_status, response_body = excluded.response_body,
       created_at = excluded.created_at`,
    { ...keyOf(request), fingerprint, status: answer.status, body: JSON.stringify(answer.body) },
  );
}

function keyOf({ merchantId, path, key }: IdempotentRequest) {
  return { merchant_id: merchantId, path, key };
}

function fingerprintOf(fields: Record<string, unknown>): Buffer {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest();
}
