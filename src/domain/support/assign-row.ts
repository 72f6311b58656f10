import type { Transaction } from '../../connections/database.ts';
import { isRowByHand } from '../discrepancies/booked-by-hand.ts';
import { rowIn } from '../discrepancies/row-back.ts';
import { OperatorRefusal } from '../errors.ts';
import { lockPayment, type PaymentRef } from '../payments/payment-store.ts';
import { askAt, isAskable } from '../reconciliation/money-back.ts';
import { moneyOf } from '../reconciliation/money-that-went-out.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { casesOf, findDiscrepancy } from './discrepancy-cases.ts';

/**
 * Says whose money the row of a `money_back` brings back: somebody has asked the gateway. The payment is asked about
 * then, or, if its money is called back already, the row is explained. It books nothing.
 * @returns whether the row is explained
 * @throws OperatorRefusal if the row is answered or booked by hand, or the payment has no such money
 */
export async function assignRow(
  trx: Transaction,
  id: string,
  ref: PaymentRef,
): Promise<{ isExplained: boolean }> {
  // The payment's lock comes first, here as elsewhere.
  const payment = await lockPayment(trx, ref);
  const found = await findDiscrepancy(trx, id, 'FOR UPDATE');
  if (!payment || found?.kind !== 'money_back' || found.resolved_at !== null) {
    throw new OperatorRefusal(`Discrepancy ${id} is about no row that waits for its payment`);
  }
  const { gateway, trans_id } = found;
  if (await isRowByHand(trx, trans_id!)) {
    throw new OperatorRefusal(`The row ${trans_id} is booked by hand: take that back first`);
  }
  const row = rowIn(found);
  const { money, isKnown } = await moneyOf(trx, gateway, row, payment.id);
  if (!money || !isAskable(money, isKnown, payment, row)) {
    throw new OperatorRefusal(
      `The ${nameOf(payment)} has no money of this amount that is out, or back without a row. Answer its own questions first, or wait for its end`,
    );
  }
  const teller = { gateway, by: 'file', at: new Date() } as const;
  const result = await askAt(trx, teller, row, { money, isKnown });
  const isExplained = result === 'matched';
  const asked = await casesOf(trx, payment);
  const isOpen = asked.some((each) => each.trans_id === trans_id && each.resolved_at === null);
  if (isExplained || isOpen) return { isExplained };
  throw new OperatorRefusal(
    `People have said too often that the row ${trans_id} is not of the ${nameOf(payment)}`,
  );
}
