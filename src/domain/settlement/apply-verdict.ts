import type { Transaction } from '../../connections/database.ts';
import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import { endMissing, supersedeDiscrepancies } from '../discrepancies/supersede.ts';
import { hearCharge } from '../gateway-accounts/charges.ts';
import type { Succeeded, Verdict } from '../gateway-results.ts';
import {
  type AnyPayment,
  accountOf,
  fillEmpty,
  findPayment,
  refOf,
} from '../payments/payment-store.ts';
import { fillReturnedReceipt } from '../returns/create-return.ts';
import { acknowledgedReferences } from '../submission/attempts.ts';
import { adoptionOf } from './adoptions.ts';
import { endAskingAfterFailure } from './after-failure.ts';
import { applyFailure } from './apply-failure.ts';
import { storableVerdict } from './callback-store.ts';
import {
  doubtCleared,
  reportContradiction,
  reportFailureAfterSuccess,
  reportOtherPayment,
  reportReceiptOfAnother,
  reportUndoneMoney,
} from './contrary-news.ts';
import { explainRenamed, explainUnknown } from './explain-unknown.ts';
import { denies, noteSuccess, provesMoney, wasClearedUnproven } from './file-money.ts';
import { isKnownAsBack, mayBeBack } from './late-money.ts';
import { insertMovement, type Movement, movementsOf, repeatedMovement } from './movements.ts';
import { hasFailedSince, newestFailure } from './overtaken.ts';
import { fillReceipt, ownerOfReceipt } from './receipts.ts';
import { rulesOf } from './rules.ts';
import { isSameAccount } from './same-account.ts';
import type { News, Settlement } from './settle.ts';
import { confirmMovement, isUnsure, sourceOf, UNSURE_SOURCES } from './sources.ts';
import { keepInSuspense, withdrawMovement } from './suspense.ts';
import { endConfirmed } from './unconfirmed.ts';
import { isAnsweredLine, isUndoneLine, repeatsMoneyBack } from './undone-lines.ts';

/**
 * Applies a verdict to a locked payment. Books each reported movement exactly once: as
 * the payment's own, or to suspense when somebody must decide. Later news never changes what
 * the merchant was told without telling it again.
 */
export async function applyVerdict(
  trx: Transaction,
  payment: AnyPayment,
  verdict: News<Verdict>,
): Promise<Settlement> {
  const news = storableVerdict(verdict);
  if (await namesAnother(trx, payment, news)) {
    // Another attempt has failed, too.
    const saysNothing = news.outcome === 'failed' && payment.status === 'failed';
    return saysNothing ? 'repeat' : reportOtherPayment(trx, payment, news);
  }
  const all = await movementsOf(trx, payment);
  const known = all.filter(({ booked }) => booked !== 'undone');
  const settlement =
    news.outcome === 'failed'
      ? await applyFailure(trx, payment, known, news)
      : await applySuccess(trx, payment, { all, known }, news);
  if (news.outcome === 'succeeded') {
    await hearCharge(trx, payment, news);
    await endConfirmed(trx, payment, news);
  }
  if (settlement === 'completed' || settlement === 'failed') {
    const receipt = news.outcome === 'succeeded' ? news.transId : null;
    // A large success that nobody has confirmed contradicts a failure.
    const kinds = SETTLED_BY_THE_END.filter(
      (kind) => settlement === 'completed' || kind !== 'unconfirmed_success',
    );
    await supersedeDiscrepancies(trx, refOf(payment), kinds, { receipt });
  }
  return settlement;
}

/**
 * Tells whether news that contradicts a payment is about another one: it names another reference of the gateway, or a
 * receipt that belongs to another payment.
 */
export async function isOfAnother(
  trx: Transaction,
  payment: AnyPayment,
  news: Verdict,
): Promise<boolean> {
  if (await namesAnother(trx, payment, news)) return true;
  if (news.outcome === 'failed' || news.transId === null) return false;
  const owner = await ownerOfReceipt(trx, payment, news.transId);
  return owner?.id !== payment.id;
}

/** The end of a payment answers these questions about it. */
const SETTLED_BY_THE_END: DiscrepancyKind[] = [
  'overdue',
  'never_taken',
  'unclear_result',
  'unconfirmed_success',
];

/**
 * Tells whether the gateway names another reference of its own than it has acknowledged. Each
 * attempt may have one. One that was only heard in news proves nothing.
 */
async function namesAnother(
  trx: Transaction,
  payment: AnyPayment,
  { externalRef }: Verdict,
): Promise<boolean> {
  if (externalRef === null || externalRef === payment.external_ref) return false;
  if (payment.external_ref === null) return false;
  const acknowledged = await acknowledgedReferences(trx, payment);
  return acknowledged.length > 0 && !acknowledged.includes(externalRef);
}

