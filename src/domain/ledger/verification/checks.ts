import { rows, type Transaction } from '../../../connections/database.ts';
import { HOUR_MS } from '../../../time.ts';

/** Every way in which the books can be wrong. */
export const BREAK_KINDS = [
  'journal_unbalanced', // a journal does not sum to zero
  'journal_incomplete', // a journal has fewer than two lines
  'journal_without_source', // the payment, movement or transfer of a journal does not exist
  'chain_gap', // the numbers of a wallet's entries have a gap
  'chain_balance', // the balance after an entry is not the balance before it plus the amount
  'wallet_astray', // a wallet differs from its newest entry
  // The journals of a payment do not fit its state:
  'journal_missing',
  'journal_unexpected',
  'journal_amounts',
  'movement_amounts', // the gateways' movements of a payment do not fit its state
  'refund_not_due', // a payout failed, its money is not back, and no step will bring it back
  // An account differs from the payments that it should consist of:
  'in_flight_sum',
  'suspense_sum',
  'suspense_unattended', // money waits in suspense, and no discrepancy or return handles it
] as const;
export type BreakKind = (typeof BREAK_KINDS)[number];

export interface Break {
  kind: BreakKind;
  merchant_id: number;
  /** The kind of thing that is wrong, such as `collection`. */
  subject: string;
  /** An id, an account or a wallet's entry. */
  id: string;
  /** For people; amounts with two decimals. */
  expected: string;
  found: string;
}

/** A break as a check finds it within one merchant. */
export type Finding = Omit<Break, 'merchant_id'>;

/**
 * Milliseconds before the previous run that a run reads again. A transaction may commit minutes
 * after the times in its rows. The ids of journals are made with the clock of the process, which
 * may be off. An hour covers both.
 */
const OVERLAP_MS = HOUR_MS;

export interface CheckOptions {
  /** Reads everything, not only what came after the checkpoints. */
  full: boolean;
  /** Ends the run early: the reason is thrown. */
  signal: AbortSignal;
}

/** The part of a merchant's books that a run checks. */
export interface Scope {
  merchant_id: number;
  /** Payments that ended before this moment were checked before. */
  since: Date;
  /** The first journal id of the scope. Ids begin with their time. */
  since_journal: string;
  /** Checks everything, also rows without a time. */
  isFull: boolean;
  signal: AbortSignal;
}

/**
 * Makes the scope of a run.
 * @param verifiedAt the moment up to which the books are verified; null to check everything
 */
export function scopeOf(merchant_id: number, verifiedAt: Date | null, signal: AbortSignal): Scope {
  const since = new Date(verifiedAt === null ? 0 : verifiedAt.getTime() - OVERLAP_MS);
  const since_journal = firstUuidOf(since);
  return { merchant_id, since, since_journal, isFull: verifiedAt === null, signal };
}

const TIME_DIGITS = 12;

/** Returns the lowest UUIDv7 of this moment. */
function firstUuidOf(moment: Date): string {
  const time = moment.getTime().toString(16).padStart(TIME_DIGITS, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

/** The rows of one read, unless a query says otherwise. They take far less than a statement's time limit. */
const CHUNK_ROWS = 2_000;

/**
 * Calls `take` with each row of a query. Each chunk is read by a statement of its own, so a
 * large number of rows does not run into the time limit.
 * @returns the number of rows.
 */
export async function eachRow<Row>(
  trx: Transaction,
  signal: AbortSignal,
  query: { sql: string; bindings: object; chunkRows?: number },
  take: (row: Row) => void,
): Promise<number> {
  await rows(trx, `DECLARE verified NO SCROLL CURSOR FOR ${query.sql}`, query.bindings);
  const { chunkRows = CHUNK_ROWS } = query;
  let count = 0;
  for (;;) {
    signal.throwIfAborted();
    const chunk = await rows<Row>(trx, `FETCH ${chunkRows} FROM verified`);
    for (const row of chunk) take(row);
    count += chunk.length;
    if (chunk.length < chunkRows) break;
  }
  await rows(trx, 'CLOSE verified');
  return count;
}
