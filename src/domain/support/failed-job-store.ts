import { type Database, rows, type Transaction } from '../../connections/database.ts';
import { JOB_FAILED, STEP_TABLES, type StepKind, type StepName } from '../../jobs/job-types.ts';
import { OperatorRefusal } from '../errors.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { PAYMENT_KINDS, selectSummaries } from '../payments/payment-summary.ts';
import { requirePayments } from './find-payments.ts';

/**
 * The states of a job that failed for good.
 * - waiting: its row is parked for it until somebody replays it or decides otherwise.
 * - replayed: somebody replayed it, and nothing has failed since.
 * - failed_again: somebody replayed it, and a later job of the row has failed.
 * - moved_on: nobody replayed it, and its row is no longer parked for it: support has decided,
 *   the gateway's news has settled the payment, or the row is gone.
 */
export const FAILED_JOB_STATES = ['waiting', 'replayed', 'failed_again', 'moved_on'] as const;
export type FailedJobState = (typeof FAILED_JOB_STATES)[number];

/** A job that failed for good, with the state of its row now. */
export interface FailedJob {
  id: number;
  queue: string;
  kind: StepKind;
  step: StepName;
  merchant_id: number;
  row_id: string;
  step_no: number;
  /** The channel of its payment. Null for a callback about an unknown payment. */
  channel: number | null;
  error: string;
  failed_at: Date;
  replayed_at: Date | null;
  replayed_by: string | null;
  replayed_step: StepName | null;
  /** The replay of many jobs that has replayed it. */
  bulk_replay_id: string | null;
  state: FailedJobState;
  /** The payment of its row. Null when the row is gone. */
  payment_kind: GatewayPaymentKind | null;
  payment_id: string | null;
  ref_no: string | null;
  amount_cents: number | null;
  /** The row's status. Null when the row is gone. */
  row_status: string | null;
  row_next_step: string | null;
  row_next_step_at: Date | null;
  row_parked_reason: string | null;
}

/** Selects failed jobs. Fields that are left out do not matter. */
export interface FailedJobFilter {
  ids?: number[] | undefined;
  queue?: string | undefined;
  /** A part of the error, in upper or lower case. */
  error?: string | undefined;
  /** The same, of the words of which nothing is hidden. */
  shownError?: string | undefined;
  merchant_id?: number | undefined;
  /** Jobs of these payments, their callbacks and webhooks. */
  payments?: { merchant_id: number; id: string }[] | undefined;
  /** Failed longer ago, or more recently, than this. */
  olderThanMs?: number | undefined;
  newerThanMs?: number | undefined;
  /** The moment from which both count back; now, if it is left out. */
  asOf?: Date | undefined;
  /** Of payments of this channel. */
  channel?: number | undefined;
  /** Not after this one. */
  upTo?: number | undefined;
  /** Replayed by this bulk replay. */
  bulkReplay?: string | undefined;
  state?: FailedJobState | undefined;
}

export interface FailedJobPage {
  order: 'newest first' | 'oldest first';
  /** Begins after this one, in that order. */
  after?: number | undefined;
  limit: number;
}

/** Lists the failed jobs of all merchants that fit a filter. */
export function listFailedJobs(
  database: Database | Transaction,
  filter: FailedJobFilter,
  { order, after, limit }: FailedJobPage,
): Promise<FailedJob[]> {
  const isDescending = order === 'newest first';
  const more = after === undefined ? [] : [`id ${isDescending ? '<' : '>'} :after`];
  return rows<FailedJob>(
    database,
    `SELECT * ${fromFailedJobs(filter, more)} ORDER BY id ${isDescending ? 'DESC' : 'ASC'} LIMIT :limit`,
    { ...bindingsOf(filter), after, limit },
  );
}

/** Counts the failed jobs that fit a filter. A count of `most` means that there may be more. */
export async function countFailedJobs(
  database: Database | Transaction,
  filter: FailedJobFilter,
  most: number,
): Promise<number> {
  const [found] = await rows<{ count: number }>(
    database,
    `SELECT count(*) AS count FROM (SELECT ${fromFailedJobs(filter)} LIMIT :most) AS counted`,
    { ...bindingsOf(filter), most },
  );
  return found!.count;
}

