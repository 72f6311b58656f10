import { hasRow, rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { changeStep, type StepChange } from '../../jobs/outbox.ts';
import { type DiscrepancyKind, openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { OperatorRefusal } from '../errors.ts';
import { type Account, type JournalLine, postNewJournal } from '../ledger/post-journal.ts';
import {
  acceptedLines,
  collectedLines,
  type MovementAccount,
  paidOutLines,
  reversedLines,
  undoneLines,
} from '../payments/journals.ts';
import {
  awaitsRefund,
  type Collection,
  type Payout,
  type Return,
  type Reversal,
} from '../payments/kinds.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, type MerchantPayment, refOf } from '../payments/payment-store.ts';
import { REFUND_STEP } from '../payments/schedule.ts';
import { transition } from '../payments/transition.ts';
import { createReturn } from '../returns/create-return.ts';
import { stepOfRefund } from '../settlement/contrary-news.ts';
import {
  isOfGateway,
  type Movement,
  movementsOf,
  provenBy,
  rebookMovement,
  releaseReceipt,
} from '../settlement/movements.ts';
import { rulesOf } from '../settlement/rules.ts';
import { correctAsTold, postMovement, suspenseCents } from '../settlement/suspense.ts';
import { createEvent } from '../webhooks/create-event.ts';
import { failedHere } from './resolution.ts';

/**
 * Takes back a completed payment whose money did not move after all, or has come back: its books,
 * its status, and what the merchant was told. It fails for good, and later money of it goes to
 * suspense. Money that the gateway had told of waits there too, until it shows that it came back.
 * @param kind is the discrepancy that it is decided by
 * @throws OperatorRefusal when a reversal of the collection is open or done
 */
export async function undoPayment(
  trx: Transaction,
  payment: AnyPayment,
  kind: DiscrepancyKind,
): Promise<void> {
  const movements = await movementsOf(trx, payment);
  const settled = movements.find(({ booked }) => booked === 'settled')!;
  const waits = isOfGateway(settled) && !hasNeverMoved(kind, settled);
  const movement = waits ? await correctAsTold(trx, payment, settled, kind) : settled;
  await rebookMovement(trx, movement, waits ? 'undoing' : 'undone');
  if (!waits) await releaseReceipt(trx, payment, movement);
  const isUndecided = movements.some(({ booked }) => booked === 'suspense');
  await undo(trx, payment, {
    movement,
    isUndecided,
    movedOn: waits ? 'suspense' : 'gateway_float',
  });
  if (waits) await awaitUndoneMoney(trx, payment, movement);
}

/**
 * Tells whether money never moved for the payment: nothing has to come back then. A statement that
 * lacks it proves that against people. The gateway's own word about it may still be true.
 */
function hasNeverMoved(kind: DiscrepancyKind, { told_by, confirmed_by }: Movement): boolean {
  if (kind === 'receipt_of_another') return true;
  return kind === 'missing_at_gateway' && provenBy('statement').includes(confirmed_by ?? told_by);
}

interface UndoneMoney {
  movement: Movement;
  /** Other money of the payment waits for a decision. */
  isUndecided: boolean;
  movedOn: MovementAccount;
}

async function undo(trx: Transaction, payment: AnyPayment, undone: UndoneMoney): Promise<void> {
  switch (payment.kind) {
    case 'collection':
      return undoCollection(trx, payment, undone);
    case 'payout':
      return undoPayout(trx, payment, undone);
    case 'reversal':
      return undoReversal(trx, payment, undone);
    case 'return':
      return undoReturn(trx, payment, undone);
  }
}

async function awaitUndoneMoney(
  trx: Transaction,
  payment: AnyPayment,
  { id: movement_id, trans_id, amount_cents, account, told_by }: Movement,
): Promise<void> {
  await openDiscrepancy(trx, {
    kind: 'undone_money',
    payment: refOf(payment),
    movement_id,
    trans_id,
    amount_cents,
    details: { account, told_by },
  });
}

async function undoCollection(
  trx: Transaction,
  collection: Collection,
  { movedOn }: UndoneMoney,
): Promise<void> {
  await refuseReversed(trx, collection);
  const failed = await fail(trx, collection);
  await createEvent(trx, failed);
  await post(trx, failed, undoneLines(collectedLines(collection, movedOn)));
}

/** Refuses, because the reversal moves money of its own. Support decides about that first. */
async function refuseReversed(trx: Transaction, collection: Collection): Promise<void> {
  const isReversed = await hasRow(
    trx,
    `SELECT 1 FROM reversals WHERE merchant_id = :merchant_id AND collection_id = :id
       AND status <> 'failed'`,
    refOf(collection),
  );
  if (!isReversed) return;
  throw new OperatorRefusal('A reversal of the collection is open or done: undo that one first');
}

/**
 * Puts the money in flight again. The refund follows, with the event. If support had
 * debited a refunded payout again, puts the money back into the wallet at once.
 */
async function undoPayout(
  trx: Transaction,
  payout: Payout,
  { isUndecided, movedOn }: UndoneMoney,
): Promise<void> {
  const inFlight = undoneLines(paidOutLines(payout, movedOn));
  if (payout.refund_posted_at === null) {
    // The refund waits for the decision about other money of the payout.
    const step = isUndecided ? { park: 'discrepancy: second_success' } : REFUND_STEP;
    await post(trx, await fail(trx, payout, step), inFlight);
    return;
  }
  const failed = await fail(trx, payout);
  await rows(
    trx,
    'UPDATE payouts SET redebited_at = NULL WHERE merchant_id = :merchant_id AND id = :id',
    refOf(payout),
  );
  await createEvent(trx, failed);
  await post(trx, failed, [...inFlight, ...undoneLines(acceptedLines(payout))]);
}

/** Takes the reversal back. The collection may be reversed again. */
async function undoReversal(
  trx: Transaction,
  reversal: Reversal,
  { movedOn }: UndoneMoney,
): Promise<void> {
  const failed = await fail(trx, reversal);
  await createEvent(trx, failed);
  await post(trx, failed, undoneLines(reversedLines(reversal, movedOn)));
}

/** Puts the customer's money back in suspense, where somebody must decide about it. */
async function undoReturn(
  trx: Transaction,
  payment: Return,
  { movement, movedOn }: UndoneMoney,
): Promise<void> {
  const { merchant_id, movement_id, amount_cents } = payment;
  await fail(trx, payment);
  await rebookMovement(trx, { merchant_id, id: movement_id }, 'suspense');
  await postMovement(trx, movement, 'undone', [
    { account: 'suspense', amount_cents },
    // Here too what went out waits in suspense, until it has come back.
    { account: movedOn, amount_cents: -amount_cents },
  ]);
  await openDiscrepancy(trx, {
    kind: 'return_failed',
    payment: refOf(payment),
    movement_id,
    amount_cents,
    details: { description: WHY },
  });
}

const WHY = 'Undone by support';

async function fail<P extends AnyPayment>(
  trx: Transaction,
  payment: P,
  step: StepChange = 'none',
): Promise<P> {
  await rows(
    trx,
    `UPDATE ${STEP_TABLES[payment.kind].table} SET undone_at = now()
     WHERE merchant_id = :merchant_id AND id = :id`,
    refOf(payment),
  );
  const { code, description } = failedHere(WHY);
  return transition(trx, payment, {
    to: 'failed',
    set: {
      result_code: code,
      result_description: description,
      trans_id: null,
      payment_completed_at: null,
    },
    step,
    cause: 'support',
  });
}

function post(trx: Transaction, payment: MerchantPayment, lines: JournalLine[]): Promise<void> {
  const { merchant_id, kind: source_kind, id: source_id } = payment;
  return postNewJournal(trx, { merchant_id, source_kind, source_id, kind: 'undone', lines });
}

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
  await rebookMovement(trx, movement, 'undone');
  await releaseReceipt(trx, payment, movement);
  const cents = suspenseCents(payment.kind, movement.amount_cents);
  // A journal `undone` of a movement belongs to a return.
  await postMovement(trx, movement, 'cleared', [
    { account: 'suspense', amount_cents: -cents },
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
