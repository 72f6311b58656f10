import { hasRow, type Transaction } from '../../connections/database.ts';
import type { Collection } from '../payments/kinds.ts';

/** SQL: when `restore mark` was last run, or null. An index has the same condition. */
export const LAST_MARK = `(
  SELECT max(happened_at) FROM audit_log WHERE action = 'restore.mark' AND reason IS NOT NULL)`;

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

/** The backup may be older than the mark by the first time. Up to the second one after it, payments come again and are listed. */
const FORGETS = { before: '31 days', after: '7 days' };

/**
 * SQL: money that moved at this time may be of a payment that was created later: a restore has forgotten the payment, and
 * its merchant has sent it again.
 */
export function mayHaveComeAgain(movedAt: string, createdAt: string): string {
  return `(${createdAt} BETWEEN ${LAST_MARK} AND ${LAST_MARK} + interval '${FORGETS.after}' AND ${movedAt} BETWEEN ${LAST_MARK} - interval '${FORGETS.before}'
    AND ${LAST_MARK} + interval '${FORGETS.after}')`;
}

/**
 * SQL: the first moment at which money may have moved of a payment that was created at this time, unless that is `since`:
 * a restore may have forgotten the payment.
 */
export function movedSince(since: string, createdAt: string): string {
  return `least(${since}, CASE WHEN ${createdAt} BETWEEN ${LAST_MARK} AND ${LAST_MARK} + interval '${FORGETS.after}'
    THEN ${LAST_MARK} - interval '${FORGETS.before}' END)`;
}
