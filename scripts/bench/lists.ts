import { DAY_MS } from '../../src/time.ts';
import { runRequests } from './load.ts';
import { BenchError } from './options.ts';
import { type BenchMerchant, createMerchants } from './payments.ts';
import { measureInRounds } from './report.ts';
import { fillBySql } from './seed-by-sql.ts';
import { type Stage, startService } from './stage.ts';

/** Every list with every filter, and the combinations that people ask for. */
const COMMON = `page=1 page=DEEP page=NEXT page_size=1 page_size=100 DAY MONTH YEARS
  ref_no=KNOWN ref_no=unknown ref_no=KNOWN&YEARS`;
const PHONES = `phone=FREQUENT phone=RARE phone=%2B254799999999 phone=FREQUENT&MONTH
  phone=FREQUENT&YEARS`;
const CASES = {
  '/collections/checkouts': `${COMMON} status=3 status=3&page=DEEP status=2 status=2&page=DEEP
    status=1 status=0 status=2&DAY status=3&MONTH status=0&MONTH status=3&YEARS status=0&YEARS`,
  '/collections/list': `${COMMON} ${PHONES} status=completed status=failed status=pending
    status=failed&MONTH status=pending&MONTH status=failed&YEARS phone=FREQUENT&status=completed`,
  '/wallets/transactions': `${COMMON} ${PHONES} wallet=collection wallet=collection&page=DEEP
    wallet=payout type=collection type=transfer type=topup type=payout wallet=payout&type=topup
    wallet=collection&MONTH wallet=payout&MONTH type=transfer&MONTH wallet=payout&YEARS`,
};
/** Periods in days before today: an ordinary day, a month, and everything. */
const PERIODS = { DAY: [385, 385], MONTH: [400, 371], YEARS: [730, 0] };
const LIMIT_MS = 150;
const REPEATS_COUNT = 15;
const WARM_UPS_COUNT = 3;

/** Measures how long each page of each list takes, asked for by one caller, among many rows. */
export async function measureLists(stage: Stage): Promise<void> {
  const { findings, options, baseUrl } = stage;
  const [main, other] = await createMerchants(stage, 2);
  const known = await seed(stage, main!, other!);
  // After the seed, so that its sessions tell the plans of slow statements.
  await startService(stage, { types: ['web'] });
  const request = () => ({ headers: { authorization: `Bearer ${main!.access}` } });
  const cases = listCases(known).map(({ name, path }) => ({ name, url: `${baseUrl}${path}` }));
  for (const one of cases.filter(({ name }) => name.endsWith('NEXT'))) {
    one.url = await deepByNext(one.url, Number(known.DEEP), request());
  }
  const figures = await measureInRounds(findings, cases, async ({ url }) => {
    await runRequests(url, { concurrency: 1, count: WARM_UPS_COUNT }, request);
    return runRequests(url, { concurrency: 1, count: REPEATS_COUNT }, request);
  });
  for (const figure of figures) {
    figure.perSecond = Number.NaN;
    if (figure.worstMs > LIMIT_MS) figure.tooSlow = figure.medianMs > LIMIT_MS ? 'median' : 'worst';
  }
  const numberOf = (over: string) => figures.filter(({ tooSlow }) => tooSlow === over).length;
  findings.notes.push(
    `one merchant with ${options.rows} collections and ${known.TRANSACTIONS} wallet transactions, freshly vacuumed; page DEEP is ${known.DEEP}`,
    `${numberOf('median')} of ${figures.length} cases take over ${LIMIT_MS} ms in the median, ${numberOf('worst')} more in their worst sample; plans of slow statements are in postgres.log`,
  );
}

/** Makes the cases. @param known the values of the words in capitals, but for the periods */
export function listCases(known: Record<string, string>): { name: string; path: string }[] {
  const dayOf = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
  const periods = Object.entries(PERIODS).map(([name, [from, to]]) => {
    return [name, `date_from=${dayOf(from!)}&date_to=${dayOf(to!)}`];
  });
  const values = { NEXT: '1', ...known, ...Object.fromEntries(periods) };
  return Object.entries(CASES).flatMap(([list, queries]) =>
    queries.split(/\s+/).map((query) => {
      const filledIn = query.replace(/\b[A-Z]{3,}\b/g, (word) => values[word]);
      return { name: `${list}?${query}`, path: `${list}?${filledIn}` };
    }),
  );
}

/** @returns the values of the words in capitals */
function seed(stage: Stage, main: BenchMerchant, other: BenchMerchant) {
  const { rows } = stage.options;
  return fillBySql(stage, new URL('./lists-seed.sql', import.meta.url), {
    main_id: main.merchant_id,
    main_app: main.app_code,
    other_id: other.merchant_id,
    other_app: other.app_code,
    // Every eleventh is the other's.
    rows,
    total: rows + Math.floor(rows / 10),
  });
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
