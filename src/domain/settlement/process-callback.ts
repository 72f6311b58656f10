import type { Database, Transaction } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { openDiscrepancy, supersedeUnknownMovement } from '../discrepancies/discrepancy.ts';
import type { ParsedCallback, Succeeded } from '../gateway-results.ts';
import { lockPayment, type PaymentRef, withPaymentLocked } from '../payments/payment-store.ts';
import { type Callback, lockStoredUpTo } from './callback-store.ts';
import { settle } from './settle.ts';
import type { Settlement } from './settlement.ts';

/** Reads a callback's body as the gateway's driver does. Returns null when it cannot. */
export type ParseCallback = (body: string) => ParsedCallback | null;

export type CallbackResult = Settlement | 'ignored' | 'rejected';

/**
 * Applies a stored callback to its payment, once. Applies older ones of the same payment
 * first: a queue may hand out a failure and the success after it in any order.
 * @returns the effect of this callback.
 */
export async function processCallback(
  database: Database,
  callback: Callback,
  parse: ParseCallback,
): Promise<CallbackResult> {
  // The payment's lock comes first, so two jobs of one payment take turns.
  return withPaymentLocked(database, refOfCallback(callback), async (trx) => {
    let result: CallbackResult = 'ignored';
    for (const waiting of await lockStoredUpTo(trx, callback)) {
      result = await apply(trx, waiting, parse(waiting.body));
    }
    return result;
  });
}

async function apply(
  trx: Transaction,
  callback: Callback,
  content: ParsedCallback | null,
): Promise<CallbackResult> {
  const ref = refOfCallback(callback);
  if (!content) return reject(trx, callback, 'the body is not one of this gateway');
  const payment = await lockPayment(trx, ref);
  if (!payment) {
    // Without money there is nothing to decide, and a discrepancy would hide later news.
    if (content.verdict.outcome === 'succeeded') {
      await reportUnknownPayment(trx, callback, content.verdict);
    }
    return reject(trx, callback, 'the payment is not known here');
  }
  if (content.reference !== null && content.reference !== payment.id) {
    await openDiscrepancy(trx, {
      kind: 'other_payment',
      payment: ref,
      details: evidence(callback),
    });
    return reject(trx, callback, 'it names another payment than its address');
  }
  const settlement =
    content.verdict.outcome === 'pending'
      ? 'ignored'
      : await settle(trx, payment, content.verdict, 'callback', callback.received_at);
  const problem = settlement === 'discrepancy' ? 'it contradicts the payment' : null;
  await finish(trx, callback, 'processed', problem);
  return settlement;
}

/** Reports money of a payment that is not here. After a restore this may be all that is left of it. */
async function reportUnknownPayment(trx: Transaction, callback: Callback, news: Succeeded) {
  const isNews = await openDiscrepancy(trx, {
    kind: 'unknown_payment',
    payment: refOfCallback(callback),
    trans_id: news.transId,
    amount_cents: news.amountCents,
    details: {
      ...evidence(callback),
      outcome: news.outcome,
      account: news.account,
      completed_at: news.completedAt?.toISOString() ?? null,
    },
  });
  if (isNews) await supersedeUnknownMovement(trx, callback.payment_id, news.transId);
}

function refOfCallback({ payment_kind, merchant_id, payment_id }: Callback): PaymentRef {
  return { kind: payment_kind, merchant_id, id: payment_id };
}

function evidence(callback: Callback): Record<string, unknown> {
  return { callback_id: callback.id, gateway: callback.gateway };
}

async function reject(trx: Transaction, callback: Callback, problem: string): Promise<'rejected'> {
  await finish(trx, callback, 'rejected', problem);
  return 'rejected';
}

async function finish(
  trx: Transaction,
  { merchant_id, id }: Callback,
  status: 'processed' | 'rejected',
  problem: string | null,
): Promise<void> {
  const set = { status, problem };
  await changeStep(trx, { kind: 'callback', merchant_id, id }, 'none', { set });
}
