import type { Transaction } from '../../connections/database.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';

/**
 * Puts a payment on the support list if it is overdue: it has not failed by that, and what
 * it does next goes on.
 */
export async function reportIfOverdue(
  trx: Transaction,
  payment: AnyPayment,
  why: string,
): Promise<void> {
  if (!payment.overdue) return;
  await openDiscrepancy(trx, {
    kind: 'overdue',
    payment: refOf(payment),
    amount_cents: payment.amount_cents,
    details: { deadline_at: payment.deadline_at.toISOString(), why },
  });
}
