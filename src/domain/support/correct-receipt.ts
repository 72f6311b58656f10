import { rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import { type Movement, movementsOf } from '../settlement/movements.ts';
import { rebookMovement } from '../settlement/rebook-movement.ts';
import { releaseReceipt } from '../settlement/receipts.ts';
import { postMovement, suspenseCents } from '../settlement/suspense.ts';

/**
 * Puts a movement from suspense in the place of the one that completed the payment: money has moved
 * once, and support had given another receipt for it. The other receipt is free again.
 */
export async function correctReceipt(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
): Promise<void> {
  const wrong = (await movementsOf(trx, payment)).find(({ booked }) => booked === 'settled')!;
  await rebookMovement(trx, wrong, 'undone');
  await releaseReceipt(trx, payment, wrong.trans_id);
  await rebookMovement(trx, movement, 'settled');
  const cents = suspenseCents(payment.kind, movement.amount_cents);
  await postMovement(trx, movement, 'cleared', [
    { account: 'suspense', amount_cents: -cents },
    { account: 'gateway_float', amount_cents: cents },
  ]);
  await rows(
    trx,
    `UPDATE ${STEP_TABLES[payment.kind].table}
     SET trans_id = :trans_id, payment_completed_at = :completed_at
     WHERE merchant_id = :merchant_id AND id = :id`,
    {
      ...refOf(payment),
      trans_id: movement.trans_id,
      completed_at: movement.completed_at ?? payment.payment_completed_at,
    },
  );
}
