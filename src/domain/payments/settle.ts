import type { Transaction } from '../../database.ts';
import { settleCollection } from '../collections/settle-collection.ts';
import type { Verdict } from '../gateway-results.ts';
import { settleReturn } from '../returns/settle-return.ts';
import type { AnyPayment } from './payment-store.ts';

/** What a verdict came to, in words for support and logs. */
export type Settlement =
  | 'completed'
  | 'failed'
  /** Known already; at most empty fields were filled. */
  | 'repeat'
  /** Success after a recorded failure: the money is in suspense and on its way back. */
  | 'late_success'
  /** It contradicts the payment: recorded as a discrepancy, the payment's state not moved. */
  | 'discrepancy';

/** Applies a gateway's verdict to a payment that this transaction has locked. */
export async function settle(
  trx: Transaction,
  payment: AnyPayment,
  verdict: Verdict,
  cause: string,
): Promise<Settlement> {
  return payment.kind === 'collection'
    ? settleCollection(trx, payment, verdict, cause)
    : settleReturn(trx, payment, verdict, cause);
}
