import { type Database, firstRow, inTransaction, rows, type Transaction } from '../../database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import type { GatewayPaymentKind, Succeeded } from '../gateway-results.ts';
import { lockPayment, type PaymentRef } from '../payments/payment-store.ts';
import { settle } from '../payments/settle.ts';
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

/** Payments that a kind of line can be about. */
const PAYMENT_KINDS: Readonly<Record<StatementLine['kind'], readonly GatewayPaymentKind[]>> = {
  collection: ['collection'],
  payout: ['payout'],
  reversal: ['reversal', 'return'],
};

/** Lines that are read at a time. */
const BATCH_SIZE = 500;

/**
 * Compares every line of a statement with what is booked. A line is the gateway's word: what
 * it tells that is new is applied like a callback, what contradicts is a discrepancy, and
 * what no payment explains is one too. Running it again changes nothing more.
 */
export async function matchStatement(
  database: Database,
  importId: string,
  gateway: string,
): Promise<void> {
  await matchKnown(database, importId, gateway);
  for (;;) {
    const lines = await unmatchedLines(database, importId);
    if (lines.length === 0) return;
    for (const line of lines) await matchLine(database, importId, gateway, line);
  }
}

/** Almost every line repeats what is booked to the cent: those are ticked off at once. */
async function matchKnown(database: Database, importId: string, gateway: string): Promise<void> {
  await rows(
    database,
    `UPDATE statement_lines l SET result = 'matched' FROM movements m
     WHERE l.import_id = :import_id AND l.result IS NULL AND m.gateway = :gateway
       AND m.trans_id = l.trans_id AND m.amount_cents = l.amount_cents
       AND (l.kind = m.payment_kind OR (l.kind = 'reversal' AND m.payment_kind = 'return'))
       AND (l.reference IS NULL OR l.reference = CAST(m.payment_id AS text))
       AND (l.account IS NULL OR m.account IS NULL OR l.account = m.account)`,
    { import_id: importId, gateway },
  );
}

async function unmatchedLines(database: Database, importId: string): Promise<StoredLine[]> {
  return rows<StoredLine>(
    database,
    `SELECT * FROM statement_lines WHERE import_id = :import_id AND result IS NULL
     ORDER BY line_no LIMIT :batch`,
    { import_id: importId, batch: BATCH_SIZE },
  );
}

async function matchLine(
  database: Database,
  importId: string,
  gateway: string,
  line: StoredLine,
): Promise<void> {
  const ref = await findPaymentOf(database, gateway, line);
  await inTransaction(database, async (trx) => {
    const result = ref ? await applyLine(trx, ref, line) : await reportUnknown(trx, gateway, line);
    await rows(
      trx,
      `UPDATE statement_lines SET result = :result
       WHERE import_id = :import_id AND line_no = :line_no`,
      { import_id: importId, line_no: line.line_no, result },
    );
  });
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
  if (settlement === 'repeat') return 'matched';
  return settlement === 'discrepancy' ? 'contradicts' : 'settled';
}

async function reportUnknown(
  trx: Transaction,
  gateway: string,
  line: StoredLine,
): Promise<LineResult> {
  await openDiscrepancy(trx, {
    kind: 'unknown_movement',
    payment: null,
    // Without a receipt the reference tells it from others.
    transId: line.trans_id ?? line.reference,
    amountCents: line.amount_cents,
    details: {
      gateway,
      kind: line.kind,
      reference: line.reference,
      account: line.account,
      completed_at: line.completed_at.toISOString(),
    },
  });
  return 'unknown';
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** By our reference, by the gateway's, or by the receipt of a movement that is known. */
async function findPaymentOf(
  database: Database,
  gateway: string,
  line: StoredLine,
): Promise<PaymentRef | undefined> {
  const kinds = PAYMENT_KINDS[line.kind];
  for (const kind of kinds) {
    const found =
      line.reference === null
        ? undefined
        : UUID.test(line.reference)
          ? await findById(database, kind, gateway, line.reference)
          : await findByExternalRef(database, kind, gateway, line.reference);
    if (found) return found;
  }
  return line.trans_id === null
    ? undefined
    : findByReceipt(database, kinds, gateway, line.trans_id);
}

type RefRow = { kind: GatewayPaymentKind; merchantId: number; id: string };

/** A statement does not name merchants, and ids are indexed by them: one probe for each. */
async function findById(
  database: Database,
  kind: GatewayPaymentKind,
  gateway: string,
  id: string,
): Promise<RefRow | undefined> {
  const row = await firstRow<Omit<RefRow, 'kind'>>(
    database,
    `SELECT p.merchant_id AS "merchantId", p.id
     FROM merchants m JOIN ${STEP_TABLES[kind].table} p ON p.merchant_id = m.id
     WHERE p.id = :id AND p.gateway = :gateway`,
    { id, gateway },
  );
  return row && { ...row, kind };
}

async function findByExternalRef(
  database: Database,
  kind: GatewayPaymentKind,
  gateway: string,
  reference: string,
): Promise<RefRow | undefined> {
  const row = await firstRow<Omit<RefRow, 'kind'>>(
    database,
    `SELECT merchant_id AS "merchantId", id FROM ${STEP_TABLES[kind].table}
     WHERE external_ref = :reference AND gateway = :gateway`,
    { reference, gateway },
  );
  return row && { ...row, kind };
}

async function findByReceipt(
  database: Database,
  kinds: readonly GatewayPaymentKind[],
  gateway: string,
  transId: string,
): Promise<RefRow | undefined> {
  return firstRow<RefRow>(
    database,
    `SELECT payment_kind AS kind, merchant_id AS "merchantId", payment_id AS id FROM movements
     WHERE trans_id = :trans_id AND gateway = :gateway AND payment_kind = ANY (:kinds)`,
    { trans_id: transId, gateway, kinds },
  );
}
