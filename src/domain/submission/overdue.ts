import type { Transaction } from '../../connections/database.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';

/** Puts an overdue payment on the support list. It has not failed, and its steps go on. */
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
