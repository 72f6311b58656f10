import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { type ErrorCode, Refusal } from '../errors.ts';

/** The codes of the channels that take no new payments until somebody resumes them. */
export async function pausedChannels(
  database: Database | Transaction,
): Promise<ReadonlySet<number>> {
  const paused = await rows<{ code: number }>(database, 'SELECT code FROM paused_channels');
  return new Set(paused.map(({ code }) => code));
}

/** Whether a channel takes no payments, neither new ones nor those that wait to be sent. */
export async function isPaused(database: Database | Transaction, code: number): Promise<boolean> {
  const row = await firstRow(database, 'SELECT 1 FROM paused_channels WHERE code = :code', {
    code,
  });
  return row !== undefined;
}

/** Why a statement that records nothing on a paused channel recorded nothing: that, or `otherwise`. */
export async function refusalOfChannel(
  database: Database | Transaction,
  code: number,
  otherwise: ErrorCode,
): Promise<Refusal> {
  return new Refusal((await isPaused(database, code)) ? 'channel_paused' : otherwise);
}

/** Stops a channel from taking new payments. @returns false when it was paused already. */
export async function pauseChannel(trx: Transaction, code: number): Promise<boolean> {
  const row = await firstRow(
    trx,
    'INSERT INTO paused_channels (code) VALUES (:code) ON CONFLICT DO NOTHING RETURNING code',
    { code },
  );
  return row !== undefined;
}

/** Lets a channel take payments again. @returns false when it was not paused. */
export async function resumeChannel(trx: Transaction, code: number): Promise<boolean> {
  const row = await firstRow(trx, 'DELETE FROM paused_channels WHERE code = :code RETURNING code', {
    code,
  });
  return row !== undefined;
}
