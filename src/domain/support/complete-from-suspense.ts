import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import { violates } from '../../connections/database-errors.ts';
import { supersedeDiscrepancies } from '../discrepancies/discrepancy.ts';
import { type JournalLine, postJournal } from '../ledger/post-journal.ts';
import { commissionOn, type Rate } from '../money.ts';
import { OperatorRefusal } from '../operator-refusal.ts';
import type { Collection } from '../payments/collection.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import { awaitsRefund, type Payout } from '../payments/payout.ts';
import type { Return } from '../payments/return.ts';
import type { Reversal } from '../payments/reversal.ts';
import { transition } from '../payments/transition.ts';
import { acceptedLines, completedLines } from '../payouts/journals.ts';
import { reversedLines } from '../reversals/journals.ts';
import { findMovement, type Movement, rebookMovement } from '../settlement/movements.ts';
import { postMovement } from '../settlement/suspense.ts';
import { createEvent } from '../webhooks/create-event.ts';

/**
 * Completes a payment with the movement that waits for it in suspense, whose amount becomes
 * the payment's.
 * @throws OperatorRefusal when something else has taken its place, or the money is missing
 */
export async function completeFromSuspense(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  commissionDefaults: Rate,
): Promise<void> {
  await rebookMovement(trx, payment.merchant_id, movement.id, 'settled');
  switch (payment.kind) {
    case 'collection':
      return completeCollection(trx, payment, movement, commissionDefaults);
    case 'payout':
      return completePayout(trx, payment, movement);
    case 'reversal':
      return completeReversal(trx, payment, movement);
    case 'return':
      return completeReturn(trx, payment, movement);
  }
}

async function completeCollection(
  trx: Transaction,
  collection: Collection,
  movement: Movement,
  defaults: Rate,
): Promise<void> {
  const amountCents = movement.amount_cents;
  const commissionCents =
    amountCents === collection.amount_cents
      ? collection.commission_cents
      : commissionOn(amountCents, await rateOfMerchant(trx, collection.merchant_id, defaults));
  await setAmounts(trx, 'collections', collection, {
    amount_cents: amountCents,
    commission_cents: commissionCents,
  });
  const completed = await complete(trx, collection, movement);
  await createEvent(trx, completed);
  await post(trx, completed, 'completed', [
    { account: 'suspense', amount_cents: -amountCents },
    { account: 'commission', amount_cents: commissionCents },
    {
      account: 'wallet:collection',
      amount_cents: amountCents - commissionCents,
      transaction: {
        type: 'collection',
        ref_no: collection.ref_no,
        counterparty: collection.payfrom,
        description: 'Collection, net of commission',
      },
    },
  ]);
}

/** The amount that has moved; the fee stays. What was debited too much goes back, and the reverse. */
async function completePayout(trx: Transaction, payout: Payout, movement: Movement): Promise<void> {
  const actual = { ...payout, amount_cents: movement.amount_cents };
  if (actual.amount_cents < payout.fee_cents) {
    throw new OperatorRefusal('Less has moved than the fee: resolve it as returned or failed');
  }
  const isRefunded = payout.status === 'failed' && !awaitsRefund(payout);
  if (isRefunded) {
    await rows(
      trx,
      'UPDATE payouts SET redebited_at = now() WHERE merchant_id = :merchant_id AND id = :id',
      { merchant_id: payout.merchant_id, id: payout.id },
    );
  }
  await setAmounts(trx, 'payouts', payout, { amount_cents: actual.amount_cents });
  const completed = await complete(trx, payout, movement);
  if (!isRefunded) await createEvent(trx, completed);
  if (isRefunded) await post(trx, completed, 'redebited', acceptedLines(actual));
  else await post(trx, completed, 'amount', differenceLines(payout, actual.amount_cents));
  await post(trx, completed, 'completed', completedLines(actual, 'suspense'));
}

function differenceLines(payout: Payout, actualCents: number): JournalLine[] {
  const differenceCents = payout.amount_cents - actualCents;
  return [
    { account: 'payouts_in_flight', amount_cents: -differenceCents },
    {
      account: 'wallet:payout',
      amount_cents: differenceCents,
      transaction: {
        type: 'adjustment',
        ref_no: payout.ref_no,
        counterparty: payout.payto,
        description: 'Another amount was paid out',
      },
    },
  ];
}

