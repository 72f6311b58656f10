import { type Database, hasRow, rows, type Transaction } from '../../connections/database.ts';
import { type ErrorCode, Refusal } from '../errors.ts';

/** Reads the codes of the paused channels. */
export async function pausedChannels(
  database: Database | Transaction,
): Promise<ReadonlySet<number>> {
  const paused = await rows<{ code: number }>(database, 'SELECT code FROM paused_channels');
  return new Set(paused.map(({ code }) => code));
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
