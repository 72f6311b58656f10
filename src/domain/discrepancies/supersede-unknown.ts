import { rows, type Transaction } from '../../connections/database.ts';
import { sameAccount } from '../settlement/same-account.ts';
import { IS_BY_HAND } from './booked-by-hand.ts';
import {
  IS_THIS_DIRECTION,
  IS_UNKNOWN,
  isThisDirection,
  isUnexplained,
  KEEPING_DECISION,
  type MoneyOfPayment,
  mayBeUnexplained,
  type ToldMovement,
} from './unknown-money.ts';

/** The kinds about money that no payment here explained when it was reported. */
const UNEXPLAINED = ['unknown_movement', 'unknown_payment'] as const;

/** Money that a payment has no more, with the movement of it. */
interface ReleasedMoney extends MoneyOfPayment {
  id: string;
  merchant_id: number;
  payment_id: string;
}

/** SQL: a reference of the payment stands for the receipt, or the receipt is this one. */
const IS_NAMED = '(trans_id IS NULL OR trans_id = :trans_id OR trans_id = ANY (:references))';

/** SQL: lines without a receipt list the money at two times: it may have moved twice. */
const IS_OF_TWO_TIMES = `(trans_id IS NOT DISTINCT FROM details->>'reference' AND (
    SELECT max(at) - min(at) > interval '1 minute' FROM jsonb_array_elements(evidence) AS e,
      LATERAL (SELECT CAST(e->'details'->>'completed_at' AS timestamptz) AS at) AS line
    WHERE NOT CAST(e->'decided' AS boolean)) IS TRUE)`;

/** SQL: lines list money of two accounts under the receipt: a bank writes one reference for a batch. */
const IS_OF_TWO_ACCOUNTS = `EXISTS (SELECT FROM jsonb_array_elements(evidence) AS one, jsonb_array_elements(evidence) AS other
    WHERE NOT CAST(one->>'decided' AS boolean) AND NOT CAST(other->>'decided' AS boolean)
      AND NOT ${sameAccount("(one->'details'->>'account')", "(other->'details'->>'account')")})`;

/** SQL: a line without a receipt lists the money, and a callback has told of as much under its reference before. */
const IS_THE_SECOND = `(kind = 'unknown_movement' AND trans_id = details->>'reference' AND EXISTS (
    SELECT FROM discrepancies first, jsonb_array_elements(first.evidence) AS e
    WHERE first.${IS_UNKNOWN} AND first.kind = 'unknown_payment' AND first.gateway = :gateway
      AND first.details->>'reference' = discrepancies.trans_id
      AND CAST(e->>'amount_cents' AS bigint) = discrepancies.amount_cents
      AND CAST(e->>'found_at' AS timestamptz) < (
        SELECT min(CAST(own->>'found_at' AS timestamptz))
        FROM jsonb_array_elements(discrepancies.evidence) AS own)))`;

/** SQL: the payment that had the money, and has it no more. */
const KEEPING_OWNER = `CASE WHEN details ? 'booked_for'
    THEN jsonb_build_object('was_booked_for', details->'booked_for') ELSE '{}' END`;

/** SQL: evidence `e` names a reference of the payment, or has only the receipt. */
const IS_THIS_MOVEMENT = `CASE WHEN e->'details'->>'reference' IS NOT NULL
  THEN e->'details'->>'reference' = ANY (:references)
  ELSE trans_id = :trans_id AND ${isThisDirection("coalesce(payment_kind, e->'details'->>'kind')")} END`;

/** SQL: evidence `e` names the amount, or one of the two names none. */
const SAME_AMOUNT = `coalesce(CAST(e->>'amount_cents' AS bigint) = :amount_cents, true)`;

/**
 * Takes a movement that was not explained off the support list, because something has explained
 * it: a payment that a restored database did not have has come again, or a callback has named it.
 * The movement is known by a reference, or by its receipt if nothing else was known. It stays on the list when
 * other facts were found under the same receipt, as another account, or the same ones at two times without a receipt, or when somebody has
 * dismissed it before or booked it by hand.
 * @param movement.known_as is our reference, if the payment has had its money before. A line under that reference without
 * a receipt is about other money
 */
export async function supersedeUnknown(
  trx: Transaction,
  movement: MoneyOfPayment & Pick<ToldMovement, 'amount_cents'> & { known_as?: string | null },
  kinds: readonly (typeof UNEXPLAINED)[number][] = UNEXPLAINED,
): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET resolved_at = now(), resolution = 'superseded'
     WHERE ${isUnexplained('SELECT unnest(CAST(:references AS text[]))')}
       AND kind = ANY (:kinds) AND resolved_at IS NULL AND gateway = :gateway
       AND NOT coalesce(details->'decided_before'->>'as' = 'dismissed', false)
       AND NOT details ? 'booked_for' AND NOT ${IS_BY_HAND}
       AND ${IS_NAMED} AND coalesce(trans_id <> :known_as, true) AND NOT ${IS_OF_TWO_TIMES}
       AND NOT ${IS_OF_TWO_ACCOUNTS} AND NOT ${IS_THE_SECOND}
       AND evidence_complete AND NOT EXISTS (
         SELECT FROM jsonb_array_elements(evidence) AS e
         WHERE NOT CAST(e->'decided' AS boolean)
           AND NOT (coalesce(${IS_THIS_MOVEMENT}, false) AND ${SAME_AMOUNT}))`,
    { known_as: null, ...movement, kinds },
  );
}

/**
 * Puts such a movement back on the support list, because what explained it was wrong. Somebody may have
 * dismissed it because of that explanation.
 */
export async function reopenUnknown(trx: Transaction, movement: ReleasedMoney): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET opened_at = now(), details = (${KEEPING_DECISION}) - 'booked_for' || ${KEEPING_OWNER},
       resolved_at = NULL, resolution = NULL, resolved_by = NULL, resolved_reason = NULL
     WHERE ${mayBeUnexplained('SELECT unnest(CAST(:references AS text[]))')} AND gateway = :gateway
       -- The payment that has had this money, by an open question, has it no more.
       AND (resolved_at IS NULL AND details ? 'booked_for' AND ${IS_NAMED} AND ${IS_THIS_DIRECTION}
           -- A reference stands for all money of the payment.
           AND (coalesce(trans_id = :trans_id, CAST(:trans_id AS text) IS NULL)
             OR trans_id = ANY (:references) AND NOT EXISTS (SELECT FROM movements m
               WHERE m.merchant_id = :merchant_id AND m.payment_kind = :payment_kind
                 AND m.payment_id = :payment_id AND m.id <> :id AND m.booked <> 'undone'))
         OR resolution = 'dismissed' AND trans_id = :trans_id AND ${IS_THIS_DIRECTION}
         OR resolution IN ('superseded', 'dismissed') AND ${IS_NAMED}
           AND EXISTS (SELECT FROM jsonb_array_elements(evidence) AS e WHERE ${IS_THIS_MOVEMENT}))`,
    movement,
  );
}
