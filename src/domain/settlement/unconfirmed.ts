import type { Transaction } from '../../connections/database.ts';
import { queueOf } from '../../jobs/job-types.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import type { Succeeded } from '../gateway-results.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import { POLL_NOW } from '../payments/schedule.ts';
import type { Callback } from './callback-store.ts';
import type { Applied } from './drain-callbacks.ts';
import { movementsOf } from './movements.ts';

/*
 * Whoever learns a callback's address can report a success. Above the operator's limit a callback
 * is not believed alone: it waits until the gateway has said the same when it was asked.
 */

/** A callback looks again after half of its age, within these bounds. */
const FIRST_LOOK_MS = 5_000;
const LAST_LOOK_MS = 600_000;

/** Tells whether a success is so large that the gateway must confirm it, and has not. */
export async function awaitsConfirmation(
  trx: Transaction,
  payment: AnyPayment,
  { mustConfirm }: Succeeded,
): Promise<boolean> {
  return mustConfirm === true && (await movementsOf(trx, payment)).length === 0;
}

/**
 * Keeps the callback, and asks the gateway now. After the gateway's contrary word it goes to
 * support, without any money being booked.
 */
export async function putOffUnconfirmed(
  trx: Transaction,
  payment: AnyPayment,
  callback: Callback,
  news: Succeeded,
): Promise<Applied> {
  const ref = { kind: 'callback', merchant_id: callback.merchant_id, id: callback.id } as const;
  if (!isOpen(payment)) {
    await openDiscrepancy(trx, {
      kind: 'unconfirmed_success',
      payment: refOf(payment),
      trans_id: news.transId,
      amount_cents: news.amountCents,
      details: { callback_id: callback.id, account: news.account },
    });
    const set = { status: 'processed', problem: 'the gateway did not confirm it' };
    await changeStep(trx, ref, 'none', { set });
    return { result: 'discrepancy' };
  }
  const isFirst = callback.step_no === 1;
  if (isFirst && payment.parked_reason === null) await changeStep(trx, refOf(payment), POLL_NOW);
  const age = Date.now() - callback.received_at.getTime();
  const delayMs = Math.min(LAST_LOOK_MS, Math.max(FIRST_LOOK_MS, age / 2));
  const queue = queueOf('callback', 'process');
  await changeStep(trx, ref, { next: 'process', queue, delayMs });
  return { result: 'unconfirmed' };
}
