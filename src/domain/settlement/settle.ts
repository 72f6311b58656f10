import type { Transaction } from '../../connections/database.ts';
import type { Verdict } from '../gateway-results.ts';
import type { AnyPayment } from '../payments/payment-store.ts';
import { applyVerdict } from './apply-verdict.ts';
import { drainCallbacks } from './drain-callbacks.ts';
import type { Settlement, Source } from './settlement.ts';

/**
 * Applies a gateway's verdict to a payment that this transaction has locked. A failure comes
 * last: first all stored callbacks of the payment are applied, because one of them may tell that
 * the money has moved.
 */
export async function settle(
  trx: Transaction,
  payment: AnyPayment,
  verdict: Verdict,
  { cause, heardAt, parserOf }: Source,
): Promise<Settlement> {
  const news = { ...verdict, cause, heardAt: heardAt ?? null };
  if (verdict.outcome === 'succeeded') return applyVerdict(trx, payment, news);
  return applyVerdict(trx, await drainCallbacks(trx, payment, parserOf), news);
}
