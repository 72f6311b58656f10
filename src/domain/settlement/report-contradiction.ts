import type { Transaction } from '../../connections/database.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import type { Succeeded } from '../gateway-results.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import type { Settlement } from './apply-verdict.ts';
import { contradictionOf, type Movement } from './movements.ts';

/**
 * News of a movement that is known changes no books. If it states another amount or account
 * than was booked, somebody must look.
 */
export async function reportContradiction(
  trx: Transaction,
  payment: AnyPayment,
  known: Movement,
  news: Succeeded,
): Promise<Settlement> {
  const kind = contradictionOf(payment, known, news);
  if (!kind) return 'repeat';
  await openDiscrepancy(trx, {
    kind,
    payment: refOf(payment),
    trans_id: news.transId,
    amount_cents: news.amountCents,
    details: { booked_cents: known.amount_cents, account: news.account },
  });
  return 'discrepancy';
}
