import { firstRow, type Transaction } from '../../database.ts';

/** Written down with a payment that is treated as sent. */
export const WHY_MAYBE_SENT = 'Restored from a backup: it may have been sent since';

/** As the index of the marks says it, and the command `restore mark` in the audit log. */
const IS_MARK = "action = 'restore.mark'";

/** When a restored database was last marked, in SQL: null when it never was. */
export const LAST_MARK = `(SELECT max(happened_at) FROM audit_log WHERE ${IS_MARK})`;

/** Whether the database was restored from a backup since `moment`, as far as it was marked. */
export async function isRestoredSince(trx: Transaction, moment: Date): Promise<boolean> {
  const mark = await firstRow(
    trx,
    `SELECT 1 FROM audit_log WHERE ${IS_MARK} AND happened_at > :moment LIMIT 1`,
    { moment },
  );
  return mark !== undefined;
}
