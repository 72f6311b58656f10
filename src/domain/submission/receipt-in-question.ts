import { latestMoment } from '../reconciliation/days-alone.ts';
import { sameAccount } from '../settlement/same-account.ts';
import { HAS_UNSURE_RECEIPT } from '../settlement/sources.ts';

/*
 * A reversal and a return name the receipt of the money that they give back. Under a wrong one the gateway would give
 * the money of somebody else back, so neither goes while the receipt is in question.
 */

/**
 * SQL: only people have told this receipt for the collection `c`, the gateway has told it for another payment, and nobody
 * has decided about that.
 * @param isUnsure is SQL for the first part
 */
const isToldForAnother = (receipt: string, isUnsure: string) => `EXISTS (SELECT FROM discrepancies d
           WHERE d.resolved_at IS NULL AND d.gateway = c.gateway AND d.trans_id = ${receipt}
             AND d.payment_kind = 'collection' AND d.payment_id <> c.id
             AND d.kind IN ('receipt_of_another', 'unconfirmed_success', 'unknown_payment', 'other_payment')
             -- After a restore the payment may have come again under its reference.
             AND NOT coalesce(d.details->>'reference' IN (CAST(c.reference AS text), c.external_ref), false)
             AND ${isUnsure})`;

/** SQL: the gateway itself has not told the receipt of the collection `c` for it. */
const IS_UNSURE_HERE = `EXISTS (SELECT FROM movements m WHERE m.merchant_id = c.merchant_id
             AND m.payment_kind = 'collection' AND m.payment_id = c.id AND m.booked = 'settled'
             AND ${HAS_UNSURE_RECEIPT})`;

/** SQL: an earlier reversal of the collection `c` has succeeded after all, and nobody has decided what that means. */
const HAS_SECOND_REVERSAL = `EXISTS (SELECT FROM discrepancies d JOIN reversals o
             ON o.merchant_id = d.merchant_id AND o.id = d.payment_id AND o.collection_id = c.id
           WHERE d.merchant_id = c.merchant_id AND d.payment_kind = 'reversal'
             AND d.kind = 'second_reversal' AND d.resolved_at IS NULL)`;

/**
 * SQL: a statement lists that this money of the collection `c` went back to its phone, and nobody has decided what that is:
 * somebody may have reversed it in the portal of the gateway.
 */
const isListedAsBack = (account: string, cents: string) => `EXISTS (SELECT FROM discrepancies d
           WHERE d.resolved_at IS NULL AND d.kind = 'unknown_movement' AND d.gateway = c.gateway
             AND d.details->>'kind' = 'reversal' AND d.amount_cents = ${cents}
             AND coalesce(${sameAccount("(d.details->>'account')", account)}, false)
             AND ${latestMoment("CAST(d.details->>'completed_at' AS timestamptz)")} >= c.created_at)`;

/** SQL: the account that paid the collection `c`, as far as it is known. */
const PAID_BY = `coalesce((SELECT m.account FROM movements m WHERE m.merchant_id = c.merchant_id
             AND m.payment_kind = 'collection' AND m.payment_id = c.id AND m.booked = 'settled' LIMIT 1), c.payfrom)`;

/**
 * SQL: another payment may own the receipt of the collection `c`. Or the gateway itself has not told that receipt for
 * the collection, and tells another one, or lists other money that may be the collection's. A reversal that names
 * such a receipt would take the money of another payment back. Or the money may have gone back already: the gateway
 * has failed the collection, an earlier reversal has succeeded late, a statement lists that it went back, or somebody had
 * it sent back before it came here. Or it may be other money: a statement
 * lacks it, or tells another amount or phone.
 */
export const IS_IN_QUESTION = `(EXISTS (SELECT FROM discrepancies d
           WHERE d.merchant_id = c.merchant_id AND d.payment_kind = 'collection'
             AND d.payment_id = c.id AND d.resolved_at IS NULL
             AND (d.kind IN ('receipt_of_another', 'doubted', 'failure_after_success', 'missing_at_gateway')
               -- The gateway tells other money under the receipt, and would give that money back.
               OR d.kind IN ('other_amount', 'other_account') AND d.movement_id IS NULL
               OR d.kind = 'unconfirmed_success' AND coalesce(d.trans_id = c.trans_id, true)
               OR d.kind IN ('second_success', 'unconfirmed_success') AND ${IS_UNSURE_HERE}))
           OR ${isToldForAnother('c.trans_id', IS_UNSURE_HERE)}
           OR ${HAS_SECOND_REVERSAL}
           OR ${isListedAsBack(PAID_BY, 'c.amount_cents')}
           OR EXISTS (SELECT FROM movements m JOIN discrepancies d
             ON d.resolved_at IS NULL AND d.kind = 'unknown_movement' AND d.gateway = m.gateway
               AND d.amount_cents = m.amount_cents AND d.details->'candidates' ?
                 ('collection ' || c.id || ' of merchant ' || c.merchant_id)
             WHERE m.merchant_id = c.merchant_id AND m.payment_kind = 'collection'
               AND m.payment_id = c.id AND m.booked = 'settled' AND ${HAS_UNSURE_RECEIPT})
           OR EXISTS (SELECT FROM discrepancies d
             WHERE d.resolved_at IS NULL AND d.kind IN ('unknown_movement', 'unknown_payment')
               AND d.gateway = c.gateway AND d.details->>'booked_for'
                 = 'collection ' || c.id || ' of merchant ' || c.merchant_id))`;

/**
 * SQL: the money of the collection `c` is of another phone than the reversal would pay. The reversal waits until somebody
 * fails it, and the merchant asks for another one.
 */
export const hasOtherPayer = (account: string) => `EXISTS (SELECT FROM movements m
           WHERE m.merchant_id = c.merchant_id AND m.payment_kind = 'collection'
             AND m.payment_id = c.id AND m.booked = 'settled' AND m.account <> ${account})`;

/**
 * SQL: the receipt that the return `row` names is in question. The gateway tells other money under it, its statement
 * lacks that money, or somebody doubts it. Or only people have told the receipt, and a question of its collection names
 * another one or another owner. Or it is told for another payment. Or a statement lists that the money went back.
 */
export function hasReceiptInQuestion(row: string): string {
  return `EXISTS (SELECT FROM movements m JOIN collections c
      ON c.merchant_id = m.merchant_id AND c.id = m.payment_id
    WHERE m.merchant_id = ${row}.merchant_id AND m.id = ${row}.movement_id
      AND (${isListedAsBack('coalesce(m.account, c.payfrom)', 'm.amount_cents')}
        OR EXISTS (SELECT FROM discrepancies d
          WHERE d.merchant_id = c.merchant_id AND d.payment_kind = 'collection' AND d.payment_id = c.id
            AND d.resolved_at IS NULL
            AND (d.kind IN ('second_success', 'unconfirmed_success', 'receipt_of_another')
                AND ${HAS_UNSURE_RECEIPT}
              OR (d.kind IN ('missing_at_gateway', 'doubted', 'unconfirmed_success')
                  OR d.kind IN ('other_amount', 'other_account') AND d.movement_id IS NULL)
                AND coalesce(d.trans_id = m.trans_id, true)))
        OR ${isToldForAnother(`${row}.original_trans_id`, HAS_UNSURE_RECEIPT)}))`;
}
