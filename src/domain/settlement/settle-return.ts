import type { Transaction } from '../../connections/database.ts';
import {
  openDiscrepancy,
  supersedeDiscrepancies,
  supersedeUnknownMovement,
} from '../discrepancies/discrepancy.ts';
import type { Failed, Succeeded } from '../gateway-results.ts';
import { successColumns } from '../payments/outcome.ts';
import { refOf } from '../payments/payment-store.ts';
import type { Return } from '../payments/return.ts';
import { transition } from '../payments/transition.ts';
import { failPayment } from './end-payment.ts';
import { findMovement, insertMovement, mismatchOf } from './movements.ts';
import type { Settling } from './settlement.ts';
import { postMovement } from './suspense.ts';

/**
 * Money that the customer got leaves suspense. A return that failed leaves it there, on the
 * support list.
 */
export const RETURN_SETTLING: Settling<Return> = {
  problemOf: async (trx, payment, news) => {
    const { merchant_id, movement_id: id } = payment;
    const original = await findMovement(trx, { merchant_id, id });
    // Support has given the money back in another way meanwhile.
    if (original.booked === 'cleared') return 'second_success';
    return mismatchOf(payment, news);
  },
  complete,
  fail: failReturn,
};

async function complete(
  trx: Transaction,
  payment: Return,
  news: Succeeded,
  cause: string,
): Promise<'completed'> {
  const { merchant_id } = payment;
  const movement = await insertMovement(trx, payment, news, 'settled');
  await postMovement(trx, { merchant_id, id: movement.id }, 'returned', [
    { account: 'suspense', amount_cents: -movement.amount_cents },
    { account: 'gateway_float', amount_cents: movement.amount_cents },
  ]);
  await supersedeDiscrepancies(trx, refOf(payment), ['return_failed']);
  // A restored database may read the line in a statement before it plans the return.
  await supersedeUnknownMovement(trx, payment.id, movement.trans_id);
  const set = successColumns(payment, news);
  await transition(trx, payment, { to: 'completed', set, step: 'none', cause });
  return 'completed';
}

/** Fails an open return. The customer's money stays in suspense until support decides. */
export async function failReturn(
  trx: Transaction,
  payment: Return,
  news: Failed,
  cause: string,
): Promise<void> {
  await openDiscrepancy(trx, {
    kind: 'return_failed',
    payment: refOf(payment),
    movement_id: payment.movement_id,
    amount_cents: payment.amount_cents,
    details: { code: news.code, description: news.description },
  });
  await failPayment(trx, payment, news, cause);
}
