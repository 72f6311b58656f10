import type { Database, Transaction } from '../../connections/database.ts';
import type { AskedLine } from '../discrepancies/asked-line.ts';
import { isRowByHand } from '../discrepancies/booked-by-hand.ts';
import { nameOfRow, rowIn } from '../discrepancies/row-back.ts';
import { OperatorRefusal } from '../errors.ts';
import { type AnyPayment, lockPayment, type PaymentRef } from '../payments/payment-store.ts';
import { askAt, isAskable } from '../reconciliation/money-back.ts';
import { type Fitting, moneyIn } from '../reconciliation/money-that-went-out.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { ownerOfRow } from '../settlement/rows-of-movements.ts';
import { casesOf, type Discrepancy, findDiscrepancy } from './discrepancy-cases.ts';

/**
 * Says whose money the row of a `money_back` brings back: somebody has asked the gateway. The payment is asked about
 * then. It books nothing.
 * @param actor is the e-mail address of the member who says it. Another one must agree that the payment has failed
 * @throws OperatorRefusal if the row is answered or booked by hand, or the payment has no money out that it fits
 */
export async function assignRow(
  trx: Transaction,
  id: string,
  ref: PaymentRef,
  actor: string,
): Promise<void> {
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
  const fitting = await findingOf(trx, gateway, found, payment);
  if (!fitting) {
    throw new OperatorRefusal(
      `The ${nameOf(payment)} has no money out of this amount, account and time. Answer its own questions first, or wait for its end. If its money is called back already, dismiss the row`,
    );
  }
  const teller = { gateway, by: 'file', assigned_by: actor } as const;
  const { row, money } = fitting;
  // A person may tell that it is another row of its name, with another account.
  if ((await ownerOfRow(trx, gateway, row)) === 'taken') {
    throw new OperatorRefusal(
      `The row ${trans_id} is of another payment already: doubt the end of that one (payment doubt) if the row is not its own`,
    );
  }
  await askAt(trx, teller, row, { money, isKnown: false });
  const assigned = await assignedRows(trx, payment);
  if (assigned.some(({ row: name, by }) => name === nameOfRow(row) && by === actor)) return;
  throw new OperatorRefusal(
    `The row ${trans_id} is of another payment already, or people have said too often that it is not of the ${nameOf(payment)}`,
  );
}

/**
 * Returns the rows of which people have said that they bring a payment's money back, and about which nobody has decided.
 * Whichever question of the payment is answered by `undo`, that answers them, too.
 */
export async function assignedRows(
  executor: Database | Transaction,
  payment: PaymentRef,
): Promise<{ row: string; by: string }[]> {
  const open = (await casesOf(executor, payment)).filter(({ resolved_at }) => resolved_at === null);
  return open
    .flatMap(({ evidence }) => evidence)
    .filter(({ decided, details }) => !decided && typeof details.assigned_by === 'string')
    .map((each) => ({ row: nameOfRow(rowIn(each)), by: String(each.details.assigned_by) }));
}

/** Returns the finding of a question that fits the payment, with its money: files may have listed a row with two accounts. */
async function findingOf(
  trx: Transaction,
  gateway: string,
  { evidence }: Discrepancy,
  payment: AnyPayment,
): Promise<{ row: AskedLine; money: Fitting } | null> {
  for (const finding of evidence.filter(({ decided }) => !decided)) {
    const row = rowIn(finding);
    const money = await moneyIn(trx, gateway, row, payment);
    if (money && isAskable(money, false, payment, row)) return { row, money };
  }
  return null;
}
