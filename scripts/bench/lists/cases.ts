import type { SeedFacts } from './seed.ts';

type Query = Readonly<Record<string, string | number>>;

/** One request to measure. */
export interface ListCase {
  /** Below the API's base address. */
  path: string;
  name: string;
  query: Query;
  /** Measured is the page of this number, come to by `next` from the one before. */
  followTo?: number;
}

/** The page that is far down, where the data go as far. */
const DEEP_PAGE = 1_000;
const DAY_MS = 86_400_000;
const SEEDED_DAYS = 730;
/** An ordinary month and day of the past: a year and more ago. */
const MONTH_BEGAN_DAYS = 400;
const MONTH_ENDED_DAYS = 371;
const DAY_DAYS = 385;

const CHECKOUTS = '/collections/checkouts';
const DEPRECATED = '/collections/list';
const TRANSACTIONS = '/wallets/transactions';
const PAGE_SIZES: Readonly<Record<string, number>> = {
  [CHECKOUTS]: 20,
  [DEPRECATED]: 50,
  [TRANSACTIONS]: 20,
};

/** What the report calls a case. */
export function labelOf({ path, name }: ListCase): string {
  return `${path}: ${name}`;
}

/** Every list with every filter, and the combinations that people ask for. */
export function listCases(facts: SeedFacts, now: Date): ListCase[] {
  const days = daysOf(now);
  return [
    ...pagingCases(CHECKOUTS, facts.collections),
    ...filterCases(CHECKOUTS, facts.collections, [
      ...checkoutFilters(days),
      ...common(facts, days),
    ]),
    ...pagingCases(DEPRECATED, facts.collections),
    ...filterCases(DEPRECATED, facts.collections, [
      ...deprecatedFilters(days),
      ...common(facts, days),
      ...phoneFilters(facts, days),
      ['phone + status completed', { phone: facts.frequent, status: 'completed' }],
    ]),
    ...pagingCases(TRANSACTIONS, facts.transactions),
    ...filterCases(TRANSACTIONS, facts.transactions, [
      ...transactionFilters(days),
      ...common(facts, days),
      ...phoneFilters(facts, days),
    ]),
  ];
}

interface Days {
  day: Query;
  month: Query;
  all: Query;
}

function daysOf(now: Date): Days {
  const ago = (days: number) => new Date(now.getTime() - days * DAY_MS).toISOString().slice(0, 10);
  return {
    day: { date_from: ago(DAY_DAYS), date_to: ago(DAY_DAYS) },
    month: { date_from: ago(MONTH_BEGAN_DAYS), date_to: ago(MONTH_ENDED_DAYS) },
    all: { date_from: ago(SEEDED_DAYS), date_to: ago(0) },
  };
}

function pagingCases(path: string, count: number): ListCase[] {
  const page = deepPage(path, count);
  return [
    { path, name: 'first page', query: {} },
    { path, name: `page ${page} by number`, query: { page } },
    { path, name: `page ${page} by next`, query: {}, followTo: page },
    { path, name: 'count alone (page_size=1)', query: { page_size: 1 } },
    { path, name: 'page_size=100', query: { page_size: 100 } },
  ];
}

type NamedQuery = readonly [name: string, query: Query];

/** The page of a query is the deep one; here it becomes one that there is. */
function filterCases(path: string, count: number, filters: NamedQuery[]): ListCase[] {
  const page = deepPage(path, count);
  return filters.map(([name, query]) => ({
    path,
    name,
    query: 'page' in query ? { ...query, page } : query,
  }));
}

/** Half as far when the data end before. */
function deepPage(path: string, count: number): number {
  return Math.max(2, Math.min(DEEP_PAGE, Math.floor(count / PAGE_SIZES[path]! / 2)));
}

function common({ ref_no }: SeedFacts, { day, month, all }: Days): NamedQuery[] {
  return [
    ['day', day],
    ['month', month],
    ['all two years', all],
    ['ref_no', { ref_no }],
    ['ref_no, unknown', { ref_no: 'none' }],
    ['ref_no + all two years', { ref_no, ...all }],
  ];
}

function phoneFilters({ frequent, rare }: SeedFacts, { month, all }: Days): NamedQuery[] {
  return [
    ['phone, frequent', { phone: frequent }],
    ['phone, rare', { phone: rare }],
    ['phone, unknown', { phone: '+254799999999' }],
    ['phone + month', { phone: frequent, ...month }],
    ['phone + all two years', { phone: frequent, ...all }],
  ];
}

function checkoutFilters({ day, month, all }: Days): NamedQuery[] {
  return [
    ['status 3 completed', { status: 3 }],
    ['status 3 completed, deep page', { status: 3, page: DEEP_PAGE }],
    ['status 2 failed', { status: 2 }],
    ['status 2 failed, deep page', { status: 2, page: DEEP_PAGE }],
    ['status 1 processing', { status: 1 }],
    ['status 0 pending', { status: 0 }],
    ['status 2 + day', { status: 2, ...day }],
    ['status 3 + month', { status: 3, ...month }],
    ['status 0 + month', { status: 0, ...month }],
    ['status 3 + all two years', { status: 3, ...all }],
    ['status 0 + all two years', { status: 0, ...all }],
  ];
}

function deprecatedFilters({ month, all }: Days): NamedQuery[] {
  return [
    ['status completed', { status: 'completed' }],
    ['status failed', { status: 'failed' }],
    ['status pending', { status: 'pending' }],
    ['status failed + month', { status: 'failed', ...month }],
    ['status pending + month', { status: 'pending', ...month }],
    ['status failed + all two years', { status: 'failed', ...all }],
  ];
}

function transactionFilters({ month, all }: Days): NamedQuery[] {
  return [
    ['wallet collection', { wallet: 'collection' }],
    ['wallet collection, deep page', { wallet: 'collection', page: DEEP_PAGE }],
    ['wallet payout', { wallet: 'payout' }],
    ['type collection', { type: 'collection' }],
    ['type transfer', { type: 'transfer' }],
    ['type topup', { type: 'topup' }],
    ['type payout (there are none)', { type: 'payout' }],
    ['wallet payout + type topup', { wallet: 'payout', type: 'topup' }],
    ['wallet collection + month', { wallet: 'collection', ...month }],
    ['wallet payout + month', { wallet: 'payout', ...month }],
    ['type transfer + month', { type: 'transfer', ...month }],
    ['wallet payout + all two years', { wallet: 'payout', ...all }],
  ];
}
