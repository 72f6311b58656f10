import { rows, type Transaction } from '../../connections/database.ts';
import { GATEWAY_TOLD_SUCCESS } from '../discrepancies/discrepancy.ts';
import type { Succeeded } from '../gateway-results.ts';
import { type AnyPayment, accountOf, refOf } from '../payments/payment-store.ts';
import { type Movement, mismatchOf } from './movements.ts';
import { isSameAccount } from './same-account.ts';
import type { News } from './settle.ts';
import { hasUnsureReceipt, isUnsure, sourceOf, UNSURE_SOURCES } from './sources.ts';

/*
 * A file, or a person, has told of money first, and the gateway tells of the payment then.
 */

/**
 * Tells whether the gateway tells another amount or account than money of a file that waits under this receipt, or
 * without one.
 */
export function denies(payment: AnyPayment, movement: Movement, news: News<Succeeded>): boolean {
  if (UNSURE_SOURCES.includes(sourceOf(news))) return false;
  if (news.transId === null && movement.trans_id !== null) return false;
  if (movement.booked !== 'suspense' || !hasUnsureReceipt(movement)) return false;
  if (!UNSURE_SOURCES.includes(movement.told_by)) return false;
  return mismatchOf(payment, news, movement) !== null;
}

/**
 * Tells whether news says what a file, or a person, has told of money. A success without an amount, or without an
 * account, means those that were asked for: it proves no other ones. Money that waits is proved by its own amount and
 * account alone; other amounts of booked money are a question of their own.
 */
export function provesMoney(
  payment: AnyPayment,
  movement: Movement,
  news: News<Succeeded>,
): boolean {
  const { amount_cents, account, booked } = movement;
  const isBooked = booked !== 'suspense';
  const isAmount = amount_cents === (news.amountCents ?? payment.amount_cents);
  const isAccount = account === null || isSameAccount(account, news.account ?? accountOf(payment));
  return (
    (isAmount || (isBooked && news.amountCents !== null)) &&
    (isAccount || (isBooked && news.account !== null))
  );
}

/**
 * Notes, at open questions of a payment, that the gateway has told a success since which says otherwise: at the
 * question about other money, or another amount or account, and at the question about a failure.
 */
export async function noteSuccess(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  news: News<Succeeded>,
): Promise<void> {
  const isRightAccount = news.account !== null && isSameAccount(news.account, accountOf(payment));
  await rows(
    trx,
    `UPDATE discrepancies SET details = details || '{"${GATEWAY_TOLD_SUCCESS}": true}'
     WHERE merchant_id = :merchant_id AND resolved_at IS NULL
       AND (movement_id = :movement_id AND NOT CAST(:is_proof AS boolean)
         OR payment_kind = :kind AND payment_id = :id AND (kind = 'failure_after_success'
             AND coalesce(CAST(:heard_at AS timestamptz) > opened_at, true)
           OR kind = 'other_amount' AND amount_cents <> :told_cents
           OR kind = 'other_account' AND CAST(:is_right_account AS boolean)))`,
    {
      ...refOf(payment),
      movement_id: movement.id,
      is_proof: provesMoney(payment, movement, news),
      told_cents: news.amountCents ?? payment.amount_cents,
      is_right_account: isRightAccount,
      heard_at: news.told?.at ?? news.heardAt,
    },
  );
}

/** Tells whether the gateway tells of money that only a file had told of when people called it back, or lost. */
export function wasClearedUnproven(
  { kind }: AnyPayment,
  movement: Movement,
  news: News<Succeeded>,
): boolean {
  const isOfPeople = movement.booked === 'cleared' && isUnsure(movement);
  return isOfPeople && kind !== 'collection' && !UNSURE_SOURCES.includes(sourceOf(news));
}
