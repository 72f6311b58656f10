import type { Transaction } from '../../../connections/database.ts';
import { formatAmount } from '../../money.ts';
import type { Finding } from './breaks.ts';
import type { Scope } from './scope.ts';
import { eachRow } from './snapshot.ts';

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
