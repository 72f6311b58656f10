import { hasRow, type Transaction } from '../../connections/database.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { ARE_UNSURE } from '../settlement/sources.ts';
import type { DiscrepancyKind } from './discrepancy.ts';

/*
 * Questions leave the support list when later news, or another decision, has answered them.
 */

/**
 * Takes the open questions of a payment off the support list that a condition names.
 * @param condition is SQL on the discrepancy `d`
 * @returns whether there were any
 */
export function supersedeWhere(
  trx: Transaction,
  { kind, merchant_id, id }: PaymentRef,
  condition: string,
  bindings: object = {},
): Promise<boolean> {
  return hasRow(
    trx,
    `UPDATE discrepancies d SET resolved_at = now(), resolution = 'superseded'
     WHERE d.merchant_id = :merchant_id AND d.payment_kind = :kind AND d.payment_id = :id
       AND d.resolved_at IS NULL AND (${condition}) RETURNING d.id`,
    { kind, merchant_id, id, ...bindings },
  );
}

/** SQL: the finding `e` of the discrepancy `d` that nobody has decided about, and for which a condition holds. */
export function hasUndecided(condition: string): string {
  return `EXISTS (SELECT FROM jsonb_array_elements(d.evidence) AS e
    WHERE NOT CAST(e->'decided' AS boolean) AND ${condition})`;
}

/**
 * Takes discrepancies off the support list because later news has settled them.
 * @param news.heardAt is the time of the news, if that was before now. It settles only older ones.
 * @param news.receipt is the payment's own by now. Questions about the receipt are settled as well. A large success is
 * settled by its own receipt, or by news without one if it is the only one.
 * @param news.movement_id is a movement that is taken back. The question about it is settled as well.
 * @returns whether there were any.
 */
export async function supersedeDiscrepancies(
  trx: Transaction,
  payment: PaymentRef,
  kinds: DiscrepancyKind[],
  {
    heardAt = null,
    receipt = null,
    movement_id = null,
  }: {
    heardAt?: Date | null;
    receipt?: string | null;
    movement_id?: string | null;
  } = {},
): Promise<boolean> {
  return supersedeWhere(
    trx,
    payment,
    `(d.kind = ANY (:kinds) AND (d.kind <> 'unconfirmed_success' OR ${IS_OF_THIS_SUCCESS})
       OR d.kind = 'receipt_of_another' AND d.trans_id = :receipt AND NOT ${IS_ADOPTED}
       OR d.movement_id = :movement_id)
     AND (CAST(:heard_at AS timestamptz) IS NULL OR :heard_at >= (
       SELECT max(CAST(e->>'found_at' AS timestamptz)) FROM jsonb_array_elements(d.evidence) AS e))`,
    { kinds, heard_at: heardAt, receipt, movement_id },
  );
}

/** SQL: the large success has this receipt or none, or no receipt is told and it is the only one. */
const IS_OF_THIS_SUCCESS = `(d.trans_id IS NULL OR CASE WHEN CAST(:receipt AS text) IS NOT NULL
  THEN d.trans_id = :receipt ELSE NOT EXISTS (SELECT FROM discrepancies o
    WHERE o.merchant_id = d.merchant_id AND o.payment_id = d.payment_id
      AND o.kind = 'unconfirmed_success' AND o.resolved_at IS NULL AND o.trans_id <> d.trans_id) END)`;

/** SQL: the question is about adopted money, which is booked twice until somebody decides. */
const IS_ADOPTED = `EXISTS (SELECT FROM adoptions a WHERE a.taken_back_at IS NULL
  AND a.merchant_id = CAST(d.details->>'adopted_for' AS bigint)
  AND a.id = CAST(d.details->>'adoption' AS uuid))`;

/** The detail of a missing movement that only a file lacks, and not the gateway's own statement. */
export const LACKED_BY_FILE = { lacked_by: 'file' };

/**
 * Ends the question why a statement lacks money of a payment: another statement lists that money, or the
 * payment has it no more.
 * @param receipt is what the books had for the money: null if it had none
 * @param lackedBy is 'files' for the questions that only files have opened
 */
export async function endMissing(
  trx: Transaction,
  payment: PaymentRef,
  receipt: string | null,
  lackedBy: 'anything' | 'files' = 'anything',
): Promise<void> {
  await supersedeWhere(
    trx,
    payment,
    `d.kind = 'missing_at_gateway' AND (d.trans_id IS NOT DISTINCT FROM :receipt
       -- The money may have got its receipt since the question was asked.
       OR d.trans_id IS NULL AND NOT EXISTS (SELECT FROM movements m
         WHERE m.merchant_id = d.merchant_id AND m.payment_kind = d.payment_kind
           AND m.payment_id = d.payment_id AND m.trans_id IS NULL AND m.booked <> 'undone'))
     ${lackedBy === 'files' ? `AND NOT ${hasUndecided("NOT e->'details' @> CAST(:by_file AS jsonb)")}` : ''}`,
    { receipt, by_file: JSON.stringify(LACKED_BY_FILE) },
  );
}

/**
 * Ends the questions in which only people have told another amount or account of booked money, because the gateway's own
 * statement lists that money as it is booked.
 */
export async function endWrongRows(
  trx: Transaction,
  payment: PaymentRef,
  receipt: string | null,
): Promise<void> {
  await supersedeWhere(
    trx,
    payment,
    `d.kind IN ('other_amount', 'other_account') AND d.movement_id IS NULL
     AND d.evidence_complete AND coalesce(d.trans_id = :receipt, true)
     AND NOT ${hasUndecided(`coalesce(e->>'told_by', '') NOT IN ${ARE_UNSURE}`)}`,
    { receipt },
  );
}
