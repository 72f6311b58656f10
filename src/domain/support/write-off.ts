import { hasRow, rows, type Transaction } from '../../connections/database.ts';
import { OperatorRefusal } from '../errors.ts';
import type { Collection, Reversal } from '../payments/kinds.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import { type Movement, rebookMovement } from '../settlement/movements.ts';
import { postMovement } from '../settlement/suspense.ts';

/**
 * Takes the money out of the books of a collection whose money never came, and was given back all the same:
 * the operator lost it. The merchant has given back what it got, so it is told nothing.
 * @throws OperatorRefusal when the gateway told of that money: its word may be about the reversal; and when the
 * reversal took another amount: then the merchant has not given back what it got
 */
export async function writeOff(
  trx: Transaction,
  collection: Collection,
  movements: Movement[],
  isToldByGateway: boolean,
): Promise<void> {
  if (isToldByGateway) {
    throw new OperatorRefusal('A reversal of the collection is done: undo that one first');
  }
  if (!(await isReversed(trx, collection, ['completed'], collection.amount_cents))) {
    throw new OperatorRefusal('The reversal took another amount: undo the reversal first');
  }
  await rows(
    trx,
    `UPDATE collections SET undone_at = now(), trans_id = NULL
     WHERE merchant_id = :merchant_id AND id = :id`,
    refOf(collection),
  );
  for (const movement of movements) {
    await postMovement(trx, movement, 'undone', [
      { account: 'gateway_float', amount_cents: movement.amount_cents },
      { account: 'losses', amount_cents: -movement.amount_cents },
    ]);
  }
}

/** Takes the write-off back: the collection's own money has come after all. */
export async function takeLossBack(
  trx: Transaction,
  collection: AnyPayment,
  movement: Movement,
): Promise<void> {
  const { trans_id, completed_at, amount_cents } = movement;
  await rebookMovement(trx, movement, 'settled');
  await postMovement(trx, movement, 'settled', [
    { account: 'suspense', amount_cents: -amount_cents },
    { account: 'losses', amount_cents },
  ]);
  await rows(
    trx,
    `UPDATE collections SET undone_at = NULL, trans_id = :trans_id,
       payment_completed_at = coalesce(:completed_at, payment_completed_at)
     WHERE merchant_id = :merchant_id AND id = :id`,
    { ...refOf(collection), trans_id, completed_at },
  );
}

/** Tells whether the collection has a reversal in one of these states, and of this amount in cents, if given. */
export function isReversed(
  trx: Transaction,
  collection: Collection,
  states: readonly Reversal['status'][],
  amount_cents: number | null = null,
): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM reversals WHERE merchant_id = :merchant_id AND collection_id = :id
       AND status = ANY (:states) AND coalesce(amount_cents = :amount_cents, true)`,
    { ...refOf(collection), states: [...states], amount_cents },
  );
}
