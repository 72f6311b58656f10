import { createHash } from 'node:crypto';
import {
  type Database,
  firstRow,
  inTransaction,
  rows,
  type Transaction,
} from '../connections/database.ts';
import { Refusal } from './errors.ts';

/** How long a key replays; after that it is free again. */
export const KEPT_HOURS = 48;

/** One request of a merchant that may come twice. */
export interface IdempotentRequest {
  merchant_id: number;
  path: string;
  key: string;
  /** What was asked: the same key with something else is a mistake of the caller. */
  fields: Record<string, unknown>;
}

/** An answer as it goes out and is kept. */
export interface Kept {
  status: number;
  body: unknown;
}

/** An answer that goes out, perhaps again. */
export interface KeptAnswer extends Kept {
  replayed: boolean;
  /** It was kept before the answer was known, which was never told. */
  provisional: boolean;
}

/**
 * Does `work` once per key: its answer is kept in the transaction of what it did, so a
 * process that dies before it can answer leaves a key that replays, and one that dies
 * before the commit leaves nothing. Refusals roll back and are not kept. With `provisional`
 * the caller is not answered yet; the answer is kept later by `replaceKept`.
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
      const { response_status: status, response_body: body } = kept;
      return { status, body, replayed: true, provisional: kept.provisional };
    }
    const answer = await work(trx);
    await keep(trx, request, { fingerprint, provisional, answer });
    return { ...answer, replayed: false, provisional };
  });
}

/** Keeps the answer that a caller is given in place of the provisional one. */
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
    { ...keyOf(request), status: answer.status, body: JSON.stringify(answer.body) },
  );
}

/** The lock ends with the transaction, however that ends: a crash frees the key. */
async function lockKey(
  trx: Transaction,
  { merchant_id: merchantId, path, key }: IdempotentRequest,
) {
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
  provisional: boolean;
}

async function findKept(
  trx: Transaction,
  request: IdempotentRequest,
): Promise<KeptRow | undefined> {
  return firstRow<KeptRow>(
    trx,
    `SELECT fingerprint, response_status, response_body, provisional FROM idempotency_keys
     WHERE merchant_id = :merchant_id AND path = :path AND key = :key
       AND created_at > now() - :hours * interval '1 hour'`,
    { ...keyOf(request), hours: KEPT_HOURS },
  );
}

async function keep(
  trx: Transaction,
  request: IdempotentRequest,
  kept: { fingerprint: Buffer; provisional: boolean; answer: Kept },
): Promise<void> {
  await rows(
    trx,
    `INSERT INTO idempotency_keys
       (merchant_id, path, key, fingerprint, response_status, response_body, provisional)
     VALUES (:merchant_id, :path, :key, :fingerprint, :status, CAST(:body AS json), :provisional)
     ON CONFLICT (merchant_id, path, key) DO UPDATE SET fingerprint = excluded.fingerprint,
       response_status = excluded.response_status, response_body = excluded.response_body,
       provisional = excluded.provisional, created_at = excluded.created_at`,
    {
      ...keyOf(request),
      fingerprint: kept.fingerprint,
      provisional: kept.provisional,
      status: kept.answer.status,
      body: JSON.stringify(kept.answer.body),
    },
  );
}

function keyOf({ merchant_id: merchantId, path, key }: IdempotentRequest) {
  return { merchant_id: merchantId, path, key };
}

function fingerprintOf(fields: Record<string, unknown>): Buffer {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest();
}
