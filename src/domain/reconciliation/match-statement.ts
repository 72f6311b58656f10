import {
  type Database,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { ACCOUNT_COLUMNS, PAYMENT_KINDS } from '../payments/payment-summary.ts';
import { isSameDirection } from '../settlement/receipts.ts';
import { sameAccount } from '../settlement/same-account.ts';
import { BEST_SOURCE, HAS_UNSURE_RECEIPT, provenBy } from '../settlement/sources.ts';
import { lookAgain } from './look-again.ts';
import { type MatchedStatement, matchLine } from './match-line.ts';
import { askAboutMoneyBack } from './money-back.ts';
import { isGiven, lastLineOf, type StatementRef, type StoredLine } from './statement.ts';

/** The number of lines that are read at once, and then matched one by one. */
const BATCH_SIZE = 500;
/** The number of lines that one statement matches with known movements. */
const KNOWN_BATCH_SIZE = 10_000;

/**
 * Compares every line of a statement with the books. A line is the gateway's definite answer:
 * news is applied like a callback. A contradiction, or a line without a payment, becomes a
 * discrepancy. A second run changes nothing more.
 * @returns the payments whose lines were news
 * @throws the reason of `stopping`, between two lines
 */
export async function matchStatement(
  database: Database,
  { parserOf, spend, ...statement }: MatchedStatement,
  stopping?: AbortSignal,
): Promise<PaymentRef[]> {
  const isFromFile = !(await isGiven(database, statement));
  const newest = await matchKnownMovements(database, statement, isFromFile);
  const settled: PaymentRef[] = [];
  for (let after = 0; ; ) {
    const lines = await unmatchedLines(database, statement, after);
    if (lines.length === 0) break;
    for (const line of lines) {
      stopping?.throwIfAborted();
      const matched = { ...statement, parserOf, isFromFile, newest, ...(spend && { spend }) };
      const payment = await matchLine(database, matched, line);
      if (payment) settled.push(payment);
    }
    after = lines.at(-1)!.line_no;
  }
  await askAboutMoneyBack(database, statement, isFromFile ? 'file' : 'statement', stopping);
  await lookAgain(database, statement.gateway, stopping);
  return settled;
}

/**
 * Matches the lines that repeat a known movement to the cent: almost all lines, many at once.
 * @returns the time of the newest line
 */
async function matchKnownMovements(
  database: Database,
  statement: StatementRef,
  is_from_file: boolean,
): Promise<Date | null> {
  const proves = provenBy(is_from_file ? 'file' : 'statement');
  const { line_no: last, newest } = await lastLineOf(database, statement);
  for (let after = 0; after < last; after += KNOWN_BATCH_SIZE) {
    const batch = { ...statement, is_from_file, proves, after, up_to: after + KNOWN_BATCH_SIZE };
    await inTransaction(database, (trx) => matchBatch(trx, batch));
  }
  return newest;
}

/** SQL: our reference for the payment of the movement `m`, as text. */
const REFERENCE_OF_MOVEMENT = ofPayment(() => 'CAST(p.reference AS text)');

/** SQL: the account that was asked for. As for `mismatchOf`, it counts where the movement has none. */
const ASKED_ACCOUNT = ofPayment((kind) => `p.${ACCOUNT_COLUMNS[kind]}`);

function ofPayment(columnOf: (kind: GatewayPaymentKind) => string): string {
  const lookups = PAYMENT_KINDS.map(
    (kind) => `SELECT ${columnOf(kind)} AS value FROM ${STEP_TABLES[kind].table} p
    WHERE m.payment_kind = '${kind}' AND p.merchant_id = m.merchant_id AND p.id = m.payment_id`,
  );
  return `(${lookups.join(' UNION ALL ')})`;
}

/**
 * SQL: the line `l` repeats the movement `m`, and no other has its receipt. It judges a line as
 * `matchLine` does, or leaves it to it.
 */
export const IS_KNOWN = `m.gateway = :gateway AND m.booked NOT IN ('undoing', 'undone')
         AND NOT l.undecided AND m.trans_id = l.trans_id AND m.amount_cents = l.amount_cents
         AND (l.kind = m.payment_kind OR (l.kind = 'reversal' AND m.payment_kind = 'return'))
         AND (l.reference IS NULL OR l.reference = ${REFERENCE_OF_MOVEMENT})
         AND NOT EXISTS (SELECT FROM movements o
           WHERE o.trans_id = m.trans_id AND o.gateway = m.gateway AND o.id <> m.id
             AND o.booked <> 'undone'
             AND ${isSameDirection('o.payment_kind', 'm.payment_kind')})
         AND (l.account IS NULL OR l.account = m.account
           OR EXISTS (SELECT FROM (SELECT coalesce(m.account, ${ASKED_ACCOUNT}) AS account) known
             WHERE ${sameAccount('l.account', 'known.account')}))`;

/** SQL: a line of the movement `m` would answer an open question about its payment. */
const IS_ASKED = `EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = m.merchant_id
           AND d.payment_kind = m.payment_kind AND d.payment_id = m.payment_id
           AND d.kind IN ('taken_after_failure', 'missing_at_gateway', 'other_amount', 'other_account')
           AND d.resolved_at IS NULL)`;

/**
 * Matches a batch of lines, but not those whose receipt is booked with several payments. A movement
 * without a time gets the time of its line, unless a file has it, as in `fillTime`. Leaves a line to `matchLine` that
 * means more than a repetition: it proves the word of people, or answers a question about a failed or a missing payment.
 */
async function matchBatch(
  trx: Transaction,
  batch: StatementRef & { is_from_file: boolean; proves: string[]; after: number; up_to: number },
): Promise<void> {
  await rows(
    trx,
    `WITH matched AS (
       UPDATE statement_lines l SET result = 'matched' FROM movements m
       WHERE l.import_id = :import_id AND l.line_no > :after AND l.line_no <= :up_to
         AND l.result IS NULL AND ${IS_KNOWN} AND ${BEST_SOURCE} <> ALL (:proves)
         AND coalesce(m.receipt_told_by, '') <> ALL (:proves)
         -- The gateway has confirmed its money, and not its receipt.
         AND NOT (l.trans_id IS NOT NULL AND m.told_by = ANY (:proves) AND ${HAS_UNSURE_RECEIPT})
         AND NOT ${IS_ASKED}
       RETURNING m.merchant_id, m.id, m.completed_at AS known_at, l.completed_at
     )
     UPDATE movements m SET completed_at = r.completed_at FROM matched r
     WHERE r.known_at IS NULL AND m.merchant_id = r.merchant_id AND m.id = r.id
       AND m.completed_at IS NULL AND NOT :is_from_file`,
    batch,
  );
}

async function unmatchedLines(database: Database, { import_id }: StatementRef, after: number) {
  return rows<StoredLine>(
    database,
    `SELECT * FROM statement_lines
     WHERE import_id = :import_id AND line_no > :after AND result IS NULL AND NOT undecided
     ORDER BY line_no LIMIT :batch`,
    { import_id, after, batch: BATCH_SIZE },
  );
}
