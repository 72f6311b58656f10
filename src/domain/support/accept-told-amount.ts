import { firstRow, type Transaction } from '../../connections/database.ts';
import { hasUndecided, supersedeWhere } from '../discrepancies/supersede.ts';
import { OperatorRefusal } from '../errors.ts';
import type { JournalLine } from '../ledger/post-journal.ts';
import type { Rate } from '../money.ts';
import {
  collectedLines,
  correctedLines,
  paidOutLines,
  reversedLines,
} from '../payments/journals.ts';
import type { Collection, Payout, Reversal } from '../payments/kinds.ts';
import {
  type AnyPayment,
  findPayment,
  type MerchantPayment,
  type PaymentRef,
} from '../payments/payment-store.ts';
import { askAboutLike } from '../settlement/explain-unknown.ts';
import { correctAmount } from '../settlement/movements.ts';
import { createEvent } from '../webhooks/create-event.ts';
import {
  differenceLines,
  grossOf,
  post,
  refuseBelowFee,
  setAmounts,
} from './complete-from-suspense.ts';
import { CORRECTED, failUnsentReversal } from './fail-unsent-reversal.ts';
import { isReversed } from './write-off.ts';

/**
 * Corrects a completed payment to the amount that the gateway has told since under the same receipt, in
 * cents: its movement, its books by the difference, and what the merchant was told. The payment must be
 * locked. It stays completed, so a later undo takes back what is booked in sum.
 * @throws OperatorRefusal when a reversal of the collection is open, less has moved than the
 * payout's fee, or the payout wallet has too little
 */
export async function acceptToldAmount(
  trx: Transaction,
  payment: AnyPayment,
  amount_cents: number,
  commissionDefaults: Rate,
): Promise<void> {
  const { account } = await correctAmount(trx, payment, amount_cents);
  await askAboutLike(trx, payment, { trans_id: payment.trans_id, amount_cents, account });
  switch (payment.kind) {
    case 'collection':
      return correctCollection(trx, payment, amount_cents, commissionDefaults);
    case 'payout':
      return correctPayout(trx, payment, amount_cents);
    case 'reversal':
      return correctReversal(trx, payment, amount_cents);
    case 'return':
      throw new Error('A return gives everything back: its amount is never corrected');
  }
}

/** Ends the other questions of a payment that tell the amount which it has now: a callback and a statement may ask. */
export async function endQuestionsAboutAmount(
  trx: Transaction,
  payment: PaymentRef,
): Promise<void> {
  const { amount_cents } = (await findPayment(trx, payment))!;
  const tellsAnother = hasUndecided(
    "CAST(e->>'amount_cents' AS bigint) IS DISTINCT FROM :amount_cents",
  );
  await supersedeWhere(
    trx,
    payment,
    `d.kind = 'other_amount' AND d.movement_id IS NULL AND d.evidence_complete AND NOT ${tellsAnother}`,
    { amount_cents },
  );
}

/**
 * The collection wallet may go below zero, as when the collection is undone. A reversal that was not sent fails: the
 * merchant may ask for another one. A reversal that is done keeps its own amount, which has gone back.
 */
async function correctCollection(
  trx: Transaction,
  collection: Collection,
  amount_cents: number,
  defaults: Rate,
): Promise<void> {
  // It waits for this decision, and would give the wrong amount back.
  await failUnsentReversal(trx, collection, CORRECTED);
  if (await isReversed(trx, collection, ['pending', 'processing'])) {
    throw new OperatorRefusal('A reversal of the collection is open: wait until it has ended');
  }
  const gross = await grossOf(trx, collection, { amount_cents }, defaults);
  const corrected = await correct(trx, collection, gross);
  const lines = correctedLines(collectedLines(collection), collectedLines(corrected));
  await postNext(trx, collection, 'corrected', lines);
}

/** Keeps the fee. The payout wallet gets or gives the difference. */
async function correctPayout(
  trx: Transaction,
  payout: Payout,
  amount_cents: number,
): Promise<void> {
  refuseBelowFee(payout, { amount_cents }, 'undo');
  const corrected = await correct(trx, payout, { amount_cents });
  await postNext(trx, payout, 'amount', differenceLines(payout, amount_cents));
  const lines = correctedLines(paidOutLines(payout), paidOutLines(corrected));
  await postNext(trx, payout, 'corrected', lines);
}

/** Gives up the collection's commission as far as the amount goes. */
async function correctReversal(
  trx: Transaction,
  reversal: Reversal,
  amount_cents: number,
): Promise<void> {
  const { merchant_id, collection_id: id } = reversal;
  const collection = await findPayment(trx, { kind: 'collection', merchant_id, id });
  const { commission_cents, undone_at } = collection as Collection;
  if (undone_at !== null) {
    // The merchant has given back more or less than it got.
    throw new OperatorRefusal('The money of its collection was written off: undo the reversal');
  }
  const corrected = await correct(trx, reversal, {
    amount_cents,
    commission_cents: Math.min(commission_cents, amount_cents),
  });
  const lines = correctedLines(reversedLines(reversal), reversedLines(corrected));
  await postNext(trx, reversal, 'corrected', lines);
}

/** Writes the amounts, in cents, and tells the merchant. @returns the payment as it is now */
async function correct<P extends MerchantPayment>(
  trx: Transaction,
  payment: P,
  amounts: { amount_cents: number; commission_cents?: number },
): Promise<P> {
  await setAmounts(trx, payment, amounts);
  const corrected = { ...payment, ...amounts };
  await createEvent(trx, corrected);
  return corrected;
}

/** Posts a journal that a payment may have several of: the second is `corrected 2`. */
async function postNext(
  trx: Transaction,
  payment: MerchantPayment,
  name: 'amount' | 'corrected',
  lines: JournalLine[],
): Promise<void> {
  const { merchant_id, kind, id } = payment;
  const posted = await firstRow<{ count: number }>(
    trx,
    `SELECT count(*) AS count FROM journals
     WHERE merchant_id = :merchant_id AND source_kind = :kind AND source_id = :id
       AND split_part(kind, ' ', 1) = :name`,
    { merchant_id, kind, id, name },
  );
  const { count } = posted!;
  await post(trx, payment, count === 0 ? name : `${name} ${count + 1}`, lines);
}
