import { isDeepStrictEqual } from 'node:util';
import {
  type Database,
  firstRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import type { AskedLine, Teller } from '../discrepancies/asked-line.ts';
import { isRowByHand } from '../discrepancies/booked-by-hand.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { asKnown, rowsOfItsDay } from '../discrepancies/known-rows.ts';
import {
  accountOfQuestion,
  endMoneyBack,
  isContradicted,
  NAME_OF_ROW,
  nameOfRow,
  openMoneyBack,
  shownBefore,
} from '../discrepancies/row-back.ts';
import { supersedeWhere } from '../discrepancies/supersede.ts';
import { restoreCharge } from '../gateway-accounts/charges.ts';
import { type AnyPayment, lockPayment, type PaymentRef } from '../payments/payment-store.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { claimRow, nameRowBack } from '../settlement/rows-of-movements.ts';
import { sameAccount } from '../settlement/same-account.ts';
import { casesOf } from '../support/discrepancy-cases.ts';
import { type Fitting, moneyOf, NO_MONEY } from './money-that-went-out.ts';
import { IS_ASKED, IS_EXPLAINED, IS_ROW, IS_UNDECIDED } from './rows-at-payments.ts';
import type { LineResult, StatementRef, StoredLine } from './statement.ts';

/*
 * A gateway, or a bank, takes a payout back some time after it has completed: the number was not registered, or the
 * recipient has complained. A file has a row for that, which seldom names the payout.
 */

/**
 * Asks support about each line that brings money back: at the payout that it fits, or, if none or several fit, at none.
 * It books nothing.
 * @throws the reason of `stopping`, between two lines
 */
export async function askAboutMoneyBack(
  database: Database,
  statement: StatementRef,
  by: Teller['by'],
  stopping?: AbortSignal,
): Promise<void> {
  const lines = await rows<StoredLine>(
    database,
    `SELECT * FROM statement_lines
     WHERE import_id = :import_id AND has_come_back AND result IS NULL ORDER BY line_no`,
    statement,
  );
  for (const line of lines) {
    stopping?.throwIfAborted();
    await inTransaction(database, async (trx) => {
      const result = await askAbout(trx, statement, line, by);
      await rows(
        trx,
        `UPDATE statement_lines SET result = :result
         WHERE import_id = :import_id AND line_no = :line_no`,
        { ...statement, line_no: line.line_no, result },
      );
    });
  }
}

async function askAbout(
  trx: Transaction,
  { gateway, import_id }: StatementRef,
  listed: AskedLine,
  by: Teller['by'],
): Promise<LineResult> {
  const line = await asKnown(trx, { gateway, by, import_id }, listed);
  const asked = await answerOf(trx, gateway, line);
  if (asked === 'explained') {
    await keepFuller(trx, gateway, line, listed);
    await endMoneyBack(trx, gateway, line, true);
    return 'matched';
  }
  if (await isContradicted(trx, gateway, line)) {
    await openMoneyBack(trx, { gateway, by }, line, []);
    return 'unknown';
  }
  if (asked === 'open') return 'contradicts';
  const found = await moneyOf(trx, gateway, line);
  const shown = await shownBefore(trx, gateway, line);
  // Nobody has decided about a payment that fits it since.
  const isBefore =
    shown !== null && !(found.money && found.mayBeOut.some((name) => !shown.includes(name)));
  const isByHand = await isRowByHand(trx, nameOfRow(line));
  const isSilent = asked === 'dismissed' || isBefore || isByHand;
  const { money, isKnown } = isSilent ? NO_MONEY : found;
  const candidates = isByHand && !found.isKnown ? [] : found.candidates;
  const known = money ? await knownOtherwise(trx, { gateway, import_id }, line) : [];
  if (known.length > 0) {
    await openMoneyBack(trx, { gateway, by }, line, [...new Set([...known, ...candidates])]);
    return 'unknown';
  }
  const payout = money && (await lockPayment(trx, money));
  // While this waited it may have been undone, or another row may have been told of it.
  const isSame = payout && isDeepStrictEqual((await moneyOf(trx, gateway, line)).money, money);
  if (isSame && isAskable(money, isKnown, payout, line)) {
    return askAt(trx, { gateway, by }, line, { money, isKnown });
  }
  await openMoneyBack(trx, { gateway, by }, line, candidates);
  return 'unknown';
}

/**
 * Names the payments of rows of the same reference, account, amount and day that this statement does not list: the row may
 * be one of them in another form, as without seconds. A question that is at no payment is named by its row.
 */
async function knownOtherwise(
  trx: Transaction,
  { gateway, import_id }: StatementRef,
  line: AskedLine,
): Promise<string[]> {
  const like = await rowsOfItsDay(trx, gateway, line);
  const listed = await rows<{ name: string }>(
    trx,
    `SELECT ${NAME_OF_ROW} AS name FROM statement_lines l
     WHERE l.import_id = :import_id AND l.has_come_back AND ${NAME_OF_ROW} = ANY (:names)`,
    { import_id, names: like.map(({ name }) => name) },
  );
  return like
    .filter(({ name }) => !listed.some((each) => each.name === name))
    .map(({ name, payment }) => (payment ? nameOf(payment) : `row ${name}`));
}

/**
 * Keeps what another form of a row shows more, at the payment that explains it: its whole account, or a reference. It may
 * be another payment's. A row without a receipt is known by both.
 */
async function keepFuller(
  trx: Transaction,
  gateway: string,
  line: AskedLine,
  { account, reference }: AskedLine,
): Promise<void> {
  const fuller = (details: string) => `${details}
    || CASE WHEN position('*' IN CAST(:account AS text)) = 0
        AND coalesce(position('*' IN ${details}->>'account') > 0 AND ${sameAccount(`(${details}->>'account')`, 'CAST(:account AS text)')}, true)
      THEN jsonb_build_object('account', CAST(:account AS text)) ELSE '{}' END
    || CASE WHEN ${details}->>'reference' IS NULL AND CAST(:reference AS text) IS NOT NULL
      THEN jsonb_build_object('reference', CAST(:reference AS text)) ELSE '{}' END`;
  await rows(
    trx,
    `UPDATE discrepancies d SET details = ${fuller('d.details')},
       evidence = (SELECT jsonb_agg(jsonb_set(e, '{details}', ${fuller("(e->'details')")}) ORDER BY place)
         FROM jsonb_array_elements(d.evidence) WITH ORDINALITY AS found (e, place))
     WHERE ${IS_ROW} AND ${IS_UNDECIDED} AND d.gateway = :gateway AND d.trans_id = :trans_id
       AND d.amount_cents = :amount_cents AND d.resolution = 'superseded'`,
    { ...line, gateway, account, reference },
  );
}

/** Tells whether a payment can be asked about its money. Money that waits has a question already. A part undoes no whole payment. */
export function isAskable(
  { state }: Fitting,
  isKnown: boolean,
  { amount_cents }: Pick<AnyPayment, 'amount_cents'>,
  line: AskedLine,
): boolean {
  return isKnown || (state === 'out' && amount_cents === line.amount_cents);
}

/**
 * Asks about the payment whose money a line brings back. If that is called back already, the line is explained. Lock the
 * payment first.
 * @param teller.assigned_by has said that the line is this payment's
 */
export async function askAt(
  trx: Transaction,
  { gateway, by, assigned_by }: Teller & { assigned_by?: string },
  line: AskedLine,
  { money, isKnown }: { money: Fitting; isKnown: boolean },
): Promise<LineResult> {
  // Somebody may have assigned it to another payment at this moment.
  const owner = await claimRow(trx, gateway, line, money);
  if (owner === 'taken') return 'contradicts';
  if (owner === 'contradicted' && !assigned_by) {
    await openMoneyBack(trx, { gateway, by }, line, [nameOf(money)]);
    return 'unknown';
  }
  await endMoneyBack(trx, gateway, line);
  // The gateway may have told the same, and nobody has decided yet.
  const isAsked = (await casesOf(trx, money)).some(
    ({ kind, trans_id, resolved_at }) =>
      kind === 'failure_after_success' && trans_id === null && resolved_at === null,
  );
  if (isAsked) await tellAt(trx, money, line, { by, assigned_by, trans_id: null });
  await tellAt(trx, money, line, { by, assigned_by, trans_id: nameOfRow(line) });
  const movement = { merchant_id: money.merchant_id, id: money.movement_id };
  await nameRowBack(trx, movement, nameOfRow(line));
  if (isKnown || isAsked) await noteAt(trx, money, line);
  // Its money has moved. Gateways give back the amount alone.
  if (isKnown) await restoreCharge(trx, movement, gateway);
  return isKnown ? 'matched' : 'contradicts';
}

/**
 * Asks about a payout, or adds the row to the question that is open about it.
 * @param told.trans_id is the receipt of the question
 */
export async function tellAt(
  trx: Transaction,
  payout: Fitting,
  line: AskedLine,
  {
    by,
    assigned_by,
    trans_id,
  }: Pick<Teller, 'by'> & { assigned_by?: string | undefined; trans_id: string | null },
): Promise<void> {
  const { kind, merchant_id, id } = payout;
  await openDiscrepancy(trx, {
    kind: 'failure_after_success',
    payment: { kind, merchant_id, id },
    trans_id,
    amount_cents: line.amount_cents,
    details: {
      code: null,
      description: assigned_by
        ? 'Support has said that a row of a statement brings this money back'
        : 'A statement lists that the money has come back',
      ...(assigned_by && { assigned_by }),
      has_come_back: true,
      receipt: line.trans_id,
      reference: line.reference,
      account: line.account,
      completed_at: line.completed_at.toISOString(),
    },
    // The word of a person is news, also if another person has denied it before.
    told: { by, at: assigned_by ? new Date() : null },
  });
}

/** Ends the question about the row at its payout, because the coming back is known, or asked about already. */
export async function noteAt(trx: Transaction, payout: PaymentRef, line: AskedLine): Promise<void> {
  const isRow = "d.kind = 'failure_after_success' AND d.trans_id = :trans_id";
  await supersedeWhere(trx, payout, isRow, { trans_id: nameOfRow(line) });
}

/**
 * Returns what is known of the line at a payout: it explains that its money has come back, somebody is asked about that, or
 * somebody has dismissed it. Returns null if no payout has the line.
 */
async function answerOf(
  trx: Transaction,
  gateway: string,
  line: AskedLine,
): Promise<'explained' | 'open' | 'dismissed' | null> {
  const found = await firstRow<{ answer: 'explained' | 'open' | 'dismissed' }>(
    trx,
    `SELECT CASE WHEN ${IS_EXPLAINED} THEN 'explained' WHEN d.resolution = 'dismissed' THEN 'dismissed'
       WHEN ${IS_ASKED} THEN 'open' ELSE 'dismissed' END AS answer
     FROM discrepancies d WHERE ${IS_ROW} AND d.gateway = :gateway AND d.trans_id = :name AND d.amount_cents = :amount_cents
       AND coalesce(${sameAccount(accountOfQuestion('d'), 'CAST(:account AS text)')}, true)
     ORDER BY answer DESC LIMIT 1`,
    { ...line, gateway, name: nameOfRow(line) },
  );
  return found?.answer ?? null;
}
