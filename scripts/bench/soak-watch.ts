import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type Database, firstRow } from '../../src/connections/database.ts';
import { percentile, say } from './report.ts';
import { LOG_FOLDER, type Service, type Stage } from './stage.ts';

const INTERVAL_MS = 3_000;
const SAMPLES_PER_LINE_COUNT = 10;
/** The first part of the load is not judged: programs are compiled, pools and caches fill. */
export const WARM_UP_PART = 0.25;
/** The most that a figure may grow from the first to the last third. */
const GROWTH_PART = 0.1;
/** The seconds' worth of payments that may be open or not delivered on top. */
const BACKLOG_SLACK_S = 2;
/** No row of the outbox may ever be due for longer. */
const OUTBOX_MAX_AGE_MS = 5_000;
/** Fewer in a third have no median. */
const MIN_SAMPLES_COUNT = 4;
export const OLDEST_IN_OUTBOX = 'ms for which the oldest row of the outbox was due';

/** One moment of a soak, `atMs` after it began. The names are the report's names. */
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
      ...(redis && { 'MiB used in Redis': mibOf(await redis.info('memory'), 'used_memory', 1) }),
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
function valuesOf(pids: Service['pids']): Record<string, number> {
  const values: Record<string, number> = {};
  for (const [name, pid] of pids) {
    values[`MiB of ${name}`] = mibOf(readFileSync(`/proc/${pid}/status`, 'latin1'), 'VmRSS', 1_024);
    values[`open files of ${name}`] = readdirSync(`/proc/${pid}/fd`).length;
  }
  return values;
}

function mibOf(lines: string, name: string, unitBytes: number): number {
  const [, value] = new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(lines)!;
  return (Number(value) * unitBytes) / 1_024 ** 2;
}

/**
 * Says whether anything grows that must not. Cuts what comes after the warm-up into thirds.
 * The median of the last third may be a tenth above the median of the first.
 */
export function judge(samples: readonly Sample[], perSecond: number) {
  const durationMs = samples.at(-1)?.atMs ?? 0;
  const judged = samples.filter(({ atMs }) => atMs >= durationMs * WARM_UP_PART);
  const third = Math.floor(judged.length / 3);
  if (third < MIN_SAMPLES_COUNT) return { trends: [], problems: ['it was too short to judge'] };
  const { atMs, [OLDEST_IN_OUTBOX]: oldest, ...others } = judged[0]!;
  const trends = Object.keys(others).map((name) => {
    const values = judged.map((sample) => sample[name]!);
    const first = percentile(values.slice(0, third), 50);
    const last = percentile(values.slice(-third), 50);
    const percent = first === 0 ? '' : ` (${Math.round((last / first - 1) * 100)} %)`;
    const line = `${name}: ${first.toFixed(1)} to ${last.toFixed(1)}${percent}`;
    return { line, grows: last > first * (1 + GROWTH_PART) + slackOf(name, perSecond) };
  });
  const problems = trends.filter(({ grows }) => grows).map(({ line }) => `${line} grows`);
  const oldestMs = Math.max(...judged.map((sample) => sample[OLDEST_IN_OUTBOX]!));
  if (oldestMs > OUTBOX_MAX_AGE_MS) problems.push(`${OLDEST_IN_OUTBOX}: ${Math.round(oldestMs)}`);
  return { trends: trends.map(({ line }) => line), problems };
}

/** Says how much more than a tenth something may grow, where a tenth of little is nothing. */
function slackOf(name: string, perSecond: number): number {
  if (name.startsWith('open files')) return 10;
  if (name === 'MiB used in Redis') return 1;
  if (name === 'connections to PostgreSQL') return 5;
  if (name === 'rows of the outbox') return 20;
  return name.startsWith('MiB') ? 0 : perSecond * BACKLOG_SLACK_S;
}
