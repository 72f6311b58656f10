import { type Database, rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { changeStep } from '../../jobs/outbox.ts';
import type { Audited } from '../audit/audit.ts';
import { pauseChannel, pausedChannels } from '../channels/channel-store.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../payments/payment-store.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';
import { POLL_NOW } from '../payments/schedule.ts';
import { assumeSent } from '../submission/attempts.ts';
import { doubtUntaken, isParkedUntaken } from '../submission/record-submission.ts';
import { forgetStandbys, noteMarked } from './other-database.ts';
import { WHY_MAYBE_SENT } from './restore-progress.ts';

/** The changes to a database that was restored from a backup. */
interface RestoredDatabase {
  /** The codes of the channels that are paused now, and of those that were paused before. */
  paused_channels: number[];
  paused_before: number[];
  payments: { kind: GatewayPaymentKind; marked: number; parked: number }[];
}

/**
 * Pauses these channels, skips the numbers that may have been given since the backup, and treats
 * every open payment as possibly sent. It may be run again.
 */
export async function markDatabaseRestored(
  database: Database,
  audited: Audited,
  channels: Iterable<number>,
): Promise<RestoredDatabase> {
  await forgetStandbys(database);
  const before = await pausedChannels(database);
  const paused: number[] = [];
  for (const code of channels) if (await pause(audited, code)) paused.push(code);
  await skipNumbers(audited);
  const payments = [];
  for (const kind of PAYMENT_KINDS) payments.push(await markAll(audited, kind));
  await audited(async (trx) => {
    await noteMarked(trx);
    return { value: null, audit: { merchant_id: null, subject: 'database', details: {} } };
  });
  return { paused_channels: inOrder(paused), paused_before: inOrder(before), payments };
}

function pause(audited: Audited, code: number): Promise<boolean> {
  return audited(async (trx) => {
    const value = await pauseChannel(trx, code);
    const audit = { merchant_id: null, subject: `channel ${code}`, details: { paused: true } };
    return { value, audit: value ? audit : null };
  });
}

function skipNumbers(audited: Audited): Promise<null> {
  return audited(async (trx) => {
    await skipDirectoryNumbers(trx);
    const details = { merchants: await skipEventNumbers(trx) };
    return { value: null, audit: { merchant_id: null, subject: 'numbers', details } };
  });
}

/** Marks in batches. Each is a transaction of its own, which an interruption does not undo. */
async function markAll(audited: Audited, kind: GatewayPaymentKind) {
  const total = { kind, marked: 0, parked: 0 };
  let after: Marker | null = null;
  do {
    const from: Marker | null = after;
    const batch = await audited(async (trx) => {
      const value = await markRestored(trx, kind, from);
      const details = { kind, marked: value.marked, parked: value.parked };
      return { value, audit: { merchant_id: null, subject: `open ${kind}s`, details } };
    });
    total.marked += batch.marked;
    total.parked += batch.parked;
    after = batch.last;
  } while (after !== null);
  return total;
}

function inOrder(codes: Iterable<number>): number[] {
  return [...codes].sort((one, other) => one - other);
}

/** The number of payments that one transaction marks. */
export const MARK_BATCH_SIZE = 200;

/** Names the last payment of a batch. */
export interface Marker {
  merchant_id: number;
  id: string;
}

const BEFORE_ALL: Marker = { merchant_id: 0, id: '00000000-0000-0000-0000-000000000000' };

interface MarkedBatch {
  marked: number;
  /** The number of marked payments that stay parked. */
  parked: number;
  /** The next batch begins after this payment; null after the last batch. */
  last: Marker | null;
}

/**
 * Marks a batch of the open payments of a kind after a restore from a backup. Each is treated as
 * sent since the backup: the gateway is asked about it at once, and it is not sent before the
 * gateway has answered. This may run again at any time before payments go on.
 */
export async function markRestored(
  trx: Transaction,
  kind: GatewayPaymentKind,
  after: Marker | null,
): Promise<MarkedBatch> {
  const open = await openPayments(trx, kind, after);
  let [marked, parked] = [0, 0];
  for (const ref of open) {
    const payment = await lockPayment(trx, { kind, ...ref });
    if (payment?.status !== 'pending' && payment?.status !== 'processing') continue;
    if (await markPayment(trx, payment)) parked += 1;
    marked += 1;
  }
  return { marked, parked, last: open.length < MARK_BATCH_SIZE ? null : open.at(-1)! };
}

/**
 * Marks a payment. An acknowledged one is never sent again anyway. A parked one still needs its
 * decision, unless it is parked because it was never sent.
 * @returns whether it stays parked.
 */
async function markPayment(trx: Transaction, payment: AnyPayment): Promise<boolean> {
  if (payment.status === 'pending') await assumeSent(trx, payment, WHY_MAYBE_SENT);
  const isUntaken = isParkedUntaken(payment);
  if (payment.parked_reason !== null && !isUntaken) return true;
  if (isUntaken) await doubtUntaken(trx, payment);
  await changeStep(trx, refOf(payment), POLL_NOW);
  return false;
}

/** Reads the index of open payments first. In the order of the key it would read the table. */
async function openPayments(
  trx: Transaction,
  kind: GatewayPaymentKind,
  after: Marker | null,
): Promise<Marker[]> {
  return rows<Marker>(
    trx,
    `WITH open AS MATERIALIZED (
       SELECT merchant_id, id FROM ${STEP_TABLES[kind].table}
       WHERE status IN ('pending', 'processing')
     )
     SELECT merchant_id, id FROM open
     WHERE (merchant_id, id) > (CAST(:merchant_id AS bigint), CAST(:id AS uuid))
     ORDER BY merchant_id, id LIMIT :batch`,
    { ...(after ?? BEFORE_ALL), batch: MARK_BATCH_SIZE },
  );
}

/** More merchants or apps than can be created between a backup and its restore. */
export const SKIPPED_DIRECTORY_NUMBERS = 1_000;

/**
 * Moves the next ids of merchants and apps far above those that may have been given out since the
 * backup. Otherwise an id that somebody knows could later belong to another merchant.
 */
export async function skipDirectoryNumbers(trx: Transaction): Promise<void> {
  for (const [table, column] of [
    ['merchants', 'id'],
    ['apps', 'code'],
  ]) {
    await rows(
      trx,
      `SELECT setval(sequence, nextval(sequence) + :skipped)
       FROM CAST(pg_get_serial_sequence(:table, :column) AS regclass) AS sequence`,
      { table, column, skipped: SKIPPED_DIRECTORY_NUMBERS },
    );
  }
}

/** More events than a merchant can have received between a backup and its restore. */
export const SKIPPED_EVENT_NUMBERS = 1_000_000;

/**
 * Moves every merchant's event numbers far above those that may have been given out since the
 * backup. Otherwise a merchant that ignores numbers below its last one would miss events. This
 * includes merchants without a number, because they may have got their first one since. Merchants
 * that are newer than the backup are gone, and `skipDirectoryNumbers` keeps their ids unused.
 * @returns the number of merchants.
 */
export async function skipEventNumbers(trx: Transaction): Promise<number> {
  const skipped = await rows(
    trx,
    `INSERT INTO event_sequences AS s (merchant_id, last_sequence)
     SELECT id, :skipped FROM merchants ORDER BY id
     ON CONFLICT (merchant_id) DO UPDATE SET last_sequence = s.last_sequence + excluded.last_sequence
     RETURNING merchant_id`,
    { skipped: SKIPPED_EVENT_NUMBERS },
  );
  return skipped.length;
}
