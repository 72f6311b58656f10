import { type Database, rows, type Transaction } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import { takeChargeBack } from '../gateway-accounts/charges.ts';
import type { Account } from '../ledger/post-journal.ts';
import { awaitsRefund } from '../payments/kinds.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, type PaymentRef, refOf } from '../payments/payment-store.ts';
import { createReturn } from '../returns/create-return.ts';
import { stepOfRefund } from '../settlement/contrary-news.ts';
import {
  type Movement,
  movementsOf,
  rebookMovement,
  releaseReceipt,
} from '../settlement/movements.ts';
import { rulesOf } from '../settlement/rules.ts';
import { postMovement, suspenseCents } from '../settlement/suspense.ts';
import { failedHere } from './resolution.ts';

/*
 * The ways of a movement out of suspense, and out of the books.
 */

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
  } else if (kind === 'undone_money') {
    await withdrawMovement(trx, payment, movement);
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

/**
 * Takes money out of suspense that has never moved, or has come back. Its receipt is free again. A
 * payout that waited for that is refunded.
 */
export async function withdrawMovement(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
): Promise<void> {
  await undoMovement(trx, payment, movement);
  const cents = suspenseCents(payment.kind, movement.amount_cents);
  // A journal `undone` of a movement belongs to a return.
  await postMovement(trx, movement, 'cleared', [
    { account: 'suspense', amount_cents: -cents },
    { account: 'gateway_float', amount_cents: cents },
  ]);
}

/**
 * Takes back support's word that money of a payment has come back. The books are as they were before
 * that money was told, so the gateway can tell of it again.
 * @returns the movements of that money
 */
export async function forgetReturned(trx: Transaction, payment: AnyPayment): Promise<Movement[]> {
  const ids = await returnedByWord(trx, payment);
  const returned = (await movementsOf(trx, payment)).filter(({ id }) => ids.includes(id));
  for (const movement of returned) await undoMovement(trx, payment, movement);
  return returned;
}

/** Returns the ids of the movements that went out for a payment and that support says have come back. */
export async function returnedByWord(
  database: Database | Transaction,
  payment: PaymentRef,
): Promise<string[]> {
  const found = await rows<{ id: string }>(
    database,
    `SELECT m.id FROM movements m JOIN discrepancies d
       ON d.merchant_id = m.merchant_id AND d.movement_id = m.id AND d.resolution = 'returned'
     WHERE m.merchant_id = :merchant_id AND m.payment_kind = :kind AND m.payment_id = :id
       AND m.payment_kind <> 'collection' AND m.booked = 'cleared'`,
    payment,
  );
  return found.map(({ id }) => id);
}

/** Fails a payment that was parked for the decision. The refund of a failed payout goes on. */
export async function failIfUndecided(
  trx: Transaction,
  payment: AnyPayment,
  description: string,
): Promise<void> {
  if (payment.kind === 'payout' && awaitsRefund(payment)) {
    await changeStep(trx, refOf(payment), await stepOfRefund(trx, payment));
    return;
  }
  if (!isOpen(payment)) return;
  const news = { ...failedHere(description), cause: 'support', heardAt: null };
  await rulesOf(payment).fail(trx, payment, news);
}

/** Records that a movement did not happen. Its receipt is free again, and its charge is taken back. */
export async function undoMovement(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
): Promise<void> {
  await rebookMovement(trx, movement, 'undone');
  await releaseReceipt(trx, payment, movement);
  await takeChargeBack(trx, movement, payment.gateway);
}