function fromFailedJobs(filter: FailedJobFilter, more: string[] = []): string {
  const where = [...conditions(filter), ...more];
  return `FROM (${FAILED_JOBS}) AS failed WHERE ${where.join(' AND ') || 'true'}`;
}

function bindingsOf(filter: FailedJobFilter) {
  return {
    ...filter,
    merchant_ids: filter.payments?.map(({ merchant_id }) => merchant_id),
    payment_ids: filter.payments?.map(({ id }) => id),
    as_of: filter.asOf ?? null,
  };
}

/** SQL: an error without the words that may be hidden, since they have a digit or are an e-mail address. */
const SHOWN = `regexp_replace(error, '\\S*[0-9@]\\S*', ' ', 'g')`;

const AS_OF = 'coalesce(CAST(:as_of AS timestamptz), now())';

const CONDITIONS: Readonly<Record<Exclude<keyof FailedJobFilter, 'asOf'>, string>> = {
  ids: 'id = ANY (:ids)',
  queue: 'queue = :queue',
  error: 'position(lower(CAST(:error AS text)) IN lower(error)) > 0',
  shownError: `position(lower(CAST(:shownError AS text)) IN lower(${SHOWN})) > 0`,
  merchant_id: 'merchant_id = :merchant_id',
  payments: `merchant_id = ANY (:merchant_ids) AND row_id IN (
    SELECT unnest(CAST(:payment_ids AS uuid[]))
    UNION ALL SELECT id FROM callbacks
      WHERE merchant_id = ANY (:merchant_ids) AND payment_id = ANY (CAST(:payment_ids AS uuid[]))
    UNION ALL SELECT id FROM events
      WHERE merchant_id = ANY (:merchant_ids) AND payment_id = ANY (CAST(:payment_ids AS uuid[])))`,
  olderThanMs: `failed_at <= ${AS_OF} - :olderThanMs * interval '1 millisecond'`,
  newerThanMs: `failed_at > ${AS_OF} - :newerThanMs * interval '1 millisecond'`,
  channel: 'channel = CAST(:channel AS bigint)',
  upTo: 'id <= :upTo',
  bulkReplay: 'bulk_replay_id = CAST(:bulkReplay AS uuid)',
  state: 'state = :state',
};

/** Every row that is parked: few, and each table has an index of its own. */
const PARKED = Object.values(STEP_TABLES)
  .map(({ table, id }) => `SELECT ${id} FROM ${table} WHERE parked_reason IS NOT NULL`)
  .join(' UNION ALL ');

/** Rows of which several jobs have failed, from the unique index alone. */
const FAILED_TWICE = `SELECT merchant_id, kind, row_id FROM failed_jobs
  GROUP BY merchant_id, kind, row_id HAVING count(*) > 1`;

/**
 * Goes with the condition on the state, which no index has: it leaves few jobs whose rows must be
 * looked at. Most failed jobs were replayed, or have moved on.
 */
const CANDIDATES: Readonly<Record<FailedJobState, string>> = {
  waiting: `replayed_at IS NULL AND row_id IN (${PARKED})`,
  moved_on: 'replayed_at IS NULL',
  replayed: 'replayed_at IS NOT NULL',
  failed_again: `replayed_at IS NOT NULL AND (merchant_id, kind, row_id) IN (${FAILED_TWICE})`,
};

function conditions({ asOf: _, ...filter }: FailedJobFilter): string[] {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  return [
    ...given.map(([name]) => CONDITIONS[name as keyof typeof CONDITIONS]),
    ...(filter.state ? [CANDIDATES[filter.state]] : []),
  ];
}

