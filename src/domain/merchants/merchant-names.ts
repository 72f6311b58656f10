import { type Database, firstRow } from '../../connections/database.ts';
import { MINUTE_MS } from '../../time.ts';

/** A changed name shows in prompts this long after the change at the latest. */
const MAX_AGE_MS = MINUTE_MS;
const MAX_NAMES = 10_000;

/** Returns a reader of merchants' names that asks the database once a minute for each. */
export function createMerchantNames(database: Database) {
  const known = new Map<number, { name: string; readAt: number }>();
  return async (merchantId: number): Promise<string> => {
    const found = known.get(merchantId);
    const now = performance.now();
    if (found && now - found.readAt < MAX_AGE_MS) return found.name;
    const row = await firstRow<{ name: string }>(
      database,
      'SELECT name FROM merchants WHERE id = :merchantId',
      { merchantId },
    );
    if (known.size >= MAX_NAMES) known.clear();
    const name = row?.name ?? '';
    known.set(merchantId, { name, readAt: now });
    return name;
  };
}
