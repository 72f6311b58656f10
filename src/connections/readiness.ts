import { setTimeout as sleep } from 'node:timers/promises';
import { atMostEvery } from './at-most-every.ts';
import { type Database, poolOf } from './database.ts';
import { databaseProblem } from './database-fault.ts';

/** However many probes come: the database is asked no more often than this. */
const MAX_AGE_MS = 1_000;
/** Shorter than balancers wait. A database that takes longer is not there for requests either. */
const ANSWER_TIMEOUT_MS = 2_000;
const SILENT = 'DATABASE_URL cannot be used: no answer within two seconds';
/** For how long a process that was ready is taken to be merely busy. */
const BUSY_MS = 20_000;

/**
 * Tells why this process should get no requests, in one line, or null when it may. All who
 * ask share one answer. While every connection of the pool is in use a good answer is
 * believed for `busyMs`: a probe in line with the requests would only tell that the process
 * is busy, and taking it away would make the others busier.
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
    // One that is still without an answer is waited for again, rather than joined by others.
    asked ??= ask();
    const isLate = sleep(ANSWER_TIMEOUT_MS, true, { ref: false });
    if (await Promise.race([asked, isLate])) problem = SILENT;
  });
  return async () => {
    await refresh();
    return problem;
  };
}
