import { setTimeout as sleep } from 'node:timers/promises';
import { atMostEvery } from './at-most-every.ts';
import { type Database, poolOf } from './database.ts';
import { databaseProblem } from './stores/database-fault.ts';

/** However many probes come: the database is asked no more often than this. */
const MAX_AGE_MS = 1_000;
/** Shorter than balancers wait. A database that takes longer is not there for requests either. */
const ANSWER_TIMEOUT_MS = 2_000;
const SILENT = 'DATABASE_URL cannot be used: no answer within two seconds';

/**
 * Tells why this process should get no requests, in one line, or null when it may. All who
 * ask share one answer. While every connection of the pool is in use the database is not
 * asked, and the answer stays as it was: a probe in line with the requests would only tell
 * that the process is busy, and taking it away would make the others busier.
 */
export function createReadiness(database: Database): () => Promise<string | null> {
  const pool = poolOf(database);
  let problem: string | null = null;
  let asked: Promise<string | null> | null = null;
  const refresh = atMostEvery(MAX_AGE_MS, async () => {
    if (!asked && pool.numUsed() >= pool.max) return;
    // One that is still without an answer is waited for again, rather than joined by others.
    asked ??= databaseProblem(database).finally(() => {
      asked = null;
    });
    const late = sleep(ANSWER_TIMEOUT_MS, SILENT, { ref: false });
    problem = await Promise.race([asked, late]);
  });
  return async () => {
    await refresh();
    return problem;
  };
}
