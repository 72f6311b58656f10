import type { Transaction } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import {
  type DiscrepancyKind,
  FOR_DECISION,
  GATEWAY_TOLD_SUCCESS,
  openQuestion,
} from '../discrepancies/discrepancy.ts';
import { isDismissed, nameOwner } from '../discrepancies/dismissed-money.ts';
import { endMissing, supersedeDiscrepancies } from '../discrepancies/supersede.ts';
import { awaitsRefund } from '../payments/kinds.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, findPayment, refOf } from '../payments/payment-store.ts';
import { pollStep } from '../payments/schedule.ts';
import { supersedeOtherQuestions, takeBackAdoption } from '../settlement/adoptions.ts';
import { goOnAsFailed, stepOfRefund } from '../settlement/after-failure.ts';
import { hasMoneyToBounce } from '../settlement/apply-failure.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { moneyOf } from '../settlement/explain-unknown.ts';
import { countedAsReturned, mayBeBack } from '../settlement/late-money.ts';
import { type Movement, movementsOf } from '../settlement/movements.ts';
import { nameMoneyBack } from '../settlement/rows-of-movements.ts';
import { settle } from '../settlement/settle.ts';
import { hasUnsureReceipt, isUnsure, newsFrom } from '../settlement/sources.ts';
import { correctToNewest, refuseDifference, withdrawMovement } from '../settlement/suspense.ts';
import { acceptToldAmount } from './accept-told-amount.ts';
import { askAgain } from './claimants.ts';
import {
  clearMovement,
  countAsReturned,
  failIfUndecided,
  forgetCleared,
  returnMovement,
} from './clear-movement.ts';
import { completeFromSuspense } from './complete-from-suspense.ts';
import type { Discrepancy, DiscrepancyCase } from './discrepancy-cases.ts';
import { isAboutCleared, isUpheld } from './doubt-payment.ts';
import { joinParts } from './join-parts.ts';
import { toldCentsOf } from './read-cases.ts';
import {
  ownerOf,
  refuseBeforeRest,
  refuseBeforeSame,
  refuseBesideReversal,
  refuseBounced,
  refuseWhileOpen,
} from './refuse-decision.ts';
import {
  DECIDED_BY_WORD,
  type Decision,
  type Resolution,
  type ResolveOptions,
  takesReceipt,
} from './resolution.ts';
import { correctReceipt, giveReceiptUp, settleByHand, succeededByWord } from './settle-by-hand.ts';
import { undoPayment } from './undo-payment.ts';
import { takeLossBack } from './write-off.ts';

/** A discrepancy that somebody decides about, with its locked payment. */
export interface Case {
  found: DiscrepancyCase;
  discrepancy: Discrepancy;
  payment: AnyPayment;
  movement: Movement | null;
}

