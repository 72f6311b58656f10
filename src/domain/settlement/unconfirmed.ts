import { hasRow, type Transaction } from '../../connections/database.ts';
import { queueOf } from '../../jobs/job-types.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { MINUTE_MS } from '../../time.ts';
import { openDiscrepancy, openQuestion } from '../discrepancies/discrepancy.ts';
import { supersedeWhere } from '../discrepancies/supersede.ts';
import type { Succeeded } from '../gateway-results.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, OF_PAYMENT, refOf } from '../payments/payment-store.ts';
import { POLL_NOW } from '../payments/schedule.ts';
import { holdRefund } from './after-failure.ts';
import { type Callback, toldBy } from './callback-store.ts';
import type { Applied } from './drain-callbacks.ts';
import type { News } from './settle.ts';
import { ARE_OF_PEOPLE, sourceOf, UNSURE_SOURCES } from './sources.ts';

/*
 * Anybody who learns a callback's address can report a success. Above the operator's limit a callback
 * is not believed alone: it waits until the gateway has said the same when it was asked.
 */

/** A callback looks again after half of its age, within these bounds. */
const FIRST_LOOK_MS = 5_000;
const LAST_LOOK_MS = 10 * MINUTE_MS;
/** Marks a callback that waits. */
const WAITS = 'it waits until the gateway confirms it';

/**
 * Tells whether a success is so large that the gateway must confirm it, and has not told this amount, under this
 * receipt or none. What another callback has told, a file or a person confirms nothing.
 */
export async function awaitsConfirmation(
  trx: Transaction,
  payment: AnyPayment,
  { mustConfirm, transId, amountCents }: Succeeded,
): Promise<boolean> {
  if (mustConfirm !== true) return false;
  const isConfirmed = await hasRow(
    trx,
    `SELECT 1 FROM movements WHERE ${OF_PAYMENT} AND booked <> 'undone' AND (${isSure('told_by')} OR ${isSure("split_part(confirmed_by, ' ', 1)")})
       AND amount_cents = :told_cents AND coalesce(trans_id = :trans_id, true)`,
    { ...payment, told_cents: amountCents ?? payment.amount_cents, trans_id: transId },
  );
  return !isConfirmed;
}

/** SQL: a source is the gateway's own answer or statement. */
function isSure(source: string): string {
  return `${source} <> 'callback' AND ${source} NOT IN ${ARE_OF_PEOPLE}`;
}

/**
 * Keeps the callback, and asks the gateway now. If that cannot be asked, or has said the contrary,
 * support hears of it. No money is booked.
 */
export async function putOffUnconfirmed(
  trx: Transaction,
  payment: AnyPayment,
  callback: Callback,
  news: Succeeded,
): Promise<Applied> {
  const ref = { kind: 'callback', merchant_id: callback.merchant_id, id: callback.id } as const;
  if (await isDecided(trx, payment, callback, news.transId)) {
    await changeStep(trx, ref, 'none', { set: { status: 'processed', problem: null } });
    return { result: 'repeat' };
  }
  // Without the gateway's own reference some gateways cannot be asked.
  if (!isOpen(payment) || payment.external_ref === null) {
    await reportUnconfirmed(trx, payment, callback, news);
  }
  if (!isOpen(payment)) {
    // It may have been paid.
    await holdRefund(trx, payment);
    const set = { status: 'processed', problem: 'the gateway did not confirm it' };
    await changeStep(trx, ref, 'none', { set });
    return { result: 'discrepancy' };
  }
  const isFirst = callback.step_no === 1;
  if (isFirst && payment.parked_reason === null) await changeStep(trx, refOf(payment), POLL_NOW);
  const age = Date.now() - callback.received_at.getTime();
  const delayMs = Math.min(LAST_LOOK_MS, Math.max(FIRST_LOOK_MS, age / 2));
  const queue = queueOf('callback', 'process');
  await changeStep(trx, ref, { next: 'process', queue, delayMs }, { set: { problem: WAITS } });
  return { result: 'unconfirmed' };
}

/** Tells whether somebody has ended the payment since this callback came, and has seen its receipt. */
function isDecided(
  trx: Transaction,
  payment: AnyPayment,
  { received_at }: Callback,
  trans_id: string | null,
) {
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies WHERE ${OF_PAYMENT} AND kind = 'unconfirmed_success'
       AND resolved_at > :received_at AND trans_id IS NOT DISTINCT FROM :trans_id
       AND (resolution = 'failed' OR resolution = 'completed' AND trans_id = :own_receipt)`,
    { ...payment, received_at, trans_id, own_receipt: payment.trans_id },
  );
}

async function reportUnconfirmed(
  trx: Transaction,
  payment: AnyPayment,
  callback: Callback,
  news: Succeeded,
): Promise<void> {
  await openDiscrepancy(trx, {
    kind: 'unconfirmed_success',
    payment: refOf(payment),
    trans_id: news.transId,
    amount_cents: news.amountCents,
    // Said anew once the gateway has said the contrary.
    details: { callback_id: callback.id, account: news.account, status: payment.status },
    told: toldBy(callback),
  });
}

/**
 * Tells whether the gateway has said that a payment's money has moved already, by this payment or by
 * another. Somebody must decide which one, so it does not fail meanwhile by the gateway's word.
 */
export async function hasMovedAlready(trx: Transaction, payment: AnyPayment): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies WHERE ${OF_PAYMENT} AND kind = 'unclear_result'
       AND resolved_at IS NULL
       AND evidence @@ 'exists($[*] ? (@.decided == false && @.details.has_moved == true))'`,
    payment,
  );
}

/**
 * Tells whether somebody, or the gateway itself, must say first whether a payment's money has moved: the gateway has told
 * so, or money of it waits in suspense. The payment is not sent meanwhile, though the gateway may not know it.
 */
export async function isToldAsDone(trx: Transaction, payment: AnyPayment): Promise<boolean> {
  if ((await openQuestion(trx, refOf(payment))) !== null) return true;
  return hasRow(
    trx,
    `SELECT 1 FROM callbacks WHERE ${OF_PAYMENT} AND status = 'stored' AND problem = :waits`,
    { ...payment, waits: WAITS },
  );
}

/**
 * Ends the question about a large success, because the gateway has told of that money when it was asked, or its statement
 * lists it.
 */
export async function endConfirmed(
  trx: Transaction,
  payment: AnyPayment,
  news: News<Succeeded>,
): Promise<void> {
  const source = sourceOf(news);
  if (news.transId === null || source === 'callback' || UNSURE_SOURCES.includes(source)) return;
  await supersedeWhere(
    trx,
    payment,
    `d.kind = 'unconfirmed_success' AND d.trans_id = :receipt
     AND coalesce(d.amount_cents, :cents) = :cents`,
    { receipt: news.transId, cents: news.amountCents ?? payment.amount_cents },
  );
}

/**
 * Asks the gateway again in place of failing a payment, if a success that waits for confirmation
 * was heard after the failure.
 * @returns whether there was one
 */
export async function askBeforeFailing(
  trx: Transaction,
  payment: AnyPayment,
  heardAt: Date | null,
): Promise<boolean> {
  if (heardAt === null || !isOpen(payment)) return false;
  const isWaiting = await hasRow(
    trx,
    `SELECT 1 FROM callbacks WHERE ${OF_PAYMENT} AND status = 'stored' AND problem = :waits
       AND received_at > :heard_at`,
    { ...payment, waits: WAITS, heard_at: heardAt },
  );
  if (isWaiting && payment.parked_reason === null) {
    await changeStep(trx, refOf(payment), POLL_NOW);
  }
  return isWaiting;
}
