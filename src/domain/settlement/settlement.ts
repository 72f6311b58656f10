import type { Transaction } from '../../connections/database.ts';
import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import type { Failed, Succeeded } from '../gateway-results.ts';
import type { AnyPayment } from '../payments/payment-store.ts';

/** The effect of a verdict, in words for support and logs. */
export type Settlement =
  | 'completed'
  | 'failed'
  /** Known already. At most it filled empty columns. */
  | 'repeat'
  /** Success after a recorded failure: the money is in suspense and on its way back. */
  | 'late_success'
  /** It contradicts the payment: recorded as a discrepancy, without a change of status. */
  | 'discrepancy';

/** The rules of one kind of payment for news that is neither a repeat nor contrary. */
export interface SettlingRules<P extends AnyPayment> {
  /**
   * Returns why a movement cannot be booked as the payment's own, or null when it can. The
   * payment has no movement so far.
   */
  problemOf(
    trx: Transaction,
    payment: P,
    news: Succeeded,
  ): Promise<DiscrepancyKind | null> | DiscrepancyKind | null;
  /** Books the movement and moves the payment. */
  complete(
    trx: Transaction,
    payment: P,
    news: Succeeded,
    cause: string,
  ): Promise<'completed' | 'late_success'>;
  /** Fails an open payment without any known movement. */
  fail(trx: Transaction, payment: P, news: Failed, cause: string): Promise<void>;
}
