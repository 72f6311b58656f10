import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  firstRow,
  hasRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { queueOf } from '../../jobs/job-types.ts';
import { queued } from '../../jobs/outbox.ts';
import type { Told } from '../discrepancies/discrepancy.ts';
import type { CallbackAddress, CallbackNews, ParsedCallback, Verdict } from '../gateway-results.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { recordSecurityEvent } from '../security/security-events.ts';
import { receiptOf, storableText } from '../text.ts';

/** A request that a gateway sent to a payment's callback address. */
export interface Callback {
  id: string;
  gateway: string;
  merchant_id: number;
  payment_kind: PaymentRef['kind'];
  payment_id: string;
  address: CallbackAddress;
  /** When the question was asked that it answers. Null at other addresses. */
  asked_at: Date | null;
  /** The receipt that was asked about. Null at other addresses. */
  receipt: string | null;
  body: string;
  received_at: Date;
  /** When the same body came first, if it was read with its payment locked. */
  said_at?: Date;
  step_no: number;
}

/** A callback to another address than the result's was asked for. */
export function toldBy({ address, said_at, received_at }: Callback): Told {
  return { by: address === 'result' ? 'callback' : 'answer', at: said_at ?? received_at };
}

/** The payment and the address at which a callback came in. */
export interface CallbackPlace extends PaymentRef {
  address?: CallbackAddress;
  askedAt?: Date | null;
  receipt?: string | null;
}

/** Finds a callback that waits. @returns null when it has been processed: the job is stale. */
export async function findStoredCallback(
  database: Database,
  merchant_id: number,
  id: string,
): Promise<Callback | null> {
  const callback = await firstRow<Callback>(
    database,
    `SELECT * FROM callbacks WHERE merchant_id = :merchant_id AND id = :id AND status = 'stored'`,
    { merchant_id, id },
  );
  return callback ?? null;
}

/** Locks the callbacks of a payment that wait, oldest first. Lock the payment before them. */
export async function lockStored(trx: Transaction, payment: PaymentRef): Promise<Callback[]> {
  return rows<Callback>(
    trx,
    `SELECT c.*, (SELECT min(e.received_at) FROM callbacks e
       WHERE e.merchant_id = c.merchant_id AND e.payment_id = c.payment_id
         AND e.body = c.body) AS said_at
     FROM callbacks c
     WHERE merchant_id = :merchant_id AND payment_id = :id AND payment_kind = :kind
       AND status = 'stored'
     ORDER BY received_at, id FOR UPDATE OF c`,
    payment,
  );
}

const MAX_NAME_LENGTH = 50;
/** The part of a body that is kept: enough to recognise it. Anybody may send more. */
const MAX_BODY_BYTES = 4_096;

/** Stores the beginning of a request to an address that is not genuine. It never moves anything. */
export async function storeStrayCallback(
  database: Database,
  gateway: string,
  body: string,
  problem: string,
): Promise<void> {
  const kept = Buffer.from(body).subarray(0, MAX_BODY_BYTES).toString('utf8');
  await rows(
    database,
    'INSERT INTO stray_callbacks (id, gateway, body, problem) VALUES (:id, :gateway, :body, :problem)',
    {
      id: uuidv7(),
      gateway: storableText(gateway, MAX_NAME_LENGTH),
      body: storableText(kept, MAX_BODY_BYTES),
      problem,
    },
  );
}

/** The API takes no longer bodies. */
const MAX_BODY_LENGTH = 65_536;

/**
 * The callbacks of one address of a payment that are kept in 24 hours. Each question has an address
 * of its own, so no flood at one address keeps an outcome at another from being heard. Gateways
 * send one or two.
 */
export const MAX_CALLBACKS_A_DAY = 50;
/** Bodies that are longer than this share MAX_LONG_BYTES_A_DAY. Gateways' bodies are shorter. */
const LONG_BODY_BYTES = 8_192;
export const MAX_LONG_BYTES_A_DAY = 262_144;

/** SQL: the callbacks of the same address in the last 24 hours. */
const HEARD_TODAY = `callbacks
  WHERE merchant_id = :merchant_id AND payment_id = :payment_id AND payment_kind = :payment_kind
    AND address = :address AND asked_at IS NOT DISTINCT FROM CAST(:asked_at AS timestamptz)
    AND received_at > now() - interval '1 day'`;

/**
 * SQL: now, or the time of the payment's newest news if the clock has stepped back since. News counts
 * in the order in which it was heard, so none may seem older than news before it.
 */
export function heardNow(kind = ':kind', id = ':id'): string {
  const of = `merchant_id = :merchant_id AND payment_kind = ${kind} AND payment_id = ${id}`;
  // Times are read in milliseconds.
  return `greatest(clock_timestamp(), interval '1 millisecond' + greatest(
    (SELECT max(heard_at) FROM movements WHERE ${of}),
    (SELECT max(received_at) FROM callbacks WHERE ${of})))`;
}

/**
 * True while there is room. Copies of kept bodies fill half of it only: a callback that says
 * something new finds its place as long as there were fewer contents than the limit.
 */
const HAS_ROOM = `(heard < :most OR (NOT is_known AND contents < :most))
  AND (octet_length(body) <= :long OR long_bytes + octet_length(body) <= :most_long)`;

/**
 * Stores a genuine callback with its job, whatever it contains.
 * @returns its id, or null when it was dropped, since its address has had too many today.
 */
