import { type Database, hasRow, rows, type Transaction } from '../../connections/database.ts';
import { type ErrorCode, Refusal } from '../errors.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';

/**
 * Reads the codes of the paused channels.
 * @param kind is 'collection' for those that take no collections, else those that are paused at all.
 */
export async function pausedChannels(
  database: Database | Transaction,
  kind: 'any' | 'collection' = 'any',
): Promise<ReadonlySet<number>> {
  const paused = await rows<{ code: number }>(
    database,
    `SELECT code FROM paused_channels WHERE :kind = 'any' OR NOT payouts_only`,
    { kind },
  );
  return new Set(paused.map(({ code }) => code));
}

/**
 * Returns SQL: the channel takes no payments of this kind, and sends none that wait. A pause of
 * payouts stops what needs the same credential too: money that goes back to customers.
 * @param code is SQL for the channel.
 */
export function isPausedSql(kind: GatewayPaymentKind, code: string): string {
  const all = kind === 'collection' ? ' AND NOT payouts_only' : '';
  return `EXISTS (SELECT FROM paused_channels WHERE code = ${code}${all})`;
}

/** A paused channel, with what the audit log says of it. */
export interface ChannelPause {
  code: number;
  /** Only money that goes out is stopped. */
  payouts_only: boolean;
  paused_at: Date;
  /** The operator and the reason. Null if the pause is not in the audit log. */
  paused_by: string | null;
  reason: string | null;
}

/** Reads the pauses, by channel. A pause has its time from the transaction that logged it. */
export async function channelPauses(
  database: Database,
): Promise<ReadonlyMap<number, ChannelPause>> {
  const pauses = await rows<ChannelPause>(
    database,
    `SELECT p.code, p.payouts_only, p.paused_at, a.actor AS paused_by, a.reason
     FROM paused_channels p
     LEFT JOIN audit_log a ON a.happened_at = p.paused_at AND a.subject = 'channel ' || p.code`,
  );
  return new Map(pauses.map((pause) => [pause.code, pause]));
}

/** Explains why a statement inserted no payment: the channel is paused, or else `otherwise`. */
export async function refusalOfChannel(
  database: Database | Transaction,
  kind: GatewayPaymentKind,
  code: number,
  otherwise: ErrorCode,
): Promise<Refusal> {
  const isPaused = await hasRow(database, `SELECT 1 WHERE ${isPausedSql(kind, ':code')}`, { code });
  return new Refusal(isPaused ? 'channel_paused' : otherwise);
}

/**
 * Pauses a channel, or only money that goes out through it.
 * @returns false when as much was paused already.
 */
export async function pauseChannel(
  trx: Transaction,
  code: number,
  payouts_only = false,
): Promise<boolean> {
  return hasRow(
    trx,
    `INSERT INTO paused_channels (code, payouts_only) VALUES (:code, :payouts_only)
     ON CONFLICT (code) DO UPDATE SET payouts_only = false, paused_at = now()
       WHERE paused_channels.payouts_only AND NOT excluded.payouts_only
     RETURNING code`,
    { code, payouts_only },
  );
}

/** Resumes a channel, and forgets the troubles that it had. @returns false when it was not paused. */
export async function resumeChannel(trx: Transaction, code: number): Promise<boolean> {
  await rows(trx, 'DELETE FROM operator_troubles WHERE channel = :code', { code });
  return hasRow(trx, 'DELETE FROM paused_channels WHERE code = :code RETURNING code', { code });
}
