import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  firstRow,
  hasRow,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { DAY_MS } from '../../time.ts';
import { keepOwnLines } from '../gateway-accounts/own-lines.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { receiptOf, referenceOf } from '../text.ts';
import { makeRoomForDraft } from './drafts.ts';
import { refuseSharedReceipts, withoutSharedReceipts } from './shared-receipts.ts';

export const LINE_KINDS = ['collection', 'payout', 'reversal'] as const;

/** A movement of money as a gateway's statement lists it. */
export interface StatementLine {
  /** A return to a customer is listed as a reversal. */
  kind: (typeof LINE_KINDS)[number];
  /** Our reference, if the gateway repeats it. A line without it has a receipt. */
  reference: string | null;
  account: string | null;
  amountCents: number;
  transId: string | null;
  completedAt: Date;
  /** What the gateway charged the operator for it, if rows of charges have its receipt. */
  chargeCents?: number;
  /** The row says neither success nor failure. It is no movement, and may still become one. */
  isUndecided?: true;
  /** The row brings back money that had gone out. It is undecided, because it does not say of which payment. */
  hasComeBack?: true;
}

/** A row about the operator's own money: it is of no payment, as a sweep to the bank. */
export interface OwnLine {
  reference: string;
  /** Signed: what came to the account is positive. */
  amountCents: number;
  toldAt: Date;
  /** The balance of the account after it, if the statement has it. */
  balanceCents?: number | null;
}

/**
 * - matched: the line repeats what is booked.
 * - settled: the line was news, which was applied.
 * - contradicts: money, account or outcome differ from what is booked.
 * - unknown: no payment explains the line.
 */
export type LineResult = 'matched' | 'settled' | 'contradicts' | 'unknown';

/** A line as it is stored. */
export interface StoredLine extends Pick<StatementLine, 'kind' | 'reference' | 'account'> {
  line_no: number;
  amount_cents: number;
  trans_id: string | null;
  completed_at: Date;
  result: LineResult | null;
  has_come_back: boolean;
}

/** The kinds of payments that each kind of line can be about. */
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

/** Returns the first moment of a period, and the first moment after it. */
export function momentsOf({ from, to }: Period): { start: Date; end: Date } {
  const dayOf = (text: string) => new Date(`${text}T00:00:00Z`);
  return { start: dayOf(from), end: new Date(dayOf(to).getTime() + DAY_MS) };
}

/** Names an imported statement. */
export interface StatementRef {
  import_id: string;
  gateway: string;
}

/**
 * Returns the number of a statement's last line (0 without lines), and the time of its newest one. A
 * line that is still to come proves nothing: it would be newer than every decision, each time anew.
 */
export async function lastLineOf(
  executor: Database | Transaction,
  { import_id }: Pick<StatementRef, 'import_id'>,
): Promise<{ line_no: number; newest: Date | null }> {
  const last = await firstRow<{ line_no: number; newest: Date | null }>(
    executor,
    `SELECT coalesce(max(line_no), 0) AS line_no,
       max(completed_at) FILTER (WHERE completed_at <= now()) AS newest
     FROM statement_lines WHERE import_id = :import_id`,
    { import_id },
  );
  return last!;
}

/** The movements that a statement should list: of these kinds, from `start` until `end`. */
export interface StatementScope extends StatementRef {
  channel: number;
  kinds: readonly GatewayPaymentKind[];
  start: Date;
  end: Date;
}

/** The source of a statement that the gateway itself has given. No file counts as that. */
export const FROM_GATEWAY = 'gateway';

/** SQL: the gateway itself has given the imported statement `i`. */
export const IS_GIVEN = `(i.source = '${FROM_GATEWAY}' AND i.brought_by IS NULL)`;

/**
 * SQL: the gateway itself has given the statement `i`, or two people stand for its file. The file of one person ends no
 * question of another statement, and keeps none from being asked.
 */
export const IS_OF_TWO = `(i.brought_by IS NULL OR i.agreed_by IS NOT NULL)`;

/** SQL: until when the statement `i` lists everything: until its newest line, if nobody has said more. */
export const LISTED_UNTIL = `least(CAST(i.period_to + 1 AS timestamp) AT TIME ZONE 'UTC', i.started_at, coalesce(
    i.complete_until, (SELECT max(completed_at) FROM statement_lines WHERE import_id = i.id)))`;

