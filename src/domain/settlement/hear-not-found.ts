import type { Transaction } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import { submitStep } from '../payments/schedule.ts';
import { countNotFound, mayHaveArrived } from '../submission/attempts.ts';
import type { Callback } from './callback-store.ts';

/**
 * Counts a "not found" that came as the callback to a question. Once every attempt is ruled out,
 * the payment goes again, under the same reference.
 */
export async function hearNotFound(
  trx: Transaction,
  payment: AnyPayment,
  { asked_at }: Callback,
  settlingWindowMs: number,
): Promise<void> {
  // Anything but an open question means that more is known by now.
  if (asked_at === null || payment.status !== 'pending' || payment.next_step !== 'poll') return;
  await countNotFound(trx, payment, asked_at, settlingWindowMs);
  if (await mayHaveArrived(trx, payment)) return;
  await changeStep(trx, refOf(payment), submitStep(payment));
}
