import type { Transaction } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { openDiscrepancy, supersedeDiscrepancies } from '../discrepancies/discrepancy.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import { countAttempts } from './attempts.ts';

const PARKED_UNTAKEN = 'overdue: the gateway has not taken it';

/** Tells whether a payment is parked because it could not be sent before its deadline. */
export function isParkedUntaken({ parked_reason }: AnyPayment): boolean {
  return parked_reason === PARKED_UNTAKEN;
}

/** Puts a payment on the support list. Support may fail it, since no attempt was taken. */
export async function parkUntaken(trx: Transaction, payment: AnyPayment): Promise<void> {
  await changeStep(trx, refOf(payment), { park: PARKED_UNTAKEN });
  await exchangeFinding(trx, payment, 'overdue', 'never_taken');
}

/** Lists a parked payment as overdue again, because it may have been sent after all. */
export async function doubtUntaken(trx: Transaction, payment: AnyPayment): Promise<void> {
  await exchangeFinding(trx, payment, 'never_taken', 'overdue');
}

/** The same finding would not open a second time. After more attempts it is another one. */
async function exchangeFinding(
  trx: Transaction,
  payment: AnyPayment,
  before: 'overdue' | 'never_taken',
  kind: 'overdue' | 'never_taken',
): Promise<void> {
  await supersedeDiscrepancies(trx, refOf(payment), [before]);
  await openDiscrepancy(trx, {
    kind,
    payment: refOf(payment),
    amount_cents: payment.amount_cents,
    details: {
      deadline_at: payment.deadline_at.toISOString(),
      attempts: await countAttempts(trx, payment),
    },
  });
}
