import type { Transaction } from '../../connections/database.ts';
import { isOutage, isRepeatable, messageOf } from '../../connections/database-errors.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import type { CallbackNews, ParsedCallback, ParserOf } from '../gateway-results.ts';
import { LostRaceError } from '../payments/payment.ts';
import { type AnyPayment, findPayment, type PaymentRef, refOf } from '../payments/payment-store.ts';
import { submitStep } from '../payments/schedule.ts';
import { countNotFound, mayHaveArrived } from '../submission/attempts.ts';
import { holdRefund } from './after-failure.ts';
import { applyVerdict, isOfAnother } from './apply-verdict.ts';
import { type Callback, lockStored, soundContent, toldBy } from './callback-store.ts';
import type { Settlement } from './settle.ts';
import { awaitsConfirmation, isToldAsDone, putOffUnconfirmed } from './unconfirmed.ts';
import { reportUnknownFailure, reportUnknownPayment } from './unknown-payments.ts';

export type CallbackResult =
  | Settlement
  | 'ignored'
  | 'rejected'
  /** The driver does not understand the outcome. Support must. */
  | 'unclear'
  /** It waits until the gateway has said the same when it was asked. */
  | 'unconfirmed';

/** The result of applying a callback. An error is a fault of ours: the callback stays stored. */
export type Applied = { result: CallbackResult } | { error: unknown };

/**
 * Applies every stored callback of a locked payment, so that nothing fails or refunds a payment
 * whose success has been stored.
 * @returns the payment as it is then
 * @throws CallbackFault when one could not be applied. The payment must not fail then.
 */
export async function drainCallbacks(
  trx: Transaction,
  payment: AnyPayment,
  parserOf: ParserOf,
): Promise<AnyPayment> {
  const applied = await applyStored(trx, refOf(payment), parserOf).catch(throwFault);
  for (const each of applied.values()) if ('error' in each) throwFault(each.error);
  return applied.size === 0 ? payment : (await findPayment(trx, payment))!;
}

/** A stored callback of a payment could not be applied. The payment must not fail meanwhile. */
export class CallbackFault extends Error {
  constructor(cause: unknown) {
    super(`A stored callback of the payment cannot be applied: ${messageOf(cause)}`, { cause });
    this.name = 'CallbackFault';
  }
}

function throwFault(error: unknown): never {
  throw isOutage(error) || error instanceof LostRaceError ? error : new CallbackFault(error);
}

/**
 * Applies the stored callbacks of a locked payment, the oldest first, but failures last: a
 * failure that was heard before a success is overtaken.
 */
export async function applyStored(
  trx: Transaction,
  ref: PaymentRef,
  parserOf: ParserOf,
): Promise<Map<string, Applied>> {
  const applied = new Map<string, Applied>();
  const stored = (await lockStored(trx, ref)).map((callback) => contentOf(callback, parserOf));
  const failuresLast = stored.toSorted(
    (one, other) => Number(isFailure(one)) - Number(isFailure(other)),
  );
  // A single one needs no savepoint: its error may end the transaction.
  const applyOne = stored.length === 1 ? apply : applyInSavepoint;
  let fault: Applied | null = null;
  for (const each of failuresLast) {
    // A payment does not fail while news that money has moved could not be applied.
    const result: Applied = fault && isFailure(each) ? fault : await applyOne(trx, ref, each);
    if ('error' in result) fault = result;
    applied.set(each.callback.id, result);
  }
  return applied;
}

interface ReadCallback {
  callback: Callback;
  /** Null when the driver cannot read it. */
  content: ParsedCallback | null;
}

/** The answer to a question about a receipt is for the person who asked. It is no news. */
const NO_NEWS: ParsedCallback = { reference: null, verdict: { outcome: 'pending' } };

/** Takes a body on which the driver throws as unreadable: other callbacks must not wait for it. */
export function contentOf(callback: Callback, parserOf: ParserOf): ReadCallback {
  if (callback.address === 'receipt') return { callback, content: NO_NEWS };
  const parse = parserOf(callback.gateway);
  try {
    const { address, payment_kind: kind } = callback;
    return { callback, content: soundContent(parse(callback.body, { address, kind })) };
  } catch {
    return { callback, content: null };
  }
}

function isFailure({ content }: ReadCallback): boolean {
  return content?.verdict.outcome === 'failed';
}

/** Applies one of several callbacks. Its error undoes this one and leaves the others alone. */
async function applyInSavepoint(
  trx: Transaction,
  ref: PaymentRef,
  read: ReadCallback,
): Promise<Applied> {
  try {
    return await trx.transaction((savepoint) => apply(savepoint, ref, read));
  } catch (error) {
    if (isOutage(error) || isRepeatable(error) || error instanceof LostRaceError) throw error;
    return { error };
  }
}

