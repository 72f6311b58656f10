import { accountOfQuestion } from '../discrepancies/row-back.ts';
import { IS_BACK } from '../settlement/gone-back.ts';
import { showsAccount } from '../settlement/rows-of-movements.ts';

/* SQL conditions of rows that bring money back, at the payments that they may bring back. */

/** SQL: `d` is about a row, at the payout that it may bring back. */
export const IS_ROW = "(d.kind = 'failure_after_success' AND d.details ? 'has_come_back')";

/**
 * SQL: the money that the row `d` brings back is back, or somebody is asked whether it is, and nobody has told another
 * amount of it since. It may be several parts, and may have been booked twice under its receipt. A row of the same name
 * with another account is another one.
 */
export const IS_EXPLAINED = `EXISTS (SELECT FROM movements m
    WHERE m.gateway = d.gateway AND m.row_back = d.trans_id AND (${IS_BACK} OR m.booked = 'undoing')
      AND ${showsAccount(accountOfQuestion('d'))}
    GROUP BY m.payment_id HAVING max(m.amount_cents) = d.amount_cents
      OR sum(m.amount_cents) = d.amount_cents)`;

/** SQL: somebody is asked whether the payout of `d` has failed. */
export const IS_ASKED = `EXISTS (SELECT FROM discrepancies q WHERE q.merchant_id = d.merchant_id
    AND q.payment_kind = d.payment_kind AND q.payment_id = d.payment_id
    AND q.kind = 'failure_after_success' AND q.resolved_at IS NULL)`;

/** SQL: `d` is the row that brings the movement `own` back. */
export const IS_ROW_OF_MONEY = `(d.kind = 'failure_after_success' AND d.gateway = own.gateway
    AND d.trans_id = own.row_back AND d.merchant_id = own.merchant_id
    AND d.payment_kind = own.payment_kind AND d.payment_id = own.payment_id)`;

/** SQL: nobody has assigned the row `d` to its payment, nor answered it there. */
export const IS_NOTED = `(d.resolved_by IS NULL AND NOT d.evidence @@ 'exists($[*].details.assigned_by)')`;

/** SQL: somebody has dismissed the row `d`, whichever payment it was of. */
export const WAS_DISMISSED = `EXISTS (SELECT FROM discrepancies q WHERE q.kind = 'money_back' AND q.gateway = d.gateway
    AND q.trans_id = d.trans_id AND q.resolution = 'dismissed')`;

/** SQL: nobody has said that the row `d` is its payment's, nor dismissed it as such: it fitted that one alone. */
export const IS_UNASSIGNED = `(NOT d.evidence @@ 'exists($[*].details.assigned_by)' AND NOT ${WAS_DISMISSED})`;

/** SQL: nor has anybody answered it there. */
export const IS_UNDECIDED = `(d.resolved_by IS NULL AND ${IS_UNASSIGNED})`;

/** SQL: the row `d` does not name the payment `p`, nor has it the receipt of its money. */
export const IS_UNNAMED = `(NOT coalesce(d.details->>'reference' IN (CAST(p.reference AS text), p.external_ref), false)
    AND NOT EXISTS (SELECT FROM movements n WHERE n.gateway = d.gateway AND n.trans_id = d.details->>'receipt'
      AND n.payment_id = d.payment_id))`;
