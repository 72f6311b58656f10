import type { Transaction } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { type DiscrepancyKind, openDiscrepancy } from '../discrepancies/discrepancy.ts';
import type { GatewayPaymentKind, Succeeded } from '../gateway-results.ts';
import { type JournalLine, postJournal } from '../ledger/post-journal.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import { insertMovement, type Movement } from './movements.ts';

/** Money that a gateway has moved and nobody has decided about yet waits in suspense. */

/** A movement's amount as suspense carries it, in cents: what came in is owed to somebody. */
export function suspenseCents(kind: GatewayPaymentKind, amountCents: number): number {
  return kind === 'collection' ? amountCents : -amountCents;
}

/** Books a movement that is not simply the payment's own. */
export async function bookToSuspense(
  trx: Transaction,
  payment: AnyPayment,
  news: Succeeded,
): Promise<Movement> {
  const movement = await insertMovement(trx, payment, news, 'suspense');
  const cents = suspenseCents(payment.kind, movement.amount_cents);
  await postMovement(trx, payment.merchant_id, movement.id, 'suspense', [
    { account: 'gateway_float', amount_cents: -cents },
    { account: 'suspense', amount_cents: cents },
  ]);
  return movement;
}

/**
 * Books a movement to suspense and asks support to decide. What the payment would do next
 * waits for that decision.
 */
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
  // A failed payout whose refund is still to come must keep its money until then.
  if (isOpen(payment) || payment.next_step !== null) {
    await changeStep(trx, refOf(payment), { park: `discrepancy: ${kind}` });
  }
  return 'discrepancy';
}

/** Posts what becomes of a movement, once per kind. @throws Error when it was posted before */
export async function postMovement(
  trx: Transaction,
  merchantId: number,
  movementId: string,
  kind: 'suspense' | 'returned' | 'cleared',
  lines: JournalLine[],
): Promise<void> {
  const posted = await postJournal(trx, {
    merchant_id: merchantId,
    source_kind: 'movement',
    source_id: movementId,
    kind,
    lines,
  });
  if (!posted) throw new Error(`The journal "${kind}" of movement ${movementId} was posted before`);
}
