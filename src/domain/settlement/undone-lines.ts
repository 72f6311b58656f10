import { hasRow, rows, type Transaction } from '../../connections/database.ts';
import type { Succeeded } from '../gateway-results.ts';
import type { AnyPayment } from '../payments/payment-store.ts';
import { moneyOf } from '../reconciliation/money-that-went-out.ts';
import type { StoredLine } from '../reconciliation/statement.ts';
import { WAS_LISTED } from './gone-back.ts';
import type { Movement } from './movements.ts';
import { ownerOfReceipt } from './receipts.ts';
import { isListedAsBack } from './rows-of-movements.ts';
import type { News } from './settle.ts';
import { hasUnsureReceipt, isOfGateway, sourceOf } from './sources.ts';

/**
 * Tells whether this is the line of a statement about money that the gateway itself had told of, and
 * that was said to have come back since.
 * @param told_by narrows it to the words of this source
 */
export function isUndoneLine(
  { kind, undone_at }: AnyPayment,
  all: Movement[],
  { cause, transId }: News<Succeeded>,
  told_by?: string,
): boolean {
  if (cause !== 'statement' || undone_at === null) return false;
  const undone = all.filter((each) => each.booked === 'undone' && each.trans_id === transId);
  // A payout that is back has gone out before. It does not matter who told of it.
  const isOut = ({ back_at }: Movement) => kind === 'payout' && back_at !== null;
  const told = undone.filter((each) => each.told_by === (told_by ?? each.told_by));
  return told.some((each) => isOut(each) || isOfGateway(each));
}

/**
 * Tells whether news repeats money of an undone payment that is back, so that it is a question which of the two holds. Most
 * answers have no receipt.
 */
export function repeatsMoneyBack(
  { undone_at }: AnyPayment,
  all: Movement[],
  { transId }: News<Succeeded>,
): boolean {
  // A file, or a likeness, may have given it a wrong receipt.
  const isSame = (each: Movement) =>
    each.trans_id === null ||
    each.trans_id === (transId ?? each.trans_id) ||
    hasUnsureReceipt(each);
  return undone_at !== null && all.some((each) => each.back_at !== null && isSame(each));
}

/**
 * Tells whether this is the line of undone money, and people who knew what it says have decided about its money, or it is another
 * payment's.
 */
export async function isAnsweredLine(
  trx: Transaction,
  payment: AnyPayment,
  all: Movement[],
  news: News<Succeeded>,
): Promise<boolean> {
  const isKnown =
    isUndoneLine(payment, all, news, sourceOf(news)) ||
    (isUndoneLine(payment, all, news) && (await isListedBefore(trx, payment, all, news)));
  if (!isKnown) return false;
  if (news.transId !== null && (await ownerOfReceipt(trx, payment, news.transId))) return true;
  return all.some(({ trans_id, back_at }) => trans_id === news.transId && back_at !== null);
}

/**
 * Tells whether a line about money that is back is no news to those who have decided about that: a statement had listed it
 * before, or has a row that brings it back, as the one that is compared now may have.
 */
async function isListedBefore(
  trx: Transaction,
  payment: AnyPayment,
  all: Movement[],
  { transId, importId }: News<Succeeded>,
): Promise<boolean> {
  const same = all.filter((each) => each.trans_id === transId);
  if (same.some((each) => isListedAsBack(all, each))) return true;
  const wasListed = await hasRow(
    trx,
    `SELECT 1 FROM movements m WHERE m.merchant_id = :merchant_id AND m.id = ANY (:ids) AND ${WAS_LISTED}`,
    {
      merchant_id: payment.merchant_id,
      ids: same.map(({ id }) => id),
      import_id: importId ?? null,
    },
  );
  return wasListed || hasRowBack(trx, payment, same, importId);
}

/** Tells whether a row of the statement that is compared brings one of these movements back. */
async function hasRowBack(
  trx: Transaction,
  payment: AnyPayment,
  same: Movement[],
  import_id: string | undefined,
): Promise<boolean> {
  if (payment.kind !== 'payout' || import_id === undefined) return false;
  const back = await rows<StoredLine>(
    trx,
    `SELECT * FROM statement_lines WHERE import_id = :import_id AND has_come_back AND result IS NULL
       AND amount_cents = ANY (:amounts)`,
    { import_id, amounts: same.map(({ amount_cents }) => amount_cents) },
  );
  for (const line of back) {
    const { isKnown, back } = await moneyOf(trx, payment.gateway, line);
    const isOwn = back.some(({ movement_id }) => same.some(({ id }) => id === movement_id));
    if (isKnown && isOwn) return true;
  }
  return false;
}
