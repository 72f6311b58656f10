import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type Database, firstRow } from '../../../src/connections/database.ts';
import { messageOf } from '../../../src/connections/database-errors.ts';
import { BenchError } from '../bench-error.ts';
import type { ScenarioRun } from '../scenario.ts';
import { LOG_FOLDER } from '../stage.ts';

const SAMPLE_INTERVAL_MS = 3_000;
const SAMPLES_PER_LINE = 10;

const BYTES_PER_MIB = 1_024 ** 2;
const KIB_PER_MIB = 1_024;

/** What a moment of a soak looks like. */
export interface Sample {
  /** Since the load began. */
  atMs: number;
  /** Resident memory by process. */
  rssMib: Record<string, number>;
  /** Open files and connections by process. */
  handles: Record<string, number>;
  /** What Redis has in use; null without Redis. */
  redisMib: number | null;
  /** Clients' connections to PostgreSQL. */
  connections: number;
  outboxRows: number;
  /** How long the oldest row of the outbox has been due. */
  outboxOldestMs: number;
  /** Payments with a step before them. */
  openPayments: number;
  /** Events without a number, and webhooks that are not delivered. */
  undelivered: number;
}

/**
 * Looks at everything again and again until the load is over. Each sample is also a line
 * of a file, which is named at the beginning.
 * @param pids processes by name.
 * @throws BenchError where there is no /proc to ask, or when a process is gone
 */
export async function sampleUntil(
  load: Promise<unknown>,
  { stage, say }: ScenarioRun,
  pids: ReadonlyMap<string, number>,
): Promise<Sample[]> {
  if (process.platform !== 'linux') {
    throw new BenchError('Memory is read from /proc: the soak needs Linux');
  }
  const { redisUrl } = stage.config;
  const redis = redisUrl ? new Redis(redisUrl) : null;
  const file = join(LOG_FOLDER, 'soak.jsonl');
  say(`samples: ${file}`);
  let isOver = false;
  const over = load.finally(() => {
    isOver = true;
  });
  const samples: Sample[] = [];
  const startedAt = performance.now();
  try {
    while (!isOver) {
      const sample = await takeSample(startedAt, { pids, database: stage.database, redis });
      samples.push(sample);
      appendFileSync(file, `${JSON.stringify(sample)}\n`);
      if (samples.length % SAMPLES_PER_LINE === 0) say(lineOf(sample));
      await Promise.race([over, sleep(SAMPLE_INTERVAL_MS)]);
    }
    return samples;
  } finally {
    redis?.disconnect();
  }
}

function lineOf({ atMs, rssMib, openPayments, undelivered, outboxRows }: Sample): string {
  const memory = Object.entries(rssMib).map(([name, mib]) => `${name} ${Math.round(mib)}`);
  return `${Math.round(atMs / 1_000)} s: ${openPayments} open, ${undelivered} not delivered, ${outboxRows} in the outbox; MiB: ${memory.join(', ')}`;
}

interface Watched {
  pids: ReadonlyMap<string, number>;
  database: Database;
  redis: Redis | null;
}

async function takeSample(startedAt: number, { pids, database, redis }: Watched): Promise<Sample> {
  const [backlog, redisMib] = await Promise.all([backlogOf(database), usedMib(redis)]);
  return {
    atMs: Math.round(performance.now() - startedAt),
    rssMib: byProcess(pids, rssMib),
    handles: byProcess(pids, (pid) => readdirSync(`/proc/${pid}/fd`).length),
    redisMib,
    ...backlog,
  };
}

type Backlog = Pick<
  Sample,
  'connections' | 'outboxRows' | 'outboxOldestMs' | 'openPayments' | 'undelivered'
>;

async function backlogOf(database: Database): Promise<Backlog> {
  const row = await firstRow<Backlog>(
    database,
    `SELECT
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')
         AS connections,
       (SELECT count(*) FROM outbox) AS "outboxRows",
       (SELECT CAST(coalesce(greatest(0, extract(epoch FROM now() - min(run_at)) * 1000), 0)
          AS float8) FROM outbox) AS "outboxOldestMs",
       (SELECT count(*) FROM collections WHERE next_step IS NOT NULL)
         + (SELECT count(*) FROM payouts WHERE next_step IS NOT NULL) AS "openPayments",
       (SELECT count(*) FROM events WHERE sequence IS NULL)
         + (SELECT count(*) FROM webhook_deliveries WHERE next_step IS NOT NULL) AS undelivered`,
  );
  return row!;
}

async function usedMib(redis: Redis | null): Promise<number | null> {
  if (!redis) return null;
  const [, bytes] = /^used_memory:(\d+)/m.exec(await redis.info('memory')) ?? [];
  return Number(bytes) / BYTES_PER_MIB;
}

function byProcess(
  pids: ReadonlyMap<string, number>,
  read: (pid: number) => number,
): Record<string, number> {
  return Object.fromEntries(
    [...pids].map(([name, pid]) => {
      try {
        return [name, read(pid)];
      } catch (error) {
        throw new BenchError(`Nothing is known of the ${name} process: ${messageOf(error)}`);
      }
    }),
  );
}

function rssMib(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kib) / KIB_PER_MIB;
}
