import type { Database } from '../../connections/database.ts';
import type { Audited } from '../audit/audit.ts';
import { pauseChannel, pausedChannels } from '../channels/channel-store.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';
import { type Marker, markRestored } from './mark-restored.ts';
import { noteMarked } from './other-database.ts';
import { skipDirectoryNumbers, skipEventNumbers } from './skip-numbers.ts';

/** The changes to a database that was restored from a backup. */
export interface RestoredDatabase {
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
  const before = await pausedChannels(database);
  const paused: number[] = [];
  for (const code of channels) if (await pause(audited, code)) paused.push(code);
  await skipNumbers(audited);
  const payments = [];
  for (const kind of PAYMENT_KINDS) payments.push(await markAll(audited, kind));
  await noteAllMarked(audited);
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

function noteAllMarked(audited: Audited): Promise<null> {
  return audited(async (trx) => {
    await noteMarked(trx);
    return { value: null, audit: { merchant_id: null, subject: 'database', details: {} } };
  });
}

function inOrder(codes: Iterable<number>): number[] {
  return [...codes].sort((one, other) => one - other);
}
