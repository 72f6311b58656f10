import { type Database, databaseNow, firstRow, rows } from '../../connections/database.ts';
import { NAME_OF_ROW } from '../discrepancies/row-back.ts';
import { OperatorRefusal } from '../errors.ts';
import { settleCharges } from '../gateway-accounts/charges.ts';
import type { ParserOf, QueryResult } from '../gateway-results.ts';
import { kes } from '../money.ts';
import type { AnyPayment, PaymentRef } from '../payments/payment-store.ts';
import type { Spend } from './match-line.ts';
import { matchStatement } from './match-statement.ts';
import { type MissingMovement, reportMissing } from './missing-movements.ts';
import { failRuledOut, type RuledOut } from './rule-out.ts';
import {
  type LineResult,
  momentsOf,
  PAYMENTS_OF_LINES,
  type Period,
  type StatementLine,
  type StatementRef,
  type StoredLine,
} from './statement.ts';

/** The differences between a statement and the books, and the payments that it settled. */
export interface Reconciliation extends RuledOut {
  /** The number of lines by result. */
  lines: Record<LineResult, number>;
  /** The number of lines with a time outside of the period. */
  outside: number;
  /** Lines of movements that are not booked here, without money about which somebody has decided. */
  unknown: StoredLine[];
  /** Lines whose money, account or outcome differs from the books. */
  contradicting: StoredLine[];
  /** Movements that are booked here and not in the statement. */
  missing: MissingMovement[];
  /** Payments whose lines were news. */
  settled: PaymentRef[];
}

export interface ReconcileOptions extends StatementRef {
  channel: number;
  period: Period;
  /** The kinds of which the statement lists every movement. It proves nothing about others. */
  covers: readonly StatementLine['kind'][];
  /** The statement lists every movement before this. Null when unknown: it rules nothing out. */
  complete_until: Date | null;
  /** A movement may still come for so long after a payment's deadline. */
  settling_window_ms: number;
  /** The gateway's answer to a question may come as a callback for so long. */
  answer_window_ms: number;
  /** Asks the gateway about a payment. It is called outside of transactions. */
  ask: (payment: AnyPayment) => Promise<QueryResult>;
  /** Reads the stored callbacks of a payment, which are applied before it fails. */
  parserOf: ParserOf;
  /** The most money that it may settle, fail and book as charges. Null or absent: no limit. */
  agreed_cents?: number | null;
  /** Lets it stop after the line or the question under way. It may run again. */
  stopping?: AbortSignal | undefined;
}

/**
 * Returns the moment until which a statement lists every movement. Without a stated end it is the
 * newest line. No statement is complete beyond its period or the present.
 */
export function listedUntil({
  complete_until,
  newest,
  end,
  now,
}: Readonly<Record<'newest' | 'end' | 'now', Date>> & { complete_until: Date | null }): Date {
  const limits = [complete_until ?? newest, end, now].map((moment) => moment.getTime());
  return new Date(Math.min(...limits));
}

/**
 * Compares an imported statement with the books. Differences become discrepancies. The statement
 * settles the open payments that it lists, and fails the overdue ones that it rules out.
 * @throws the reason of `stopping`
 */
export async function reconcile(
  database: Database,
  options: ReconcileOptions,
): Promise<Reconciliation> {
  const { period, covers, complete_until, ask, parserOf, stopping, agreed_cents, ...statement } =
    options;
  const spend = ceilingOf(agreed_cents ?? null);
  const settled = await matchStatement(database, { ...statement, parserOf, spend }, stopping);
  await settleCharges(database, statement, spend);
  const { start, end } = momentsOf(period);
  const { newest, ...counts } = await countLines(database, { ...statement, start, end });
  const now = await databaseNow(database);
  const until = listedUntil({ complete_until, newest, end, now });
  const kinds = covers.flatMap((kind) => PAYMENTS_OF_LINES[kind]);
  const scope = { ...statement, kinds, start, end: until };
  const missing = await reportMissing(database, scope);
  const ended = complete_until
    ? await failRuledOut(database, { ...scope, ask, parserOf, spend }, stopping)
    : { ruledOut: [], answered: [] };
  return {
    ...counts,
    unknown: await linesOf(database, statement, 'unknown'),
    contradicting: await linesOf(database, statement, 'contradicts'),
    missing,
    settled,
    ...ended,
  };
}

/** @param agreedCents is the most that the comparison may settle and fail; null without a limit */
function ceilingOf(agreedCents: number | null): Spend {
  const counted = new Map<string, number>();
  let endedCents = 0;
  return (what, cents) => {
    const sumCents = endedCents - (counted.get(what) ?? 0) + cents;
    if (agreedCents !== null && sumCents > agreedCents) {
      throw new OperatorRefusal(
        `The comparison has stopped: it would settle or fail more than the ${kes(agreedCents)} that were agreed. What it has done stands. Check the statement anew`,
      );
    }
    counted.set(what, cents);
    endedCents = sumCents;
  };
}

interface Counts {
  lines: Record<LineResult, number>;
  outside: number;
  /** The time of the newest line, or the start of the period without lines. */
  newest: Date;
}

async function countLines(
  database: Database,
  scope: StatementRef & { start: Date; end: Date },
): Promise<Counts> {
  const row = await firstRow<Record<LineResult, number> & Omit<Counts, 'lines'>>(
    database,
    `SELECT count(*) FILTER (WHERE result = 'matched') AS matched,
       count(*) FILTER (WHERE result = 'settled') AS settled,
       count(*) FILTER (WHERE result = 'contradicts') AS contradicts,
       count(*) FILTER (WHERE result = 'unknown') AS unknown,
       count(*) FILTER (WHERE completed_at < :start OR completed_at >= :end) AS outside,
       coalesce(max(completed_at), CAST(:start AS timestamptz)) AS newest
     FROM statement_lines WHERE import_id = :import_id`,
    scope,
  );
  const { outside, newest, ...lines } = row!;
  return { lines, outside, newest };
}

/** Reads the lines with a result, without the money about which somebody has decided. */
async function linesOf(
  database: Database,
  { import_id, gateway }: StatementRef,
  result: LineResult,
) {
  return rows<StoredLine>(
    database,
    `SELECT * FROM statement_lines l WHERE import_id = :import_id AND result = :result
       AND NOT EXISTS (SELECT FROM discrepancies d WHERE d.gateway = :gateway
         AND (d.kind = 'unknown_movement' AND d.trans_id = coalesce(l.trans_id, l.reference)
           OR d.kind = 'money_back' AND d.trans_id = ${NAME_OF_ROW})
         AND d.amount_cents = l.amount_cents AND d.resolution = 'dismissed')
     ORDER BY line_no`,
    { import_id, gateway, result },
  );
}
