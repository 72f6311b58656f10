import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import type { AuditedChange } from '../audit/audit.ts';
import { plainNameOf } from '../plain-name.ts';
import type { OwnLine } from '../reconciliation/statement.ts';
import { proveBalances } from './balances.ts';
import { CHARGED_MONEY } from './charged-money.ts';
import { BANK } from './own-moves.ts';

/*
 * Rows of statements about the operator's own money: sweeps of a gateway, and everything at the
 * bank. They settle nothing. One that no entry of the books explains is shown, with the move to book.
 */

/** Two clocks are apart by less. A row under the same name is another one after it, as the next day's sweep. */
export const SAME_ROW = "interval '12 hours'";

/**
 * Keeps rows of an account, such as `bank` or GATEWAY/utility, each once. A bank may give equal rows of a day one
 * time: how often they are in one file counts. Gateways list a row twice, perhaps by two clocks: its receipt and amount tell
 * it, within some hours.
 */
export async function keepOwnLines(
  trx: Transaction,
  account: string,
  lines: readonly OwnLine[],
): Promise<void> {
  await rows(
    trx,
    `WITH told AS (
       SELECT reference, "amountCents" AS amount_cents, "toldAt" AS told_at,
         row_number() OVER (PARTITION BY reference, "amountCents", "toldAt") AS at_once,
         "toldAt" - lag("toldAt") OVER (PARTITION BY reference, "amountCents" ORDER BY "toldAt")
           < ${SAME_ROW} AS is_again
       FROM jsonb_to_recordset(CAST(:lines AS jsonb))
         AS l (reference text, "amountCents" bigint, "toldAt" timestamptz)
     )
     INSERT INTO own_lines (account, reference, amount_cents, told_at, occurrence)
     SELECT :account, reference, amount_cents, told_at, at_once FROM told
     WHERE :account = '${BANK}' OR is_again IS NOT TRUE AND NOT EXISTS (SELECT FROM own_lines o
       WHERE o.account = :account AND o.reference = told.reference
         AND o.amount_cents = told.amount_cents
         AND o.told_at > told.told_at - ${SAME_ROW} AND o.told_at < told.told_at + ${SAME_ROW})
     ON CONFLICT DO NOTHING`,
    { account, lines: JSON.stringify(lines) },
  );
}

/** A row of a statement and an entry of the books for one move have times this near. */
const NEAR = "interval '5 days'";
/** Older rows are not looked at. What they are about may have been booked before them. */
const LOOKED_AT = "interval '90 days'";
const BOOKED_WITHIN = "interval '100 days'";

/** Ends the reference of a correction. A merchant has one entry under each reference, and the bank has one for both. */
const OF_CORRECTION = '-CORR[0-9]*$';

/** SQL: the entries of the account `bank`: top-ups, adjustments, moves and payments by hand. */
const BANK_ENTRIES = `
  SELECT coalesce(w.ref_no, s.reference) AS reference,
    ${plainNameOf(`regexp_replace(coalesce(w.ref_no, s.reference), '${OF_CORRECTION}', '', 'i')`)} AS name, -e.amount_cents AS amount_cents,
    e.created_at AS at, e.merchant_id, j.source_kind AS kind, CAST(j.id AS text) AS id
  FROM entries e JOIN journals j ON j.merchant_id = e.merchant_id AND j.id = e.journal_id
  LEFT JOIN entries w ON w.merchant_id = e.merchant_id AND w.journal_id = e.journal_id
    AND w.transaction_id IS NOT NULL
  LEFT JOIN own_moves s ON j.source_kind = 'own_move' AND s.id = j.source_id
  WHERE e.account = 'bank' AND e.created_at > now() - ${BOOKED_WITHIN}`;

/**
 * SQL: rows and entries of the bank under one reference have the same sum: one deposit may be for several merchants.
 */
const areSumsEqual = (name: string) => `coalesce((
    SELECT sum(each.amount_cents) FROM (${BANK_ENTRIES}) each
    WHERE each.kind <> 'own_move' AND each.name = ${name}
  ) = (
    SELECT sum(o.amount_cents) FROM own_lines o WHERE o.account = '${BANK}'
      AND o.name = ${name} AND o.told_at > now() - ${BOOKED_WITHIN} - ${NEAR}), false)`;

