import type { Transaction } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import {
  type DiscrepancyKind,
  FOR_DECISION,
  GATEWAY_TOLD_SUCCESS,
  openQuestion,
} from '../discrepancies/discrepancy.ts';
import { isDismissed } from '../discrepancies/dismissed-money.ts';
import { endMissing, supersedeDiscrepancies, supersedeWhere } from '../discrepancies/supersede.ts';
import { OperatorRefusal } from '../errors.ts';
import type { ParserOf } from '../gateway-results.ts';
import type { Rate } from '../money.ts';
import { awaitsRefund } from '../payments/kinds.ts';
import { isOpen } from '../payments/payment.ts';
import {
  type AnyPayment,
  findPayment,
  lockPayment,
  type PaymentRef,
  refOf,
} from '../payments/payment-store.ts';
import { pollStep } from '../payments/schedule.ts';
import { reportWithoutReceipt } from '../reconciliation/missing-movements.ts';
import { askAboutRowsOf } from '../reconciliation/money-back.ts';
import { supersedeOtherQuestions, takeBackAdoption } from '../settlement/adoptions.ts';
import { goOnAsFailed, stepOfRefund } from '../settlement/after-failure.ts';
import { hasMoneyToBounce } from '../settlement/apply-failure.ts';
import { answerAtReversal } from '../settlement/contrary-news.ts';
import { CallbackFault, drainCallbacks } from '../settlement/drain-callbacks.ts';
import { moneyOf } from '../settlement/explain-unknown.ts';
import { countedAsReturned, mayBeBack } from '../settlement/late-money.ts';
import { findMovement, type Movement, movementsOf } from '../settlement/movements.ts';
import { settle } from '../settlement/settle.ts';
import { isUnsure, newsFrom } from '../settlement/sources.ts';
import { refuseDifference, withdrawMovement } from '../settlement/suspense.ts';
import { acceptToldAmount, endQuestionsAboutAmount } from './accept-told-amount.ts';
import { askAgain, askClaimants, FREES_RECEIPTS, othersOf } from './claimants.ts';
import {
  clearMovement,
  countAsReturned,
  failIfUndecided,
  forgetCleared,
  returnMovement,
} from './clear-movement.ts';
import { completeFromSuspense } from './complete-from-suspense.ts';
import {
  type Discrepancy,
  type DiscrepancyCase,
  findCase,
  findDiscrepancy,
  markResolved,
  paymentOf,
  toldCentsOf,
} from './discrepancy-cases.ts';
import { isAboutCleared, isUpheld } from './doubt-payment.ts';
import { joinParts } from './join-parts.ts';
import {
  collectionOf,
  ownerOf,
  refuseBeforeRest,
  refuseBeforeSame,
  refuseBounced,
  refuseWhileOpen,
} from './refuse-decision.ts';
import { DECIDED_BY_WORD, type Resolution, takesReceipt } from './resolution.ts';
import { correctReceipt, giveReceiptUp, settleByHand, succeededByWord } from './settle-by-hand.ts';
import { takeLossBack, undoPayment } from './undo-payment.ts';

export interface Decision {
  as: Resolution;
  actor: string;
  reason: string;
  /** The gateway's receipt, if support knows it. */
  transId: string | null;
}

export interface ResolveOptions {
  /** For merchants without a commission of their own. */
  commissionDefaults: Rate;
  /** The time until the gateway is asked again about a parked payment. */
  pollFirstMs: number;
  /** Reads the payment's stored callbacks, which are applied before the decision. */
  parserOf: ParserOf;
}

/**
 * Resolves a discrepancy as support has decided, with books, status and event, in the caller's
 * transaction. The state after it decides about later news of the gateway.
 * @throws OperatorRefusal when this decision is not possible. It changes nothing then.
 */
