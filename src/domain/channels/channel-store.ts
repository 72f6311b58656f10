import { type Database, hasRow, rows, type Transaction } from '../../connections/database.ts';
import { type ErrorCode, Refusal } from '../errors.ts';

/** Reads the codes of the paused channels. */
export async function pausedChannels(
  database: Database | Transaction,
): Promise<ReadonlySet<number>> {
  const paused = await rows<{ code: number }>(database, 'SELECT code FROM paused_channels');
  return new Set(paused.map(({ code }) => code));
}

/** A paused channel, with what the audit log says of it. */
export interface ChannelPause {
  code: number;
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
    `SELECT p.code, p.paused_at, a.actor AS paused_by, a.reason
     FROM paused_channels p
     LEFT JOIN audit_log a ON a.happened_at = p.paused_at AND a.subject = 'channel ' || p.code`,
  );
  return new Map(pauses.map((pause) => [pause.code, pause]));
}

/** Checks whether a channel is paused. It then takes no new payments, and sends none that wait. */
async function isPaused(database: Database | Transaction, code: number): Promise<boolean> {
  return hasRow(database, 'SELECT 1 FROM paused_channels WHERE code = :code', { code });
}

/** Explains why a statement inserted no payment: the channel is paused, or else `otherwise`. */
export async function refusalOfChannel(
  database: Database | Transaction,
  code: number,
  otherwise: ErrorCode,
): Promise<Refusal> {
  return new Refusal((await isPaused(database, code)) ? 'channel_paused' : otherwise);
}

/** Pauses a channel. @returns false when it was paused already. */
export async function pauseChannel(trx: Transaction, code: number): Promise<boolean> {
  return hasRow(
    trx,
    'INSERT INTO paused_channels (code) VALUES (:code) ON CONFLICT DO NOTHING RETURNING code',
    { code },
  );
}

/** Resumes a channel. @returns false when it was not paused. */
export async function resumeChannel(trx: Transaction, code: number): Promise<boolean> {
  return hasRow(trx, 'DELETE FROM paused_channels WHERE code = :code RETURNING code', { code });
}
