import { v7 as uuidv7 } from 'uuid';
import { rows, type Transaction } from '../../connections/database.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';

/** A movement of money as a gateway's statement lists it. */
export interface StatementLine {
  /** A return to a customer is listed as a reversal. */
  kind: 'collection' | 'payout' | 'reversal';
  /** Ours, where the gateway repeats it; without it there is a receipt. */
  reference: string | null;
  account: string | null;
  amountCents: number;
  transId: string | null;
  completedAt: Date;
}

/** What lines can be about, and the payments that each kind of line can show. */
export const PAYMENTS_OF_LINES: Readonly<
  Record<StatementLine['kind'], readonly GatewayPaymentKind[]>
> = {
  collection: ['collection'],
  payout: ['payout'],
  reversal: ['reversal', 'return'],
};

/** Whole UTC days, YYYY-MM-DD, both included. */
export interface Period {
  from: string;
  to: string;
}

const DAY_MS = 86_400_000;

/** The first moment of a period, and the first one after it. */
export function momentsOf({ from, to }: Period): { start: Date; end: Date } {
  const dayOf = (text: string) => new Date(`${text}T00:00:00Z`);
  return { start: dayOf(from), end: new Date(dayOf(to).getTime() + DAY_MS) };
}

export interface NewStatement {
  gateway: string;
  channel: number;
  period: Period;
  /** Where it comes from, for the record. */
  source: string;
  lines: readonly StatementLine[];
}

/** Lines that one statement inserts. */
const BATCH_SIZE = 1_000;

/**
 * Stores a statement. Lines outside of its period are kept: they too are the gateway's word.
 * @returns its id
 */
export async function importStatement(
  trx: Transaction,
  { gateway, channel, period, source, lines }: NewStatement,
): Promise<string> {
  const id = uuidv7();
  await rows(
    trx,
    `INSERT INTO statement_imports (id, gateway, channel, period_from, period_to, source)
     VALUES (:id, :gateway, :channel, :from, :to, :source)`,
    { id, gateway, channel, ...period, source },
  );
  for (let first = 0; first < lines.length; first += BATCH_SIZE) {
    await insertLines(trx, id, first, lines.slice(first, first + BATCH_SIZE));
  }
  return id;
}

async function insertLines(
  trx: Transaction,
  importId: string,
  first: number,
  lines: StatementLine[],
): Promise<void> {
  const values = lines.map((line, index) => ({
    line_no: first + index + 1,
    kind: line.kind,
    reference: line.reference,
    account: line.account,
    amount_cents: line.amountCents,
    trans_id: line.transId,
    completed_at: line.completedAt.toISOString(),
  }));
  await rows(
    trx,
    `INSERT INTO statement_lines
       (import_id, line_no, kind, reference, account, amount_cents, trans_id, completed_at)
     SELECT CAST(:import_id AS uuid), l.*
     FROM jsonb_to_recordset(CAST(:lines AS jsonb)) AS l (line_no integer, kind text,
       reference text, account text, amount_cents bigint, trans_id text, completed_at timestamptz)`,
    { import_id: importId, lines: JSON.stringify(values) },
  );
}
