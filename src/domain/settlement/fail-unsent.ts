import type { Transaction } from '../../connections/database.ts';
import { supersedeDiscrepancies } from '../discrepancies/supersede.ts';
import type { Failed } from '../gateway-results.ts';
import { lockPayment, type PaymentRef } from '../payments/payment-store.ts';
import { mayHaveArrived } from '../submission/attempts.ts';
import { rulesOf } from './rules.ts';
import type { News } from './settle.ts';
import { isToldAsDone } from './unconfirmed.ts';

/**
 * Fails a payment that waits and was never sent, because nothing is to be given back any more, or other money. Ends the
 * questions about it. Does nothing if the gateway may have it, or has called it done.
 */
export async function failUnsent(
  trx: Transaction,
  ref: PaymentRef,
  news: News<Failed>,
): Promise<void> {
  const unsent = await lockPayment(trx, ref);
  if (unsent?.status !== 'pending') return;
  if ((await mayHaveArrived(trx, unsent)) || (await isToldAsDone(trx, unsent))) return;
  await rulesOf(unsent).fail(trx, unsent, news);
  // Nothing is left that these could be about.
  await supersedeDiscrepancies(trx, ref, ['overdue', 'never_taken', 'failure_after_success']);
}
