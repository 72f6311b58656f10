import { type Database, firstRow, type Transaction } from '../../connections/database.ts';
import { countWaitingJobs } from '../../domain/support/count-waiting-jobs.ts';
import { STEP_TABLES, type StepKind } from '../../jobs/job-types.ts';
import type { Reading, Source } from '../scraped-gauges.ts';
import { COUNT_LIMIT, reading, secondsSince } from './reading-transaction.ts';

/** As many as go to the queues in two rounds: the oldest row is among the first. */
const OUTBOX_HEAD = 1_000;

const KINDS = Object.keys(STEP_TABLES) as StepKind[];

/** Work on its way to the queues, work that is due, and work that nobody does any more. */
export function jobsSource(database: Database): Source {
  return {
    name: 'jobs',
    gauges: [
      { name: 'malipo_outbox_rows', help: 'Steps that have not reached their queue' },
      {
        name: 'malipo_outbox_lag_seconds',
        help: 'For how long the first of them has been due',
      },
      {
        name: 'malipo_steps_due',
        help: 'Steps whose time has come and that are not done, in queues or lost, by kind of row',
        labels: ['kind'],
      },
      {
        name: 'malipo_steps_oldest_due_seconds',
        help: 'For how long the first of them has been due, by kind of row',
        labels: ['kind'],
      },
      {
        name: 'malipo_failed_jobs',
        help: 'Jobs that failed for good and whose row still waits for a person, by queue',
        labels: ['queue'],
      },
    ],
    read: () =>
      reading(database, async (trx) => {
        const readings = [...(await readOutbox(trx)), ...(await readFailedJobs(trx))];
        for (const kind of KINDS) readings.push(...(await readDueSteps(trx, kind)));
        return readings;
      }),
  };
}

async function readOutbox(trx: Transaction): Promise<Reading[]> {
  const row = await firstRow<{ count: number; lag: number }>(
    trx,
    `SELECT (SELECT count(*) FROM (SELECT 1 FROM outbox LIMIT :limit) waiting) AS count,
       (SELECT ${secondsSince('min(run_at)')}
        FROM (SELECT run_at FROM outbox ORDER BY id LIMIT :head) first) AS lag`,
    { limit: COUNT_LIMIT, head: OUTBOX_HEAD },
  );
  return [
    { name: 'malipo_outbox_rows', value: row!.count },
    { name: 'malipo_outbox_lag_seconds', value: row!.lag },
  ];
}

/** A delivery without room at its endpoint has no job, and is due all the same. */
async function readDueSteps(trx: Transaction, kind: StepKind): Promise<Reading[]> {
  const { table } = STEP_TABLES[kind];
  const due = (condition: string, order: string) =>
    `(SELECT next_step_at FROM ${table} WHERE next_step IS NOT NULL ${condition}
      AND next_step_at <= now() ORDER BY ${order} LIMIT :limit)`;
  const all =
    kind === 'webhook'
      ? // Each half has an index of its own.
        `${due('AND admitted_at IS NULL', 'next_step_at')} UNION ALL
         ${due('AND admitted_at IS NOT NULL', 'merchant_id, endpoint, next_step_at')}`
      : due('', 'next_step_at');
  const row = await firstRow<{ count: number; oldest: number }>(
    trx,
    `SELECT count(*) AS count, ${secondsSince('min(next_step_at)')} AS oldest FROM (${all}) due`,
    { limit: COUNT_LIMIT },
  );
  return [
    { name: 'malipo_steps_due', labels: { kind }, value: row!.count },
    { name: 'malipo_steps_oldest_due_seconds', labels: { kind }, value: row!.oldest },
  ];
}

async function readFailedJobs(trx: Transaction): Promise<Reading[]> {
  const waiting = await countWaitingJobs(trx);
  return waiting.map(({ queue, count }) => ({
    name: 'malipo_failed_jobs',
    labels: { queue },
    value: count,
  }));
}