async function apply(trx: Transaction, ref: PaymentRef, read: ReadCallback): Promise<Applied> {
  const { callback, content } = read;
  if (!content) return rejectUnreadable(trx, ref, callback);
  const payment = await findPayment(trx, ref);
  if (!payment) return rejectUnknown(trx, callback, content);
  if (content.reference !== null && content.reference !== payment.reference) {
    await openDiscrepancy(trx, {
      kind: 'other_payment',
      payment: ref,
      details: { callback_id: callback.id, named: content.reference },
      told: toldBy(callback),
    });
    return reject(trx, callback, 'it names another payment than its address');
  }
  return applyNews(trx, payment, callback, content.verdict);
}

async function applyNews(
  trx: Transaction,
  payment: AnyPayment,
  callback: Callback,
  verdict: CallbackNews,
): Promise<Applied> {
  if (verdict.outcome === 'pending' || verdict.outcome === 'receipt') {
    return finish(trx, callback, 'processed', null, 'ignored');
  }
  if (verdict.outcome === 'notFound') {
    await hearNotFound(trx, payment, callback, verdict.settlingWindowMs);
    return finish(trx, callback, 'processed', null, 'ignored');
  }
  if (verdict.outcome === 'unclear') return reportUnclear(trx, payment, callback, verdict);
  if (verdict.outcome === 'succeeded' && (await awaitsConfirmation(trx, payment, verdict))) {
    return putOffUnconfirmed(trx, payment, callback, verdict);
  }
  const { received_at: heardAt } = callback;
  const news = { ...verdict, cause: 'callback', heardAt, told: toldBy(callback) };
  const settlement = await applyVerdict(trx, payment, news);
  const isContrary = settlement === 'discrepancy';
  const isOwn = !isContrary || !(await isOfAnother(trx, payment, verdict));
  const problem = isContrary ? 'it contradicts the payment' : null;
  const outcome = isOwn ? verdict.outcome : null;
  return finish(trx, callback, 'processed', problem, settlement, outcome);
}

/** Puts an outcome that the driver does not know on the support list. The asking goes on. */
async function reportUnclear(
  trx: Transaction,
  payment: AnyPayment,
  callback: Callback,
  { code, description, hasMoved }: Extract<CallbackNews, { outcome: 'unclear' }>,
): Promise<Applied> {
  if (hasMoved && payment.status === 'completed') {
    return finish(trx, callback, 'processed', null, 'repeat');
  }
  await openDiscrepancy(trx, {
    kind: 'unclear_result',
    payment: refOf(payment),
    amount_cents: payment.amount_cents,
    details: { code, description, ...(hasMoved && { has_moved: true }) },
    told: toldBy(callback),
  });
  await holdRefund(trx, payment);
  return finish(trx, callback, 'processed', `its code ${code} is not known`, 'unclear');
}

/** Reports what nobody has understood. Support must find out what the gateway has told. */
async function rejectUnreadable(trx: Transaction, ref: PaymentRef, callback: Callback) {
  await openDiscrepancy(trx, {
    kind: 'unreadable_callback',
    gateway: callback.gateway,
    payment: ref,
    // Each one is a finding of its own.
    details: { callback_id: callback.id, received_at: callback.received_at.toISOString() },
  });
  return reject(trx, callback, 'the body is not one of this gateway');
}

/** Reports money, and the failure of money that may be booked. About others nobody has to decide. */
async function rejectUnknown(
  trx: Transaction,
  callback: Callback,
  { verdict, reference }: ParsedCallback,
) {
  if (verdict.outcome === 'succeeded')
    await reportUnknownPayment(trx, callback, reference, verdict);
  if (verdict.outcome === 'failed') await reportUnknownFailure(trx, callback, reference, verdict);
  return reject(trx, callback, 'the payment is not known here');
}

function reject(trx: Transaction, callback: Callback, problem: string): Promise<Applied> {
  return finish(trx, callback, 'rejected', problem, 'rejected');
}

async function finish(
  trx: Transaction,
  { merchant_id, id }: Callback,
  status: 'processed' | 'rejected',
  problem: string | null,
  result: CallbackResult,
  outcome: 'succeeded' | 'failed' | null = null,
): Promise<Applied> {
  const set = { status, problem, outcome };
  await changeStep(trx, { kind: 'callback', merchant_id, id }, 'none', { set });
  return { result };
}

/**
 * Counts a "not found" that came as the callback to a question. Once every attempt is ruled out,
 * the payment goes again, under the same reference.
 */
async function hearNotFound(
  trx: Transaction,
  payment: AnyPayment,
  { asked_at }: Callback,
  settlingWindowMs: number,
): Promise<void> {
  // Anything but an open question means that more is known by now.
  if (asked_at === null || payment.status !== 'pending' || payment.next_step !== 'poll') return;
  await countNotFound(trx, payment, asked_at, settlingWindowMs);
  if ((await mayHaveArrived(trx, payment)) || (await isToldAsDone(trx, payment))) return;
  await changeStep(trx, refOf(payment), submitStep(payment));
}
