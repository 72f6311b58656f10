import type { Database } from '../../connections/database.ts';
import type { ParserOf } from '../gateway-results.ts';
import { withPaymentLocked } from '../payments/payment-store.ts';
import type { Callback } from './callback-store.ts';
import { completeAtOnce } from './complete-at-once.ts';
import { applyStored, type CallbackResult } from './drain-callbacks.ts';

/**
 * Applies a stored callback to its payment, once, together with every other one of the payment
 * that is stored: a queue may hand out a failure and the success after it in any order.
 * @returns the effect of this callback. 'ignored' when another job has just applied it.
 */
export async function processCallback(
  database: Database,
  callback: Callback,
  parserOf: ParserOf,
): Promise<CallbackResult> {
  if (await completeAtOnce(database, callback, parserOf)) return 'completed';
  const { id, payment_kind: kind, merchant_id, payment_id } = callback;
  const ref = { kind, merchant_id, id: payment_id };
  // The payment's lock comes first, so two jobs of one payment take turns.
  const applied = await withPaymentLocked(database, ref, (trx) => applyStored(trx, ref, parserOf));
  const own = applied.get(id) ?? { result: 'ignored' as const };
  if ('error' in own) throw own.error;
  return own.result;
}