/**
 * The commission is given up as far as the amount goes. Of a reversal that had failed the
 * merchant was told so: it hears of its end once.
 */
async function completeReversal(
  trx: Transaction,
  reversal: Reversal,
  movement: Movement,
): Promise<void> {
  const amountCents = movement.amount_cents;
  const commissionCents = Math.min(reversal.commission_cents, amountCents);
  await setAmounts(trx, 'reversals', reversal, {
    amount_cents: amountCents,
    commission_cents: commissionCents,
  });
  const completed = await complete(trx, reversal, movement);
  if (isOpen(reversal)) await createEvent(trx, completed);
  await post(trx, completed, 'completed', reversedLines(completed, 'suspense'));
}

/** The customer has the whole of it, so what came in late leaves suspense with what went out. */
async function completeReturn(trx: Transaction, payment: Return, movement: Movement) {
  const original = await findMovement(trx, payment.merchant_id, payment.movement_id);
  if (original.booked === 'cleared') {
    throw new OperatorRefusal('The customer has got the money in another way: it cannot complete');
  }
  const { id, amount_cents: cents } = movement;
  // It is no more a question of its own, and then what every completed return is.
  await postMovement(trx, payment.merchant_id, id, 'cleared', [
    { account: 'suspense', amount_cents: cents },
    { account: 'gateway_float', amount_cents: -cents },
  ]);
  await postMovement(trx, payment.merchant_id, id, 'returned', [
    { account: 'suspense', amount_cents: -cents },
    { account: 'gateway_float', amount_cents: cents },
  ]);
  await supersedeDiscrepancies(trx, refOf(payment), ['return_failed']);
  await complete(trx, payment, movement);
}

/** @returns the payment as it is now, its new amounts included. */
async function complete<P extends AnyPayment>(
  trx: Transaction,
  payment: P,
  movement: Movement,
): Promise<P> {
  try {
    return await transition(trx, payment, {
      to: 'completed',
      set: {
        result_code: 0,
        result_description: 'Confirmed by support',
        trans_id: movement.trans_id,
        payment_completed_at: movement.completed_at,
      },
      step: 'none',
      cause: 'support',
    });
  } catch (error) {
    if (!violates(error, 'reversals_one_open_or_done')) throw error;
    throw new OperatorRefusal('Another reversal of the collection is open or done');
  }
}

async function setAmounts(
  trx: Transaction,
  table: 'collections' | 'payouts' | 'reversals',
  { merchant_id, id }: AnyPayment,
  {
    amount_cents: amountCents,
    commission_cents: commissionCents,
  }: { amount_cents: number; commission_cents?: number },
): Promise<void> {
  const commission = commissionCents === undefined ? '' : ', commission_cents = :commission_cents';
  await rows(
    trx,
    `UPDATE ${table} SET amount_cents = :amount_cents ${commission}
     WHERE merchant_id = :merchant_id AND id = :id`,
    {
      merchant_id,
      id,
      amount_cents: amountCents,
      commission_cents: commissionCents ?? null,
    },
  );
}

async function post(
  trx: Transaction,
  payment: AnyPayment,
  kind: string,
  lines: JournalLine[],
): Promise<void> {
  if (lines.every(({ amount_cents: amountCents }) => amountCents === 0)) return;
  try {
    const { merchant_id: merchantId, kind: sourceKind, id: sourceId } = payment;
    const posted = await postJournal(trx, {
      merchant_id: merchantId,
      source_kind: sourceKind,
      source_id: sourceId,
      kind,
      lines,
    });
    if (!posted)
      throw new Error(`The journal "${kind}" of ${sourceKind} ${sourceId} was posted before`);
  } catch (error) {
    if (!violates(error, 'payout_wallet_not_negative')) throw error;
    throw new OperatorRefusal('The payout wallet does not hold the money for it: top it up first');
  }
}

async function rateOfMerchant(trx: Transaction, merchantId: number, defaults: Rate): Promise<Rate> {
  const own = await firstRow<{ bps: number | null; fixed_cents: number | null }>(
    trx,
    `SELECT commission_bps AS bps, commission_fixed_cents AS fixed_cents
     FROM merchants WHERE id = :merchant_id`,
    { merchant_id: merchantId },
  );
  return { bps: own?.bps ?? defaults.bps, fixedCents: own?.fixed_cents ?? defaults.fixedCents };
}
