import { availableParallelism } from 'node:os';
import { rows } from '../../src/connections/database.ts';
import { drainBacklog } from './backlog.ts';
import { type BenchMerchant, recordPayment } from './payments.ts';
import { type Figure, figureOf, say } from './report.ts';
import type { Service, Stage } from './stage.ts';

/** Those who accept, and the pool with which they do it. */
const CALLERS_COUNT = 8;
/** Until V8 has compiled what runs often, a payment costs up to twice as much. */
const WARM_UP_COUNT = 1_500;
const QUICK_WARM_UP_COUNT = 300;
/** The time between two looks at the sessions that wait for a lock. */
const LOOK_INTERVAL_MS = 100;

/**
 * Drains a backlog after a warm-up. Adds its figures to the report, under `name`.
 * @param floor is the figure that the rate is compared with.
 */
export async function drainWarm(
  stage: Stage,
  service: Service,
  merchants: BenchMerchant[],
  { name, floor, copies = 1 }: { name: string; floor: Figure; copies?: number },
): Promise<Figure> {
  const { findings, options } = stage;
  // Straight in the database: over HTTP accepting would take much of the drain's CPU time.
  const database = stage.connect(CALLERS_COUNT);
  const drain = (tag: string, count: number) =>
    drainBacklog(stage, service, {
      tag,
      merchants,
      load: { count, concurrency: CALLERS_COUNT },
      accept: (payment) => recordPayment(database, payment),
    });
  // Each process must be warm.
  const warmUp = copies * (options.quick ? QUICK_WARM_UP_COUNT : WARM_UP_COUNT);
  say(`${name}: warming up with ${warmUp} payments`);
  await drain(`warm-up ${name}`, warmUp);
  // A database in use has statistics. A new one has none yet, and plans without them.
  await rows(stage.database, 'ANALYZE');
  say(`${name}: draining ${options.payments} payments`);
  const waiting = watchLocks(stage);
  const before = await diskUse(stage);
  const { delivered, cpuNote, problems } = await drain(`drain ${name}`, options.payments);
  const lockWaits = await waiting();
  const after = await diskUse(stage);
  const each = (what: keyof DiskUse) => (after[what] - before[what]) / options.payments;
  const ratio = delivered.perSecond / floor.perSecond;
  const figure = { ...delivered, name: `${name}: ${delivered.name}`, ratio };
  findings.figures.push(figure, await toldFigure(stage, name));
  findings.problems.push(...problems);
  const used = (delivered.cpuMs * delivered.perSecond) / (10 * availableParallelism());
  findings.notes.push(
    `${name}: ${cpuNote}`,
    `${name}: the service took ${used.toFixed(0)} % of the machine's CPU time; ${lockWaits.toFixed(2)} sessions of PostgreSQL waited for a lock at a time`,
    `${name}: one payment writes ${(each('wal') / KIB).toFixed(1)} KiB of log in ${each('commits').toFixed(1)} transactions, and its rows take ${(each('size') / KIB).toFixed(1)} KiB`,
  );
  return figure;
}

const KIB = 1_024;

/** The work of PostgreSQL's disk so far: bytes of its log, transactions, and bytes of its data. */
interface DiskUse {
  wal: number;
  commits: number;
  size: number;
}

async function diskUse({ database }: Stage): Promise<DiskUse> {
  const [use] = await rows<DiskUse>(
    database,
    `SELECT CAST(pg_current_wal_insert_lsn() - '0/0' AS float8) AS wal,
       CAST(pg_database_size(current_database()) AS float8) AS size,
       (SELECT CAST(xact_commit AS float8) FROM pg_stat_database
        WHERE datname = current_database()) AS commits`,
  );
  return use!;
}

/** Watches how many sessions wait for a lock. @returns what ends it and gives the mean */
function watchLocks({ connect }: Stage): () => Promise<number> {
  const database = connect(1);
  const counts: number[] = [];
  const timer = setInterval(async () => {
    const found = await rows<{ count: number }>(
      database,
      `SELECT count(*) AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock'`,
    );
    counts.push(found[0]!.count);
  }, LOOK_INTERVAL_MS);
  return async () => {
    clearInterval(timer);
    return counts.reduce((sum, count) => sum + count, 0) / counts.length;
  };
}

/** Measures from the end of a payment to the record of its webhook, by the database's clock. */
async function toldFigure({ database }: Stage, name: string): Promise<Figure> {
  const told = await rows<{ ms: number; ended_ms: number }>(
    database,
    `SELECT CAST(extract(epoch FROM a.attempted_at - e.created_at) * 1000 AS float8) AS ms,
       CAST(extract(epoch FROM a.attempted_at) * 1000 AS float8) AS ended_ms
     FROM events e JOIN webhook_attempts a ON a.merchant_id = e.merchant_id AND a.event_id = e.id
     WHERE starts_with(CAST(e.body AS json)->'data'->>'ref_no', :tag)`,
    { tag: `drain ${name}-` },
  );
  const ended = told.map(({ ended_ms }) => ended_ms).sort((one, other) => one - other);
  const elapsedMs = ended.at(-1)! - ended[0]!;
  const figure = figureOf(`${name}: end to webhook`, {
    latenciesMs: told.map(({ ms }) => ms),
    elapsedMs,
    errors: [],
  });
  return { ...figure, perSecond: Number.NaN };
}
