import type { Transaction } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import { OperatorRefusal } from '../errors.ts';
import { takeChargeBack } from '../gateway-accounts/charges.ts';
import type { Account } from '../ledger/post-journal.ts';
import { awaitsRefund } from '../payments/kinds.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import { createReturn, nameReturnedReceipt } from '../returns/create-return.ts';
import { stepOfRefund } from '../settlement/after-failure.ts';
import { countedAsReturned } from '../settlement/late-money.ts';
import {
  clearedByWord,
  type Movement,
  movementsOf,
  rebookMovement,
} from '../settlement/movements.ts';
import { isListedAsBack } from '../settlement/rows-of-movements.ts';
import { rulesOf } from '../settlement/rules.ts';
import { isSameAccount } from '../settlement/same-account.ts';
import {
  postMovement,
  suspenseCents,
  undoMovement,
  withdrawMovement,
} from '../settlement/suspense.ts';
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
    const hasMoved = isListedAsBack(await movementsOf(trx, payment), movement);
    await withdrawMovement(trx, payment, movement, { isBack: true, hasMoved });
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
 * @param against is the account that it belongs to: `gateway_float` when it is back, and `losses` when money went out that does not
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
  await rebookMovement(trx, movement, 'cleared', against === 'gateway_float');
  await postMovement(trx, movement, 'cleared', [
    { account: 'suspense', amount_cents: -cents },
    { account: against, amount_cents: cents },
  ]);
}

/**
 * Takes money out of suspense that has come once, and has gone back to the customer already: people had given another
 * receipt for it. The collection keeps its receipt, so later news of it is known. Money that went back counts once.
 * @throws OperatorRefusal when no other money of this amount went back under a receipt that the gateway has not told
 */
export async function countAsReturned(
  trx: Transaction,
  collection: AnyPayment,
  movement: Movement,
): Promise<void> {
  const { amount_cents: cents, account } = movement;
  const isSame = (each: Movement) =>
    each.amount_cents === cents &&
    (account === null || each.account === null || isSameAccount(account, each.account));
  const { counted, back } = await countedAsReturned(trx, collection);
  const [wrong] = back.filter(isSame).slice(counted.filter(isSame).length);
  if (!wrong) {
    throw new OperatorRefusal(
      'The customer got no other money of this amount back, to this phone: use returned',
    );
  }
  await rebookMovement(trx, movement, 'undone');
  // A return that has waited for this can go.
  await nameReturnedReceipt(trx, wrong, movement.trans_id);
  await takeChargeBack(trx, wrong, collection.gateway);
  await postMovement(trx, movement, 'cleared', [
    { account: 'suspense', amount_cents: -cents },
    { account: 'gateway_float', amount_cents: cents },
  ]);
}

/**
 * Takes back support's word that money of a payment has come back, or is lost. The books are as they were before
 * that money was told, so the gateway can tell of it again.
 * @returns the movements of that money
 */
export async function forgetCleared(trx: Transaction, payment: AnyPayment): Promise<Movement[]> {
  const words = await clearedByWord(trx, payment);
  const cleared: Movement[] = [];
  for (const movement of await movementsOf(trx, payment)) {
    const word = words.find(({ id }) => id === movement.id);
    if (!word) continue;
    await undoMovement(trx, payment, movement);
    if (word.resolution === 'failed') await takeLossOut(trx, payment, movement);
    cleared.push(movement);
  }
  return cleared;
}

/** Takes money that went out from the operator's losses back to the account that had it before. */
async function takeLossOut(
  trx: Transaction,
  { kind }: AnyPayment,
  movement: Movement,
): Promise<void> {
  const cents = suspenseCents(kind, movement.amount_cents);
  await postMovement(trx, movement, 'undone', [
    { account: 'losses', amount_cents: -cents },
    { account: 'gateway_float', amount_cents: cents },
  ]);
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
