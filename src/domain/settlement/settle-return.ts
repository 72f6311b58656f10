import type { Transaction } from '../../connections/database.ts';
import {
  openDiscrepancy,
  supersedeDiscrepancies,
  supersedeUnknownMovement,
} from '../discrepancies/discrepancy.ts';
import type { Failed, Succeeded } from '../gateway-results.ts';
import { failureColumns, successColumns } from '../payments/outcome.ts';
import { refOf } from '../payments/payment-store.ts';
import type { Return } from '../payments/return.ts';
import { transition } from '../payments/transition.ts';
import type { Settling } from './apply-verdict.ts';
import { findMovement, insertMovement, mismatchOf } from './movements.ts';
import { postMovement } from './suspense.ts';

/**
 * Money that the customer got leaves suspense; a return that failed leaves it there, on the
 * support list.
 */
export const RETURN_SETTLING: Settling<Return> = {
  problemOf: async (trx, payment, news) => {
    // Support has given the money back in another way meanwhile.
    const original = await findMovement(trx, payment.merchant_id, payment.movement_id);
    return original.booked === 'cleared' ? 'second_success' : mismatchOf(payment, news);
  },
  complete,
  fail: failReturn,
};

/** The customer has the money, which leaves suspense. */
async function complete(
  trx: Transaction,
  payment: Return,
  news: Succeeded,
  cause: string,
): Promise<'completed'> {
  const movement = await insertMovement(trx, payment, news, 'settled');
  await postMovement(trx, payment.merchant_id, movement.id, 'returned', [
    { account: 'suspense', amount_cents: -movement.amount_cents },
    { account: 'gateway_float', amount_cents: movement.amount_cents },
  ]);
  await supersedeDiscrepancies(trx, refOf(payment), ['return_failed']);
  // A restored database may read its line in a statement before it has planned the return.
  await supersedeUnknownMovement(trx, payment.id, movement.trans_id);
  await transition(trx, payment, {
    to: 'completed',
    set: successColumns(payment, news),
    step: 'none',
    cause,
  });
  return 'completed';
}

/** Fails an open return: the customer's money stays in suspense until support has decided. */
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
  await transition(trx, payment, {
    to: 'failed',
    set: failureColumns(payment, news),
    step: 'none',
    cause,
  });
}
