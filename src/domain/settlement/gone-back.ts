import { IS_OF_TWO } from '../reconciliation/statement.ts';

/*
 * A movement that was taken back was never the payment's, or its money has moved, and is back. Each answer of support
 * keeps with the movement which of the two it says.
 */

/** SQL: support has said that the money of the movement `m` is back. */
export const IS_BACK = 'm.back_at IS NOT NULL';

/** SQL: the movement `m` was the money of its payment, which is back. It is still the money of this payment, and of no other one. */
export const HAS_GONE_BACK = `(m.booked = 'undone' AND ${IS_BACK}
  AND NOT EXISTS (SELECT FROM movements own WHERE own.gateway = m.gateway
    AND own.trans_id = m.trans_id AND own.booked <> 'undone'
    AND (own.payment_kind = 'collection') = (m.payment_kind = 'collection')))`;

/**
 * SQL: a statement had listed the movement `m` before support said, for the last time, that its money is back. The one
 * that is compared now, `:import_id`, may have begun before.
 */
export const WAS_LISTED = `EXISTS (SELECT FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
    WHERE i.gateway = m.gateway AND i.started_at < m.back_at
      AND i.id IS DISTINCT FROM CAST(:import_id AS uuid) AND l.trans_id = m.trans_id AND NOT l.undecided
      -- A file of one person silences no other statement.
      AND ${IS_OF_TWO})`;
