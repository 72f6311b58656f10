import {
  type Database,
  firstRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { isOfUnknownPayment, openDiscrepancy } from '../discrepancies/discrepancy.ts';
import type { Succeeded } from '../gateway-results.ts';
import { type AnyPayment, lockPayment, type PaymentRef } from '../payments/payment-store.ts';
import { movementsOf, repeatedMovement } from '../settlement/movements.ts';
import { settle } from '../settlement/settle.ts';
import { findPaymentsOf, type PaymentsOfLine } from './payments-of-line.ts';
import type { StatementLine } from './statement.ts';

/** What a line came to. */
export type LineResult = 'matched' | 'settled' | 'contradicts' | 'unknown';

/** A line as it is stored. */
export interface StoredLine {
  line_no: number;
  kind: StatementLine['kind'];
  reference: string | null;
  account: string | null;
  amount_cents: number;
  trans_id: string | null;
  completed_at: Date;
  result: LineResult | null;
}

/** Lines that are read and settled one by one, a batch at a time. */
const BATCH_SIZE = 500;
/** Lines that one statement ticks off. */
const KNOWN_BATCH_SIZE = 10_000;

/**
 * Compares every line of a statement with what is booked. A line is the gateway's word: what
 * it tells that is new is applied like a callback, what contradicts is a discrepancy, and
 * what no payment explains is one too. Running it again changes nothing more.
 * @returns the payments of the lines that were news
 */
export async function matchStatement(
  database: Database,
  importId: string,
  gateway: string,
): Promise<PaymentRef[]> {
  await matchKnown(database, importId, gateway);
  const settled: PaymentRef[] = [];
  for (let after = 0; ; ) {
    const lines = await unmatchedLines(database, importId, after);
    if (lines.length === 0) return settled;
    for (const line of lines) {
      const payment = await matchLine(database, importId, gateway, line);
      if (payment) settled.push(payment);
    }
    after = lines.at(-1)!.line_no;
  }
}

/** Almost every line repeats what is booked to the cent: those are ticked off at once. */
async function matchKnown(database: Database, importId: string, gateway: string): Promise<void> {
  const last = await firstRow<{ line_no: number }>(
    database,
    `SELECT coalesce(max(line_no), 0) AS line_no FROM statement_lines
     WHERE import_id = :import_id`,
    { import_id: importId },
  );
  for (let after = 0; after < last!.line_no; after += KNOWN_BATCH_SIZE) {
    const upTo = after + KNOWN_BATCH_SIZE;
    await inTransaction(database, (trx) => matchBatch(trx, importId, gateway, after, upTo));
  }
}

/** A movement that was learned without a time gets the one that the statement has. */
async function matchBatch(
  trx: Transaction,
  importId: string,
  gateway: string,
  after: number,
  upTo: number,
): Promise<void> {
  await rows(
    trx,
    `WITH matched AS (
       UPDATE statement_lines l SET result = 'matched' FROM movements m
       WHERE l.import_id = :import_id AND l.line_no > :after AND l.line_no <= :up_to
         AND l.result IS NULL AND m.gateway = :gateway
         AND m.trans_id = l.trans_id AND m.amount_cents = l.amount_cents
         AND (l.kind = m.payment_kind OR (l.kind = 'reversal' AND m.payment_kind = 'return'))
         AND (l.reference IS NULL OR l.reference = CAST(m.payment_id AS text))
         AND (l.account IS NULL OR m.account IS NULL OR l.account = m.account)
       RETURNING m.merchant_id, m.id, m.completed_at AS known_at, l.completed_at
     )
     UPDATE movements m SET completed_at = r.completed_at FROM matched r
     WHERE r.known_at IS NULL AND m.merchant_id = r.merchant_id AND m.id = r.id
       AND m.completed_at IS NULL`,
    { import_id: importId, gateway, after, up_to: upTo },
  );
}

async function unmatchedLines(
  database: Database,
  importId: string,
  after: number,
): Promise<StoredLine[]> {
  return rows<StoredLine>(
    database,
    `SELECT * FROM statement_lines
     WHERE import_id = :import_id AND line_no > :after AND result IS NULL
     ORDER BY line_no LIMIT :batch`,
    { import_id: importId, after, batch: BATCH_SIZE },
  );
}

/** @returns the payment, if this line was news of it */
async function matchLine(
  database: Database,
  importId: string,
  gateway: string,
  line: StoredLine,
): Promise<PaymentRef | null> {
  const found = await findPaymentsOf(database, gateway, line);
  return inTransaction(database, async (trx) => {
    const result = await resultOf(trx, gateway, line, found);
    await rows(
      trx,
      `UPDATE statement_lines SET result = :result
       WHERE import_id = :import_id AND line_no = :line_no`,
      { import_id: importId, line_no: line.line_no, result },
    );
    return result === 'settled' ? found.payment! : null;
  });
}

async function resultOf(
  trx: Transaction,
  gateway: string,
  line: StoredLine,
  { payment, receiptOf }: PaymentsOfLine,
): Promise<LineResult> {
  if (payment && !receiptOf) return applyLine(trx, payment, line);
  await reportUnknown(trx, gateway, line, payment && receiptOf && { payment, receiptOf });
  return payment ? 'contradicts' : 'unknown';
}

async function applyLine(trx: Transaction, ref: PaymentRef, line: StoredLine): Promise<LineResult> {
  const payment = await lockPayment(trx, ref);
  if (!payment) throw new Error(`${ref.kind} ${ref.id} is gone`);
  const news: Succeeded = {
    outcome: 'succeeded',
    transId: line.trans_id,
    externalRef: null,
    amountCents: line.amount_cents,
    account: line.account,
    description: 'In the statement of the gateway',
    completedAt: line.completed_at,
  };
  const settlement = await settle(trx, payment, news, 'statement');
  await fillTime(trx, payment, news);
  if (settlement === 'repeat') return 'matched';
  return settlement === 'discrepancy' ? 'contradicts' : 'settled';
}

/** A movement that was learned without a time would be missing in some other period's statement. */
async function fillTime(trx: Transaction, payment: AnyPayment, news: Succeeded): Promise<void> {
  const movement = repeatedMovement(await movementsOf(trx, payment), news);
  if (!movement || movement.completed_at !== null) return;
  await rows(
    trx,
    `UPDATE movements SET completed_at = :completed_at
     WHERE merchant_id = :merchant_id AND id = :id AND completed_at IS NULL`,
    { merchant_id: payment.merchant_id, id: movement.id, completed_at: news.completedAt },
  );
}

/**
 * Nothing is booked: either no payment explains it, or its reference and its receipt disagree.
 * What a callback has told of is on the support list already, with its merchant.
 */
async function reportUnknown(
  trx: Transaction,
  gateway: string,
  line: StoredLine,
  disagreeing: { payment: PaymentRef; receiptOf: PaymentRef } | undefined,
): Promise<void> {
  if (!disagreeing && (await isOfUnknownPayment(trx, gateway, line))) return;
  await openDiscrepancy(trx, {
    kind: 'unknown_movement',
    payment: null,
    // Without a receipt the reference tells it from others.
    trans_id: line.trans_id ?? line.reference,
    amount_cents: line.amount_cents,
    details: {
      gateway,
      kind: line.kind,
      reference: line.reference,
      account: line.account,
      completed_at: line.completed_at.toISOString(),
      ...(disagreeing && {
        payment_of_reference: `${disagreeing.payment.kind} ${disagreeing.payment.id}`,
        payment_of_receipt: `${disagreeing.receiptOf.kind} ${disagreeing.receiptOf.id}`,
      }),
    },
  });
}
