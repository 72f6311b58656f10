import {
  type Database,
  firstRow,
  hasRow,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import type { AuditedChange } from '../audit/audit.ts';
import { OperatorRefusal } from '../errors.ts';
import type { KeysetPage } from '../lists.ts';
import { VEILED } from '../veil.ts';
import type { FailedJobFilter } from './failed-job-store.ts';
import type { ReplayAction, ReplayRefusal } from './replay-job.ts';

/** One person alone replays no more failed jobs within a day than this. */
export const MAX_REPLAYS_ALONE = 100;
/** Jobs per second. */
export const MAX_REPLAY_RATE = 100;
/** Ids in one request. More of them are better named by a filter. */
export const MAX_REPLAY_IDS = 500;
/** A bulk replay stops when this many of its jobs have failed again: the cause is still there. */
export const STOP_AFTER_FAILED_AGAIN = 10;

/** The outcome of a job: the effect of its replay, or why there was no replay. */
export type ReplayOutcome = ReplayAction | ReplayRefusal;

/** Selects the jobs of a bulk replay: ids, or a filter over those that wait for somebody. */
export type BulkFilter = Pick<
  FailedJobFilter,
  'ids' | 'queue' | 'error' | 'merchant_id' | 'channel' | 'payments' | 'olderThanMs' | 'newerThanMs'
> & {
  /** ISO 8601. Ages count back from here, so that the filter always means the same jobs. */
  as_of: string;
};

/** The jobs that somebody wants to replay. */
export interface BulkOrder {
  /** Chosen before it is asked for, so that the same form sent twice begins one. */
  id: string;
  filter: BulkFilter;
  /** The newest failed job that it may replay. */
  last_job: number;
  rate: number;
  /** It stops when this many of the replayed jobs have failed again. */
  stop_after: number;
}

/** A replay of many failed jobs. */
export interface BulkReplay extends BulkOrder {
  /** E-mail addresses of staff. */
  requested_by: string;
  approved_by: string | null;
  reason: string;
  requested_at: Date;
  state: 'running' | 'done' | 'stopped';
  /** Why it stopped before the last job. */
  why: string | null;
  ended_at: Date | null;
  done_up_to: number;
  /** The process that works on it now. */
  leased_by: string | null;
  outcomes: Partial<Record<ReplayOutcome, number>>;
}

/** Returns the filter as `listFailedJobs` takes it. */
export function selectionOf({
  filter,
  last_job,
}: Pick<BulkOrder, 'filter' | 'last_job'>): FailedJobFilter {
  const { as_of, ...selected } = filter;
  const isByFilter = selected.ids === undefined;
  return {
    ...selected,
    asOf: new Date(as_of),
    upTo: last_job,
    ...(isByFilter && { state: 'waiting' as const }),
  };
}

/** Returns how many jobs a bulk replay has looked at. */
export function lookedAt({ outcomes }: Pick<BulkReplay, 'outcomes'>): number {
  return Object.values(outcomes).reduce((sum, count) => sum + count, 0);
}

/** Returns how many jobs the replays of a member that nobody else has approved have looked at within a day. */
export async function replayedAlone(database: Database, requested_by: string): Promise<number> {
  const found = await firstRow<{ jobs: number }>(
    database,
    `SELECT CAST(coalesce(sum(CAST(each.value AS int)), 0) AS int) AS jobs
     FROM bulk_replays, jsonb_each_text(outcomes) AS each
     WHERE requested_by = :requested_by AND approved_by IS NULL AND requested_at > now() - interval '1 day'`,
    { requested_by },
  );
  return found!.jobs;
}

/** SQL: the time after which a process that has stopped loses its bulk replays to others. */
export const LEASE = "interval '30 seconds'";

/**
 * Begins a replay of many failed jobs, which a dispatcher then works off.
 * @param by has no second name when one person may replay so few alone: see `MAX_REPLAYS_ALONE`.
 *   `holder` names a process that works it off itself
 * @throws OperatorRefusal when it has begun already, or the order is wrong
 */
export async function beginBulkReplay(
  trx: Transaction,
  order: BulkOrder,
  by: { requested_by: string; reason: string; approved_by: string | null; holder?: string },
): Promise<AuditedChange<BulkReplay>> {
  refuseWrongOrder(order);
  const value = await firstRow<BulkReplay>(
    trx,
    `INSERT INTO bulk_replays (id, filter, last_job, rate, stop_after, requested_by, approved_by,
       reason, leased_by, leased_until)
     VALUES (:id, CAST(:filter AS jsonb), :last_job, :rate, :stop_after, :requested_by, :approved_by,
       :reason, :holder,
       CASE WHEN CAST(:holder AS text) IS NULL THEN '-infinity' ELSE now() + ${LEASE} END)
     ON CONFLICT (id) DO NOTHING RETURNING *`,
    { holder: null, ...order, ...by, filter: JSON.stringify(order.filter) },
  );
  if (!value) throw new OperatorRefusal('This replay has begun already');
  const { last_job, rate } = order;
  // The audit log keeps the filter for ever, and a part of an error may be a phone.
  const { error, ...others } = order.filter;
  const filter = { ...others, ...(error && { error: VEILED.text(error) }) };
  return { value, audit: auditOf(value, { filter, last_job, rate }) };
}

/** @throws OperatorRefusal when nobody could approve the order */
export function refuseWrongOrder({ rate, filter: { ids } }: BulkOrder): void {
  if (!Number.isInteger(rate) || rate < 1 || rate > MAX_REPLAY_RATE) {
    throw new OperatorRefusal(`The rate is a whole number from 1 to ${MAX_REPLAY_RATE} per second`);
  }
  if (ids && ids.length > MAX_REPLAY_IDS) {
    throw new OperatorRefusal(`Name at most ${MAX_REPLAY_IDS} jobs, or use a filter`);
  }
}

/**
 * Stops a bulk replay. Nothing more is replayed once this is committed; what is done stays done.
 * @throws OperatorRefusal when it has ended already
 */
export async function stopBulkReplay(
  trx: Transaction,
  id: string,
  actor: string,
): Promise<AuditedChange<BulkReplay>> {
  const value = await firstRow<BulkReplay>(
    trx,
    `UPDATE bulk_replays SET state = 'stopped', why = :why, ended_at = clock_timestamp()
     WHERE id = :id AND state = 'running' RETURNING *`,
    { id, why: `${actor} has stopped it` },
  );
  if (!value) throw new OperatorRefusal('This replay has ended already');
  return { value, audit: auditOf(value, { outcomes: value.outcomes }) };
}

/** Names a bulk replay in the audit log and in requests. */
export function bulkSubject(id: string): string {
  return `bulk replay ${id}`;
}

function auditOf({ id, filter }: BulkReplay, details: Record<string, unknown>) {
  return { merchant_id: filter.merchant_id ?? null, subject: bulkSubject(id), details };
}

export function findBulkReplay(database: Database, id: string): Promise<BulkReplay | undefined> {
  return firstRow<BulkReplay>(database, 'SELECT * FROM bulk_replays WHERE id = :id', { id });
}

/** Lists bulk replays, the newest first. */
export function listBulkReplays(
  database: Database,
  { after, limit }: KeysetPage<string>,
): Promise<BulkReplay[]> {
  return rows<BulkReplay>(
    database,
    `SELECT * FROM bulk_replays WHERE CAST(:after AS uuid) IS NULL OR id < CAST(:after AS uuid)
     ORDER BY id DESC LIMIT :limit`,
    { after: after ?? null, limit },
  );
}

/** Tells whether a process works on a bulk replay, or did until just now. */
export function isWorkedOn(database: Database, id: string): Promise<boolean> {
  const worked = 'SELECT FROM bulk_replays WHERE id = :id AND leased_until > now()';
  return hasRow(database, worked, { id });
}
