import { rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { StepChange } from '../../jobs/outbox.ts';
import {
  type DiscrepancyKind,
  openDiscrepancy,
  openQuestion,
} from '../discrepancies/discrepancy.ts';
import { OperatorRefusal } from '../errors.ts';
import { type JournalLine, postNewJournal } from '../ledger/post-journal.ts';
import {
  acceptedLines,
  collectedLines,
  type MovementAccount,
  paidOutLines,
  reversedLines,
  undoneLines,
} from '../payments/journals.ts';
import type { Collection, Payout, Return, Reversal } from '../payments/kinds.ts';
import {
  type AnyPayment,
  lockPayment,
  type MerchantPayment,
  refOf,
} from '../payments/payment-store.ts';
import { transition } from '../payments/transition.ts';
import { refundUnless } from '../settlement/after-failure.ts';
import { type Movement, movementsOf, rebookMovement } from '../settlement/movements.ts';
import { isListedAsBack } from '../settlement/rows-of-movements.ts';
import {
  isOfGateway,
  isUnsure,
  LIKENESSES,
  provenBy,
  sourceOfMoney,
} from '../settlement/sources.ts';
import {
  ABOUT_DIFFERENCES,
  correctAsTold,
  postMovement,
  refuseDifference,
  undoMovement,
  withdrawMovement,
} from '../settlement/suspense.ts';
import { createEvent } from '../webhooks/create-event.ts';
import type { Discrepancy } from './discrepancy-cases.ts';
import { failUnsentReversal } from './fail-unsent-reversal.ts';
import { failedHere } from './resolution.ts';
import { isReversed, writeOff } from './write-off.ts';

/**
 * Takes back a completed payment whose money did not move after all, or has come back: its books,
 * its status, and what the merchant was told. It fails for good, and later money of it goes to
 * suspense. Money that the gateway had told of waits there too, until it shows that it came back.
 * A collection that was reversed keeps its books, and its money is the operator's loss.
 * @param about is the discrepancy that it is decided by
 * @returns whether nothing but people had told of its money: the gateway may know of other money
 * @throws OperatorRefusal when a reversal of the collection is open, or is done while the gateway itself has
 * told of the collection's money, or it is open which amount or account of money that waits is right
 */
export async function undoPayment(
  trx: Transaction,
  payment: AnyPayment,
  about: Pick<Discrepancy, 'id' | 'kind' | 'trans_id' | 'details'>,
): Promise<boolean> {
  const movements = await movementsOf(trx, payment);
  const settled = movements.filter(({ booked }) => booked === 'settled');
  const waiting = settled.filter(
    (each) => isListed(payment, each) && !hasNeverMoved(about, each, settled),
  );
  const waits = waiting.length > 0;
  const isByDifference = ABOUT_DIFFERENCES.includes(about.kind);
  if (waits && !isByDifference) await refuseDifference(trx, payment, waiting);
  const how = (each: Movement) => {
    const isBack = bringsBack(payment, about, each);
    // A row shows that it has moved.
    return { isBack, hasMoved: isBack && isListedAsBack(movements, each) };
  };
  const undone: Movement[] = [];
  for (const each of settled) {
    const isWaiting = waiting.includes(each);
    undone.push(isWaiting && isByDifference ? await correctAsTold(trx, payment, each) : each);
    if (waits) await rebookMovement(trx, each, 'undoing', how(each).isBack);
    else await undoMovement(trx, payment, each, how(each));
  }
  if (payment.kind === 'collection' && (await isReversed(trx, payment, ['completed']))) {
    await writeOff(trx, payment, undone, waits);
    return false;
  }
  await undo(trx, payment, {
    movement: undone[0]!,
    question: await openQuestion(trx, refOf(payment), about.id),
    movedOn: waits ? 'suspense' : 'gateway_float',
  });
  if (!waits) return settled.every(isUnsure);
  for (const [index, movement] of undone.entries()) {
    if (waiting.includes(settled[index]!)) await awaitUndoneMoney(trx, payment, movement);
    else await withdrawMovement(trx, payment, movement, how(settled[index]!));
  }
  return false;
}

/**
 * Tells whether the question says that money has come back: a row of a statement says it of one movement, and the
 * gateway, which has failed the payment, of all that somebody besides support has told.
 */
function bringsBack(
  payment: AnyPayment,
  { kind, trans_id, details }: Pick<Discrepancy, 'kind' | 'trans_id' | 'details'>,
  movement: Movement,
): boolean {
  if (kind !== 'failure_after_success') return false;
  if (isOfRow({ details })) return movement.row_back === trans_id;
  return isListed(payment, movement) || sourceOfMoney(movement) === 'file';
}

/**
 * Tells whether something besides people has told of money. The line of a payout that names none has its account, and the
 * receipt that support gave. A customer may have paid somebody else by hand.
 */
function isListed({ kind }: AnyPayment, movement: Movement): boolean {
  const isAlike = kind === 'payout' && LIKENESSES.includes(sourceOfMoney(movement));
  return isAlike || isOfGateway(movement);
}

/** Tells whether a row of a statement has asked, which brings a movement back. */
function isOfRow({ details }: Pick<Discrepancy, 'details'>): boolean {
  return details.has_come_back === true;
}

/**
 * Tells whether money never moved for the payment: nothing has to come back then. A statement that
 * lacks it proves that against people. The gateway's own word about it may still be true, and so is
 * its word about other parts of the payment.
 */
function hasNeverMoved(
  { kind, trans_id }: Pick<Discrepancy, 'kind' | 'trans_id'>,
  { told_by, confirmed_by, ...movement }: Movement,
  { length }: Movement[],
): boolean {
  if (length > 1 && movement.trans_id !== trans_id) return false;
  if (kind === 'receipt_of_another') return true;
  if (kind !== 'missing_at_gateway' && kind !== 'doubted') return false;
  return provenBy('statement').includes(confirmed_by ?? told_by);
}

interface UndoneMoney {
  /** The first one of a payment in parts. */
  movement: Movement;
  /** What else is open about the place of the payment's money. */
  question: DiscrepancyKind | null;
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
  await failUnsentReversal(trx, collection, WHY);
  if (await isReversed(trx, collection, ['pending', 'processing'])) {
    // It moves money of its own: support decides about that first.
    throw new OperatorRefusal('A reversal of the collection is open: undo that one first');
  }
  await failCollection(trx, collection, movedOn);
}

async function failCollection(
  trx: Transaction,
  collection: Collection,
  movedOn: MovementAccount,
): Promise<void> {
  const failed = await fail(trx, collection);
  await createEvent(trx, failed);
  await post(trx, failed, undoneLines(collectedLines(collection, movedOn)));
}

/**
 * Puts the money in flight again. The refund follows, with the event, once nothing else is open about the
 * payout's money. If support had debited a refunded payout again, puts the money back into the wallet at once.
 * @throws OperatorRefusal when it would do so while a question is open
 */
async function undoPayout(
  trx: Transaction,
  payout: Payout,
  { question, movedOn }: UndoneMoney,
): Promise<void> {
  const inFlight = undoneLines(paidOutLines(payout, movedOn));
  if (payout.refund_posted_at === null) {
    await post(trx, await fail(trx, payout, refundUnless(question)), inFlight);
    return;
  }
  if (question) {
    throw new OperatorRefusal(
      `The payout may have moved other money, and this would give it back at once: resolve ${question} first`,
    );
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

/**
 * Takes the reversal back. The collection may be reversed again, unless its money never came: then it fails
 * too, and is no loss any more.
 */
async function undoReversal(
  trx: Transaction,
  reversal: Reversal,
  { movedOn }: UndoneMoney,
): Promise<void> {
  const failed = await fail(trx, reversal);
  await createEvent(trx, failed);
  await post(trx, failed, undoneLines(reversedLines(reversal, movedOn)));
  const { merchant_id, collection_id: id } = reversal;
  const collection = await lockPayment(trx, { kind: 'collection', merchant_id, id });
  if (collection?.kind !== 'collection' || collection.undone_at === null) return;
  await failCollection(trx, collection, 'losses');
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