/** SQL: each move as its two accounts see it. */
const SIDES = `
  SELECT m.reference, ${plainNameOf('m.reference')} AS name, side.* FROM own_moves m CROSS JOIN LATERAL (VALUES
    (m.to_account, m.from_account, m.amount_cents), (m.from_account, m.to_account, -m.amount_cents)
  ) side (account, other, amount_cents)
  WHERE m.created_at > now() - ${BOOKED_WITHIN}`;

/** SQL: `s` and `l` are of one account and amount. */
const ALIKE = 's.account = l.account AND s.amount_cents = l.amount_cents';

/** SQL: a move has the reference of the row `l`, which is the first one like it. */
const IS_NAMED = `EXISTS (SELECT FROM (${SIDES}) s WHERE ${ALIKE} AND s.name = l.name)
    AND NOT EXISTS (SELECT FROM own_lines s
      WHERE ${ALIKE} AND s.name = l.name
        AND (s.told_at, s.occurrence) < (l.told_at, l.occurrence))`;

/** SQL: the rows of the bank that are like the entry `b`, by reference and amount. */
const ROWS_LIKE_ENTRY = `SELECT count(*) FROM own_lines o WHERE o.account = '${BANK}'
  AND o.name = b.name AND o.amount_cents = b.amount_cents
  AND o.told_at > now() - ${BOOKED_WITHIN} - ${NEAR}`;

/**
 * SQL: there is an entry of the bank for the row `l` and for each row like it before. One entry explains
 * one row.
 */
const IS_ENTERED = `l.account = '${BANK}' AND ((
    SELECT count(*) FROM (${BANK_ENTRIES}) b
    WHERE b.kind <> 'own_move' AND b.name = l.name AND b.amount_cents = l.amount_cents
  ) >= (
    SELECT count(*) FROM own_lines o WHERE o.account = l.account AND o.name = l.name
      AND o.amount_cents = l.amount_cents AND o.told_at > now() - ${BOOKED_WITHIN}
      AND (o.told_at, o.occurrence) <= (l.told_at, l.occurrence)
  ) OR ${areSumsEqual('l.name')})`;

/** SQL: the row `l` has the receipt of money that this gateway has moved: it is the charge of that money. */
export const isCharge = (gateway: string) => `EXISTS (SELECT FROM ${CHARGED_MONEY} m
    WHERE m.trans_id = l.reference AND m.gateway = ${gateway})`;

/**
 * SQL: rows that neither an entry of the bank nor the reference of a move explains, and moves that may
 * explain one of them: a move between two accounts stands in both statements, under a reference of
 * each, and its row at the other account is known. An entry without a reference may, too: support has paid a customer.
 */
const UNNAMED = `
  SELECT l.account, l.reference, l.amount_cents, l.told_at, l.occurrence, true AS is_row
  FROM own_lines l
  WHERE l.told_at > now() - ${BOOKED_WITHIN} AND NOT (${IS_NAMED})
    AND NOT (${IS_ENTERED}) AND NOT ${isCharge("split_part(l.account, '/', 1)")}
  UNION ALL
  SELECT s.account, s.reference, s.amount_cents, min(o.told_at), 1, false
  FROM (${SIDES}) s JOIN own_lines o ON o.account = s.other AND o.name = s.name
    AND o.amount_cents = -s.amount_cents
  WHERE NOT EXISTS (SELECT FROM own_lines l WHERE ${ALIKE} AND l.name = s.name)
  GROUP BY s.account, s.reference, s.amount_cents
  UNION ALL SELECT '${BANK}', b.id, b.amount_cents, b.at, 1, false FROM (${BANK_ENTRIES}) b
  WHERE b.reference IS NULL`;

/**
 * SQL: rows `l` that no entry explains. A move explains one row of each account. Where only amount and
 * time tell, the first row goes with the first move, in each group without a longer pause.
 */
