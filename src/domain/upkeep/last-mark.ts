import { firstRow, type Transaction } from '../../connections/database.ts';
import type { Collection } from '../payments/collection.ts';

/** Written down with a payment that is treated as sent. */
export const WHY_MAYBE_SENT = 'Restored from a backup: it may have been sent since';

/** When `restore mark` was last run, in SQL; null when never. Its index has the same condition. */
export const LAST_MARK = `(
  SELECT max(happened_at) FROM audit_log WHERE action = 'restore.mark')`;

/** Whether a collection was there before the database was restored from a backup and marked. */
export async function isFromBeforeRestore(
  trx: Transaction,
  { merchant_id, id }: Collection,
): Promise<boolean> {
  const found = await firstRow(
    trx,
    `SELECT 1 FROM collections
     WHERE merchant_id = :merchant_id AND id = :id AND created_at < ${LAST_MARK}`,
    { merchant_id, id },
  );
  return found !== undefined;
}
