import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { violates } from '../../connections/database-errors.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { rateOf } from '../access/caller.ts';
import { supersedeDiscrepancies } from '../discrepancies/supersede.ts';
import { OperatorRefusal } from '../errors.ts';
import { type JournalLine, postNewJournal } from '../ledger/post-journal.ts';
import { commissionOn, type Rate } from '../money.ts';
import {
  acceptedLines,
  collectedLines,
  paidOutLines,
  reversedLines,
} from '../payments/journals.ts';
import {
  awaitsRefund,
  type Collection,
  type Payout,
  type Return,
  type Reversal,
} from '../payments/kinds.ts';
import { type AnyPayment, findPayment, refOf } from '../payments/payment-store.ts';
import { transition } from '../payments/transition.ts';
import { findMovement, isGone, type Movement, rebookMovement } from '../settlement/movements.ts';
import { postMovement } from '../settlement/suspense.ts';
import { createEvent } from '../webhooks/create-event.ts';
import { failUnsentReversal } from './fail-unsent-reversal.ts';

/**
 * Completes a payment with its movement that waits in suspense. The movement's amount becomes
 * the payment's.
 * @throws OperatorRefusal when another payment has taken its place, or the money is missing
 */
export async function completeFromSuspense(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  commissionDefaults: Rate,
): Promise<void> {
  await rebookMovement(trx, movement, 'settled');
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
  await setAmounts(trx, collection, await grossOf(trx, collection, movement, defaults));
  const completed = await complete(trx, collection, movement);
  await createEvent(trx, completed);
  await post(trx, completed, 'completed', collectedLines(completed, 'suspense'));
}

/** Returns the amount that moved for a collection, and the commission on it, in cents. */
export async function grossOf(
  trx: Transaction,
  collection: Collection,
  { amount_cents }: Pick<Movement, 'amount_cents'>,
  defaults: Rate,
): Promise<Pick<Collection, 'amount_cents' | 'commission_cents'>> {
  const { merchant_id, commission_cents } = collection;
  if (amount_cents === collection.amount_cents) return { amount_cents, commission_cents };
  const rate = await rateOfMerchant(trx, merchant_id, 'commission', defaults);
  return { amount_cents, commission_cents: commissionOn(amount_cents, rate) };
}

/** Keeps the fee. The wallet gets back, or gives, the difference between the two amounts. */
async function completePayout(trx: Transaction, payout: Payout, movement: Movement): Promise<void> {
  refuseBelowFee(payout, movement, 'returned or failed');
  const actual = { ...payout, amount_cents: movement.amount_cents };
  const isRefunded = payout.status === 'failed' && !awaitsRefund(payout);
  if (isRefunded) {
    await rows(
      trx,
      'UPDATE payouts SET redebited_at = now() WHERE merchant_id = :merchant_id AND id = :id',
      refOf(payout),
    );
  }
  await setAmounts(trx, payout, { amount_cents: actual.amount_cents });
  const completed = await complete(trx, payout, movement);
  await createEvent(trx, completed);
  if (isRefunded) await post(trx, completed, 'redebited', acceptedLines(actual));
  else await post(trx, completed, 'amount', differenceLines(payout, actual.amount_cents));
  await post(trx, completed, 'completed', paidOutLines(actual, 'suspense'));
}

/** @throws OperatorRefusal when less has moved than the fee, which the payout keeps */
export function refuseBelowFee(
  { fee_cents }: Payout,
  { amount_cents }: Pick<Movement, 'amount_cents'>,
  instead: string,
): void {
  if (amount_cents >= fee_cents) return;
  throw new OperatorRefusal(`Less has moved than the fee: resolve it as ${instead}`);
}

