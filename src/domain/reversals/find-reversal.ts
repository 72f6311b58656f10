import { type Database, firstRow } from '../../connections/database.ts';
import { paymentColumns } from '../payments/payment-summary.ts';
import type { Reversal } from '../payments/reversal.ts';

/** A reversal by the name that its merchant gave it. */
export type ReversalName = Pick<Reversal, 'merchant_id' | 'ref_no'>;

/** Finds a merchant's reversal by its reference. */
export async function findReversal(
  database: Database,
  name: ReversalName,
): Promise<Reversal | undefined> {
  return firstRow<Reversal>(
    database,
    `SELECT ${paymentColumns('reversal', 'reversals')} FROM reversals
     WHERE merchant_id = :merchant_id AND ref_no = :ref_no`,
    name,
  );
}
