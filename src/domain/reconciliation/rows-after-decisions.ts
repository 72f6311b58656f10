import { isDeepStrictEqual } from 'node:util';
import { rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { AskedLine } from '../discrepancies/asked-line.ts';
import { isRowByHand } from '../discrepancies/booked-by-hand.ts';
import type { Evidence } from '../discrepancies/discrepancy.ts';
import {
  endMoneyBack,
  nameOfRow,
  openMoneyBack,
  type RowQuestion,
  rowIn,
  rowsIn,
} from '../discrepancies/row-back.ts';
import { restoreCharge } from '../gateway-accounts/charges.ts';
import { lockPayment, type PaymentRef } from '../payments/payment-store.ts';
import { ACCOUNT_COLUMNS } from '../payments/payment-summary.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { IS_BACK } from '../settlement/gone-back.ts';
import { claimRow, isMatched, nameRowBack } from '../settlement/rows-of-movements.ts';
import { sameAccount } from '../settlement/same-account.ts';
import { mayHaveComeAgain } from '../upkeep/restore-mark.ts';
import { noteAt, tellAt } from './money-back.ts';
import { type Fitting, moneyOf } from './money-that-went-out.ts';
import { IS_ASKED, IS_EXPLAINED, IS_ROW } from './rows-at-payments.ts';

/* A decision about a payout may say that its money is back, or is not. Each row that brings it back is answered then, or asked about. */

/**
 * Asks about the rows at a payout that are not its own as about rows of which nobody knows the payment: those which support has
 * dismissed there, and those whose money is not back. Does nothing while support is asked whether the payout has failed.
 */
export async function askAboutRowsOf(trx: Transaction, payment: PaymentRef): Promise<void> {
  const found = await rows<RowAtPayment>(
    trx,
    `SELECT d.id, d.gateway, d.trans_id, d.amount_cents, d.details, d.resolved_by IS NULL AS is_noted
     FROM discrepancies d WHERE ${IS_ROW} AND NOT ${IS_EXPLAINED}
       AND d.merchant_id = :merchant_id AND d.payment_kind = :kind AND d.payment_id = :id
       AND NOT ${IS_ASKED} ORDER BY d.id`,
    payment,
  );
  await takeRowsAway(trx, payment, found);
}

/** A row that is noted at a payment, or was asked about there. */
export interface RowAtPayment extends AskedRow {
  id: string;
  /** Nobody has said that it is not the payment's. */
  is_noted: boolean;
}

/** Takes rows away from a payment: each is a question again. Lock the payment first. */
export async function takeRowsAway(
  trx: Transaction,
  payment: PaymentRef,
  found: RowAtPayment[],
): Promise<void> {
  const names = found.map(({ trans_id }) => trans_id);
  // A row that was dismissed as the coming back of this money may be of another payment.
  await rows(
    trx,
    `UPDATE discrepancies d SET ${REOPENED}
     FROM movements m WHERE m.merchant_id = :merchant_id AND m.payment_kind = :kind
       AND m.payment_id = :id AND m.row_back = ANY (:names) AND d.gateway = m.gateway
       AND m.row_back = d.trans_id AND d.kind = 'money_back' AND d.resolution = 'dismissed'`,
    { ...payment, names },
  );
  await rows(
    trx,
    `UPDATE movements SET row_back = NULL WHERE merchant_id = :merchant_id AND payment_kind = :kind
       AND payment_id = :id AND row_back = ANY (:names)`,
    { ...payment, names },
  );
  // They were noted there. Nobody has decided about them.
  await rows(
    trx,
    `UPDATE discrepancies SET resolution = 'dismissed'
     WHERE id = ANY (CAST(:ids AS uuid[])) AND resolution = 'superseded'`,
    { ids: found.map(({ id }) => id) },
  );
  for (const { gateway, is_noted, ...question } of found) {
    const row = rowIn(question);
    const { candidates } = await moneyOf(trx, gateway, row);
    // Its payout may be refunded already.
    const names = new Set([...candidates, ...(is_noted ? [nameOf(payment)] : [])]);
    await openMoneyBack(trx, { gateway, by: 'file' }, row, [...names]);
  }
}

/** SQL: sets a question back to one that nobody has answered. */
export const REOPENED = `opened_at = now(), resolved_at = NULL, resolution = NULL, resolved_by = NULL,
  resolved_reason = NULL`;

/** A question about a row, as it is stored. */
export interface AskedRow extends RowQuestion {
  gateway: string;
  /** The name of the row. */
  trans_id: string;
}

/**
 * Matches a row that support has dismissed with the oldest money that it fits and that is back: unless the row was booked
 * by hand, its money is in the books already. Otherwise that money would explain the row of another payment.
 */
export async function noteDismissed(trx: Transaction, id: string): Promise<void> {
  const [asked] = await rows<AskedRow & { evidence: Evidence[] }>(
    trx,
    'SELECT * FROM discrepancies WHERE id = :id',
    { id },
  );
  const { gateway, trans_id } = asked!;
  if (await isRowByHand(trx, trans_id)) return;
  for (const row of rowsIn(asked!)) {
    const oldest = (await moneyOf(trx, gateway, row)).back.pop();
    if (!oldest || !(await lockPayment(trx, oldest))) continue;
    // While this waited it may have been doubted, or another row may have been told of it.
    const { back } = await moneyOf(trx, gateway, row);
    if (isDeepStrictEqual(back.pop(), oldest)) await matchWith(trx, gateway, row, oldest);
  }
}

/**
 * Matches the money of a payout that is back now with the row that brings it back: one that people have dismissed, or one
 * that may be of no other money.
 */
export async function matchRows(trx: Transaction, payment: PaymentRef): Promise<void> {
  const waiting = await rows<AskedRow & { resolution: string | null }>(
    trx,
    `SELECT DISTINCT d.id, d.gateway, d.trans_id, d.amount_cents, d.details, d.resolution
     FROM movements m JOIN ${STEP_TABLES[payment.kind].table} p ON p.merchant_id = m.merchant_id AND p.id = m.payment_id
     JOIN discrepancies d ON d.gateway = m.gateway AND d.kind = 'money_back'
       AND d.amount_cents = m.amount_cents AND coalesce(d.resolution = 'dismissed', true)
       AND (d.opened_at > p.created_at OR ${mayHaveComeAgain('d.opened_at', 'p.created_at')})
       AND coalesce(${sameAccount(`coalesce(m.account, p.${ACCOUNT_COLUMNS[payment.kind]})`, "d.details->>'account'")}, true)
     WHERE m.merchant_id = :merchant_id AND m.payment_kind = :kind AND m.payment_id = :id
       AND ${IS_BACK} AND m.row_back IS NULL
     ORDER BY d.id`,
    payment,
  );
  for (const { gateway, trans_id, resolution, ...question } of waiting) {
    const row = rowIn(question);
    if (await isMatched(trx, gateway, row)) continue;
    if (await isRowByHand(trx, trans_id)) continue;
    const { isKnown, back } = await moneyOf(trx, gateway, row);
    const found =
      resolution === null && !isKnown ? undefined : back.find(({ id }) => id === payment.id);
    if (!found) continue;
    if (await matchWith(trx, gateway, row, found)) await endMoneyBack(trx, gateway, row);
  }
}

/** Lets a row explain money that is back: the row is noted at its payment. @returns whether it is of no other payment */
async function matchWith(
  trx: Transaction,
  gateway: string,
  row: AskedLine,
  money: Fitting,
): Promise<boolean> {
  const movement = { merchant_id: money.merchant_id, id: money.movement_id };
  if ((await claimRow(trx, gateway, row, money)) !== 'free') return false;
  await nameRowBack(trx, movement, nameOfRow(row));
  await tellAt(trx, money, row, { by: 'file', trans_id: nameOfRow(row) });
  await noteAt(trx, money, row);
  // Its money has moved. Gateways give back the amount alone.
  await restoreCharge(trx, movement, gateway);
  return true;
}
