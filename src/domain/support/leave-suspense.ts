import type { Transaction } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import type { Account } from '../ledger/post-journal.ts';
import { awaitsRefund } from '../payments/kinds.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import { REFUND_STEP } from '../payments/schedule.ts';
import { createReturn } from '../returns/create-return.ts';
import type { Movement } from '../settlement/movements.ts';
import { rebookMovement } from '../settlement/rebook-movement.ts';
import { rulesOf } from '../settlement/rules.ts';
import { postMovement, suspenseCents } from '../settlement/suspense.ts';
import { failedHere } from './resolution.ts';

/**
 * Gives the money back. A customer's payment goes back by a return of its own. Money that went
 * out has come back to the operator's account at the gateway. A return that failed was paid
 * back from the bank account.
 */
export async function returnMovement(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  kind: DiscrepancyKind,
): Promise<void> {
  if (payment.kind === 'collection') {
    await createReturn(trx, payment, movement, 'support');
  } else {
    await clearMovement(
      trx,
      payment,
      movement,
      kind === 'return_failed' ? 'bank' : 'gateway_float',
    );
  }
}

/**
 * Takes a movement out of suspense.
 * @param against is the account that it belongs to: `losses` when money went out that does not
 * come back, which is the operator's loss.
 */
export async function clearMovement(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  against: Account,
): Promise<void> {
  // The movement of a failed return is its collection's money, which came in.
  const isOwn = !(payment.kind === 'return' && movement.id === payment.movement_id);
  const cents = suspenseCents(isOwn ? payment.kind : 'collection', movement.amount_cents);
  await rebookMovement(trx, movement, 'cleared');
  await postMovement(trx, movement, 'cleared', [
    { account: 'suspense', amount_cents: -cents },
    { account: against, amount_cents: cents },
  ]);
}

/** Fails a payment that was parked for the decision. The refund of a failed payout goes on. */
export async function failIfUndecided(
  trx: Transaction,
  payment: AnyPayment,
  description: string,
): Promise<void> {
  if (payment.kind === 'payout' && awaitsRefund(payment)) {
    await changeStep(trx, refOf(payment), REFUND_STEP);
    return;
  }
  if (!isOpen(payment)) return;
  const news = { ...failedHere(description), cause: 'support', heardAt: null };
  await rulesOf(payment).fail(trx, payment, news);
}
