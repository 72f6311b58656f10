import { hasRow, rows, type Transaction } from '../../connections/database.ts';
import { recordOperatorTrouble } from '../channels/operator-trouble.ts';
import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import { endMissing, supersedeDiscrepancies } from '../discrepancies/supersede.ts';
import { hearCharge } from '../gateway-accounts/charges.ts';
import type { Failed, Succeeded, Verdict } from '../gateway-results.ts';
import {
  type AnyPayment,
  accountOf,
  fillEmpty,
  findPayment,
  OF_PAYMENT,
  type PaymentRef,
  refOf,
} from '../payments/payment-store.ts';
import { fillReturnedReceipt } from '../returns/create-return.ts';
import { acknowledgedReferences } from '../submission/attempts.ts';
import { adoptionOf } from './adoptions.ts';
import { endAskingAfterFailure } from './after-failure.ts';
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
import { failUnsent } from './fail-unsent.ts';
import { denies, noteSuccess, provesMoney, wasClearedUnproven } from './file-money.ts';
import { isKnownAsBack, mayBeBack } from './late-money.ts';
import {
  clearedByWord,
  insertMovement,
  isListedAsBack,
  type Movement,
  movementsOf,
  repeatedMovement,
} from './movements.ts';
import { hasFailedSince, isOvertaken, newestFailure } from './overtaken.ts';
import { fillReceipt, ownerOfReceipt } from './receipts.ts';
import { CLOCKS_DIFFER } from './returned-like.ts';
import { rulesOf } from './rules.ts';
import { isSameAccount, sameAccount } from './same-account.ts';
import type { News, Settlement } from './settle.ts';
import { confirmMovement, isOfGateway, isUnsure, sourceOf, UNSURE_SOURCES } from './sources.ts';
import { keepInSuspense, withdrawMovement } from './suspense.ts';
import { askBeforeFailing, endConfirmed, hasMovedAlready } from './unconfirmed.ts';

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

/** @param known are the movements that nobody has taken back: only these contradict a failure */
async function applyFailure(
  trx: Transaction,
  payment: AnyPayment,
  known: Movement[],
  news: News<Failed>,
): Promise<Settlement> {
  // A repeated callback is as old as the first.
  const saidAt = news.told?.at ?? news.heardAt;
  if (known.length > 0 && (await isOvertaken(trx, payment, saidAt))) return 'repeat';
  // Support has taken the money of a reversed collection out of the books already.
  if (known.length === 0 && payment.status === 'completed') return 'repeat';
  if (payment.status === 'failed') {
    await endAskingAfterFailure(trx, payment, { heardAt: saidAt, externalRef: news.externalRef });
    await fillEmpty(trx, payment, { external_ref: news.externalRef });
    if (!(await hasBounced(trx, payment, known, news))) return 'repeat';
    await reportFailureAfterSuccess(trx, payment, news);
    if (payment.kind === 'collection') await failUnsentReturns(trx, payment, news);
    return 'discrepancy';
  }
  if (known.length > 0) {
    await reportFailureAfterSuccess(trx, payment, news);
    return 'discrepancy';
  }
  if (await askBeforeFailing(trx, payment, news.heardAt)) return 'put_off';
  if (news.cause !== 'support' && (await hasMovedAlready(trx, payment))) return 'put_off';
  await rulesOf(payment).fail(trx, payment, news);
  if (news.operatorTrouble) await recordOperatorTrouble(trx, payment, news.operatorTrouble);
  return 'failed';
}

/**
 * Tells whether the gateway has failed a failed payment again, after it told of its money that waits for a decision,
 * that the customer has back, or that is our loss. A repeated callback is as old as the first.
 */
async function hasBounced(
  trx: Transaction,
  payment: AnyPayment,
  known: Movement[],
  { cause, heardAt, told }: News<Failed>,
): Promise<boolean> {
  if (cause === 'support' || cause === 'statement') return false;
  const mayBounce = await hasMoneyToBounce(trx, payment, known);
  return mayBounce && !(await isOvertaken(trx, payment, told?.at ?? heardAt));
}

