import { createHash } from 'node:crypto';
import { firstRow, hasRow, rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { HOUR_MS } from '../../time.ts';
import { ACCOUNT_COLUMNS, PAYMENT_KINDS } from '../payments/payment-summary.ts';
import { dayAlone, isDayAlone } from '../reconciliation/days-alone.ts';
import { sameAccount } from '../settlement/same-account.ts';
import { VEILED } from '../veil.ts';
import { type AskedLine, askAboutLine, type Teller } from './asked-line.ts';
import type { Evidence } from './discrepancy.ts';

/* A row of a statement brings money back that had gone out. It seldom names its payout. */

/** The reference of an entry by hand is no longer. */
const MAX_NAME_LENGTH = 50;
/** The part of a name that stands for its beginning, if it is too long. */
const HASH_LENGTH = 8;

/** Kenya's clock, which has no summer time. */
const NAIROBI_OFFSET_MS = 3 * HOUR_MS;

/** SQL: the day in Kenya of a moment. */
function dayOf(moment: string): string {
  return `to_char(${moment} AT TIME ZONE 'Africa/Nairobi', 'YYYY-MM-DD')`;
}

/**
 * Returns the name of a row: its receipt. Many rows may have one reference, so its time in Kenya and its account are with
 * it. An admin can book the row by hand under this name. Other forms of a file may show less: see known-rows.ts.
 */
export function nameOfRow({ trans_id, reference, completed_at, account }: AskedLine): string {
  const [day, time] = new Date(completed_at.getTime() + NAIROBI_OFFSET_MS).toISOString().split('T');
  const clock = isDayAlone(completed_at) ? '' : time!.slice(0, 'HH:MM:SS'.length);
  const parts = [reference, day, clock.replaceAll(':', ''), account?.replace(/[^A-Za-z0-9]/g, '')];
  const name = parts
    .filter(Boolean)
    .join('-')
    .replace(/[^A-Za-z0-9-]/g, '-');
  return trans_id ?? shortened(name);
}

/** Returns a name that no other one has, though its beginning is left out. */
function shortened(name: string): string {
  if (name.length <= MAX_NAME_LENGTH) return name;
  const hash = createHash('md5').update(name).digest('hex').slice(0, HASH_LENGTH);
  return `${hash}-${name.slice(HASH_LENGTH + 1 - MAX_NAME_LENGTH)}`;
}

/** SQL: `nameOfRow` the line `l` of a statement. */
export const NAME_OF_ROW = `coalesce(l.trans_id, (SELECT CASE WHEN length(name) <= ${MAX_NAME_LENGTH} THEN name
    ELSE left(md5(name), ${HASH_LENGTH}) || '-' || right(name, ${MAX_NAME_LENGTH - HASH_LENGTH - 1}) END
  FROM regexp_replace(concat_ws('-', l.reference, ${dayOf('l.completed_at')},
  CASE WHEN NOT ${dayAlone('l.completed_at')}
    THEN to_char(l.completed_at AT TIME ZONE 'Africa/Nairobi', 'HH24MISS') END,
  nullif(regexp_replace(l.account, '[^A-Za-z0-9]', '', 'g'), '')),
  '[^A-Za-z0-9-]', '-', 'g') AS name))`;

/** Shows the name of a row, or of money. A reference in place of a receipt may be a phone that a customer has typed. */
export function shownName(name: string, reference: unknown): string {
  const isReference = name === reference || /-\d{4}-\d\d-\d\d(-\w+)*( \([a-z ]+\))*$/.test(name);
  return isReference ? VEILED.text(name) : name;
}

/** A question about a row, at a payout or at none. */
export interface RowQuestion {
  amount_cents: number | null;
  details: Record<string, unknown>;
}

/** Returns the rows that a question is about and nobody has answered: files may have listed one with two accounts. */
export function rowsIn({ evidence }: { evidence: Evidence[] }): AskedLine[] {
  return evidence.filter(({ decided }) => !decided).map(rowIn);
}

/** Returns the row that a question is about. */
export function rowIn({ amount_cents, details }: RowQuestion): AskedLine {
  const { receipt, reference, account, completed_at } = details as Record<string, string | null>;
  return {
    trans_id: receipt!,
    reference: reference!,
    account: account!,
    amount_cents: amount_cents!,
    completed_at: new Date(completed_at!),
  };
}

/**
 * Puts a row on the support list, of which nobody knows the payout.
 * @param candidates are the names of the payouts that it may bring back
 */
export async function openMoneyBack(
  trx: Transaction,
  teller: Teller,
  row: AskedLine,
  candidates: string[],
): Promise<void> {
  const question = { kind: 'money_back', name: nameOfRow(row), line: row, candidates } as const;
  await askAboutLine(trx, teller, { ...question, more: { receipt: row.trans_id } });
}

/**
 * Ends the question about a row: a payout is asked about instead, or its money explains the row.
 * @param isExplained is true for money that explains the row: findings of another account stay a question, too
 */
export async function endMoneyBack(
  trx: Transaction,
  gateway: string,
  row: AskedLine,
  isExplained = false,
): Promise<void> {
  const name = nameOfRow(row);
  await rows(
    trx,
    `WITH ended AS (
       SELECT d.id, bool_and(is_of_row OR is_decided) AS is_whole,
         jsonb_agg(e || jsonb_build_object('decided', is_of_row OR is_decided) ORDER BY place) AS evidence
       FROM discrepancies d CROSS JOIN jsonb_array_elements(d.evidence) WITH ORDINALITY AS found (e, place)
         CROSS JOIN LATERAL (SELECT CAST(e->>'decided' AS boolean) AS is_decided,
           ${IS_OF_ROW} AND (NOT :isExplained OR ${FITS_ACCOUNT}) AS is_of_row) AS of
       WHERE d.kind = 'money_back' AND d.gateway = :gateway AND d.trans_id = :name AND d.resolved_at IS NULL
       GROUP BY d.id HAVING bool_or(is_of_row)
     )
     UPDATE discrepancies d SET evidence = CASE WHEN is_whole THEN d.evidence ELSE ended.evidence END,
       resolved_at = CASE WHEN is_whole THEN now() END,
       resolution = CASE WHEN is_whole THEN 'superseded' END
     FROM ended WHERE d.id = ended.id`,
    { ...row, gateway, name, isExplained },
  );
}

/** Tells whether somebody was asked about the row with another account. Then a person says which one is right. */
export async function isContradicted(
  trx: Transaction,
  gateway: string,
  row: AskedLine,
): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies WHERE kind IN ('money_back', 'failure_after_success')
       AND gateway = :gateway AND trans_id = :name AND details->>'completed_at' IS NOT NULL
       -- Two forms may hide different digits.
       AND (position('*' IN details->>'account') = 0 OR position('*' IN CAST(:account AS text)) = 0)
       AND NOT ${sameAccount("details->>'account'", 'CAST(:account AS text)')}`,
    { ...row, gateway, name: nameOfRow(row) },
  );
}

/**
 * Returns the candidates that were shown to whoever has dismissed the row, perhaps after booking it by hand; null if nobody
 * has.
 */
export async function shownBefore(
  trx: Transaction,
  gateway: string,
  row: AskedLine,
): Promise<string[] | null> {
  const found = await firstRow<{ shown: string[] }>(
    trx,
    `SELECT coalesce(details->'candidates', '[]') AS shown FROM discrepancies
     WHERE ${IS_THIS_ROW} AND resolution = 'dismissed'`,
    { ...row, gateway, name: nameOfRow(row) },
  );
  return found?.shown ?? null;
}

/** Keeps the candidates that are shown to whoever dismisses a row: one that fits it later is a question. */
export async function keepShown(trx: Transaction, id: string, shown: unknown): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET details = details || jsonb_build_object('candidates', CAST(:shown AS jsonb)) WHERE id = :id`,
    { id, shown: JSON.stringify(shown) },
  );
}