/** Tells whether the gateway itself has given a statement. */
export function isGiven(
  database: Database | Transaction,
  { import_id }: Pick<StatementRef, 'import_id'>,
): Promise<boolean> {
  return hasRow(
    database,
    `SELECT 1 FROM statement_imports i WHERE i.id = CAST(:import_id AS uuid) AND ${IS_GIVEN}`,
    { import_id },
  );
}

export interface NewStatement {
  gateway: string;
  channel: number;
  period: Period;
  /** The origin of the statement, for the record. */
  source: string;
  lines: readonly StatementLine[];
  /** Its rows of the operator's own account. */
  own?: readonly OwnLine[] | undefined;
  /** The kinds of which it lists every movement. Default: none. */
  covers?: readonly StatementLine['kind'][];
  /** It lists every movement before this. Default: nobody knows. */
  complete_until?: Date | null;
  /** The e-mail address of the member of staff who has brought its file. */
  brought_by?: string | null;
  /** It waits for somebody's word, and proves nothing until then. */
  isDraft?: boolean;
}

/** The number of lines that one INSERT stores. */
const BATCH_SIZE = 1_000;

/**
 * Stores a statement with all its lines, also those outside of its period. No statement is complete
 * beyond now: the comparison of a draft may come later, when more has happened.
 * @returns its id
 * @throws OperatorRefusal when a member has too many drafts, or a file has one receipt at several movements
 */
export async function importStatement(trx: Transaction, statement: NewStatement): Promise<string> {
  const { gateway, channel, period, source, lines } = statement;
  const { covers = [], complete_until = null, brought_by = null, isDraft = false } = statement;
  const { own = [] } = statement;
  const read = namedLines(lines, source !== FROM_GATEWAY);
  if (isDraft) await makeRoomForDraft(trx, brought_by, lines.length);
  const id = uuidv7();
  await rows(
    trx,
    `INSERT INTO statement_imports (id, gateway, channel, period_from, period_to, source, brought_by,
       covers, complete_until, own, started_at)
     VALUES (:id, :gateway, :channel, :from, :to, :source, :brought_by, :covers,
       CASE WHEN :is_complete THEN least(CAST(:complete_until AS timestamptz), now()) END,
       CASE WHEN :isDraft THEN CAST(:own AS jsonb) END,
       CASE WHEN NOT :isDraft THEN now() END)`,
    {
      id,
      gateway,
      channel,
      ...period,
      source,
      brought_by,
      covers,
      complete_until,
      is_complete: complete_until !== null,
      own: JSON.stringify(own),
      isDraft,
    },
  );
  if (!isDraft) await keepRowsOf(trx, { gateway, own });
  for (let first = 0; first < read.length; first += BATCH_SIZE) {
    await insertLines(trx, id, first, read.slice(first, first + BATCH_SIZE));
  }
  return id;
}

/** Returns the lines with receipts and references as they are stored. */
function namedLines(lines: readonly StatementLine[], isFile: boolean): StatementLine[] {
  const named = lines.map((line) => ({
    ...line,
    transId: line.transId && receiptOf(line.transId),
    reference: line.reference && referenceOf(line.reference),
  }));
  if (!isFile) return withoutSharedReceipts(named);
  refuseSharedReceipts(named);
  return named;
}

/** The rows of a gateway's statement about its own account are of the account that ends so. */
export const OWN_ACCOUNT = '/utility';

/** Keeps the rows of a gateway's statement about its own account. */
export function keepRowsOf(
  trx: Transaction,
  { gateway, own }: { gateway: string; own: readonly OwnLine[] },
): Promise<void> {
  return keepOwnLines(trx, `${gateway}${OWN_ACCOUNT}`, own);
}

async function insertLines(
  trx: Transaction,
  importId: string,
  first: number,
  lines: StatementLine[],
): Promise<void> {
  const values = lines.map((line, index) => ({
    ...line,
    line_no: first + index + 1,
  }));
  await rows(
    trx,
    `INSERT INTO statement_lines
       (import_id, line_no, kind, reference, account, amount_cents, trans_id, completed_at,
        undecided, has_come_back, charge_cents)
     SELECT CAST(:import_id AS uuid), line_no, kind, reference, account, "amountCents", "transId",
       "completedAt", coalesce("isUndecided", false), coalesce("hasComeBack", false), "chargeCents"
     FROM jsonb_to_recordset(CAST(:lines AS jsonb)) AS l (line_no integer, kind text, reference text,
       account text, "amountCents" bigint, "transId" text, "completedAt" timestamptz,
       "isUndecided" boolean, "hasComeBack" boolean, "chargeCents" bigint)`,
    { import_id: importId, lines: JSON.stringify(values) },
  );
}