/** Tells whether a failed payment has money that waits, that the customer has back, or that is our loss. */
export async function hasMoneyToBounce(
  trx: Transaction,
  payment: AnyPayment,
  known: Movement[],
): Promise<boolean> {
  const waits = ['suspense', 'returning', ...(payment.kind === 'collection' ? ['cleared'] : [])];
  return (
    known.some(({ booked }) => waits.includes(booked)) ||
    (await clearedByWord(trx, payment)).some(({ resolution }) => resolution === 'failed')
  );
}

/** Sends no money back that may have bounced: it waits in suspense again. */
async function failUnsentReturns(
  trx: Transaction,
  collection: PaymentRef,
  news: News<Failed>,
): Promise<void> {
  const waiting = await rows<PaymentRef>(
    trx,
    `SELECT 'return' AS kind, merchant_id, id FROM returns
     WHERE merchant_id = :merchant_id AND collection_id = :id AND status = 'pending' ORDER BY id`,
    collection,
  );
  const { code, description } = news;
  const failure = { outcome: 'failed', code, description, externalRef: null } as const;
  for (const ref of waiting) {
    await failUnsent(trx, ref, { ...failure, cause: 'late_failure', heardAt: null });
  }
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
  const isListed =
    isUndoneLine(payment, all, news, sourceOf(news)) ||
    (isUndoneLine(payment, all, news) && (await isListedBefore(trx, payment, all, news)));
  if (isListed && (await isAnswered(trx, payment, news))) return 'repeat';
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
  if (isUndoneLine(payment, all, news)) return 'undone_money';
  const isSecond = all.some(({ booked }) => booked !== 'undone') || payment.undone_at !== null;
  return isSecond ? 'second_success' : rulesOf(payment).problemOf(trx, payment, news);
}

/**
 * Tells whether this is the line of a statement about money that the gateway itself had told of, and
 * that was said to have come back since.
 * @param told_by narrows it to the words of this source
 */
function isUndoneLine(
  { undone_at }: AnyPayment,
  all: Movement[],
  { cause, transId }: News<Succeeded>,
  told_by?: string,
): boolean {
  if (cause !== 'statement' || undone_at === null) return false;
  const undone = all.filter((each) => each.booked === 'undone' && each.trans_id === transId);
  return undone.some((each) => each.told_by === (told_by ?? each.told_by) && isOfGateway(each));
}

/**
 * Tells whether a line about undone money is no news to those who have decided about that: a statement had listed it
 * before, or has a row that brings it back, as the one that is compared now may have.
 */
async function isListedBefore(
  trx: Transaction,
  payment: AnyPayment,
  all: Movement[],
  { transId, completedAt }: News<Succeeded>,
): Promise<boolean> {
  for (const each of all) {
    if (each.trans_id === transId && (await isListedAsBack(trx, each))) return true;
  }
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies d
       JOIN statement_imports i ON i.gateway = d.gateway AND i.started_at < d.resolved_at
       JOIN statement_lines l ON l.import_id = i.id AND l.trans_id = :trans_id AND NOT l.undecided
     WHERE d.merchant_id = :merchant_id AND d.payment_kind = :kind AND d.payment_id = :id
       AND d.kind = 'undone_money' AND d.trans_id = :trans_id
     UNION ALL SELECT 1 FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
     WHERE i.gateway = :gateway AND i.started_at IS NOT NULL AND i.result IS NULL
       AND l.has_come_back AND l.amount_cents = :amount_cents AND ${sameAccount('l.account', ':account')}
       AND l.completed_at > CAST(:completed_at AS timestamptz) - interval '${CLOCKS_DIFFER}' LIMIT 1`,
    {
      ...payment,
      trans_id: transId,
      account: accountOf(payment),
      completed_at: completedAt ?? payment.created_at,
    },
  );
}

/** Tells whether somebody has decided about money that a statement lists as undone, or it is another payment's. */
async function isAnswered(
  trx: Transaction,
  payment: AnyPayment,
  { transId }: News<Succeeded>,
): Promise<boolean> {
  if (transId !== null && (await ownerOfReceipt(trx, payment, transId))) return true;
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies WHERE ${OF_PAYMENT} AND kind = 'undone_money'
       AND trans_id IS NOT DISTINCT FROM CAST(:trans_id AS text)`,
    { ...payment, trans_id: transId },
  );
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
