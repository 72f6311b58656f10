import { atMostEvery, waitAtMost } from '../time.ts';
import { type Database, poolOf } from './database.ts';
import { databaseProblem } from './database-fault.ts';

/** The database is asked no more often than this, however many probes come. */
const MAX_AGE_MS = 1_000;
/** Shorter than load balancers wait. A slower database is of no use to requests either. */
const ANSWER_TIMEOUT_MS = 2_000;
const SILENT = 'DATABASE_URL cannot be used: no answer within two seconds';
/** A process that was ready counts as merely busy for this long. */
const BUSY_MS = 20_000;

/**
 * Returns a function that says in one line why this process should get no requests, or null
 * when it may get some. Callers share one answer. While every connection of the pool is in use,
 * a good answer is believed for `busyMs`: a probe in line behind the requests would only learn
 * that the process is busy, and taking the process away would make the others busier.
 */
export function createReadiness(
  database: Database,
  busyMs = BUSY_MS,
): () => Promise<string | null> {
  const pool = poolOf(database);
  let problem: string | null = null;
  let answeredAt = performance.now();
  let asked: Promise<void> | null = null;
  const ask = async () => {
    problem = await databaseProblem(database);
    answeredAt = performance.now();
    asked = null;
  };
  const refresh = atMostEvery(MAX_AGE_MS, async () => {
    const isBelieved = problem === null && performance.now() - answeredAt < busyMs;
    if (!asked && isBelieved && pool.numUsed() >= pool.max) return;
    // A question without an answer is waited for again. A second one would take a connection more.
    asked ??= ask();
    await waitAtMost(asked, ANSWER_TIMEOUT_MS, SILENT).catch(() => {
      problem = SILENT;
    });
  });
  return async () => {
    await refresh();
    return problem;
  };
}
