import { firstRow, type Transaction } from '../../connections/database.ts';
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

const ABOUT_DIFFERENCES: DiscrepancyKind[] = ['other_amount', 'other_account'];

/**
 * Corrects a movement to what the gateway has told since, before it waits in suspense. Support and some
 * answers of gateways tell no account and no amount, and what was asked for was booked. The difference
 * waits too. What the gateway told first stands, unless the decision is about the difference itself.
 * @param kind is the discrepancy that the payment is undone by
 * @returns the movement as it is now
 */
export async function correctAsTold(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  kind: DiscrepancyKind,
): Promise<Movement> {
  if (movement.told_by !== 'support' && !ABOUT_DIFFERENCES.includes(kind)) return movement;
  const told = await firstRow<Pick<Movement, 'amount_cents' | 'account'>>(
    trx,
    `UPDATE movements m SET amount_cents = coalesce(told.amount_cents, m.amount_cents),
       account = coalesce(told.account, m.account)
     FROM (
       SELECT amount_cents, details->>'account' AS account FROM discrepancies
       WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
         AND kind = ANY (:kinds) AND movement_id IS NULL
         AND coalesce(trans_id = :trans_id, true) AND resolution IS DISTINCT FROM 'dismissed'
       ORDER BY opened_at DESC LIMIT 1
     ) told WHERE m.merchant_id = :merchant_id AND m.id = :movement_id
     RETURNING m.amount_cents, m.account`,
    {
      ...refOf(payment),
      movement_id: movement.id,
      trans_id: movement.trans_id,
      kinds: ABOUT_DIFFERENCES,
    },
  );
  if (!told) return movement;
  const cents = suspenseCents(payment.kind, told.amount_cents - movement.amount_cents);
  if (cents !== 0) {
    await postMovement(trx, movement, 'corrected', [
      { account: 'gateway_float', amount_cents: -cents },
      { account: 'suspense', amount_cents: cents },
    ]);
  }
  return { ...movement, ...told };
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
  // A failed payout keeps its money until the decision, so its refund waits too. A question does not wait.
  if (isOpen(payment) || payment.next_step === 'refund') {
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
  kind: 'suspense' | 'corrected' | 'settled' | 'returned' | 'cleared' | 'undone',
  lines: JournalLine[],
): Promise<void> {
  await postNewJournal(trx, { merchant_id, source_kind: 'movement', source_id: id, kind, lines });
}
