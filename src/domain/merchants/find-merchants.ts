import { type Database, firstRow, rows } from '../../connections/database.ts';
import { MINUTE_MS } from '../../time.ts';
import type { MerchantRecord } from './merchant.ts';

/** A merchant in a list. */
export type MerchantHit = Pick<MerchantRecord, 'id' | 'name' | 'active' | 'approved'>;

/** Shorter parts of a name would find nearly everybody. */
const MIN_PART_LENGTH = 3;

/** Finds merchants by id, e-mail address or a part of the name, in the order of their names. */
export function findMerchants(
  database: Database,
  what: string,
  limit: number,
): Promise<MerchantHit[]> {
  const part = what.length < MIN_PART_LENGTH ? null : what;
  return rows<MerchantHit>(
    database,
    `SELECT id, name, active, approved FROM merchants
     WHERE CAST(id AS text) = :what OR lower(email) = lower(:what)
       OR position(lower(CAST(:part AS text)) IN lower(name)) > 0
     ORDER BY name, id LIMIT :limit`,
    { what, part, limit },
  );
}

/** A changed name shows in prompts this long after the change at the latest. */
const MAX_AGE_MS = MINUTE_MS;
const MAX_NAMES = 10_000;

export type MerchantNames = ReturnType<typeof createMerchantNames>;

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
