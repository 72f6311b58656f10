import { hasRow, type Transaction } from '../../connections/database.ts';
import type { Collection } from '../payments/kinds.ts';

/** The reason that is recorded with a payment that is treated as sent. */
export const WHY_MAYBE_SENT = 'Restored from a backup: it may have been sent since';

/** SQL: when `restore mark` was last run, or null. An index has the same condition. */
export const LAST_MARK = `(
  SELECT max(happened_at) FROM audit_log WHERE action = 'restore.mark')`;

/** Checks whether a collection is older than the last `restore mark`. */
export async function isFromBeforeRestore(
  trx: Transaction,
  collection: Collection,
): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM collections
     WHERE merchant_id = :merchant_id AND id = :id AND created_at < ${LAST_MARK}`,
    collection,
  );
}
