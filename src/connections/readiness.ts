import { atMostEvery, waitAtMost } from '../time.ts';
import { type Database, firstRow, poolOf } from './database.ts';
import { IS_READ_ONLY, messageOf } from './database-errors.ts';
import { connectionAdvice, POSTGRES_SETTINGS } from './database-warnings.ts';

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

/** PostgreSQL 15: the migrations' SQL needs it. */
const MIN_SERVER_VERSION = 150_000;

type Use = 'read' | 'write';

/** Says in one line why the database cannot be used, or null when it can. Never throws. */
export async function databaseProblem(database: Database, use?: Use): Promise<string | null> {
  try {
    return await databaseFault(database, use);
  } catch (error) {
    const said = connectionAdvice(error, POSTGRES_SETTINGS) ?? messageOf(error);
    return `DATABASE_URL cannot be used: ${said}`;
  }
}

/** Says the same of a database that answers. @throws Error when it does not */
export async function databaseFault(
  database: Database,
  use: Use = 'write',
): Promise<string | null> {
  const found = await firstRow<{ version: number; isStandby: boolean; isReadOnly: boolean }>(
    database,
    `SELECT current_setting('server_version_num')::int AS version,
       pg_is_in_recovery() AS "isStandby",
       ${IS_READ_ONLY} AS "isReadOnly"`,
  );
  if (!found || found.version < MIN_SERVER_VERSION) {
    return 'DATABASE_URL is a PostgreSQL older than 15: upgrade the server';
  }
  if (use === 'read' || !found.isReadOnly) return null;
  return `DATABASE_URL can only be read: ${found.isStandby ? STANDBY : READ_ONLY_DATABASE}`;
}

const STANDBY = 'it is a standby. Give the address of the primary, or promote it';
const READ_ONLY_DATABASE =
  'default_transaction_read_only is on, as when its provider has found the disk full. Make room, then end that';

/** Returns the role of a connection. A pooler may use another one than its address names. */
export async function currentRole(database: Database): Promise<string> {
  return (await firstRow<{ role: string }>(database, 'SELECT current_user AS role'))!.role;
}
