import pLimit, { type LimitFunction } from 'p-limit';
import { type Database, poolOf } from '../../connections/database.ts';
import { SECOND_MS } from '../../time.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { NO_INPUT } from '../schemas/validator.ts';
import { rateLimited } from './rate-limit.ts';

/*
 * A filter that matches little reads much, and holds a connection to the database meanwhile. So the lists of one
 * merchant wait for each other, and no lists take the last connection.
 */

/** Lists of one merchant that one process reads at the same time. */
const MAX_AT_ONCE = 2;
/** Lists of one merchant that wait for their turn in one process. */
const MAX_WAITING = 50;

export type ListTurns = ReturnType<typeof createListTurns>;

/** Returns a function that reads a list when it is its merchant's turn. */
export function createListTurns(database: Database) {
  const ofAll = pLimit(Math.max(1, poolOf(database).max - 1));
  const ofMerchant = new Map<number, LimitFunction>();
  /** @throws Refusal `rate_limited` when too many lists of the merchant wait */
  return <Result>(merchantId: number, read: () => Promise<Result>): Promise<Result> => {
    const turns = ofMerchant.get(merchantId) ?? pLimit(MAX_AT_ONCE);
    if (turns.pendingCount >= MAX_WAITING) throw rateLimited({ retryInMs: SECOND_MS });
    ofMerchant.set(merchantId, turns);
    return turns(() => ofAll(read));
  };
}

/** Tells whether an endpoint reads a list. */
export function isList({ query = NO_INPUT }: Pick<Endpoint, 'query'>): boolean {
  return 'page_size' in query.properties;
}
