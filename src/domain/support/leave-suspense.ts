import type { Transaction } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import type { Failed } from '../gateway-results.ts';
import type { Account } from '../ledger/post-journal.ts';
import type { Movement } from '../payments/movement.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import { awaitsRefund } from '../payments/payout.ts';
import { REFUND_STEP } from '../payments/schedule.ts';
import { createReturn } from '../returns/create-return.ts';
import { rebookMovement } from '../settlement/movements.ts';
import { failCollection } from '../settlement/settle-collection.ts';
import { failPayout } from '../settlement/settle-payout.ts';
import { failReturn } from '../settlement/settle-return.ts';
import { failReversal } from '../settlement/settle-reversal.ts';
import { postMovement, suspenseCents } from '../settlement/suspense.ts';
import { SUPPORT_RESULT_CODE } from './resolution.ts';

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
    await clear(trx, payment, movement, kind === 'return_failed' ? 'bank' : 'gateway_float');
  }
}

/** Books money that went out and does not come back as the operator's loss. */
export async function writeOffMovement(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
): Promise<void> {
  await clear(trx, payment, movement, 'losses');
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
  const news: Failed = {
    outcome: 'failed',
    code: SUPPORT_RESULT_CODE,
    description,
    externalRef: null,
  };
  await fail(trx, payment, news);
}

/** Takes a movement out of suspense. `against` is the account that it belongs to. */
async function clear(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  against: Account,
): Promise<void> {
  // The movement of a failed return is its collection's money, which came in.
  const isOwn = !(payment.kind === 'return' && movement.id === payment.movement_id);
  const cents = suspenseCents(isOwn ? payment.kind : 'collection', movement.amount_cents);
  const ref = { merchant_id: payment.merchant_id, id: movement.id };
  await rebookMovement(trx, ref, 'cleared');
  await postMovement(trx, ref, 'cleared', [
    { account: 'suspense', amount_cents: -cents },
    { account: against, amount_cents: cents },
  ]);
}

function fail(trx: Transaction, payment: AnyPayment, news: Failed): Promise<void> {
  switch (payment.kind) {
    case 'collection':
      return failCollection(trx, payment, news, 'support');
    case 'payout':
      return failPayout(trx, payment, news, 'support');
    case 'reversal':
      return failReversal(trx, payment, news, 'support');
    case 'return':
      return failReturn(trx, payment, news, 'support');
  }
}