/** SQL: the account that the question about a row shows, or else that of the payment which is asked about. */
export function accountOfQuestion(question: string): string {
  return `coalesce(${question}.details->>'account', ${accountOfPayment(question)})`;
}

/** SQL: the account of the payment that is asked about; null for a question at no payment. */
export function accountOfPayment(question: string): string {
  const of = `p.merchant_id = ${question}.merchant_id AND p.id = ${question}.payment_id`;
  const lookups = PAYMENT_KINDS.map(
    (kind) => `(SELECT p.${ACCOUNT_COLUMNS[kind]} FROM ${STEP_TABLES[kind].table} p
      WHERE ${question}.payment_kind = '${kind}' AND ${of})`,
  );
  return `coalesce(${lookups.join(', ')})`;
}

/** SQL: the evidence `e` is of this row. Several ones without a receipt may have one name, and are one question. */
const IS_OF_ROW = `CAST(e->>'amount_cents' AS bigint) = :amount_cents
      AND (CAST(:trans_id AS text) IS NOT NULL
        OR CAST(e->'details'->>'completed_at' AS timestamptz) = :completed_at)`;

/** SQL: the evidence `e` shows the account of the row, or less or more of it, or none. */
const FITS_ACCOUNT = `coalesce(${sameAccount("(e->'details'->>'account')", 'CAST(:account AS text)')}, true)`;

/** SQL: the question is about this row. */
const IS_THIS_ROW = `kind = 'money_back' AND gateway = :gateway AND trans_id = :name
  AND EXISTS (SELECT FROM jsonb_array_elements(evidence) AS e WHERE ${IS_OF_ROW})`;
