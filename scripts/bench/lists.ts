import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp } from '../../src/api/app.ts';
import { rows } from '../../src/connections/database.ts';
import { createService } from '../../src/process/boot.ts';
import { createLogger } from '../../src/process/logger.ts';
import { listCases } from './lists-cases.ts';
import { runRequests } from './load.ts';
import { BenchError } from './options.ts';
import { type BenchMerchant, createMerchants } from './payments.ts';
import { measureInRounds, say } from './report.ts';
import { type Stage, startService } from './stage.ts';

/** What a page may take. */
const LIMIT_MS = 150;
/** Each request is measured so often in a row; the rounds are far apart. */
const REPEATS_COUNT = 15;
const WARM_UPS_COUNT = 3;
/** The statements of a list, and not those that find out who is calling. */
const LIST_STATEMENT = /FROM (collections|entries)\b/;

/** Measures how long each page of each list takes, asked for by one caller, among many rows. */
export async function measureLists(stage: Stage): Promise<void> {
  const { findings, options, baseUrl } = stage;
  await startService(stage, ['web']);
  const [main, other] = await createMerchants(stage, 2);
  const known = await seed(stage, main!, other!);
  const request = () => ({ headers: { authorization: main!.bearer() } });
  const cases = listCases(known).map(({ name, path }) => ({ name, url: `${baseUrl}${path}` }));
  for (const one of cases.filter(({ name }) => name.endsWith('by-next'))) {
    one.url = await deepByNext(one.url, Number(known['page deep']), request());
  }
  const figures = await measureInRounds(findings, cases, async ({ url }) => {
    await runRequests(url, { connections: 1, amount: WARM_UPS_COUNT, request });
    return runRequests(url, { connections: 1, amount: REPEATS_COUNT, request });
  });
  for (const figure of figures) {
    figure.perSecond = Number.NaN;
    if (figure.worstMs > LIMIT_MS) figure.tooSlow = figure.medianMs > LIMIT_MS ? 'median' : 'worst';
  }
  const numberOf = (over: string) => figures.filter(({ tooSlow }) => tooSlow === over).length;
  findings.notes.push(
    `one merchant with ${options.rows} collections and ${known.transactions} wallet transactions, freshly vacuumed; the deep page is page ${known['page deep']}`,
    `${numberOf('median')} of ${figures.length} cases take over ${LIMIT_MS} ms in the median, ${numberOf('worst')} more in their worst sample`,
  );
  if (options.plans) await explain(stage, cases, request);
}

/** Fills the tables by the parts of the SQL file. @returns the row of the last part */
async function seed({ connect, options }: Stage, main: BenchMerchant, other: BenchMerchant) {
  const numbers: Record<string, number> = {
    ...{ main_id: main.merchant_id, main_app: main.app_code },
    ...{ other_id: other.merchant_id, other_app: other.app_code },
    rows: options.rows,
    // Every eleventh is the other's.
    total: options.rows + Math.floor(options.rows / 10),
  };
  const text = readFileSync(new URL('./lists-seed.sql', import.meta.url), 'utf8');
  const filledIn = text.replace(
    /:(main_\w+|other_\w+|rows|total)/g,
    (_, name) => `${numbers[name]}`,
  );
  // One connection, because the first part holds for its session.
  const database = connect(1, true);
  let found: Record<string, string>[] = [];
  for (const part of filledIn.split(/^--- /m).slice(1)) {
    const startedAt = performance.now();
    found = await rows(database, `-- ${part}`);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    say(`seed: ${part.split('\n', 1)} in ${seconds} s`);
  }
  return found[0]!;
}

/** Comes to a page by `next` from the first page on, as a caller does, but skips those between. */
async function deepByNext(url: string, page: number, request: RequestInit): Promise<string> {
  const nextOf = async (address: string) => {
    const answer = await fetch(address, request);
    const { next } = (await answer.json()) as { next?: string | null };
    if (!next) throw new BenchError(`${address} has no next page (HTTP ${answer.status})`);
    return next;
  };
  const second = new URL(await nextOf(url));
  second.searchParams.set('page', String(page - 1));
  return nextOf(second.href);
}

/** Explains the statements that the service's own code sends for each case, in this process. */
async function explain(
  { config, connect, database, findings }: Stage,
  cases: { name: string; url: string }[],
  request: () => RequestInit,
): Promise<void> {
  const watched = connect(2);
  const statements: { sql: string; bindings: Record<string, unknown> }[] = [];
  watched.on('query', (query) => statements.push(query));
  const service = createService(config, createLogger('error', 'bench'), watched);
  const server = createServer(createApp(service));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const { name, url } of cases) {
    say(`plan: ${name}`);
    const answer = await fetch(url.replace(config.publicUrl, origin), request());
    await answer.text();
    for (const { sql, bindings } of statements.splice(0)) {
      if (!LIST_STATEMENT.test(sql)) continue;
      // The event has numbered the placeholders.
      const explained = `EXPLAIN (ANALYZE, BUFFERS) ${sql.replace(/\$\d+/g, '?')}`;
      const lines = await rows<{ 'QUERY PLAN': string }>(database, explained, bindings);
      findings.plans.push({ name, text: lines.map((line) => line['QUERY PLAN']).join('\n') });
    }
  }
  server.close();
}
