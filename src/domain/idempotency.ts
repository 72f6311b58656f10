import { createHash } from 'node:crypto';
import {
  type Database,
  firstRow,
  hasRow,
  inTransaction,
  rows,
  type Transaction,
} from '../connections/database.ts';
import { violates } from '../connections/database-errors.ts';
import { Refusal } from './errors.ts';

/** A key replays its answer for so long. After that it can be used again. */
export const KEPT_HOURS = 48;

/** The HTTP status of everything that was done. */
export const SUCCESS = 200;

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

/** The bindings with which one statement keeps a key: see `KEEPS_ROW`. */
export type KeyToKeep = Record<`key_${'lock' | 'path' | 'name' | 'fingerprint'}`, string | Buffer>;

export function keyToKeep(request: IdempotentRequest): KeyToKeep {
  return {
    key_lock: lockOf(request),
    key_path: request.path,
    key_name: request.key,
    key_fingerprint: fingerprintOf(request.fields),
  };
}

/** SQL: no other request with the key is running. It locks the key until the end of the transaction. */
export const KEY_IS_FREE = 'pg_try_advisory_xact_lock(hashtextextended(:key_lock, 0))';

/**
 * SQL: the CTE that keeps the row of the CTE `moved` for the key, and lets the whole statement fail if the key
 * is kept already. The answer is made of that row, now and when it is repeated.
 */
export const KEEPS_ROW = `kept AS (
  INSERT INTO idempotency_keys
    (merchant_id, path, key, fingerprint, response_status, response_body, is_row)
  SELECT merchant_id, :key_path, :key_name, :key_fingerprint, ${SUCCESS}, to_json(moved), true
  FROM moved
)`;

/** Recognises that `KEEPS_ROW` has failed because the key is kept already. */
export function isKeptAlready(error: unknown): boolean {
  return violates(error, 'idempotency_keys_pkey');
}

export interface KeptAnswer extends Kept {
  /** The body is the row of which the answer is made, its times as text. */
  isRow: boolean;
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
      const { status, body, isRow, provisional } = kept;
      return { status, body, isRow, provisional, replayed: true };
    }
    const answer = await work(trx);
    await keep(trx, request, { ...answer, fingerprint, provisional });
    return { ...answer, isRow: false, replayed: false, provisional };
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
async function lockKey(trx: Transaction, request: IdempotentRequest) {
  const isLocked = await hasRow(trx, `SELECT WHERE ${KEY_IS_FREE}`, { key_lock: lockOf(request) });
  if (!isLocked) throw new Refusal('idempotency_key_running');
}

function lockOf({ merchant_id, path, key }: IdempotentRequest): string {
  return `idempotency ${merchant_id} ${path} ${key}`;
}

interface KeptRow extends Kept {
  fingerprint: Buffer;
  provisional: boolean;
}

function findKept(trx: Transaction, request: IdempotentRequest) {
  return firstRow<KeptRow & Pick<KeptAnswer, 'isRow'>>(
    trx,
    `SELECT fingerprint, response_status AS status, response_body AS body, provisional,
       is_row AS "isRow"
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
       is_row = excluded.is_row, provisional = excluded.provisional,
       created_at = excluded.created_at`,
    { ...request, ...kept, body: JSON.stringify(kept.body) },
  );
}

function fingerprintOf(fields: Record<string, unknown>): Buffer {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest();
}