export const UNBOOKED = `
  WITH apart AS (
    SELECT *, told_at - lag(told_at) OVER w > ${NEAR} AS is_first FROM (${UNNAMED}) u
    WINDOW w AS (PARTITION BY account, amount_cents ORDER BY told_at)
  ), grouped AS (
    SELECT *, count(*) FILTER (WHERE is_first) OVER w AS part FROM apart
    WINDOW w AS (PARTITION BY account, amount_cents ORDER BY told_at)
  ), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY account, amount_cents, part, is_row
      ORDER BY told_at, reference, occurrence) AS place FROM grouped
  )
  SELECT l.account, l.reference, l.amount_cents, l.told_at FROM ranked l
  WHERE l.is_row AND l.told_at > now() - ${LOOKED_AT}
    AND NOT EXISTS (SELECT FROM ranked s WHERE ${ALIKE} AND NOT s.is_row AND s.part = l.part
      AND s.place = l.place AND s.told_at BETWEEN l.told_at - ${NEAR} AND l.told_at + ${NEAR})`;

/** SQL: the time of the newest row of the bank that is kept. */
const NEWEST_ROW = `(SELECT max(told_at) FROM own_lines WHERE account = '${BANK}')`;

/**
 * SQL: entries `b` of the bank that its statements should have by now, and do not. One row is one
 * payment: of two top-ups under one reference it explains the first. A move may have another reference
 * at the bank, and some entries have none: then a row of the amount and time explains it, if no reference explains
 * that row.
 */
export const UNLISTED = `
  WITH entered AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY name, amount_cents ORDER BY at, id) AS place
    FROM (${BANK_ENTRIES}) e
  ), unlisted AS (
    SELECT b.* FROM entered b WHERE b.place > (${ROWS_LIKE_ENTRY})
      AND NOT (b.kind <> 'own_move' AND ${areSumsEqual('b.name')})
  ), spare AS (
    SELECT l.amount_cents, l.told_at FROM own_lines l WHERE l.account = '${BANK}'
      AND NOT EXISTS (SELECT FROM entered b
        WHERE b.name = l.name AND b.amount_cents = l.amount_cents)
  )
  SELECT b.* FROM unlisted b
  WHERE b.at < greatest(${NEWEST_ROW} - ${NEAR},
      -- A quiet account is known for longer than its rows.
      (SELECT max(asked_at) FROM balance_proofs WHERE gateway = '${BANK}' AND asked_at > ${NEWEST_ROW}))
    AND b.at > (SELECT min(told_at) FROM own_lines WHERE account = '${BANK}')
    AND (b.kind <> 'own_move' AND b.reference IS NOT NULL OR (
      SELECT count(*) FROM unlisted o
      WHERE (o.kind = 'own_move' OR o.reference IS NULL) AND o.amount_cents = b.amount_cents
        AND o.at > b.at - ${NEAR} AND (o.at, o.id) <= (b.at, b.id)
    ) > (
      SELECT count(*) FROM spare l WHERE l.amount_cents = b.amount_cents
        AND l.told_at BETWEEN b.at - ${NEAR} AND b.at + ${NEAR}))`;

/** A row or entry that only one side has, and what the other side has of the same amount. */
export interface BankDifference {
  what: 'not in the books' | 'not at the bank';
  reference: string | null;
  /** Signed: what came to the bank is positive. */
  amount_cents: number;
  at: Date;
  candidates: string[];
}

const MAX_DIFFERENCES = 500;

/** Compares the kept rows of the bank with the ledger's account `bank`, the newest first. */
export function bankDifferences(database: Database | Transaction): Promise<BankDifference[]> {
  return rows<BankDifference>(
    database,
    `WITH side AS MATERIALIZED (
       SELECT 'not in the books' AS what, reference, amount_cents, told_at AS at
       FROM (${UNBOOKED}) l WHERE account = '${BANK}'
       UNION ALL SELECT 'not at the bank', reference, amount_cents, at FROM (${UNLISTED}) b
     )
     SELECT s.*, array(SELECT o.reference FROM side o WHERE o.what <> s.what
       AND o.amount_cents = s.amount_cents AND o.reference IS NOT NULL) AS candidates
     FROM side s ORDER BY at DESC LIMIT ${MAX_DIFFERENCES}`,
  );
}

/** A statement of the bank, as it waits for a second person. */
export interface BankStatement {
  file: string;
  lines: readonly OwnLine[];
  /** The file has all rows before this, by its member's word. A request keeps it as text. */
  complete_until: Date | null;
}

