import { ARE_OF_PEOPLE, BEST_SOURCE } from './sources.ts';

/*
 * A movement that was taken back was never the payment's, or its money has moved, and is back. The answers of support
 * tell which.
 */

/** SQL: support has answered a question `d` about the payment of the movement `m` as if money were back. */
const isAnswered = (question: string) => `EXISTS (SELECT FROM discrepancies d
    WHERE d.merchant_id = m.merchant_id AND d.payment_kind = m.payment_kind
      AND d.payment_id = m.payment_id AND d.resolution IN ('returned', 'undo') AND (${question}))`;

/** SQL: the movement `m` waited in suspense by the line of a file, and somebody has called that wrong. */
const IS_WRONG_LINE = `EXISTS (SELECT FROM discrepancies wrong
    WHERE wrong.merchant_id = m.merchant_id AND wrong.payment_kind = m.payment_kind
      AND wrong.payment_id = m.payment_id AND wrong.trans_id = m.trans_id
      AND wrong.kind IN ('second_success', 'other_amount', 'other_account') AND wrong.resolution = 'undo')`;

/**
 * SQL: support has said that the money of the movement `m` is back: by a row that brings it back, or a failure that the
 * gateway has told of the payment. What support alone has told has perhaps never moved, and the line of a file, which
 * somebody has taken out of suspense, may have been wrong.
 */
export const IS_BACK = isAnswered(`d.details->>'movement' = CAST(m.id AS text)
    OR ${BEST_SOURCE} NOT IN ${ARE_OF_PEOPLE} AND coalesce(d.trans_id = m.trans_id, true)
      AND d.kind NOT IN ('missing_at_gateway', 'receipt_of_another', 'doubted')
    OR ${BEST_SOURCE} <> 'support' AND (d.trans_id = m.trans_id
        AND (d.kind IN ('undone_money', 'paid_after_refund') OR d.resolution = 'returned')
      OR d.kind = 'failure_after_success' AND d.resolution = 'undo' AND NOT ${IS_WRONG_LINE})`);

/**
 * SQL: the movement `m` was the money of its payment, which is back. It is still the money of this payment, and of no
 * other one. The line of a file that was taken out of suspense may have been wrong.
 */
export const HAS_GONE_BACK = `(m.booked = 'undone'
  AND ${isAnswered(`(d.trans_id = m.trans_id OR d.movement_id = m.id) AND (d.kind = 'undone_money'
    OR d.kind IN ('paid_after_failure', 'paid_after_refund') AND ${BEST_SOURCE} NOT IN ${ARE_OF_PEOPLE})`)}
  AND NOT EXISTS (SELECT FROM movements own WHERE own.gateway = m.gateway
    AND own.trans_id = m.trans_id AND own.booked <> 'undone'
    AND (own.payment_kind = 'collection') = (m.payment_kind = 'collection')))`;
