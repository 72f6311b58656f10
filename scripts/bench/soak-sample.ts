import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type Database, firstRow } from '../../src/connections/database.ts';
import { say } from './report.ts';
import { LOG_FOLDER, type Service, type Stage } from './stage.ts';

const INTERVAL_MS = 3_000;
const SAMPLES_PER_LINE_COUNT = 10;

export const OLDEST_IN_OUTBOX = 'ms for which the oldest row of the outbox was due';

/** One moment of a soak, `atMs` after it began. The names are those of the report. */
export type Sample = { atMs: number } & Record<string, number>;

/** Takes a sample every few seconds until the work is done. Each is also a line of a file. */
export async function sampleUntil(
  work: Promise<unknown>,
  { database }: Stage,
  { pids, redisUrl }: Service,
): Promise<Sample[]> {
  const redis = redisUrl ? new Redis(redisUrl) : null;
  const samples: Sample[] = [];
  const startedAt = performance.now();
  const over = work.then(() => true);
  do {
    const sample = {
      atMs: Math.round(performance.now() - startedAt),
      ...valuesOf(pids),
      ...(redis && { 'MiB used in Redis': await usedMib(redis) }),
      ...(await backlogOf(database)),
    };
    samples.push(sample);
    appendFileSync(join(LOG_FOLDER, 'soak.jsonl'), `${JSON.stringify(sample)}\n`);
    if (samples.length % SAMPLES_PER_LINE_COUNT === 0) say(JSON.stringify(sample));
  } while (!(await Promise.race([over, sleep(INTERVAL_MS, false)])));
  redis?.disconnect();
  return samples;
}

/** Counts what waits in the database. */
async function backlogOf(database: Database): Promise<Record<string, number>> {
  const row = await firstRow<Record<string, number>>(
    database,
    `SELECT
       (SELECT CAST(coalesce(greatest(0, extract(epoch FROM now() - min(run_at)) * 1000), 0)
         AS float8) FROM outbox) AS "${OLDEST_IN_OUTBOX}",
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')
         AS "connections to PostgreSQL",
       (SELECT count(*) FROM outbox) AS "rows of the outbox",
       (SELECT count(*) FROM collections WHERE next_step IS NOT NULL)
         + (SELECT count(*) FROM payouts WHERE next_step IS NOT NULL) AS "open payments",
       (SELECT count(*) FROM events WHERE sequence IS NULL)
         + (SELECT count(*) FROM webhook_deliveries WHERE next_step IS NOT NULL)
         AS "events not delivered"`,
  );
  return row!;
}

/** Reads resident memory and open files of each process. @throws where there is no /proc */
function valuesOf(pids: ReadonlyMap<string, number>): Record<string, number> {
  const values: Record<string, number> = {};
  for (const [name, pid] of pids) {
    const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))!;
    values[`MiB of ${name}`] = Number(kib) / 1_024;
    values[`open files of ${name}`] = readdirSync(`/proc/${pid}/fd`).length;
  }
  return values;
}

async function usedMib(redis: Redis): Promise<number> {
  const [, bytes] = /^used_memory:(\d+)/m.exec(await redis.info('memory'))!;
  return Number(bytes) / 1_024 ** 2;
}
