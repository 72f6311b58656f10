import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, firstRow, inTransaction, rows } from '../../src/connections/database.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import type { NewPayout } from '../../src/domain/payouts/create-payout.ts';
import { type FailedJob, listFailedJobs } from '../../src/domain/support/failed-job-store.ts';
import { type Replay, replayJob } from '../../src/domain/support/replay-job.ts';
import { workBulkReplays } from '../../src/domain/support/work-bulk-replays.ts';
import { recordFailedJob } from '../../src/jobs/failed-jobs.ts';
import { STEP_TABLES, type StepKind, type StepName } from '../../src/jobs/job-types.ts';
import type { Service } from '../../src/service/service.ts';
import { SECOND_MS } from '../../src/time.ts';
import { type Document, runHere } from './admin.ts';
import { newPayout } from './payment-kinds.ts';
import type { TestMerchant } from './test-merchant.ts';

/** A row as steps see it. */
export interface StepRow {
  merchant_id: number;
  status: string;
  next_step: StepName | null;
  next_step_at: Date | null;
  step_no: number;
  parked_reason: string | null;
}

export async function stepRow(database: Database, kind: StepKind, id: string): Promise<StepRow> {
  const { table, id: column } = STEP_TABLES[kind];
  const row = await firstRow<StepRow>(
    database,
    `SELECT merchant_id, status, next_step, next_step_at, step_no, parked_reason FROM ${table}
     WHERE ${column} = :id`,
    { id },
  );
  return row!;
}

/** As if the job of the row's step had failed for good. @returns what is kept of it. */
export async function failJob(
  database: Database,
  kind: StepKind,
  id: string,
  { queue = `queue-of-${kind}`, error = 'bug' } = {},
): Promise<FailedJob> {
  const row = await stepRow(database, kind, id);
  const { merchant_id, step_no, next_step: step } = row;
  const data = { kind, step: step!, merchant_id, row_id: id, step_no };
  await rows(database, 'DELETE FROM outbox WHERE row_id = :id', { id });
  await recordFailedJob(database, queue, data, new Error(error));
  const kept = await failedJobsOf(database, id);
  return kept.at(-1)!;
}

/** A payout whose submission has failed for good, and what is kept of that. */
export async function failedPayout(
  database: Database,
  merchant: TestMerchant,
  overrides: Partial<NewPayout> = {},
): Promise<{ payout: Payout; job: FailedJob }> {
  const payout = await newPayout(database, merchant, overrides);
  return { payout, job: await failJob(database, 'payout', payout.id) };
}

/** What is kept of the failed jobs of a row, oldest first. */
export async function failedJobsOf(database: Database, rowId: string): Promise<FailedJob[]> {
  const ids = await rows<{ id: number }>(
    database,
    'SELECT id FROM failed_jobs WHERE row_id = :rowId',
    { rowId },
  );
  const filter = { ids: ids.map(({ id }) => id) };
  return listFailedJobs(database, filter, { order: 'oldest first', limit: 1_000 });
}

/** As `jobs replay` does it, by the tester. */
export async function replay(database: Database, job: FailedJob): Promise<Replay> {
  return (await inTransaction(database, (trx) => replayJob(trx, job, 'tester'))).value;
}

/** Works bulk replays off, as a dispatcher does, until the function that is returned is called. */
export function startBulkReplays(database: Database): () => Promise<void> {
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await workBulkReplays({ database, holder: 'dispatcher', stopping: stopping.signal });
      await sleep(SECOND_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return async () => {
    stopping.abort();
    await running;
  };
}

/** The jobs in the answer of a command. */
export function jobsIn({ data }: { data: Record<string, unknown> }, name = 'jobs'): Document[] {
  return data[name] as Document[];
}

/** The ids of what `jobs list` shows with these options. */
export async function listedJobs(
  service: Service,
  options: string | string[] = '',
): Promise<unknown[]> {
  const words = typeof options === 'string' ? options.split(' ').filter(Boolean) : options;
  const answer = await runHere(service, ['jobs', 'list', ...words]);
  return jobsIn(answer, 'failed_jobs').map(({ id }) => id);
}
