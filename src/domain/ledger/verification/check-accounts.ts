import { firstRow, rows, type Transaction } from '../../../connections/database.ts';
import { formatAmount } from '../../money.ts';
import { eachRow, type Finding, type Scope } from './checks.ts';

/** Compares `payouts_in_flight` with the open payouts, and `suspense` with what waits there. */
export async function checkAccounts(
  trx: Transaction,
  ref: { merchant_id: number },
  findings: Finding[],
): Promise<void> {
  for (const { kind, id, sql } of SUMS) {
    const sums = await firstRow<{ expected_cents: number; found_cents: number }>(
      trx,
      `SELECT (${sql}) AS expected_cents,
         (SELECT CAST(coalesce(sum(amount_cents), 0) AS bigint) FROM entries
          WHERE merchant_id = :merchant_id AND account = '${id}') AS found_cents`,
      ref,
    );
    const { expected_cents, found_cents } = sums!;
    if (expected_cents === found_cents) continue;
    const [expected, found] = [formatAmount(expected_cents), formatAmount(found_cents)];
    findings.push({ kind, subject: 'account', id, expected, found });
  }
  for (const { id, amount_cents, payment_kind, payment_id } of await unattended(trx, ref)) {
    findings.push({
      kind: 'suspense_unattended',
      subject: 'movement',
      id,
      expected: 'an open discrepancy, or a return under way',
      found: `${formatAmount(amount_cents)} of ${payment_kind} ${payment_id}`,
    });
  }
}

const OPEN_PAYOUTS = `
  SELECT CAST(coalesce(sum(amount_cents + fee_cents), 0) AS bigint) FROM payouts
  WHERE merchant_id = :merchant_id AND status <> 'completed' AND refund_posted_at IS NULL`;

/** SQL: the movements that are in suspense: undecided, or on their way back. */
const WAITING = `
  SELECT m.id, m.payment_kind, m.payment_id, m.amount_cents, m.booked,
    r.id AS return_id, r.status AS return_status
  FROM movements m LEFT JOIN returns r ON r.merchant_id = m.merchant_id AND r.movement_id = m.id
  WHERE m.merchant_id = :merchant_id AND m.booked IN ('suspense', 'undoing', 'returning')`;

const WAITING_SUM = `
  SELECT CAST(coalesce(sum(
    CASE payment_kind WHEN 'collection' THEN amount_cents ELSE -amount_cents END), 0) AS bigint)
  FROM (${WAITING}) waiting`;

/** The accounts that consist of payments, each with the sum of these payments. */
const SUMS = [
  { kind: 'in_flight_sum', id: 'payouts_in_flight', sql: OPEN_PAYOUTS },
  { kind: 'suspense_sum', id: 'suspense', sql: WAITING_SUM },
] as const;

/** More than these would be a catastrophe, which needs no longer list. */
const MAX_UNATTENDED = 1_000;

interface WaitingMovement {
  id: string;
  payment_kind: string;
  payment_id: string;
  amount_cents: number;
}

/** Finds the movements in suspense that neither an open discrepancy nor a return takes care of. */
function unattended(trx: Transaction, ref: { merchant_id: number }): Promise<WaitingMovement[]> {
  return rows<WaitingMovement>(
    trx,
    `WITH attended AS MATERIALIZED (
       SELECT movement_id, payment_kind, payment_id FROM discrepancies
       WHERE merchant_id = :merchant_id AND resolved_at IS NULL
     )
     SELECT id, payment_kind, payment_id, amount_cents FROM (${WAITING}) waiting
     -- After a failed return, support has to decide.
     WHERE coalesce(booked IN ('suspense', 'undoing') OR return_status NOT IN ('pending', 'processing'), true)
       AND NOT EXISTS (SELECT FROM attended a WHERE a.movement_id = waiting.id)
       AND NOT EXISTS (SELECT FROM attended a
         WHERE a.payment_kind = 'return' AND a.payment_id = waiting.return_id)
       AND NOT EXISTS (SELECT FROM attended a
         WHERE a.payment_kind = waiting.payment_kind AND a.payment_id = waiting.payment_id)
     ORDER BY id LIMIT ${MAX_UNATTENDED}`,
    ref,
  );
}

interface JournalRow {
  id: string;
  source: string;
  lines: number;
  sum_cents: number;
  has_source: boolean;
}

const MIN_LINES = 2;

/** Checks that journals balance and that their sources exist. @returns the number of journals. */
export async function checkJournals(
  trx: Transaction,
  scope: Scope,
  findings: Finding[],
): Promise<number> {
  const query = { sql: JOURNALS, bindings: scope };
  return eachRow<JournalRow>(trx, scope.signal, query, (journal) => {
    const about = { subject: 'journal', id: journal.id };
    if (journal.lines < MIN_LINES) {
      const found = `${journal.lines}`;
      findings.push({ kind: 'journal_incomplete', ...about, expected: 'at least 2 lines', found });
    } else if (journal.sum_cents !== 0) {
      const found = formatAmount(journal.sum_cents);
      findings.push({ kind: 'journal_unbalanced', ...about, expected: '0.00', found });
    }
    if (!journal.has_source) {
      const expected = `the ${journal.source}`;
      findings.push({ kind: 'journal_without_source', ...about, expected, found: 'none' });
    }
  });
}

/** SQL for each kind of source that has a row. Top-ups and adjustments have only their journal. */
const HAS_SOURCE = ['collection', 'payout', 'reversal', 'movement', 'transfer'].map(
  (kind) => `WHEN '${kind}' THEN EXISTS (
      SELECT FROM ${kind}s s WHERE s.merchant_id = j.merchant_id AND s.id = j.source_id)`,
);

const JOURNALS = `
  SELECT j.id, j.source_kind || ' ' || j.source_id AS source, booked.lines, booked.sum_cents,
    CASE j.source_kind ${HAS_SOURCE.join(' ')} ELSE true END AS has_source
  FROM journals j CROSS JOIN LATERAL (
    SELECT count(*) AS lines, CAST(coalesce(sum(e.amount_cents), 0) AS bigint) AS sum_cents
    FROM entries e WHERE e.merchant_id = j.merchant_id AND e.journal_id = j.id
  ) booked
  WHERE j.merchant_id = :merchant_id AND j.id >= :since_journal
  ORDER BY j.id`;
