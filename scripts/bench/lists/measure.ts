import { BenchError } from '../bench-error.ts';
import { type Figure, latencyFigure } from '../figures.ts';
import type { LoadOrder, LoadResult } from '../load/order.ts';
import type { ScenarioResult, ScenarioRun } from '../scenario.ts';
import type { Stage } from '../stage.ts';
import { type ListCase, labelOf, listCases } from './cases.ts';
import { explainCases } from './plans.ts';
import { seedLists } from './seed.ts';

const SCENARIO = 'lists';
/** What a page may take. */
const LIMIT_MS = 150;
/** Each request is measured so often in a row; the rounds are far apart. */
const REPEATS_COUNT = 15;
const WARM_UPS_COUNT = 3;
const ROUNDS_COUNT = 2;
/** No case holds up the others for longer. */
const CASE_DURATION_MS = 30_000;
const ANSWER_TIMEOUT_MS = 30_000;

/** How long each page of each list takes, asked for by one caller, for a merchant with many. */
export async function measureLists(run: ScenarioRun): Promise<ScenarioResult> {
  const { stage, options } = run;
  const { databaseUrl } = stage.config;
  const facts = await seedLists(databaseUrl, stage.merchants, options.rowsCount, run.say);
  const cases = listCases(facts, new Date());
  const urls = await Promise.all(cases.map((one) => urlOf(stage, one)));
  const rounds: LoadResult[][] = cases.map(() => []);
  for (let round = 1; round <= ROUNDS_COUNT; round += 1) {
    for (const [index, one] of cases.entries()) {
      run.say(`round ${round} of ${ROUNDS_COUNT}: ${labelOf(one)}`);
      const token = await stage.tokenOf(stage.merchants[0]!);
      rounds[index]!.push(await stage.generator.run(orderOf(urls[index]!, token)));
    }
  }
  const figures = cases.map((one, index) => figureOf(one, rounds[index]!));
  const failed = rounds.flat().find(({ firstError }) => firstError !== null);
  return {
    figures,
    notes: notesOf(figures, facts),
    plans: options.plans ? await explainCases(stage, cases, urls, run.say) : [],
    firstError: failed?.firstError ?? null,
  };
}

function figureOf(one: ListCase, rounds: LoadResult[]): Figure {
  return latencyFigure(SCENARIO, labelOf(one), rounds, LIMIT_MS);
}

function notesOf(figures: Figure[], facts: { collections: number; transactions: number }) {
  const slow = figures.filter(({ over }) => over === 'median').length;
  const once = figures.filter(({ over }) => over === 'worst').length;
  return [
    `one merchant with ${facts.collections} collections and ${facts.transactions} wallet transactions, freshly vacuumed`,
    `${slow} of ${figures.length} cases take over ${LIMIT_MS} ms in the median, ${once} more in their worst sample`,
  ];
}

function orderOf(url: string, token: string): LoadOrder {
  return {
    work: { kind: 'get', url, token },
    concurrency: 1,
    warmUp: { count: WARM_UPS_COUNT, durationMs: CASE_DURATION_MS },
    measured: { count: REPEATS_COUNT, durationMs: CASE_DURATION_MS },
  };
}

async function urlOf(stage: Stage, { path, query, followTo }: ListCase): Promise<string> {
  const url = new URL(`${stage.baseUrl}${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  if (followTo === undefined) return url.href;
  // As a caller comes by it: the walk begins at the first page; in between pages are skipped.
  const token = await stage.tokenOf(stage.merchants[0]!);
  const second = new URL(await nextOf(url.href, token));
  if (followTo === 2) return second.href;
  second.searchParams.set('page', String(followTo - 1));
  return nextOf(second.href, token);
}

async function nextOf(url: string, token: string): Promise<string> {
  const answer = await fetch(url, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  });
  const { next } = (await answer.json()) as { next?: string | null };
  if (!answer.ok || !next) throw new BenchError(`${url} has no next page (HTTP ${answer.status})`);
  return next;
}
