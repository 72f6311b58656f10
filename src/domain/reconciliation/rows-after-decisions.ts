import { isDeepStrictEqual } from 'node:util';
import { hasRow, rows, type Transaction } from '../../connections/database.ts';
import { bookedByHandFor } from '../discrepancies/booked-by-hand.ts';
import { HAS_COME_BACK, ROW_NAME } from '../discrepancies/unknown-money.ts';
import { openUnknown } from '../discrepancies/unknown-movement.ts';
import { restoreCharge } from '../gateway-accounts/charges.ts';
import { lockPayment, type PaymentRef } from '../payments/payment-store.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { IS_BACK } from '../settlement/gone-back.ts';
import { nameRowBack } from '../settlement/movements.ts';
import { sameAccount } from '../settlement/same-account.ts';
import type { Discrepancy } from '../support/discrepancy-cases.ts';
import { endUnknown, IS_ASKED, IS_EXPLAINED, IS_ROW, noteAt, tellAt } from './money-back.ts';
import { type Fitting, moneyOf, nameOfRow } from './money-that-went-out.ts';
import type { StoredLine } from './statement.ts';

/* A decision about a payout may say that its money is back, or is not. Each row that brings it back is answered then, or asked about. */

/**
 * Asks about the rows at a payout that are not its own as about money that no payment explains: those which support has
 * dismissed there, and those whose money is not back. Does nothing while support is asked whether the payout has failed.
 */
export async function askAboutRowsOf(trx: Transaction, payout: PaymentRef): Promise<void> {
  const found = await rows<{
    id: string;
    gateway: string;
    name: string;
    /** Nobody has said that it is not this payout's. */
    is_noted: boolean;
    line: Omit<StoredLine, 'completed_at'> & { completed_at: string };
  }>(
    trx,
    `SELECT d.id, d.gateway, d.trans_id AS name, d.resolved_by IS NULL AS is_noted, d.details || jsonb_build_object('kind', 'reversal', 'has_come_back', true,
       'trans_id', d.details->'receipt', 'amount_cents', d.amount_cents) AS line
     FROM discrepancies d WHERE ${IS_ROW} AND NOT ${IS_EXPLAINED}
       AND d.merchant_id = :merchant_id AND d.payment_kind = :kind AND d.payment_id = :id
       AND NOT ${IS_ASKED} ORDER BY d.id`,
    payout,
  );
  const names = found.map(({ name }) => name);
  // A row that was dismissed as the coming back of this money may be of another payout.
  await rows(
    trx,
    `UPDATE discrepancies d SET opened_at = now(), resolved_at = NULL, resolution = NULL,
       resolved_by = NULL, resolved_reason = NULL
     FROM movements m WHERE m.merchant_id = :merchant_id AND m.payment_kind = :kind
       AND m.payment_id = :id AND m.row_back = ANY (:names) AND d.gateway = m.gateway
       AND m.row_back = ${ROW_NAME} AND d.kind = 'unknown_movement' AND d.${HAS_COME_BACK}
       AND d.resolution = 'dismissed'`,
    { ...payout, names },
  );
  await rows(
    trx,
    `UPDATE movements SET row_back = NULL WHERE merchant_id = :merchant_id AND payment_kind = :kind
       AND payment_id = :id AND row_back = ANY (:names)`,
    { ...payout, names },
  );
  // They were noted there. Nobody has decided about them.
  await rows(
    trx,
    `UPDATE discrepancies SET resolution = 'dismissed'
     WHERE id = ANY (CAST(:ids AS uuid[])) AND resolution = 'superseded'`,
    { ids: found.map(({ id }) => id) },
  );
  for (const { gateway, line, is_noted } of found) {
    const told = { ...line, completed_at: new Date(line.completed_at) };
    const { candidates } = await moneyOf(trx, gateway, told);
    // Its payout may be refunded already.
    const names = new Set([...candidates, ...(is_noted ? [nameOf(payout)] : [])]);
    await openUnknown(trx, { gateway, by: 'file' }, told, [...names]);
  }
}

