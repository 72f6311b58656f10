import { hasRow, type Transaction } from '../../connections/database.ts';
import type { Succeeded } from '../gateway-results.ts';
import { type AnyPayment, accountOf, OF_PAYMENT } from '../payments/payment-store.ts';
import { isListedAsBack, type Movement } from './movements.ts';
import { ownerOfReceipt } from './receipts.ts';
import { CLOCKS_DIFFER } from './returned-like.ts';
import { sameAccount } from './same-account.ts';
import type { News } from './settle.ts';
import { isOfGateway, sourceOf } from './sources.ts';

/**
 * Tells whether this is the line of a statement about money that the gateway itself had told of, and
 * that was said to have come back since.
 * @param told_by narrows it to the words of this source
 */
export function isUndoneLine(
  { undone_at }: AnyPayment,
  all: Movement[],
  { cause, transId }: News<Succeeded>,
  told_by?: string,
): boolean {
  if (cause !== 'statement' || undone_at === null) return false;
  const undone = all.filter((each) => each.booked === 'undone' && each.trans_id === transId);
  return undone.some((each) => each.told_by === (told_by ?? each.told_by) && isOfGateway(each));
}

/** Tells whether this is such a line, and people who knew what it says have decided about its money. */
export async function isAnsweredLine(
  trx: Transaction,
  payment: AnyPayment,
  all: Movement[],
  news: News<Succeeded>,
): Promise<boolean> {
  const isKnown =
    isUndoneLine(payment, all, news, sourceOf(news)) ||
    (isUndoneLine(payment, all, news) && (await isListedBefore(trx, payment, all, news)));
  return isKnown && isAnswered(trx, payment, news);
}

/**
 * Tells whether a line about undone money is no news to those who have decided about that: a statement had listed it
 * before, or has a row that brings it back, as the one that is compared now may have.
 */
async function isListedBefore(
  trx: Transaction,
  payment: AnyPayment,
  all: Movement[],
  { transId, completedAt }: News<Succeeded>,
): Promise<boolean> {
  for (const each of all) {
    if (each.trans_id === transId && (await isListedAsBack(trx, each))) return true;
  }
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies d
       JOIN statement_imports i ON i.gateway = d.gateway AND i.started_at < d.resolved_at
       JOIN statement_lines l ON l.import_id = i.id AND l.trans_id = :trans_id AND NOT l.undecided
     WHERE d.merchant_id = :merchant_id AND d.payment_kind = :kind AND d.payment_id = :id
       AND d.kind = 'undone_money' AND d.trans_id = :trans_id
     UNION ALL SELECT 1 FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
     WHERE i.gateway = :gateway AND i.started_at IS NOT NULL AND i.result IS NULL
       AND l.has_come_back AND l.amount_cents = :amount_cents AND ${sameAccount('l.account', ':account')}
       AND l.completed_at > CAST(:completed_at AS timestamptz) - interval '${CLOCKS_DIFFER}' LIMIT 1`,
    {
      ...payment,
      trans_id: transId,
      account: accountOf(payment),
      completed_at: completedAt ?? payment.created_at,
    },
  );
}

/** Tells whether somebody has decided about money that a statement lists as undone, or it is another payment's. */
async function isAnswered(
  trx: Transaction,
  payment: AnyPayment,
  { transId }: News<Succeeded>,
): Promise<boolean> {
  if (transId !== null && (await ownerOfReceipt(trx, payment, transId))) return true;
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies WHERE ${OF_PAYMENT} AND kind = 'undone_money'
       AND trans_id IS NOT DISTINCT FROM CAST(:trans_id AS text)`,
    { ...payment, trans_id: transId },
  );
}
