import type { Transaction } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { type DiscrepancyKind, openDiscrepancy } from '../discrepancies/discrepancy.ts';
import type { Succeeded, Verdict } from '../gateway-results.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import { type Movement, mismatchOf } from './movements.ts';
import { ownerOfReceipt } from './receipts.ts';
import type { Settlement } from './settlement.ts';

/*
 * News that contradicts what is known books nothing. Support is told of it.
 */

/** Reports a verdict about another payment. It moves nothing, and the questions go on. */
export async function reportOtherPayment(trx: Transaction, payment: AnyPayment, news: Verdict) {
  await openDiscrepancy(trx, {
    kind: 'other_payment',
    payment: refOf(payment),
    ...(news.outcome === 'succeeded' && { trans_id: news.transId, amount_cents: news.amountCents }),
    details: {
      outcome: news.outcome,
      external_ref: news.externalRef,
      acknowledged_ref: payment.external_ref,
    },
  });
  if (news.outcome === 'succeeded') await holdRefund(trx, payment, 'other_payment');
  return 'discrepancy' as const;
}

/** Puts a refund off until somebody has decided: the gateway says that the payout arrived. */
async function holdRefund(
  trx: Transaction,
  payment: AnyPayment,
  kind: DiscrepancyKind,
): Promise<void> {
  if (payment.next_step !== 'refund') return;
  await changeStep(trx, refOf(payment), { park: `discrepancy: ${kind}` });
}

/** Reports a receipt that belongs to another payment. It books nothing, and the questions go on. */
export async function reportReceiptOfAnother(
  trx: Transaction,
  payment: AnyPayment,
  news: Succeeded,
) {
  const owner = await ownerOfReceipt(trx, payment, news.transId!);
  await openDiscrepancy(trx, {
    kind: 'receipt_of_another',
    payment: refOf(payment),
    trans_id: news.transId,
    amount_cents: news.amountCents,
    details: {
      account: news.account,
      booked_for: owner && `${owner.kind} ${owner.id} of merchant ${owner.merchant_id}`,
    },
  });
  await holdRefund(trx, payment, 'receipt_of_another');
  return 'discrepancy' as const;
}

/** Reports news that states another amount or account than was booked. It changes no books. */
export async function reportContradiction(
  trx: Transaction,
  payment: AnyPayment,
  known: Movement,
  news: Succeeded,
): Promise<Settlement> {
  const kind = mismatchOf(payment, news, known);
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
