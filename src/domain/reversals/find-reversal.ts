import { type Database, firstRow } from '../../connections/database.ts';
import { paymentColumns } from '../payments/payment-summary.ts';
import type { Reversal } from '../payments/reversal.ts';

/** A merchant's reversal by its reference, which must be one in form. */
export async function findReversal(
  database: Database,
  merchantId: number,
  refNo: string,
): Promise<Reversal | undefined> {
  const reversal = await firstRow<Reversal>(
    database,
    `SELECT ${paymentColumns('reversals')} FROM reversals
     WHERE merchant_id = :merchant_id AND ref_no = :ref_no`,
    { merchant_id: merchantId, ref_no: refNo },
  );
  return reversal && { ...reversal, kind: 'reversal' };
}
