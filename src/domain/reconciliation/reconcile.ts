import { type Database, firstRow, inTransaction, rows } from '../../database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { SUPPORT_RESULT_CODE } from '../discrepancies/resolution.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { movementsOf } from '../payments/movements.ts';
import { isOpen } from '../payments/payment.ts';
import { lockPayment, type PaymentRef } from '../payments/payment-store.ts';
import { settle } from '../payments/settle.ts';
import { type LineResult, matchStatement, type StoredLine } from './match-statement.ts';
import { momentsOf, type Period } from './statement.ts';

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
  /** At the gateway, and not with us. */
  unknown: StoredLine[];
  /** Differing: money, account or outcome are not what was booked. */
  contradicting: StoredLine[];
  /** With us, and not at the gateway. */
  missing: MissingMovement[];
  /** Overdue payments that the statement rules out, and that have failed by that. */
  ruledOut: PaymentRef[];
}

export interface ReconcileOptions {
  importId: string;
  gateway: string;
  channel: number;
  period: Period;
  /** After a payment's deadline a movement may still come for so long. */
  settlingWindowMs: number;
}

const KINDS: readonly GatewayPaymentKind[] = ['collection', 'payout', 'reversal', 'return'];

/**
 * Compares an imported statement with the books. Breaks become discrepancies; open payments
 * that the statement shows are settled by it, and overdue ones that it rules out fail.
 */
export async function reconcile(
  database: Database,
  options: ReconcileOptions,
): Promise<Reconciliation> {
  const { importId, gateway } = options;
  await matchStatement(database, importId, gateway);
  const missing = await reportMissing(database, options);
  const ruledOut = await failRuledOut(database, options);
  const of = (result: LineResult) => linesOf(database, importId, result);
  return {
    lines: await countLines(database, importId),
    unknown: await of('unknown'),
    contradicting: await of('contradicts'),
    missing,
    ruledOut,
  };
}

/** The statement has a line about this payment's movement. Of a row `m` of movements. */
const IS_LISTED = `EXISTS (
  SELECT FROM statement_lines l WHERE l.import_id = :import_id AND l.trans_id = m.trans_id
  UNION ALL
  SELECT FROM statement_lines l WHERE l.import_id = :import_id
    AND l.reference = CAST(m.payment_id AS text) AND (m.trans_id IS NULL OR l.trans_id IS NULL))`;

async function reportMissing(
  database: Database,
  { importId, gateway, channel, period }: ReconcileOptions,
): Promise<MissingMovement[]> {
  const missing = await rows<MissingMovement>(
    database,
    KINDS.map(
      (kind) => `SELECT m.payment_kind AS kind, m.merchant_id, m.payment_id, m.trans_id,
           m.amount_cents
         FROM movements m JOIN ${STEP_TABLES[kind].table} p
           ON p.merchant_id = m.merchant_id AND p.id = m.payment_id
         WHERE m.payment_kind = '${kind}' AND m.gateway = :gateway AND p.channel = :channel
           AND coalesce(m.completed_at, m.learned_at) >= :start
           AND coalesce(m.completed_at, m.learned_at) < :end
           AND NOT ${IS_LISTED}`,
    ).join(' UNION ALL '),
    { import_id: importId, gateway, channel, ...momentsOf(period) },
  );
  for (const movement of missing) {
    await inTransaction(database, (trx) =>
      openDiscrepancy(trx, {
        kind: 'missing_at_gateway',
        payment: {
          kind: movement.kind,
          merchantId: movement.merchant_id,
          id: movement.payment_id,
        },
        transId: movement.trans_id,
        amountCents: movement.amount_cents,
        details: { gateway, statement_from: period.from, statement_to: period.to },
      }),
    );
  }
  return missing;
}

/**
 * A payment is ruled out when the statement covers its whole life until well after its
 * deadline, and has no line about it. A later success is late news like any other.
 */
async function failRuledOut(database: Database, options: ReconcileOptions): Promise<PaymentRef[]> {
  const failed: PaymentRef[] = [];
  for (const kind of KINDS) {
    for (const ref of await findRuledOut(database, kind, options)) {
      if (await failByStatement(database, ref)) failed.push(ref);
    }
  }
  return failed;
}

async function findRuledOut(
  database: Database,
  kind: GatewayPaymentKind,
  { importId, gateway, channel, period, settlingWindowMs }: ReconcileOptions,
): Promise<PaymentRef[]> {
  const found = await rows<{ merchantId: number; id: string }>(
    database,
    `SELECT p.merchant_id AS "merchantId", p.id FROM ${STEP_TABLES[kind].table} p
     WHERE p.status IN ('pending', 'processing') AND p.gateway = :gateway AND p.channel = :channel
       AND p.created_at >= :start
       AND p.deadline_at + :settling_ms * interval '1 millisecond' < least(:end, now())
       -- What is still to be sent, or was sent a moment ago, cannot be listed yet.
       AND p.next_step IS DISTINCT FROM 'submit'
       AND NOT EXISTS (SELECT FROM attempts a WHERE a.merchant_id = p.merchant_id
         AND a.payment_kind = :kind AND a.payment_id = p.id
         AND a.started_at + :settling_ms * interval '1 millisecond' >= least(:end, now()))
       AND NOT EXISTS (SELECT FROM movements m WHERE m.merchant_id = p.merchant_id
         AND m.payment_kind = :kind AND m.payment_id = p.id)
       AND NOT EXISTS (SELECT FROM statement_lines l WHERE l.import_id = :import_id
         AND (l.reference IN (CAST(p.id AS text), p.external_ref)
           -- A line that nothing explains may be this one's.
           OR (l.result = 'unknown' AND l.amount_cents = p.amount_cents)))`,
    {
      import_id: importId,
      gateway,
      channel,
      kind,
      settling_ms: settlingWindowMs,
      ...momentsOf(period),
    },
  );
  return found.map((row) => ({ ...row, kind }));
}

/** @returns false when it has ended, or learned of money, in the meantime. */
async function failByStatement(database: Database, ref: PaymentRef): Promise<boolean> {
  return inTransaction(database, async (trx) => {
    const payment = await lockPayment(trx, ref);
    if (!payment || !isOpen(payment)) return false;
    if ((await movementsOf(trx, payment)).length > 0) return false;
    const settlement = await settle(
      trx,
      payment,
      {
        outcome: 'failed',
        code: SUPPORT_RESULT_CODE,
        description: 'Not in the statement of the gateway',
        externalRef: null,
      },
      'statement',
    );
    return settlement === 'failed';
  });
}

async function countLines(
  database: Database,
  importId: string,
): Promise<Record<LineResult, number>> {
  const row = await firstRow<Record<LineResult, number>>(
    database,
    `SELECT count(*) FILTER (WHERE result = 'matched') AS matched,
       count(*) FILTER (WHERE result = 'settled') AS settled,
       count(*) FILTER (WHERE result = 'contradicts') AS contradicts,
       count(*) FILTER (WHERE result = 'unknown') AS unknown
     FROM statement_lines WHERE import_id = :import_id`,
    { import_id: importId },
  );
  return row!;
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
