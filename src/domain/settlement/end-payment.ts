import type { Transaction } from '../../connections/database.ts';
import type { StepChange } from '../../jobs/outbox.ts';
import type { Failed, Succeeded } from '../gateway-results.ts';
import { type JournalLine, postNewJournal } from '../ledger/post-journal.ts';
import { failureColumns, successColumns } from '../payments/outcome.ts';
import type { AnyPayment, MerchantPayment } from '../payments/payment-store.ts';
import { transition } from '../payments/transition.ts';
import { createEvent } from '../webhooks/create-event.ts';
import { insertMovement } from './movements.ts';

/**
 * Completes a payment with a movement that is its own: status, movement, event and journal.
 * @param tellsMerchant is false when the merchant was told of another end before.
 */
export async function completePayment<P extends MerchantPayment>(
  trx: Transaction,
  payment: P,
  news: Succeeded,
  cause: string,
  { lines, tellsMerchant }: { lines: (completed: P) => JournalLine[]; tellsMerchant: boolean },
): Promise<void> {
  const set = successColumns(payment, news);
  const completed = await transition(trx, payment, { to: 'completed', set, step: 'none', cause });
  await insertMovement(trx, completed, news, 'settled');
  if (tellsMerchant) await createEvent(trx, completed);
  // Locks the wallet last, because every payment of the merchant shares it.
  await postNewJournal(trx, {
    merchant_id: completed.merchant_id,
    source_kind: completed.kind,
    source_id: completed.id,
    kind: 'completed',
    lines: lines(completed),
  });
}

/** Moves an open payment to `failed`. @returns the payment as it is now. */
export async function failPayment<P extends AnyPayment>(
  trx: Transaction,
  payment: P,
  news: Failed,
  cause: string,
  step: StepChange = 'none',
): Promise<P> {
  return transition(trx, payment, {
    to: 'failed',
    set: failureColumns(payment, news),
    step,
    cause,
  });
}