/** Changes what a decision says, and lets its payment go on. */
export async function applyDecision(
  trx: Transaction,
  about: Case,
  decision: Decision,
  options: ResolveOptions,
): Promise<void> {
  const { found, discrepancy, payment } = about;
  const { as } = decision;
  // A return gives back money of its collection.
  const isCorrected = about.movement && payment.kind !== 'return' && GOES_BY_MONEY.has(as);
  const movement = isCorrected
    ? await correctToNewest(trx, payment, about.movement!)
    : about.movement;
  const { kind } = discrepancy;
  if (as === 'undo' && found.is_adopted) {
    return undoAdoption(trx, about, decision, options);
  }
  if (as === 'dismissed') return goOn(trx, discrepancy, payment, options);
  if (as === 'returned') await refuseBesideReversal(trx, payment);
  if (movement || as === 'parts') await refuseBounced(trx, payment, movement, as);
  const cents = movement?.amount_cents ?? toldCentsOf(discrepancy) ?? discrepancy.amount_cents;
  if (as === 'accept-amount') await refuseBeforeRest(trx, payment, discrepancy, cents!);
  if (as === 'parts') return joinParts(trx, payment, movement, decision, options);
  if (DECIDED_BY_WORD.has(kind) || (as === 'completed' && takesReceipt(kind))) {
    return settleByHand(trx, payment, decision, options.parserOf);
  }
  if (kind === 'doubted' && payment.status === 'failed') {
    await forgetCleared(trx, payment);
    return askAgain(trx, payment, decision, options);
  }
  if (kind === 'doubted' && (await isAboutCleared(trx, payment, discrepancy.trans_id))) {
    return askAboutCleared(trx, payment, options);
  }
  if (as === 'undo' && !movement) {
    return undoEnd(trx, about, decision, options);
  }
  if (kind === 'return_failed') await refuseWhileOpen(trx, payment, discrepancy);
  if (as === 'undo') {
    return undoMoney(trx, { ...about, movement: movement! }, decision, options);
  }
  if (movement && found.is_unproven) await refuseDifference(trx, payment, [movement]);
  if (as === 'same' && payment.undone_at !== null) return takeLossBack(trx, payment, movement!);
  if (as === 'same' && payment.status === 'failed') {
    return countAsReturned(trx, payment, movement!);
  }
  if (as === 'same') return correctReceipt(trx, payment, [movement!]);
  if (kind === 'taken_after_failure') return goOnAsFailed(trx, payment);
  if (as === 'accept-amount' && !movement) {
    return acceptToldAmount(trx, payment, cents!, options.commissionDefaults);
  }
  if (as === 'completed' || as === 'accept-amount') {
    return completeFromSuspense(trx, payment, movement!, options.commissionDefaults);
  }
  if (as === 'returned') await returnMovement(trx, payment, movement!, kind);
  else {
    // The same money may have been called back before, without its receipt.
    if (kind === 'undone_money') await nameMoneyBack(trx, payment, movement!);
    await clearMovement(trx, payment, movement!, 'losses');
  }
  // Another movement may be the payment's own. That decision is still open.
  if (await openQuestion(trx, refOf(payment), discrepancy.id)) return;
  await failIfUndecided(trx, payment, WITHOUT_MONEY[as]);
}

/** These decisions book the amount that has moved, or send it on. */
const GOES_BY_MONEY: ReadonlySet<Resolution> = new Set<Resolution>([
  ...(['completed', 'accept-amount', 'returned', 'failed'] as const),
]);

/** Takes an adoption back, because the money is this payment's. */
async function undoAdoption(
  trx: Transaction,
  { discrepancy, payment }: Case,
  decision: Decision,
  options: ResolveOptions,
): Promise<void> {
  const { adopted_for: merchant_id, adoption: id, by_likeness } = discrepancy.details;
  const ref = { merchant_id: Number(merchant_id), id: String(id) };
  await takeBackAdoption(trx, ref, decision.reason);
  if (by_likeness === true) await nameOwner(trx, ref.id, nameOf(payment));
  await supersedeOtherQuestions(trx, refOf(payment), ref, discrepancy.id);
  if (payment.status === 'failed') return askAgain(trx, payment, decision, options);
  return goOn(trx, discrepancy, payment, options);
}

/** Takes the end of a payment back: it has not moved, or its money has come back. */
async function undoEnd(
  trx: Transaction,
  { discrepancy, payment }: Case,
  decision: Decision,
  options: ResolveOptions,
): Promise<void> {
  const { kind } = discrepancy;
  const isAboutReceipt =
    kind === 'receipt_of_another' || (kind === 'doubted' && !(await isUpheld(trx, payment)));
  if (isAboutReceipt && (await giveReceiptUp(trx, payment, discrepancy.trans_id))) return;
  if (ASKS_AFTER_UNDO.has(kind) || kind === 'failure_after_success') {
    await refuseBeforeSame(trx, payment);
  }
  // Other money that was called lost or returned is in doubt too: the gateway tells it anew.
  if (kind === 'doubted') await forgetCleared(trx, payment);
  const isOfPeople = await undoPayment(trx, payment, discrepancy);
  if (isOfPeople && ASKS_AFTER_UNDO.has(kind)) {
    await askAgain(trx, (await findPayment(trx, payment))!, decision, options);
  }
}

