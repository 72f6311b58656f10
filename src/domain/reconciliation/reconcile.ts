import {
  type Database,
  databaseNow,
  firstRow,
  inTransaction,
  rows,
} from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import type { GatewayPaymentKind, QueryResult } from '../gateway-results.ts';
import type { AnyPayment, PaymentRef } from '../payments/payment-store.ts';
import { type LineResult, matchStatement, type StoredLine } from './match-statement.ts';
import { failRuledOut } from './rule-out.ts';
import { momentsOf, PAYMENTS_OF_LINES, type Period, type StatementLine } from './statement.ts';

/** A movement that is booked here and missing in the statement. */
export interface MissingMovement {
  kind: GatewayPaymentKind;
  merchant_id: number;
  payment_id: string;
  trans_id: string | null;
  amount_cents: number;
}

/** The three ways in which a statement and the books can differ, and what was settled by it. */
export interface Reconciliation {
  lines: Record<LineResult, number>;
  /** Those of the lines that are of a moment outside of the period. */
  outside: number;
  /** At the gateway, and not with us. */
  unknown: StoredLine[];
  /** Differing: money, account or outcome are not what was booked. */
  contradicting: StoredLine[];
  /** With us, and not at the gateway. */
  missing: MissingMovement[];
  /** Payments of which lines brought news. */
  settled: PaymentRef[];
  /** Overdue payments that the statement does not list, and that the gateway's answer settled. */
  answered: PaymentRef[];
  /** Overdue payments that the statement rules out, and that have failed by that. */
  ruledOut: PaymentRef[];
}

export interface ReconcileOptions {
  importId: string;
  gateway: string;
  channel: number;
  period: Period;
  /** The kinds of which it lists every movement; of others it proves nothing. */
  covers: readonly StatementLine['kind'][];
  /** Until when it lists every movement. Null when nobody says so: then it rules nothing out. */
  completeUntil: Date | null;
  /** After a payment's deadline a movement may still come for so long. */
  settlingWindowMs: number;
  /** Asks the gateway what became of a payment; called outside of any transaction. */
  ask: (payment: AnyPayment) => Promise<QueryResult>;
}

/**
 * Compares an imported statement with the books. Breaks become discrepancies; open payments
 * that the statement shows are settled by it, and overdue ones that it rules out fail.
 */
export async function reconcile(
  database: Database,
  options: ReconcileOptions,
): Promise<Reconciliation> {
  const { importId, gateway, channel, settlingWindowMs, ask } = options;
  const settled = await matchStatement(database, importId, gateway);
  const { start, end } = momentsOf(options.period);
  const kinds = options.covers.flatMap((kind) => PAYMENTS_OF_LINES[kind]);
  const counts = await countLines(database, importId, start, end);
  const scope = { importId, gateway, channel, kinds, start };
  // What is not said to be complete is taken to list what came before its newest line, and
  // nothing lists what is still to come.
  const now = await databaseNow(database);
  const listedUntil = earliest([options.completeUntil ?? counts.newest, end, now]);
  const missing = await reportMissing(database, { ...scope, end: listedUntil });
  const { failed, answered } = options.completeUntil
    ? await failRuledOut(database, { ...scope, end: listedUntil, settlingWindowMs, ask })
    : { failed: [], answered: [] };
  return {
    lines: counts.lines,
    outside: counts.outside,
    unknown: await linesOf(database, importId, 'unknown'),
    contradicting: await linesOf(database, importId, 'contradicts'),
    missing,
    settled,
    answered,
    ruledOut: failed,
  };
}

function earliest(moments: Date[]): Date {
  return new Date(Math.min(...moments.map((moment) => moment.getTime())));
}

interface Scope {
  importId: string;
  gateway: string;
  channel: number;
  kinds: readonly GatewayPaymentKind[];
  start: Date;
  end: Date;
}

async function reportMissing(database: Database, scope: Scope): Promise<MissingMovement[]> {
  const missing: MissingMovement[] = [];
  for (const kind of scope.kinds) {
    for (const movement of await findUnlisted(database, kind, scope)) {
      if (await wasListed(database, scope.gateway, movement.trans_id)) continue;
      await reportAsMissing(database, scope.gateway, movement);
      missing.push(movement);
    }
  }
  return missing;
}

async function findUnlisted(
  database: Database,
  kind: GatewayPaymentKind,
  { importId, gateway, channel, start, end }: Scope,
): Promise<MissingMovement[]> {
  return rows<MissingMovement>(
    database,
    `SELECT m.payment_kind AS kind, m.merchant_id, m.payment_id, m.trans_id, m.amount_cents
     FROM movements m JOIN ${STEP_TABLES[kind].table} p
       ON p.merchant_id = m.merchant_id AND p.id = m.payment_id
     WHERE m.payment_kind = :kind AND m.gateway = :gateway AND p.channel = :channel
       AND coalesce(m.completed_at, m.learned_at) >= :start
       AND coalesce(m.completed_at, m.learned_at) < :end
       AND NOT EXISTS (
         SELECT FROM statement_lines l
         WHERE l.import_id = :import_id AND l.trans_id = m.trans_id
         UNION ALL
         SELECT FROM statement_lines l
         WHERE l.import_id = :import_id AND l.reference = CAST(m.payment_id AS text)
           AND (m.trans_id IS NULL OR l.trans_id IS NULL))`,
    { import_id: importId, gateway, channel, kind, start, end },
  );
}

/** Another statement of this gateway has its receipt: clocks differ, and days end. */
async function wasListed(
  database: Database,
  gateway: string,
  transId: string | null,
): Promise<boolean> {
  if (transId === null) return false;
  const line = await firstRow(
    database,
    `SELECT 1 FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
     WHERE i.gateway = :gateway AND l.trans_id = :trans_id LIMIT 1`,
    { gateway, trans_id: transId },
  );
  return line !== undefined;
}

/** Without the period: the same finding in the statement of another one is no news. */
async function reportAsMissing(
  database: Database,
  gateway: string,
  { kind, merchant_id, payment_id, trans_id, amount_cents }: MissingMovement,
): Promise<void> {
  await inTransaction(database, (trx) =>
    openDiscrepancy(trx, {
      kind: 'missing_at_gateway',
      payment: { kind, merchant_id: merchant_id, id: payment_id },
      trans_id: trans_id,
      amount_cents: amount_cents,
      details: { gateway },
    }),
  );
}

interface Counts {
  lines: Record<LineResult, number>;
  outside: number;
  /** The time of the newest line; that of the period's start when there is none. */
  newest: Date;
}

async function countLines(
  database: Database,
  importId: string,
  start: Date,
  end: Date,
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
    { import_id: importId, start, end },
  );
  const { outside, newest, ...lines } = row!;
  return { lines, outside, newest };
}

async function linesOf(
  database: Database,
  importId: string,
  result: LineResult,
): Promise<StoredLine[]> {
  return rows<StoredLine>(
    database,
    `SELECT * FROM statement_lines WHERE import_id = :import_id AND result = :result
     ORDER BY line_no`,
    { import_id: importId, result },
  );
}
