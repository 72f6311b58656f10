import { validate as isUuid } from 'uuid';
import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { IS_UNKNOWN } from './unknown-money.ts';

/*
 * Admins book money by hand under its name, while its question is open. The question keeps a note of it.
 */

/** The detail that names the merchant for whom an admin has booked the money by hand. */
export const BOOKED_BY_HAND = 'booked_by_hand';

/**
 * Locks the questions about money under these names. A decision about one of them, or a payment that gets the money,
 * comes before or after.
 */
export async function lockUnknown(trx: Transaction, names: readonly string[]): Promise<void> {
  await rows(
    trx,
    `SELECT FROM discrepancies WHERE ${IS_UNKNOWN} AND trans_id = ANY (:names)
     ORDER BY id FOR NO KEY UPDATE`,
    { names: [...names] },
  );
}

/**
 * Notes that money is booked by hand, with its open questions.
 * @param names are the receipt, or the reference, under which it is booked. A reference that is not ours names money
 *   without a receipt alone: customers may type the same
 */
export async function noteBookedByHand(
  trx: Transaction,
  merchant_id: number,
  names: readonly string[],
): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies
     SET details = jsonb_build_object('${BOOKED_BY_HAND}', CAST(:merchant_id AS bigint)) || details
     WHERE ${IS_UNKNOWN} AND resolved_at IS NULL
       AND (trans_id = ANY (:names) OR details->>'reference' = ANY (:references))`,
    { merchant_id, names: [...names], references: names.filter(isUuid) },
  );
}

/** SQL: the question `n` is about the money of `d`, which may be listed twice: with a receipt and without. */
const IS_SAME_MONEY = `(n.trans_id = d.trans_id
  OR n.gateway = d.gateway AND n.details->>'reference' = d.details->>'reference'
    AND (n.trans_id = n.details->>'reference' OR d.trans_id = d.details->>'reference'))`;

/** Returns the merchant for whom money is booked by hand under one of these names; null if it is not. */
export async function bookedByHandFor(
  database: Database | Transaction,
  names: readonly string[],
): Promise<number | null> {
  const found = await firstRow<{ merchant_id: number }>(
    database,
    `SELECT CAST(noted.merchant_id AS bigint) AS merchant_id
     FROM discrepancies d JOIN discrepancies n ON n.${IS_UNKNOWN} AND ${IS_SAME_MONEY},
       LATERAL (SELECT coalesce(n.details->>'${BOOKED_BY_HAND}',
         n.details->'decided_before'->'details'->>'${BOOKED_BY_HAND}') AS merchant_id) noted
     WHERE d.${IS_UNKNOWN} AND d.trans_id = ANY (:names) AND noted.merchant_id IS NOT NULL LIMIT 1`,
    { names: [...names] },
  );
  return found?.merchant_id ?? null;
}