export async function resolveDiscrepancy(
  trx: Transaction,
  id: string,
  decision: Decision,
  options: ResolveOptions,
): Promise<Discrepancy> {
  const found = await findDiscrepancy(trx, id);
  if (!found) throw new OperatorRefusal(`There is no discrepancy ${id}`);
  // The payment's lock comes first, here as elsewhere.
  const locked = await lockPayments(trx, found, decision.as);
  const payment = locked && (await drain(trx, locked, options));
  const discrepancy = (await findDiscrepancy(trx, id, 'FOR UPDATE'))!;
  refuseResolved(discrepancy);
  const movement = await movementInSuspense(trx, discrepancy);
  const current = (await findCase(trx, id))!;
  refuseUnlessAllowed(current, decision.as);
  refuseReceipt(discrepancy, decision);
  if (payment) {
    await apply(trx, { found: current, discrepancy, payment, movement }, decision, options);
    if (FREES_RECEIPTS.has(decision.as)) await askClaimants(trx, discrepancy, decision, options);
    const after = (await findPayment(trx, payment))!;
    if (!isOpen(after)) await supersedeDiscrepancies(trx, payment, ['overdue', 'never_taken']);
    // The question that its refund waited for may have been answered with a claimant.
    await goOn(trx, discrepancy, after, options);
  }
  await markResolved(trx, id, decision);
  if (payment && found.kind === 'failure_after_success') {
    await answerAtReversal(trx, payment);
    // A payout comes back once: the gateway and a statement may have told it both.
    const isOther = "d.kind = 'failure_after_success' AND d.id <> CAST(:decided AS uuid)";
    const isBack = payment.kind === 'payout' && decision.as === 'undo';
    if (isBack) await supersedeWhere(trx, payment, isOther, { decided: id });
    if (payment.kind === 'payout') await askAboutRowsOf(trx, payment, isBack);
  }
  if (payment?.kind === 'payout' && found.kind === 'undone_money') {
    await answerRows(trx, payment, discrepancy, decision.as);
  }
  if (payment && decision.as === 'accept-amount') await endQuestionsAboutAmount(trx, payment);
  // The payment may be without proof now. A later statement would say so: maybe none comes.
  if (payment && found.kind === 'receipt_of_another') await reportWithoutReceipt(trx, payment);
  return (await findDiscrepancy(trx, id))!;
}

/** Answers what rows that bring money back have asked, by what support has said of that money. */
async function answerRows(
  trx: Transaction,
  payout: AnyPayment,
  { movement_id }: Discrepancy,
  as: Resolution,
): Promise<void> {
  const isRow = "d.kind = 'failure_after_success' AND d.details->>'movement' = :movement";
  if (as === 'returned') await supersedeWhere(trx, payout, isRow, { movement: movement_id });
  // Money that is lost has come back by no row.
  if (as === 'failed') await askAboutRowsOf(trx, payout, false);
}

/** Applies the stored callbacks. A fault in that is the operators' to mend, and not support's. */
async function drain(trx: Transaction, payment: AnyPayment, { parserOf }: ResolveOptions) {
  return drainCallbacks(trx, payment, parserOf).catch((error: Error) => {
    if (!(error instanceof CallbackFault)) throw error;
    throw new OperatorRefusal(`${error.message}. The operators must mend that first (jobs list)`);
  });
}

/**
 * Locks the payment of a discrepancy, with the payments that claim a receipt which the decision may
 * free. All are locked in one order, because two decisions at once may each ask about the other's payment.
 * @returns the payment of the discrepancy, if that is here
 */
export async function lockPayments(
  trx: Transaction,
  discrepancy: Discrepancy,
  as: Resolution,
): Promise<AnyPayment | undefined> {
  const own = paymentOf(discrepancy);
  if (!own) return undefined;
  const collection = await collectionOf(trx, own);
  const refs = [
    own,
    ...(collection ? [collection] : []),
    ...(await othersOf(trx, discrepancy, as)),
  ];
  const locked = new Map<PaymentRef, AnyPayment | undefined>();
  for (const ref of refs.sort((one, other) => (one.id < other.id ? -1 : 1))) {
    locked.set(ref, await lockPayment(trx, ref));
  }
  return locked.get(own);
}

