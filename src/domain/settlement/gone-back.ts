import { ARE_OF_PEOPLE, BEST_SOURCE } from './sources.ts';

/*
 * A movement that was taken back was never the payment's, or its money has moved, and is back. The answers of support
 * tell which.
 */

/** SQL: support has answered a question `d` about the payment of the movement `m` as if money were back. */
const isAnswered = (question: string) => `EXISTS (SELECT FROM discrepancies d
    WHERE d.merchant_id = m.merchant_id AND d.payment_kind = m.payment_kind
      AND d.payment_id = m.payment_id AND d.resolution IN ('returned', 'undo') AND (${question}))`;

/** SQL: the question `d` may be about the receipt of the movement `m`. */
const MAY_BE_ABOUT = 'coalesce(d.trans_id = m.trans_id, true)';

/**
 * SQL: support has said that the money of the movement `m` is back. What support alone has told has perhaps never moved,
 * unless a row has brought it back.
 */
export const IS_BACK = isAnswered(`d.details->>'movement' = CAST(m.id AS text)
    OR ${BEST_SOURCE} <> 'support' AND ${MAY_BE_ABOUT}
      AND d.kind NOT IN ('missing_at_gateway', 'receipt_of_another', 'doubted')`);

/**
 * SQL: the movement `m` was the money of its payment, which is back. It is still the money of this payment, and of no
 * other one. The line of a file that was taken out of suspense may have been wrong.
 */
export const HAS_GONE_BACK = `(m.booked = 'undone'
  AND ${isAnswered(`d.trans_id = m.trans_id AND (d.kind = 'undone_money'
    OR d.kind IN ('paid_after_failure', 'paid_after_refund') AND ${BEST_SOURCE} NOT IN ${ARE_OF_PEOPLE})`)}
  AND NOT EXISTS (SELECT FROM movements own WHERE own.gateway = m.gateway
    AND own.trans_id = m.trans_id AND own.booked <> 'undone'))`;
