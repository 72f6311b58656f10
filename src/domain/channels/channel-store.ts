import { type Database, hasRow, rows, type Transaction } from '../../connections/database.ts';
import type { Audited } from '../audit/audit.ts';
import { type ErrorCode, Refusal } from '../errors.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { Channel } from './channel.ts';

/** The parts that a pause can stop alone. Reversals include returns: both give money back. */
export const PAUSABLE = ['payouts', 'reversals'] as const;
type Pausable = (typeof PAUSABLE)[number];

/** Returns what a pause of one direction must stop to stop this kind. Null: only a whole pause does. */
export function pausableOf(kind: GatewayPaymentKind): Pausable | null {
  if (kind === 'collection') return null;
  return kind === 'payout' ? 'payouts' : 'reversals';
}

/** Reads the codes of the channels that take no payments of a kind. */
export async function pausedChannels(
  database: Database | Transaction,
  kind: 'collection' | 'payout' = 'payout',
): Promise<ReadonlySet<number>> {
  const paused = await rows<{ code: number }>(
    database,
    'SELECT code FROM paused_channels WHERE what IS NULL OR :what = ANY (what)',
    { what: pausableOf(kind) },
  );
  return new Set(paused.map(({ code }) => code));
}

/**
 * Returns SQL: the channel takes no payments of this kind, and sends none that wait.
 * @param code is SQL for the channel.
 */
export function isPausedSql(kind: GatewayPaymentKind, code: string): string {
  const part = pausableOf(kind);
  const stops = part === null ? 'what IS NULL' : `(what IS NULL OR '${part}' = ANY (what))`;
  return `EXISTS (SELECT FROM paused_channels WHERE code = ${code} AND ${stops})`;
}

/** A paused channel, with what the audit log says of it. */
export interface ChannelPause {
  code: number;
  /** The stopped parts. Null: the whole channel. */
  what: Pausable[] | null;
  paused_at: Date;
  /** The operator and the reason. Null if the pause is not in the audit log. */
  paused_by: string | null;
  reason: string | null;
}

/** Reads the pauses, by channel. The transaction that begins a pause logs it. */
export async function channelPauses(
  database: Database,
): Promise<ReadonlyMap<number, ChannelPause>> {
  const pauses = await rows<ChannelPause>(
    database,
    `SELECT p.code, p.what, p.paused_at, a.actor AS paused_by, a.reason
     FROM paused_channels p
     LEFT JOIN LATERAL (SELECT actor, reason FROM audit_log
       WHERE subject = 'channel ' || p.code AND action = 'channel.pause' AND happened_at >= p.paused_at
       ORDER BY happened_at LIMIT 1) a ON true`,
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
 * Pauses a channel, or a part of what it carries.
 * @returns false when as much was paused already.
 */
export async function pauseChannel(
  trx: Transaction,
  code: number,
  what: Pausable | null = null,
): Promise<boolean> {
  return hasRow(
    trx,
    `INSERT INTO paused_channels (code, what) VALUES (:code, CAST(:what AS text[]))
     ON CONFLICT (code) DO UPDATE
       SET what = CASE WHEN excluded.what IS NOT NULL THEN paused_channels.what || excluded.what END,
         paused_at = now()
       WHERE paused_channels.what IS NOT NULL
         AND (excluded.what IS NULL OR NOT paused_channels.what @> excluded.what)
     RETURNING code`,
    { code, what: what && [what] },
  );
}

/** Resumes a channel, and forgets the troubles that it had. @returns false when it was not paused. */
export async function resumeChannel(trx: Transaction, code: number): Promise<boolean> {
  await rows(trx, 'DELETE FROM operator_troubles WHERE channel = :code', { code });
  return hasRow(trx, 'DELETE FROM paused_channels WHERE code = :code RETURNING code', { code });
}

type Named = Pick<Channel, 'code' | 'name'>;

/**
 * Pauses a channel, or only a part of what it carries, with its line in the audit log.
 * @returns false when as much was paused already
 */
export function pauseAudited(
  audited: Audited,
  channel: Named,
  only: Pausable | null,
): Promise<boolean> {
  const details = only === null ? {} : { what: only };
  return moved(audited, channel, (trx) => pauseChannel(trx, channel.code, only), details);
}

/** Resumes a channel, with its line in the audit log. @returns false when it was not paused */
export function resumeAudited(audited: Audited, channel: Named): Promise<boolean> {
  return moved(audited, channel, (trx) => resumeChannel(trx, channel.code));
}

function moved(
  audited: Audited,
  { code, name }: Named,
  move: (trx: Transaction) => Promise<boolean>,
  details: object = {},
): Promise<boolean> {
  return audited(async (trx) => {
    const value = await move(trx);
    const audit = { merchant_id: null, subject: `channel ${code}`, details: { name, ...details } };
    return { value, audit: value ? audit : null };
  });
}