function refuseResolved({ id, resolved_at, resolution }: Discrepancy): void {
  if (!resolved_at) return;
  throw new OperatorRefusal(`Discrepancy ${id} is resolved already: ${resolution}`);
}

function refuseUnlessAllowed({ kind, allowed }: DiscrepancyCase, as: Resolution): void {
  if (allowed.includes(as)) return;
  throw new OperatorRefusal(
    `This discrepancy (${kind}) can only be resolved as ${allowed.join(', ')}`,
  );
}

/** Money in suspense has the gateway's own receipt, or none. */
function refuseReceipt({ kind }: Discrepancy, { transId, as }: Decision): void {
  if (kind === 'missing_at_gateway' && as === 'completed' && transId === null) {
    throw new OperatorRefusal('Give the receipt of the payment (trans-id)');
  }
  if (transId === null || as === 'parts' || takesReceipt(kind)) return;
  throw new OperatorRefusal('A receipt is only needed for a payment that is still open');
}

async function movementInSuspense(trx: Transaction, discrepancy: Discrepancy) {
  const { merchant_id, movement_id: id } = discrepancy;
  if (merchant_id === null || id === null) return null;
  const movement = await findMovement(trx, { merchant_id, id });
  return ['suspense', 'undoing'].includes(movement.booked) ? movement : null;
}

interface Case {
  found: DiscrepancyCase;
  discrepancy: Discrepancy;
  payment: AnyPayment;
  movement: Movement | null;
}

async function apply(
  trx: Transaction,
  { found, discrepancy, payment, movement }: Case,
  decision: Decision,
  options: ResolveOptions,
): Promise<void> {
  const { as } = decision;
  const { kind } = discrepancy;
  if (as === 'undo' && found.is_adopted) {
    const { adopted_for: merchant_id, adoption: id } = discrepancy.details;
    const ref = { merchant_id: Number(merchant_id), id: String(id) };
    await takeBackAdoption(trx, ref, decision.reason);
    await supersedeOtherQuestions(trx, refOf(payment), ref, discrepancy.id);
    if (payment.status === 'failed') return askAgain(trx, payment, decision, options);
    return goOn(trx, discrepancy, payment, options);
  }
  if (as === 'dismissed') return goOn(trx, discrepancy, payment, options);
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
    return;
  }
  if (kind === 'return_failed') await refuseWhileOpen(trx, payment, discrepancy);
  if (as === 'undo') {
    const owner = await ownerOf(trx, payment, movement!);
    const money = { transId: movement!.trans_id, externalRef: null };
    // The gateway has told of it, and somebody had it sent back, or booked it by hand.
    const isExplained =
      owner.kind === 'collection'
        ? await mayBeBack(trx, owner, money)
        : await isDismissed(trx, moneyOf(owner, money));
    await withdrawMovement(trx, owner, movement!);
    await endMissing(trx, owner, movement!.trans_id);
    // A failure of a failed payment is a question as long as the payment has money that may have bounced.
    const left = await movementsOf(trx, owner);
    const isOver = owner.status === 'failed' && !(await hasMoneyToBounce(trx, owner, left));
    const isAnswered: DiscrepancyKind[] = isOver ? ['failure_after_success'] : [];
    await supersedeDiscrepancies(trx, owner, isAnswered, { receipt: movement!.trans_id });
    const isAsked = kind !== 'undone_money' && !isExplained;
    const hasTold =
      !isUnsure(movement!) ||
      GATEWAY_TOLD_SUCCESS in discrepancy.details ||
      (await countedAsReturned(trx, owner)).counted.length > 0;
    if (isAsked && owner.status === 'failed' && hasTold) {
      // The service, or somebody, took the gateway's own news for a repetition of this money, and it is not booked.
      await askAgain(trx, owner, decision, options);
    }
    return goOn(trx, discrepancy, payment, options);
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
  else await clearMovement(trx, payment, movement!, 'losses');
  // Another movement may be the payment's own. That decision is still open.
  if (await openQuestion(trx, refOf(payment), discrepancy.id)) return;
  await failIfUndecided(trx, payment, WITHOUT_MONEY[as]);
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
async function goOn(
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
