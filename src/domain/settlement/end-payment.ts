import type { Transaction } from '../../connections/database.ts';
import type { StepChange } from '../../jobs/outbox.ts';
import type { Failed, Succeeded } from '../gateway-results.ts';
import { type JournalLine, postNewJournal } from '../ledger/post-journal.ts';
import type { AnyPayment, MerchantPayment } from '../payments/payment-store.ts';
import { type Transition, transition } from '../payments/transition.ts';
import { createEvent } from '../webhooks/create-event.ts';
import type { News } from './settle.ts';

/** Completes a payment with a movement that is its own: status, event and journal. */
export async function completePayment<P extends MerchantPayment>(
  trx: Transaction,
  payment: P,
  news: News<Succeeded>,
  linesOf: (completed: P) => JournalLine[],
): Promise<'completed'> {
  const completed = await moveToCompleted(trx, payment, news);
  await createEvent(trx, completed);
  // Locks the wallet last, because every payment of the merchant shares it.
  await postNewJournal(trx, {
    merchant_id: completed.merchant_id,
    source_kind: completed.kind,
    source_id: completed.id,
    kind: 'completed',
    lines: linesOf(completed),
  });
  return 'completed';
}

/** Moves a payment to `completed`. @returns the payment as it is now. */
export async function moveToCompleted<P extends AnyPayment>(
  trx: Transaction,
  payment: P,
  news: News<Succeeded>,
): Promise<P> {
  return transition(trx, payment, completion(payment, news));
}

/** Returns the move of a payment to `completed`. */
export function completion(payment: AnyPayment, news: News<Succeeded>): Transition {
  const set = {
    result_code: 0,
    result_description: news.description,
    trans_id: news.transId,
    external_ref: payment.external_ref ?? news.externalRef,
    payment_completed_at: news.completedAt,
  };
  return { to: 'completed', set, step: 'none', cause: news.cause };
}

/** Moves an open payment to `failed`. @returns the payment as it is now. */
export async function failPayment<P extends AnyPayment>(
  trx: Transaction,
  payment: P,
  news: News<Failed>,
  step: StepChange = 'none',
): Promise<P> {
  const set = {
    result_code: news.code,
    result_description: news.description,
    external_ref: payment.external_ref ?? news.externalRef,
  };
  return transition(trx, payment, { to: 'failed', set, step, cause: news.cause });
}