/** The payment of a row `t` that is not a payment itself. */
const PAYMENT_OF_ROW: Partial<Record<StepKind, string>> = {
  callback: 't.payment_kind, t.payment_id',
  webhook: `(SELECT payment_kind FROM events e WHERE e.merchant_id = t.merchant_id
      AND e.id = t.event_id) AS payment_kind,
    (SELECT payment_id FROM events e WHERE e.merchant_id = t.merchant_id
      AND e.id = t.event_id) AS payment_id`,
};

const ROW = (Object.keys(STEP_TABLES) as StepKind[])
  .map(
    (kind) => `SELECT t.status, t.next_step, t.next_step_at, t.parked_reason,
        ${PAYMENT_OF_ROW[kind] ?? `'${kind}' AS payment_kind, t.id AS payment_id`}
      FROM ${STEP_TABLES[kind].table} t
      WHERE f.kind = '${kind}' AND t.merchant_id = f.merchant_id
        AND t.${STEP_TABLES[kind].id} = f.row_id`,
  )
  .join(' UNION ALL ');

const PAYMENT = PAYMENT_KINDS.map(
  (kind) => `${selectSummaries(kind)}
    WHERE r.payment_kind = '${kind}' AND t.merchant_id = f.merchant_id AND t.id = r.payment_id`,
).join(' UNION ALL ');

/** A row is parked for its newest failure only. */
const HAS_FAILED_SINCE = `EXISTS (
  SELECT FROM failed_jobs later WHERE later.merchant_id = f.merchant_id AND later.kind = f.kind
    AND later.row_id = f.row_id AND later.step_no > f.step_no)`;

const FAILED_JOBS = `
  SELECT f.id, f.queue, f.kind, f.step, f.merchant_id, f.row_id, f.step_no, f.channel, f.error,
    f.failed_at, f.replayed_at, f.replayed_by, f.replayed_step, f.bulk_replay_id,
    CASE
      WHEN f.replayed_at IS NOT NULL AND ${HAS_FAILED_SINCE} THEN 'failed_again'
      WHEN f.replayed_at IS NOT NULL THEN 'replayed'
      WHEN starts_with(r.parked_reason, '${JOB_FAILED}') AND NOT ${HAS_FAILED_SINCE} THEN 'waiting'
      ELSE 'moved_on'
    END AS state,
    r.payment_kind, r.payment_id, p.ref_no, p.amount_cents, r.status AS row_status,
    r.next_step AS row_next_step, r.next_step_at AS row_next_step_at,
    r.parked_reason AS row_parked_reason
  FROM failed_jobs f
  LEFT JOIN LATERAL (${ROW}) AS r ON true
  LEFT JOIN LATERAL (${PAYMENT}) AS p ON true`;

/** Returns the newest failed job's id; 0 without failed jobs. */
export async function newestFailedJob(database: Database): Promise<number> {
  const [newest] = await rows<{ id: number }>(
    database,
    'SELECT id FROM failed_jobs ORDER BY id DESC LIMIT 1',
  );
  return newest?.id ?? 0;
}

/** A filter with anything that names a payment, as `findPayments` takes it. */
export type FailedJobSearch = Omit<FailedJobFilter, 'payments'> & { payment?: string | undefined };

/** Lists failed jobs. @throws OperatorRefusal when no payment is meant, or too many. */
export async function findFailedJobs(
  database: Database,
  { payment, ...filter }: FailedJobSearch,
  page: FailedJobPage,
): Promise<FailedJob[]> {
  if (payment === undefined) return listFailedJobs(database, filter, page);
  const { merchant_id } = filter;
  const payments = await requirePayments(database, { what: payment, merchant_id });
  return listFailedJobs(database, { ...filter, payments }, page);
}

/** Reads failed jobs, oldest first. @throws OperatorRefusal when one of them is not there. */
export async function requireFailedJobs(database: Database, ids: number[]): Promise<FailedJob[]> {
  const page = { order: 'oldest first', limit: ids.length } as const;
  const found = await listFailedJobs(database, { ids }, page);
  const missing = ids.find((id) => !found.some((job) => job.id === id));
  if (missing === undefined) return found;
  throw new OperatorRefusal(`There is no failed job ${missing}`);
}
