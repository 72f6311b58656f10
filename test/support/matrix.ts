import { type BackendName, backendsUnderTest } from './environment.ts';

/**
 * Decides how much of what can be tested many times is tested. `npm test` runs each case where
 * the code differs. `MATRIX=full`, as in `npm run test:full`, runs each everywhere.
 */
const IS_FULL = process.env.MATRIX === 'full';

/** Returns the backends for a flow that must be the same on all: one of them, or all. */
export function flowBackends(preferred: BackendName): BackendName[] {
  const backends = backendsUnderTest();
  if (IS_FULL) return backends;
  return [backends.includes(preferred) ? preferred : 'postgres'];
}

/** Returns the values of a field that go all the way to the database: the first one, or all. */
export function valuesThroughApi<Value>(values: readonly Value[]): readonly Value[] {
  return IS_FULL ? values : values.slice(0, 1);
}

const QUICK_HISTORIES_COUNT = 30;

/** The random histories of payments that are played. `HISTORIES=20000` plays more. */
export const HISTORIES_COUNT = historiesCount(1_000);
/** The same through Daraja's driver, of which each takes longer. */
export const DARAJA_HISTORIES_COUNT = historiesCount(300);

/** The random histories of payouts that come back. */
export const BOUNCES_COUNT = historiesCount(300);

function historiesCount(full: number): number {
  return Number(process.env.HISTORIES ?? (IS_FULL ? full : QUICK_HISTORIES_COUNT));
}

/** The random requests that each operation of the API gets. */
export const FUZZED_REQUESTS_COUNT = IS_FULL ? 40 : 10;
