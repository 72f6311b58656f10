import {
  type Database,
  hasRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { isRowByHand } from '../discrepancies/booked-by-hand.ts';
import type { Evidence } from '../discrepancies/discrepancy.ts';
import { openMoneyBack, rowIn, rowsIn } from '../discrepancies/row-back.ts';
import { lockPayment, type PaymentRef } from '../payments/payment-store.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { type Discrepancy, paymentOf } from '../support/discrepancy-cases.ts';
import { COMES_BACK_WITHIN } from './comes-back.ts';
import { candidatesOfAll, moneyOf } from './money-that-went-out.ts';
import { REOPENED, type RowAtPayment, takeRowsAway } from './rows-after-decisions.ts';
import {
  IS_ASKED,
  IS_EXPLAINED,
  IS_NOTED,
  IS_ROW,
  IS_ROW_OF_MONEY,
  IS_UNASSIGNED,
} from './rows-at-payments.ts';

/*
 * What explains a row that names nobody is right as long as nothing else fits it. A payment that has completed late, or
 * forgotten money that is listed now, may be what the row has brought back: then it is a question again.
 */

/**
 * Looks again at the rows of a gateway that payments explain by likeness, and at the ones that somebody has dismissed, of
 * the time in which money comes back. Each of which money may be out that nobody has seen beside it is a question again.
 * @throws the reason of `stopping`, between two rows
 */
export async function lookAgain(
  database: Database,
  gateway: string,
  stopping?: AbortSignal,
): Promise<void> {
  for (const noted of await rows<NotedRow>(database, NOTED, { gateway, id: null })) {
    stopping?.throwIfAborted();
    await inTransaction(database, (trx) => lookAtNoted(trx, noted));
  }
  for (const dismissed of await rows<DismissedRow>(database, DISMISSED, { gateway, id: null })) {
    stopping?.throwIfAborted();
    await inTransaction(database, (trx) => lookAtDismissed(trx, gateway, dismissed));
  }
}

type NotedRow = RowAtPayment &
  Pick<Discrepancy, 'payment_kind' | 'merchant_id' | 'payment_id'> & { is_explained: boolean };

/**
 * SQL: the rows that are noted at payments, or were answered there. Who undoes a payment says that its money is back, and
 * not by which row.
 */
const NOTED = `SELECT d.*, d.resolved_by IS NULL AS is_noted, ${IS_EXPLAINED} AS is_explained FROM discrepancies d
  WHERE ${IS_ROW} AND d.gateway = :gateway
    AND (d.resolution = 'superseded' AND ${IS_NOTED} AND (${IS_UNASSIGNED} OR NOT ${IS_EXPLAINED})
      OR d.resolution = 'undo' AND ${IS_UNASSIGNED} AND ${IS_EXPLAINED})
    AND CAST(d.details->>'completed_at' AS timestamptz) > now() - interval '${COMES_BACK_WITHIN.whole}'
    AND NOT ${IS_ASKED} AND (CAST(:id AS uuid) IS NULL OR d.id = :id)
  ORDER BY d.id`;

async function lookAtNoted(trx: Transaction, noted: NotedRow): Promise<void> {
  const payment = paymentOf(noted)!;
  await lockPayment(trx, payment);
  const { gateway, id } = noted;
  // Somebody may have decided while this waited.
  const [row] = await rows<NotedRow>(trx, NOTED, { gateway, id });
  if (!row) return;
  // A row that names the payment has taken its place, though somebody may have dismissed it.
  if (!row.is_explained) await reopen(trx, row);
  const { money, mayBeOut } = await moneyOf(trx, gateway, rowIn(row));
  const isNamed = money?.is_named === true;
  if (row.is_explained && isNamed && money.id === payment.id) return;
  // If it is named, it names another payment by now.
  const isDoubtful =
    !row.is_explained || isNamed || mayBeOut.some((name) => name !== nameOf(payment));
  if (isDoubtful || (row.is_noted && (await isWanted(trx, row, payment))))
    await takeRowsAway(trx, payment, [row]);
}

function reopen(trx: Transaction, { gateway, trans_id }: NotedRow) {
  return rows(
    trx,
    `UPDATE discrepancies SET ${REOPENED} WHERE kind = 'money_back' AND gateway = :gateway
       AND trans_id = :trans_id AND resolution = 'dismissed'`,
    { gateway, trans_id },
  );
}

/** Tells whether another row, about which somebody is asked, may have brought the money of the payment back. */
function isWanted(
  trx: Transaction,
  { gateway, trans_id, amount_cents }: NotedRow,
  payment: PaymentRef,
) {
  return hasRow(
    trx,
    `SELECT FROM discrepancies WHERE kind = 'money_back' AND gateway = :gateway AND resolved_at IS NULL
       AND amount_cents = :amount_cents AND trans_id <> :trans_id
       AND details->'candidates' @> to_jsonb(CAST(:name AS text))`,
    { gateway, trans_id, amount_cents, name: nameOf(payment) },
  );
}

interface DismissedRow {
  id: string;
  trans_id: string;
  evidence: Evidence[];
  /** The candidates that people have seen. */
  candidates: string[];
}

/** SQL: the rows that somebody has dismissed, unless a payment is asked about its row. */
const DISMISSED = `SELECT d.id, d.trans_id, d.evidence, coalesce(d.details->'candidates', '[]') AS candidates
  FROM discrepancies d WHERE d.kind = 'money_back' AND d.gateway = :gateway AND d.resolution = 'dismissed'
    AND CAST(d.details->>'completed_at' AS timestamptz) > now() - interval '${COMES_BACK_WITHIN.whole}'
    AND (CAST(:id AS uuid) IS NULL OR d.id = :id)
    AND NOT EXISTS (SELECT FROM discrepancies q WHERE q.kind = 'failure_after_success' AND q.gateway = d.gateway
      AND q.trans_id = d.trans_id AND q.resolved_at IS NULL)
  ORDER BY d.id`;

async function lookAtDismissed(trx: Transaction, gateway: string, { id, trans_id }: DismissedRow) {
  // The payment's lock comes first, here as elsewhere.
  const [noted] = await rows<NotedRow>(trx, NOTED_AS_BACK, { gateway, trans_id });
  if (noted) await lockPayment(trx, paymentOf(noted)!);
  const [found] = await rows<DismissedRow>(trx, `${DISMISSED} FOR NO KEY UPDATE OF d`, {
    gateway,
    id,
  });
  if (!found || (await isRowByHand(trx, trans_id))) return;
  const rowsBack = rowsIn(found);
  const { candidates, mayBeOut } = await candidatesOfAll(trx, gateway, rowsBack);
  if (mayBeOut.every((name) => found.candidates.includes(name))) return;
  if (noted) return takeRowsAway(trx, paymentOf(noted)!, [noted]);
  await rows(trx, `UPDATE discrepancies SET ${REOPENED} WHERE id = :id`, { id });
  for (const row of rowsBack) await openMoneyBack(trx, { gateway, by: 'file' }, row, candidates);
}

/** SQL: a row that counts as the coming back of a payment's money, because it was dismissed. */
const NOTED_AS_BACK = `SELECT d.*, true AS is_noted FROM movements own JOIN discrepancies d ON ${IS_ROW_OF_MONEY}
  WHERE own.gateway = :gateway AND own.row_back = :trans_id LIMIT 1`;