/** Returns the lines by which the payout wallet gets or gives the difference to another amount, in cents. */
export function differenceLines(payout: Payout, actualCents: number): JournalLine[] {
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

/** Gives up the commission as far as the amount goes. */
async function completeReversal(trx: Transaction, reversal: Reversal, movement: Movement) {
  await refuseUndone(trx, reversal);
  const { merchant_id, collection_id: id, status } = reversal;
  // The one that took its place may wait for this decision.
  if (status === 'failed')
    await failUnsentReversal(trx, { kind: 'collection', merchant_id, id }, GIVEN_BACK);
  const { amount_cents } = movement;
  const commission_cents = Math.min(reversal.commission_cents, amount_cents);
  await setAmounts(trx, reversal, { amount_cents, commission_cents });
  const completed = await complete(trx, reversal, movement);
  await createEvent(trx, completed);
  await post(trx, completed, 'completed', reversedLines(completed, 'suspense'));
}

const GIVEN_BACK = 'An earlier reversal has given the money back';

async function refuseUndone(trx: Transaction, reversal: Reversal): Promise<void> {
  const { merchant_id, collection_id: id } = reversal;
  const collection = await findPayment(trx, { kind: 'collection', merchant_id, id });
  if (collection?.undone_at === null) return;
  throw new OperatorRefusal('Its collection was undone, so there is nothing to reverse');
}

/** The customer has all of it, so the late money leaves suspense with the money that went out. */
async function completeReturn(trx: Transaction, payment: Return, movement: Movement) {
  const { merchant_id, movement_id: id } = payment;
  const original = await findMovement(trx, { merchant_id, id });
  if (isGone(original)) {
    throw new OperatorRefusal(
      'The customer has got the money in another way, or never paid: it cannot complete',
    );
  }
  await rebookMovement(trx, original, 'cleared');
  const { amount_cents: cents } = movement;
  // Undoes the booking to suspense, then books it as every completed return is booked.
  await postMovement(trx, movement, 'settled', [
    { account: 'suspense', amount_cents: cents },
    { account: 'gateway_float', amount_cents: -cents },
  ]);
  await postMovement(trx, movement, 'returned', [
    { account: 'suspense', amount_cents: -cents },
    { account: 'gateway_float', amount_cents: cents },
  ]);
  await supersedeDiscrepancies(trx, refOf(payment), ['return_failed']);
  await complete(trx, payment, movement);
}

/** Moves the payment to `completed`. @returns it as it is now, with its new amounts. */
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

/** Writes the amounts of a payment, in cents. The database lets only a movement's amount in. */
export async function setAmounts(
  trx: Transaction,
  payment: AnyPayment,
  amounts: { amount_cents: number; commission_cents?: number },
): Promise<void> {
  const set = Object.keys(amounts).map((name) => `${name} = :${name}`);
  await rows(
    trx,
    `UPDATE ${STEP_TABLES[payment.kind].table} SET ${set.join(', ')}
     WHERE merchant_id = :merchant_id AND id = :id`,
    { ...refOf(payment), ...amounts },
  );
}

/**
 * Posts a journal of a payment, unless all its lines are zero.
 * @throws OperatorRefusal when the payout wallet has too little
 */
export async function post(
  trx: Transaction,
  payment: AnyPayment,
  kind: string,
  lines: JournalLine[],
): Promise<void> {
  if (lines.every(({ amount_cents }) => amount_cents === 0)) return;
  const { merchant_id, kind: source_kind, id: source_id } = payment;
  try {
    await postNewJournal(trx, { merchant_id, source_kind, source_id, kind, lines });
  } catch (error) {
    if (!violates(error, 'payout_wallet_not_negative')) throw error;
    throw new OperatorRefusal('The payout wallet does not hold the money for it: top it up first');
  }
}

/** Returns the rate that a merchant pays now: its own, or else the default. */
export async function rateOfMerchant(
  executor: Database | Transaction,
  merchant_id: number,
  what: 'commission' | 'payout_fee',
  defaults: Rate,
): Promise<Rate> {
  const own = await firstRow<{ bps: number | null; fixedCents: number | null }>(
    executor,
    `SELECT ${what}_bps AS bps, ${what}_fixed_cents AS "fixedCents"
     FROM merchants WHERE id = :merchant_id`,
    { merchant_id },
  );
  return rateOf(own!, defaults);
}