export async function storeCallback(
  database: Database,
  gateway: string,
  place: CallbackPlace,
  body: string,
): Promise<string | null> {
  const stored = await firstRow<{ id: string }>(
    database,
    `WITH new AS (
       SELECT CAST(:body AS text) AS body
     ), today AS (
       SELECT count(*) AS heard, count(DISTINCT body) AS contents,
         coalesce(bool_or(body = (SELECT body FROM new)), false) AS is_known,
         coalesce(sum(octet_length(body)) FILTER (WHERE octet_length(body) > :long), 0) AS long_bytes
       FROM ${HEARD_TODAY}
     ), moved AS (
       INSERT INTO callbacks (id, gateway, merchant_id, payment_kind, payment_id, address,
         asked_at, receipt, body, next_step, next_step_at, step_no, received_at)
       SELECT CAST(:id AS uuid), :gateway, CAST(:merchant_id AS bigint), :payment_kind,
         CAST(:payment_id AS uuid), :address, CAST(:asked_at AS timestamptz), :receipt, body,
         'process', now(), 1, ${heardNow(':payment_kind', ':payment_id')}
       FROM new, today WHERE ${HAS_ROOM}
       RETURNING *
     ), ${queued('callback')}
     SELECT id FROM moved`,
    {
      ...rowOf(gateway, place),
      body: storableText(body, MAX_BODY_LENGTH),
      queue: queueOf('callback', 'process'),
      most: MAX_CALLBACKS_A_DAY,
      long: LONG_BODY_BYTES,
      most_long: MAX_LONG_BYTES_A_DAY,
    },
  );
  return stored?.id ?? null;
}

/** The reason of the row that stands for all that were dropped. */
const DROPPED = 'more callbacks came to this address in a day than are kept';

/**
 * Notes that callbacks of an address are dropped, once a day: in a row that support sees with the
 * payment, and as a security event.
 * @returns false when it was noted before.
 */
export async function noteDropped(
  database: Database,
  gateway: string,
  place: CallbackPlace,
  ip: string | null,
): Promise<boolean> {
  return inTransaction(database, async (trx) => {
    const isFirst = await hasRow(
      trx,
      `INSERT INTO callbacks (id, gateway, merchant_id, payment_kind, payment_id, address, asked_at,
         receipt, body, status, problem)
       SELECT CAST(:id AS uuid), :gateway, CAST(:merchant_id AS bigint), :payment_kind,
         CAST(:payment_id AS uuid), :address, CAST(:asked_at AS timestamptz), :receipt, '',
         'rejected', :problem
       WHERE NOT EXISTS (SELECT FROM ${HEARD_TODAY} AND problem = :problem)
       RETURNING id`,
      { ...rowOf(gateway, place), problem: DROPPED },
    );
    if (isFirst) {
      const { merchant_id, kind, id } = place;
      const detail = { gateway, payment_kind: kind, payment_id: id };
      await recordSecurityEvent(trx, { kind: 'callbacks_dropped', merchant_id, ip, detail });
    }
    return isFirst;
  });
}

function rowOf(gateway: string, place: CallbackPlace) {
  return {
    id: uuidv7(),
    gateway,
    merchant_id: place.merchant_id,
    payment_kind: place.kind,
    payment_id: place.id,
    address: place.address ?? 'result',
    asked_at: place.askedAt ?? null,
    receipt: place.receipt ?? null,
  };
}

const MAX_TEXT_LENGTH = 500;

/** Returns the content of a callback, or null when it has values that no gateway can mean. */
export function soundContent(content: ParsedCallback | null): ParsedCallback | null {
  if (!content) return null;
  const { reference, verdict } = content;
  if (!isSound(verdict)) return null;
  return {
    reference: reference === null ? null : storableText(reference, MAX_TEXT_LENGTH),
    verdict: storable(verdict),
  };
}

function isSound(verdict: CallbackNews): boolean {
  switch (verdict.outcome) {
    case 'pending':
    case 'notFound':
    case 'unclear':
    case 'receipt':
      return true;
    case 'failed':
      return Number.isInteger(verdict.code) && verdict.code !== 0;
    case 'succeeded':
      return isAmount(verdict.amountCents) && isMoment(verdict.completedAt);
  }
}

function isAmount(cents: number | null): boolean {
  return cents === null || (Number.isSafeInteger(cents) && cents > 0);
}

function isMoment(moment: Date | null): boolean {
  return moment === null || (moment.getTime() >= 0 && moment.getTime() < LATEST_MS);
}

/** No payment is from before 1970, or from after this. */
const LATEST_MS = Date.UTC(2100, 0);
/** A column for codes holds no more. */
const MAX_CODE = 2 ** 31 - 1;

/** Returns a verdict with values that PostgreSQL can store, whatever the gateway put there. */
export function storableVerdict<V extends Verdict>(verdict: V): V {
  const sound = storable(verdict);
  if (sound.outcome !== 'failed') return sound;
  return { ...sound, code: Math.max(-MAX_CODE, Math.min(MAX_CODE, sound.code)) };
}

function storable<News extends CallbackNews>(verdict: News): News {
  const fields = Object.entries(verdict).map(([name, value]) => [name, storableValue(value)]);
  const { transId, ...stored } = Object.fromEntries(fields);
  const receipt = transId === undefined ? {} : { transId: (transId && receiptOf(transId)) || null };
  return { ...stored, ...receipt } as News;
}

function storableValue(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value, MAX_TEXT_LENGTH);
  return value instanceof Date && !isMoment(value) ? null : value;
}
