import type { Transaction } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { type DiscrepancyKind, openDiscrepancy } from '../discrepancies/discrepancy.ts';
import type { GatewayPaymentKind, Succeeded } from '../gateway-results.ts';
import { type JournalLine, postNewJournal } from '../ledger/post-journal.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import { insertMovement, type Movement, type MovementRef } from './movements.ts';

/*
 * Money that a gateway has moved waits in suspense until somebody has decided about it.
 */

/** Returns a movement's amount as suspense carries it, in cents. Money that came in is positive. */
export function suspenseCents(kind: GatewayPaymentKind, amountCents: number): number {
  return kind === 'collection' ? amountCents : -amountCents;
}

/** Books a movement that is not the payment's own. */
export async function bookToSuspense(
  trx: Transaction,
  payment: AnyPayment,
  news: Succeeded,
): Promise<Movement> {
  const movement = await insertMovement(trx, payment, news, 'suspense');
  const cents = suspenseCents(payment.kind, movement.amount_cents);
  await postMovement(trx, movement, 'suspense', [
    { account: 'gateway_float', amount_cents: -cents },
    { account: 'suspense', amount_cents: cents },
  ]);
  return movement;
}

/** Books a movement to suspense and asks support to decide. The payment's next step waits. */
export async function keepInSuspense(
  trx: Transaction,
  payment: AnyPayment,
  news: Succeeded,
  kind: DiscrepancyKind,
): Promise<'discrepancy'> {
  const movement = await bookToSuspense(trx, payment, news);
  await openDiscrepancy(trx, {
    kind,
    payment: refOf(payment),
    movement_id: movement.id,
    trans_id: movement.trans_id,
    amount_cents: movement.amount_cents,
    details: { asked_cents: payment.amount_cents, account: news.account },
  });
  // A failed payout keeps its money until the decision, so its refund waits too.
  if (isOpen(payment) || payment.next_step !== null) {
    await changeStep(trx, refOf(payment), { park: `discrepancy: ${kind}` });
  }
  return 'discrepancy';
}

/** Posts a journal of a movement, once per kind. @throws Error when it was posted before. */
export async function postMovement(
  trx: Transaction,
  { merchant_id, id }: MovementRef,
  kind: 'suspense' | 'returned' | 'cleared',
  lines: JournalLine[],
): Promise<void> {
  await postNewJournal(trx, { merchant_id, source_kind: 'movement', source_id: id, kind, lines });
}
