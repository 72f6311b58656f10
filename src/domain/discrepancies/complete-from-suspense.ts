import { firstRow, rows, type Transaction, violates } from '../../database.ts';
import type { Collection } from '../collections/collection.ts';
import { createEvent } from '../events/create-event.ts';
import { commissionOn, type Rate } from '../money.ts';
import { OperatorRefusal } from '../operator-refusal.ts';
import { type Movement, rebookMovement } from '../payments/movements.ts';
import { isOpen } from '../payments/payment.ts';
import type { AnyPayment } from '../payments/payment-store.ts';
import { acceptedLines, completedLines } from '../payouts/journals.ts';
import { awaitsRefund, type Payout } from '../payouts/payout.ts';
import { reversedLines } from '../reversals/journals.ts';
import type { Reversal } from '../reversals/reversal.ts';
import { transition } from '../transition.ts';
import { type JournalLine, postJournal } from '../wallets/ledger.ts';

export interface CompleteOptions {
  /** What has moved becomes the payment's amount; otherwise it must be the same. */
  acceptAmount: boolean;
  commissionDefaults: Rate;
}

/**
 * Completes a payment with the movement that waits for it in suspense.
 * @throws OperatorRefusal when it has ended in a way that does not allow it
 */
export async function completeFromSuspense(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  options: CompleteOptions,
): Promise<void> {
  if (!options.acceptAmount && movement.amount_cents !== payment.amount_cents) {
    throw new OperatorRefusal('Another amount has moved than was asked for: accept that or not');
  }
  await rebookMovement(trx, payment.merchant_id, movement.id, 'settled');
  switch (payment.kind) {
    case 'collection':
      return completeCollection(trx, payment, movement, options.commissionDefaults);
    case 'payout':
      return completePayout(trx, payment, movement);
    case 'reversal':
      return completeReversal(trx, payment, movement);
    case 'return':
      throw new OperatorRefusal('A return is not completed by hand: resolve it as returned');
  }
}

async function completeCollection(
  trx: Transaction,
  collection: Collection,
  movement: Movement,
  defaults: Rate,
): Promise<void> {
  refuseUnless(isOpen(collection), collection);
  const amountCents = movement.amount_cents;
  const commissionCents =
    amountCents === collection.amount_cents
      ? collection.commission_cents
      : commissionOn(amountCents, await rateOfMerchant(trx, collection.merchant_id, defaults));
  await setAmounts(trx, 'collections', collection, { amountCents, commissionCents });
  const completed = await complete(trx, collection, movement);
  await createEvent(trx, completed);
  await post(trx, completed, 'completed', [
    { account: 'suspense', amountCents: -amountCents },
    { account: 'commission', amountCents: commissionCents },
    {
      account: 'wallet:collection',
      amountCents: amountCents - commissionCents,
      transaction: {
        type: 'collection',
        refNo: collection.ref_no,
        counterparty: collection.payfrom,
        description: 'Collection, net of commission',
      },
    },
  ]);
}

/** The amount that has moved; the fee stays. What was debited too much goes back, and the reverse. */
async function completePayout(trx: Transaction, payout: Payout, movement: Movement): Promise<void> {
  refuseUnless(isOpen(payout) || payout.status === 'failed', payout);
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
  await setAmounts(trx, 'payouts', payout, { amountCents: actual.amount_cents });
  const completed = await complete(trx, payout, movement);
  if (!isRefunded) await createEvent(trx, completed);
  if (isRefunded) await post(trx, completed, 'redebited', acceptedLines(actual));
  else await post(trx, completed, 'amount', differenceLines(payout, actual.amount_cents));
  await post(trx, completed, 'completed', completedLines(actual, 'suspense'));
}

function differenceLines(payout: Payout, actualCents: number): JournalLine[] {
  const differenceCents = payout.amount_cents - actualCents;
  return [
    { account: 'payouts_in_flight', amountCents: -differenceCents },
    {
      account: 'wallet:payout',
      amountCents: differenceCents,
      transaction: {
        type: 'adjustment',
        refNo: payout.ref_no,
        counterparty: payout.payto,
        description: 'Another amount was paid out',
      },
    },
  ];
}

/** The commission is given up as far as the amount goes. */
async function completeReversal(
  trx: Transaction,
  reversal: Reversal,
  movement: Movement,
): Promise<void> {
  refuseUnless(isOpen(reversal), reversal);
  const amountCents = movement.amount_cents;
  const commissionCents = Math.min(reversal.commission_cents, amountCents);
  await setAmounts(trx, 'reversals', reversal, { amountCents, commissionCents });
  const completed = await complete(trx, reversal, movement);
  await createEvent(trx, completed);
  await post(trx, completed, 'completed', reversedLines(completed, 'suspense'));
}

/** @returns the payment as it is now, its new amounts included. */
async function complete<P extends Collection | Payout | Reversal>(
  trx: Transaction,
  payment: P,
  movement: Movement,
): Promise<P> {
  return transition(trx, payment, {
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
}

async function setAmounts(
  trx: Transaction,
  table: 'collections' | 'payouts' | 'reversals',
  { merchant_id, id }: AnyPayment,
  { amountCents, commissionCents }: { amountCents: number; commissionCents?: number },
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
  if (lines.every(({ amountCents }) => amountCents === 0)) return;
  try {
    const { merchant_id: merchantId, kind: sourceKind, id: sourceId } = payment;
    const posted = await postJournal(trx, { merchantId, sourceKind, sourceId, kind, lines });
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

function refuseUnless(isPossible: boolean, { kind, status }: AnyPayment): void {
  if (!isPossible) throw new OperatorRefusal(`The ${kind} is ${status}: it cannot be completed`);
}
