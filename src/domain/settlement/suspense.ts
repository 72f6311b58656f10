import type { Transaction } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { type DiscrepancyKind, openDiscrepancy } from '../discrepancies/discrepancy.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { type JournalLine, postNewJournal } from '../ledger/post-journal.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import type { Movement, MovementRef } from './movements.ts';

/*
 * Money that a gateway has moved waits in suspense until somebody has decided about it.
 */

/** Returns a movement's amount as suspense carries it, in cents. Money that came in is positive. */
export function suspenseCents(kind: GatewayPaymentKind, amountCents: number): number {
  return kind === 'collection' ? amountCents : -amountCents;
}

/** Posts a new movement that is not the payment's own. */
export async function postToSuspense(
  trx: Transaction,
  { kind }: AnyPayment,
  movement: Movement,
): Promise<void> {
  const cents = suspenseCents(kind, movement.amount_cents);
  await postMovement(trx, movement, 'suspense', [
    { account: 'gateway_float', amount_cents: -cents },
    { account: 'suspense', amount_cents: cents },
  ]);
}

/** Posts a new movement to suspense and asks support to decide. The payment's next step waits. */
export async function keepInSuspense(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  kind: DiscrepancyKind,
): Promise<'discrepancy'> {
  await postToSuspense(trx, payment, movement);
  await openDiscrepancy(trx, {
    kind,
    payment: refOf(payment),
    movement_id: movement.id,
    trans_id: movement.trans_id,
    amount_cents: movement.amount_cents,
    details: { asked_cents: payment.amount_cents, account: movement.account },
  });
  // A failed payout keeps its money until the decision, so its refund waits too.
  if (isOpen(payment) || payment.next_step !== null) {
    await changeStep(trx, refOf(payment), { park: `discrepancy: ${kind}` });
  }
  return 'discrepancy';
}

/**
 * Posts a journal of a movement, once per kind. `settled` takes it out of suspense because it is the
 * payment's own. It may be undone later, and then leave suspense for good as `cleared`.
 * @throws Error when it was posted before.
 */
export async function postMovement(
  trx: Transaction,
  { merchant_id, id }: MovementRef,
  kind: 'suspense' | 'settled' | 'returned' | 'cleared' | 'undone',
  lines: JournalLine[],
): Promise<void> {
  await postNewJournal(trx, { merchant_id, source_kind: 'movement', source_id: id, kind, lines });
}
