import { type Database, firstRow } from '../../src/connections/database.ts';
import { databaseProblem } from '../../src/connections/database-fault.ts';
import { migrate } from '../../src/connections/migrations.ts';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import type { Config } from '../../src/process/config.ts';
import { findFreePort } from '../sandbox/embedded/port.ts';
import { BenchError } from './bench-error.ts';

/** The highest that the settings allow: limits are not what is measured. */
const RATE_LIMIT = '100000';
/** What of the caller's environment reaches the service; the rest would make figures differ. */
const PASSED = ['PATH', 'HOME', 'TMPDIR', 'NODE_OPTIONS', 'DATABASE_POOL_MAX', 'LOG_LEVEL'];

/** The environment of the service's processes: on loopback alone, and hardly limited. */
export async function environmentOf(
  databaseUrl: string,
  redisUrl = process.env.REDIS_URL,
): Promise<NodeJS.ProcessEnv> {
  const port = await findFreePort();
  const passed = PASSED.map((name) => [name, process.env[name]] as const);
  return {
    ...Object.fromEntries(passed.filter(([, value]) => value)),
    MALIPO_ENV: 'sandbox',
    DATABASE_URL: databaseUrl,
    ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    RATE_LIMIT_PER_MINUTE: RATE_LIMIT,
    RATE_LIMIT_BURST: RATE_LIMIT,
  };
}

/** What the service stores in, as the report names it. */
export interface Stores {
  postgres: string;
  queueBackend: string;
}

/** Makes all tables, those of the queues included. @throws BenchError when one cannot be used */
export async function prepareStores(database: Database, config: Config): Promise<Stores> {
  refuseDistantRedis(config.redisUrl);
  const problem = await databaseProblem(database);
  if (problem) throw new BenchError(problem);
  await migrate(database);
  const backend = createQueueBackend(config);
  await backend.migrate();
  const queueProblem = await backend.problem();
  if (queueProblem) throw new BenchError(queueProblem);
  const row = await firstRow<{ version: string }>(
    database,
    "SELECT current_setting('server_version') AS version",
  );
  return { postgres: row!.version, queueBackend: backend.name };
}

function refuseDistantRedis(url: string | undefined): void {
  const host = url && new URL(url).hostname;
  if (!host || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host)) return;
  throw new BenchError('REDIS_URL must be on this machine: the bench does not leave it');
}
