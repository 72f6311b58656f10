import { readFileSync } from 'node:fs';
import pg from 'pg';
import { statementOf, valuesOf } from '../../src/connections/statement.ts';
import { startCpuCount } from './cpu-time.ts';
import { runTasks } from './load.ts';
import type { BenchMerchant } from './payments.ts';
import { type Figure, figureOf, say } from './report.ts';
import type { Stage } from './stage.ts';

/** Payments of the floor, after as many that warm up. */
const FLOOR_COUNT = 1_000;
const SEED_BATCH = 10_000;
const VACUUM = 'VACUUM (ANALYZE)';

/** The four transactions of payments. */
const OF_MANY = readFileSync(new URL('./lifecycle.sql', import.meta.url), 'utf8')
  .replace(/^--.*$/gm, '')
  .split(';\n')
  .map((sql) => sql.trim())
  .filter((sql) => sql !== '');
const SERIES = 'generate_series(CAST(:first AS bigint), CAST(:last AS bigint)) AS i';
/** The same of one payment. Of a series the planner does not know how long it is. */
const OF_ONE = OF_MANY.map((sql) =>
  sql.replace(SERIES, '(VALUES (CAST(:first AS bigint))) AS one (i)'),
);

/** The numbers of payments that have been written, in each database. */
const written = new WeakMap<Stage, number>();

/**
 * Measures the floor: the rows of a payment's life, written by bare clients of the driver. The CPU
 * time is PostgreSQL's alone.
 */
export async function measureFloor(stage: Stage, merchants: BenchMerchant[]): Promise<Figure> {
  say(`the floor: ${FLOOR_COUNT} payments by bare clients`);
  const clients = await Promise.all(merchants.map(() => connect(stage)));
  const free = merchants.map((merchant, index) => ({ merchant, client: clients[index]! }));
  const run = () =>
    runTasks(
      async () => {
        const own = free.pop()!;
        await write(OF_ONE, own.client, own.merchant, take(stage, 1));
        free.push(own);
      },
      { count: FLOOR_COUNT, concurrency: merchants.length },
    );
  await run();
  await clients[0]!.query(VACUUM);
  const cpuSince = startCpuCount(new Map([['PostgreSQL', stage.postgres.pid]]));
  const round = await run();
  const cpuMs = cpuSince().get('PostgreSQL')! / FLOOR_COUNT;
  await Promise.all(clients.map((client) => client.end()));
  return figureOf('floor: bare statements', { ...round, cpuMs });
}

/** Adds completed payments, evenly to all merchants. */
export async function seedPayments(
  stage: Stage,
  merchants: BenchMerchant[],
  count: number,
): Promise<void> {
  const client = await connect(stage);
  const each = Math.ceil(count / merchants.length);
  for (const [index, merchant] of merchants.entries()) {
    say(`seed: ${index * each} of ${count} payments`);
    for (let left = each; left > 0; left -= SEED_BATCH) {
      await write(OF_MANY, client, merchant, take(stage, Math.min(left, SEED_BATCH)));
    }
  }
  await client.query(VACUUM);
  await client.end();
}

async function connect({ postgres }: Stage): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  return client;
}

/** Numbers payments, so that no two of a database have the same id. */
function take(stage: Stage, count: number): { first: number; last: number } {
  const before = written.get(stage) ?? 0;
  written.set(stage, before + count);
  return { first: before + 1, last: before + count };
}

async function write(
  transactions: string[],
  client: pg.Client,
  { merchant_id, app_code }: BenchMerchant,
  numbers: { first: number; last: number },
): Promise<void> {
  for (const sql of transactions) {
    const statement = statementOf(sql);
    const values = valuesOf(statement, { merchant_id, app_code, ...numbers });
    await client.query({ text: statement.text, values, name: statement.name! });
  }
}