/**
 * Keeps the rows and the last balance of a statement of the bank, with the line for the audit log.
 * @returns the balance in cents; null if it tells none, a later row is known, or it is too old
 */
export async function keepBankStatement(
  trx: Transaction,
  { file, lines: stored, complete_until }: BankStatement,
): Promise<AuditedChange<number | null>> {
  // A request keeps times as text.
  const lines = stored.map((line) => ({ ...line, toldAt: new Date(line.toldAt) }));
  await keepOwnLines(trx, BANK, lines);
  const completeUntil = complete_until && new Date(complete_until);
  const details = { file, rows: lines.length, ...(complete_until && { complete_until }) };
  return {
    value: await hearBankBalance(trx, lines, completeUntil),
    audit: { merchant_id: null, subject: `account ${BANK}`, details },
  };
}

/**
 * Takes the last balance of a statement of the bank as one that the bank has told, unless a later row is known, or all of
 * it is older than an entry may be late at the bank: it says nothing of these days. What is booked after its last row, and
 * as late as that, may be missing in it.
 * @param completeUntil a quiet account has no row for many days, and perhaps none at all since the balance before
 */
export async function hearBankBalance(
  trx: Transaction,
  lines: readonly OwnLine[],
  completeUntil: Date | null = null,
): Promise<number | null> {
  const last = lastOf(lines) ?? (completeUntil && (await lastToldRow(trx)));
  if (last?.balanceCents == null) return null;
  const found = await firstRow<{ is_newest: boolean; is_recent: boolean; asked_at: Date }>(
    trx,
    `SELECT coalesce(${NEWEST_ROW} <= told_at, true) AS is_newest, known_until > now() - ${NEAR} AS is_recent,
       greatest(told_at, known_until - ${NEAR}) AS asked_at
     FROM (SELECT CAST(:told_at AS timestamptz) AS told_at,
       CAST(:known_until AS timestamptz) AS known_until) AS told`,
    { told_at: last.toldAt, known_until: completeUntil ?? last.toldAt },
  );
  if (!found?.is_newest || !found.is_recent) return null;
  const cents = last.balanceCents;
  const told = { sub_account: BANK, current_cents: cents, available_cents: cents };
  await proveBalances(trx, BANK, [told], found.asked_at);
  return cents;
}

/** Returns the newest balance that the bank has told, and until when it is known. */
async function lastToldRow(
  trx: Transaction,
): Promise<Pick<OwnLine, 'toldAt' | 'balanceCents'> | undefined> {
  return firstRow(
    trx,
    `SELECT asked_at AS "toldAt", told_cents AS "balanceCents" FROM balance_proofs
     WHERE gateway = '${BANK}' ORDER BY told_at DESC LIMIT 1`,
  );
}

/**
 * Returns the newest row, in whatever order the rows are. Of rows at one time, as where a bank writes days alone, the
 * balances tell which is the last: no other row goes on from it. If they do not, the side decides on which the newest
 * rows are; if all rows have one time, nobody knows, and the row tells no balance.
 */
export function lastOf(lines: readonly OwnLine[]): OwnLine | undefined {
  const [first, last] = [lines[0], lines.at(-1)];
  const newest = lines.reduce((at, { toldAt }) => Math.max(at, toldAt.getTime()), -Infinity);
  const ofThen = lines.filter(({ toldAt }) => toldAt.getTime() === newest);
  const ends = ofThen.filter((row) => !ofThen.some((next) => next !== row && goesOn(row, next)));
  if (ofThen.length > 1 && ends.length === 1) return ends[0];
  const isNewestFirst = first && last && first.toldAt > last.toldAt;
  const found = isNewestFirst ? ofThen[0] : ofThen.at(-1);
  const isAmbiguous = ofThen.length > 1 && ofThen.length === lines.length;
  return found && isAmbiguous ? { ...found, balanceCents: null } : found;
}

/** Tells whether the second row's balance is the first row's balance and the second row's amount. */
function goesOn({ balanceCents: before }: OwnLine, { balanceCents: after, amountCents }: OwnLine) {
  return before != null && after != null && after - amountCents === before;
}
