import { type Database, rows, type Transaction } from '../../connections/database.ts';
import { stepSql } from '../../jobs/outbox.ts';
import type { Audited } from '../audit/audit.ts';
import { countUpTo } from '../lists.ts';
import { probeNow } from './endpoint-store.ts';

/** Webhooks of a merchant that have not reached it, by the time of their events. */
export interface Recovery {
  merchant_id: number;
  since: Date;
  /** Not at or after this time. Undefined: up to now. */
  until?: Date | undefined;
  /** Only those to this one: scheme, host and port. */
  endpoint?: string | undefined;
}

/** The changes of a recovery. */
export interface Recovered {
  resent: number;
  /** Endpoints that were held and are probed at once. */
  probed: number;
}

/**
 * SQL: the deliveries that nobody has taken and whose next attempt is not at hand. One that is due
 * or under way goes anyway, and so does one that was sent again and waits for its turn. One that the
 * receiver stopped with 410 is not wanted, and one that is parked needs support: each can be sent
 * again alone.
 */
const FOUND = `
  FROM webhook_deliveries d
  WHERE d.merchant_id = :merchant_id AND d.status IN ('exhausted', 'pending')
    AND d.delivered_at IS NULL
    AND (d.status <> 'pending'
      OR d.next_step IS NOT NULL AND d.admitted_at IS NULL AND d.next_step_at > now()
        AND d.attempts > d.attempts_before_resend)
    AND d.created_at >= :since
    AND d.created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
    AND d.endpoint = coalesce(CAST(:endpoint AS text), d.endpoint)`;

/** Counts the webhooks that a recovery would send again, up to `most`. */
export function countRecoverable(
  database: Database | Transaction,
  recovery: Recovery,
  most: number,
): Promise<number> {
  return countUpTo(database, FOUND, bindingsOf(recovery), most);
}

/**
 * Lets webhooks that have not reached their merchant go out again, oldest first, each under its own
 * id and with the same body. Their ladders begin anew. The endpoints that are held are probed at once,
 * also when all that waits for them is due. What somebody else sends again at the same moment is left
 * out.
 * @param options `delayMs` puts them off, `limit` is how many at most, `perSecond` is how many become
 *   due in each second (all at once, if it is not given)
 */
export async function recoverDeliveries(
  trx: Transaction,
  recovery: Recovery,
  {
    limit,
    delayMs = 0,
    perSecond = limit,
  }: { limit: number; delayMs?: number; perSecond?: number | undefined },
): Promise<Recovered> {
  const change = { next: 'deliver', queue: null, delayMs } as const;
  const step = stepSql('webhook', change, '(:delay_ms + found.place / :per_second * 1000)');
  const moved = await rows(
    trx,
    `WITH locked AS (
       SELECT d.merchant_id, d.event_id, d.created_at ${FOUND}
       ORDER BY d.created_at, d.event_id LIMIT :limit FOR UPDATE OF d SKIP LOCKED
     ), found AS (
       SELECT *, row_number() OVER (ORDER BY created_at, event_id) - 1 AS place FROM locked
     )
     UPDATE webhook_deliveries d
     SET ${step.assignments}, status = 'pending', attempts_before_resend = attempts
     FROM found WHERE d.merchant_id = found.merchant_id AND d.event_id = found.event_id
     RETURNING d.event_id`,
    { ...bindingsOf(recovery), ...step.bindings, limit, per_second: perSecond },
  );
  return { resent: moved.length, probed: await probeNow(trx, recovery) };
}

function bindingsOf({ until, endpoint, ...recovery }: Recovery) {
  return { ...recovery, until: until ?? null, endpoint: endpoint ?? null };
}

/** The most webhooks of one run: their rows are locked together. */
export const MAX_PER_RUN = 10_000;
export const MAX_PER_SECOND = 100;
/** The webhooks that another run would send are counted up to this number. */
export const MAX_LEFT_COUNTED = 100_000;

export interface RecoveredBatch {
  count: number;
  /** Webhooks that another run would send, up to `MAX_LEFT_COUNTED`. */
  left: number;
  /** Endpoints that were held and are probed at once. */
  probed: number;
}

/** Counts what a run would send, and changes nothing. */
export async function previewRecovery(
  database: Database | Transaction,
  recovery: Recovery,
): Promise<Omit<RecoveredBatch, 'probed'>> {
  const found = await countRecoverable(database, recovery, MAX_PER_RUN + MAX_LEFT_COUNTED);
  const count = Math.min(found, MAX_PER_RUN);
  return { count, left: found - count };
}

/**
 * Sends webhooks of a merchant again, with a line in the audit log.
 * @param perSecond how many become due in each second; undefined: all at once
 */
export function recoverAudited(
  audited: Audited,
  recovery: Recovery,
  perSecond: number | undefined,
): Promise<RecoveredBatch> {
  return audited(async (trx) => {
    const found = await previewRecovery(trx, recovery);
    const options = { limit: MAX_PER_RUN, perSecond };
    const { resent: count, probed } = await recoverDeliveries(trx, recovery, options);
    const value = { count, left: Math.max(0, found.count + found.left - count), probed };
    const isChange = count > 0 || probed > 0;
    return { value, audit: isChange ? auditOf(recovery, perSecond, value) : null };
  });
}

/**
 * Lets the next probe of a merchant's endpoints that are held go at once, with a line in the audit log.
 * @returns the number of endpoints whose probe would have come later
 */
export function probeAudited(
  audited: Audited,
  { merchant_id, endpoint }: Pick<Recovery, 'merchant_id' | 'endpoint'>,
): Promise<number> {
  return audited(async (trx) => {
    const value = await probeNow(trx, { merchant_id, endpoint: endpoint ?? null });
    const details = { endpoint: endpoint ?? null, probed: value };
    const subject = `webhooks of merchant ${merchant_id}`;
    return { value, audit: value > 0 ? { merchant_id, subject, details } : null };
  });
}

function auditOf(recovery: Recovery, rate: number | undefined, done: RecoveredBatch) {
  const { merchant_id, since, until = null, endpoint = null } = recovery;
  const details = { since, until, endpoint, rate: rate ?? null, ...done };
  return { merchant_id, subject: `webhooks of merchant ${merchant_id}`, details };
}