/** A question about a line that brings money back, as money that no payment explains. */
type UnknownRow = Pick<Discrepancy, 'gateway' | 'trans_id' | 'amount_cents' | 'details'>;

function lineOfRow({ trans_id, amount_cents, details }: UnknownRow): StoredLine {
  const told = details as unknown as Omit<StoredLine, 'completed_at'> & { completed_at: string };
  const completed_at = new Date(told.completed_at);
  const receipt = trans_id === told.reference ? null : trans_id;
  return { ...told, trans_id: receipt, amount_cents: amount_cents!, completed_at };
}

/**
 * Matches a line that support has dismissed with the oldest money that it fits and that is back: unless the line was booked
 * by hand, its money is in the books already. Otherwise that money would explain the row of another payout.
 */
export async function noteDismissed(trx: Transaction, row: UnknownRow): Promise<void> {
  const { gateway, trans_id, details } = row;
  if (gateway === null || trans_id === null || !details.has_come_back) return;
  if ((await bookedByHandFor(trx, [trans_id])) !== null) return;
  const line = lineOfRow(row);
  const oldest = (await moneyOf(trx, gateway, line)).back.pop();
  if (!oldest || !(await lockPayment(trx, oldest))) return;
  // While this waited it may have been doubted, or another row may have been told of it.
  const { back } = await moneyOf(trx, gateway, line);
  if (isDeepStrictEqual(back.pop(), oldest)) await matchWith(trx, gateway, line, oldest);
}

/**
 * Matches the money of a payout that is back now with the row that brings it back: one that people have dismissed, or one
 * that may be of no other money.
 */
export async function matchRows(trx: Transaction, payout: PaymentRef): Promise<void> {
  const waiting = await rows<UnknownRow & { gateway: string; resolution: string | null }>(
    trx,
    `SELECT DISTINCT d.id, d.gateway, d.trans_id, d.amount_cents, d.details, d.resolution
     FROM movements m JOIN payouts p ON p.merchant_id = m.merchant_id AND p.id = m.payment_id
     JOIN discrepancies d ON d.gateway = m.gateway AND d.kind = 'unknown_movement'
       AND d.${HAS_COME_BACK} AND d.amount_cents = m.amount_cents
       AND coalesce(d.resolution = 'dismissed', true) AND d.opened_at > p.created_at
       AND coalesce(${sameAccount('p.payto', "d.details->>'account'")}, true)
     WHERE m.merchant_id = :merchant_id AND m.payment_kind = :kind AND m.payment_id = :id
       AND ${IS_BACK} AND m.row_back IS NULL
     ORDER BY d.id`,
    payout,
  );
  for (const row of waiting) {
    const line = lineOfRow(row);
    if (await isMatched(trx, row.gateway, line)) continue;
    const isOpen = row.resolution === null;
    if (!isOpen && (await bookedByHandFor(trx, [row.trans_id!])) !== null) continue;
    const { isKnown, back } = await moneyOf(trx, row.gateway, line);
    const found = isOpen && !isKnown ? undefined : back.find(({ id }) => id === payout.id);
    if (!found) continue;
    await endUnknown(trx, row.gateway, line);
    await matchWith(trx, row.gateway, line, found);
  }
}

/** Tells whether the row brings other money back already. */
function isMatched(trx: Transaction, gateway: string, line: StoredLine): Promise<boolean> {
  const sql = 'SELECT FROM movements WHERE gateway = :gateway AND row_back = :name';
  return hasRow(trx, sql, { gateway, name: nameOfRow(line) });
}

/** Lets a line explain money that is back: the line is noted at its payout. */
async function matchWith(
  trx: Transaction,
  gateway: string,
  line: StoredLine,
  money: Fitting,
): Promise<void> {
  const movement = { merchant_id: money.merchant_id, id: money.movement_id };
  await nameRowBack(trx, movement, nameOfRow(line));
  await tellAt(trx, money, line, { by: 'file', trans_id: nameOfRow(line) });
  await noteAt(trx, money, line);
  // Its money has moved. Gateways give back the amount alone.
  await restoreCharge(trx, movement, gateway);
}