/** Takes money out of suspense, because it never moved, or has come back. */
async function undoMoney(
  trx: Transaction,
  { found, discrepancy, payment, movement }: Case & { movement: Movement },
  decision: Decision,
  options: ResolveOptions,
): Promise<void> {
  const { kind } = discrepancy;
  const owner = await ownerOf(trx, payment, movement);
  // The gateway would tell it again.
  const isKnownAsBack = (await movementsOf(trx, owner)).some(
    ({ trans_id, back_at }) => back_at !== null && trans_id === movement.trans_id,
  );
  const isBack = kind === 'undone_money' || isKnownAsBack || hasGoneBack(found, movement);
  const money = { transId: movement.trans_id, externalRef: null };
  // The gateway has told of it, and somebody had it sent back, or booked it by hand.
  const isExplained =
    owner.kind === 'collection'
      ? await mayBeBack(trx, owner, money)
      : await isDismissed(trx, moneyOf(owner, money));
  await withdrawMovement(trx, owner, movement, { isBack });
  await endMissing(trx, owner, movement.trans_id);
  // A failure of a failed payment is a question as long as the payment has money that may have bounced.
  const left = await movementsOf(trx, owner);
  const isOver = owner.status === 'failed' && !(await hasMoneyToBounce(trx, owner, left));
  const isAnswered: DiscrepancyKind[] = isOver ? ['failure_after_success'] : [];
  await supersedeDiscrepancies(trx, owner, isAnswered, { receipt: movement.trans_id });
  const isAsked = !isBack && !isExplained;
  const hasTold =
    !isUnsure(movement) ||
    GATEWAY_TOLD_SUCCESS in discrepancy.details ||
    (await countedAsReturned(trx, owner)).counted.length > 0;
  if (isAsked && owner.status === 'failed' && hasTold) {
    // The service, or somebody, took the gateway's own news for a repetition of this money, and it is not booked.
    await askAgain(trx, owner, decision, options);
  }
  return goOn(trx, discrepancy, payment, options);
}

/**
 * Tells whether late money of a customer that leaves suspense can only have gone back: the gateway itself has told of it,
 * and its receipt is no other payment's.
 */
function hasGoneBack(
  { kind, is_claimed, has_bounced }: DiscrepancyCase,
  movement: Movement,
): boolean {
  const isSure = !isUnsure(movement) && !hasUnsureReceipt(movement);
  return isSure && !is_claimed && (kind === 'paid_after_failure' || has_bounced === true);
}

/** An `undo` of these says that the word of people was wrong. It does not say that no money has moved. */
const ASKS_AFTER_UNDO: ReadonlySet<DiscrepancyKind> = new Set([
  ...(['doubted', 'receipt_of_another', 'missing_at_gateway'] as const),
]);

/** Asks anew about money that went out besides what completed the payment: the word about it was wrong. */
async function askAboutCleared(
  trx: Transaction,
  payment: AnyPayment,
  { parserOf }: ResolveOptions,
): Promise<void> {
  for (const movement of await forgetCleared(trx, payment)) {
    const { amount_cents: amountCents, account, completed_at: completedAt } = movement;
    const news = { ...succeededByWord(movement.trans_id), amountCents, account, completedAt };
    const { told_by, heard_at: heardAt } = movement;
    await settle(trx, payment, news, { ...newsFrom(told_by), parserOf, heardAt });
  }
}

/** The result description of a payment whose movement was given back or written off. */
const WITHOUT_MONEY = {
  returned: 'The money was returned',
  failed: 'Not carried out as asked',
} as const;

/**
 * Lets a payment go on that was parked for this discrepancy alone: a question, or its refund. If
 * somebody has decided before that its money goes back or is lost, it fails now.
 */
export async function goOn(
  trx: Transaction,
  discrepancy: Discrepancy,
  payment: AnyPayment,
  { pollFirstMs }: ResolveOptions,
): Promise<void> {
  if (!payment.parked_reason?.startsWith(FOR_DECISION)) return;
  if (await openQuestion(trx, refOf(payment), discrepancy.id)) return;
  const moved = await movementsOf(trx, payment);
  if (isOpen(payment) && moved.some(({ booked }) => booked !== 'undone')) {
    return failIfUndecided(trx, payment, WITHOUT_MONEY.failed);
  }
  const step = isOpen(payment)
    ? pollStep({ ...payment, parked_reason: null }, pollFirstMs)
    : await stepOfRefund(trx, payment);
  if (isOpen(payment) || isUnrefunded(payment)) await changeStep(trx, refOf(payment), step);
}

function isUnrefunded(payment: AnyPayment): boolean {
  return payment.kind === 'payout' && awaitsRefund(payment);
}