async function applySuccess(
  trx: Transaction,
  payment: AnyPayment,
  // After an undo nothing is a repeat. The money may still have moved.
  { all, known }: { all: Movement[]; known: Movement[] },
  news: News<Succeeded>,
): Promise<Settlement> {
  const repeated = repeatedMovement(known, news);
  if (repeated) return applyRepeat(trx, payment, { repeated, known }, news);
  if (await isAnsweredLine(trx, payment, all, news)) return 'repeat';
  if (await isKnownAsBack(trx, payment, news)) {
    if (!news.isFromFile) await endAskingAfterFailure(trx, payment);
    return 'repeat';
  }
  if (await adoptionOf(trx, payment, news)) {
    // The next news may not name it.
    await fillEmpty(trx, payment, { external_ref: news.externalRef });
    return reportReceiptOfAnother(trx, payment, news);
  }
  const rules = rulesOf(payment);
  // A repeated callback is as old as the first.
  const heardAt = news.heardAt && (news.told?.at ?? news.heardAt);
  const hasFailed = await hasFailedSince(trx, payment, heardAt);
  const isOldLine = !hasFailed && (await hasFailedSince(trx, payment, timeOfLine(news)));
  const isLate = rules.comesTooLate?.(payment) === true;
  // Nothing goes back to a customer who may not have paid, or may have the money again already.
  const isGone =
    payment.kind === 'collection' &&
    (hasFailed || isOldLine || (isLate && (await mayBeBack(trx, payment, news))));
  const problem =
    (await problemOf(trx, payment, all, news)) ?? (isGone ? 'paid_after_failure' : null);
  const waits = problem !== null || isLate;
  const movement = await insertMovement(trx, payment, news, waits ? 'suspense' : 'settled');
  if (!movement) return reportReceiptOfAnother(trx, payment, news);
  // A restored database may hear of the money before the payment comes again.
  await explainUnknown(trx, payment, { ...movement, external_ref: news.externalRef });
  // A file may be wrong, and the gateway may still pay: the asking goes on while its money waits.
  const mayBeWrong = problem !== null && news.isFromFile;
  const current = mayBeWrong ? payment : await endAskingAfterFailure(trx, payment);
  const settlement = problem
    ? await keepInSuspense(trx, current, movement, problem)
    : await rules.complete(trx, current, news, movement);
  // Another question about an old line asks about its money, too.
  if (isOldLine ? problem === null : hasFailed && problem !== 'paid_after_failure') {
    const { result_code: code, result_description: description } = payment;
    const told = await newestFailure(trx, payment);
    await reportFailureAfterSuccess(trx, payment, { code, description, ...(told && { told }) });
  }
  return settlement;
}

/**
 * Returns how old the line of a statement is: as old as its money. A file may have any time, so it counts as older than
 * all words of the gateway. Null: it is no line.
 */
function timeOfLine({ cause, completedAt, isFromFile }: News<Succeeded>): Date | null {
  if (cause !== 'statement') return null;
  return isFromFile ? new Date(0) : completedAt;
}

async function problemOf(
  trx: Transaction,
  payment: AnyPayment,
  all: Movement[],
  news: News<Succeeded>,
): Promise<DiscrepancyKind | null> {
  if (isUndoneLine(payment, all, news) || repeatsMoneyBack(payment, all, news)) {
    return 'undone_money';
  }
  const isSecond = all.some(({ booked }) => booked !== 'undone') || payment.undone_at !== null;
  return isSecond ? 'second_success' : rulesOf(payment).problemOf(trx, payment, news);
}

/** Tells whether a movement has completed the payment, and the gateway has not told of it. */
function isUnsureCompletion(movement: Movement): boolean {
  return movement.booked === 'settled' && isUnsure(movement);
}

/**
 * Tells whether a return may name the receipt of this news. By a wrong row of a file it would take the payment of
 * somebody else back, so a row must tell the customer's phone and the amount.
 */
function mayNameReturned(payment: AnyPayment, movement: Movement, news: News<Succeeded>): boolean {
  if (!news.isFromFile && news.cause !== 'support') return true;
  const isOfCustomer = news.account !== null && isSameAccount(news.account, accountOf(payment));
  return news.isFromFile === true && isOfCustomer && news.amountCents === movement.amount_cents;
}

async function applyRepeat(
  trx: Transaction,
  payment: AnyPayment,
  { repeated: movement, known }: { repeated: Movement; known: Movement[] },
  news: News<Succeeded>,
): Promise<Settlement> {
  if (denies(payment, movement, news)) {
    await withdrawMovement(trx, payment, movement);
    await supersedeDiscrepancies(trx, refOf(payment), [], { movement_id: movement.id });
    return applyVerdict(trx, (await findPayment(trx, payment))!, news);
  }
  if (!(await fillReceipt(trx, payment, movement, news.transId, sourceOf(news)))) {
    return reportReceiptOfAnother(trx, payment, news);
  }
  const trans_id = movement.trans_id ?? news.transId;
  if (movement.booked === 'undoing') {
    return reportUndoneMoney(trx, payment, { ...movement, trans_id }, news);
  }
  if (provesMoney(payment, movement, news)) {
    await confirmMovement(trx, movement, news);
  }
  if (!UNSURE_SOURCES.includes(sourceOf(news))) await noteSuccess(trx, payment, movement, news);
  // Without a receipt a doubt would be about the completion, if that is unsure too.
  const isNamed = trans_id !== null || !known.some(isUnsureCompletion);
  if (isNamed && wasClearedUnproven(payment, movement, news)) {
    return doubtCleared(trx, payment, { ...news, transId: trans_id });
  }
  const isNamedAnew = payment.external_ref === null && news.externalRef !== null;
  if (trans_id !== movement.trans_id || isNamedAnew) {
    await fillEmpty(trx, payment, { external_ref: news.externalRef });
    const named = { ...movement, trans_id, external_ref: news.externalRef };
    await explainRenamed(trx, payment, named, news.told);
  }
  if (movement.trans_id === null && news.transId !== null) {
    await supersedeDiscrepancies(trx, refOf(payment), [], { receipt: news.transId });
    if (news.cause === 'statement' && !news.isFromFile) await endMissing(trx, payment, null);
  }
  if (!news.isFromFile) await endAskingAfterFailure(trx, payment);
  if (mayNameReturned(payment, movement, news)) {
    await fillReturnedReceipt(trx, movement, news.transId);
  }
  if (movement.booked === 'settled') {
    await fillEmpty(trx, payment, { trans_id: news.transId, external_ref: news.externalRef });
  }
  return reportContradiction(trx, payment, movement, news);
}
