import type { Transaction } from '../../database.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { type AnyPayment, refOf } from './payment-store.ts';

/** Past its deadline a payment is on the support list; it has not failed by that. */
export function isOverdue(payment: AnyPayment, now = Date.now()): boolean {
  return now > payment.deadline_at.getTime();
}

/** Puts an open payment on the support list if it is overdue. What it does next goes on. */
export async function reportIfOverdue(
  trx: Transaction,
  payment: AnyPayment,
  why: string,
): Promise<void> {
  if (!isOverdue(payment)) return;
  await openDiscrepancy(trx, {
    kind: 'overdue',
    payment: refOf(payment),
    amountCents: payment.amount_cents,
    details: { deadline_at: payment.deadline_at.toISOString(), why },
  });
}
