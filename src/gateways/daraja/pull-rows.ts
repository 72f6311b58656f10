import { MINUTE_MS, SECOND_MS } from '../../time.ts';
import type { OwnLine, StatementLine } from '../gateway.ts';
import { meaningOf } from './codes.ts';
import {
  EAT_OFFSET_MS,
  type Fields,
  idOf,
  maskedPhoneOf,
  readTime,
  statedCents,
} from './messages.ts';

/** A payment of a customer in the Pull API. */
export interface PulledRow {
  line: StatementLine & { transId: string };
  /** The time ends with a Z, which stands for UTC or, at some shortcodes, for Nairobi's clock. */
  isDoubtful: boolean;
}

const COLLECTION_TYPE = /^c2b/i;
/** `merchant-to-organization-settlement` and other sweeps. */
const SWEEP_TYPE = /settlement|sweep|to-bank/i;
const CHARGE_TYPE = /charge|fee/i;
const KES = 'KES';

/**
 * Reads a row.
 * @returns null for one that cannot be read, a sweep of the operator's own money, or 'other' for one
 * that is neither: a charge, a failure, or money of another currency
 */
export function readRow(item: Fields): PulledRow | OwnLine | 'other' | null {
  const type = idOf(item.transactiontype);
  if (type === null) return null;
  const isSweep = SWEEP_TYPE.test(type);
  if (CHARGE_TYPE.test(type) || !(isSweep || COLLECTION_TYPE.test(type))) return 'other';
  const state = idOf(item.transactionstatus ?? item.transactionStatus ?? item.status);
  const fate = state === null ? 'succeeded' : meaningOf('state', state, '')?.class;
  if (fate === 'declined' || (idOf(item.currency) ?? KES) !== KES) return 'other';
  const transId = idOf(item.transactionId);
  const amountCents = statedCents(item.amount);
  const completedAt = readTime(item.trxDate);
  if (isSweep) {
    if (fate !== 'succeeded' || !transId || !amountCents || !completedAt) return 'other';
    return { reference: transId, amountCents: -amountCents, toldAt: completedAt };
  }
  if (transId === null || !amountCents || completedAt === null) return null;
  const account = maskedPhoneOf(item.msisdn);
  const kind = 'collection' as const;
  const line = { kind, reference: null, account, amountCents, transId, completedAt };
  return {
    line: fate === 'succeeded' ? line : { ...line, isUndecided: true },
    isDoubtful: String(item.trxDate).endsWith('Z'),
  };
}

/** The window of a statement. */
interface Window {
  start: Date;
  end: Date;
}

type Clock = 'utc' | 'nairobi';

export interface Dated {
  lines: StatementLine[];
  /** Both clocks are in use, so the time of a payment that we do not know is not certain. */
  isMixed: boolean;
}

/**
 * Decides by which clock the doubtful times are: by the times of receipts that we know, and by the
 * window, in which every row lies. Other rows go by the clock of those.
 * @returns null when a row lies outside of the window by either clock
 */
export function dateRows(
  rows: readonly PulledRow[],
  window: Window,
  known: ReadonlyMap<string, Date>,
): Dated | null {
  const clocks = rows.map((row) => clockOf(row, window, known));
  if (clocks.includes('none')) return null;
  const isNairobi = clocks.includes('nairobi');
  const isMixed = isNairobi && clocks.includes('utc');
  const usual: Clock = isNairobi && !isMixed ? 'nairobi' : 'utc';
  const lines = rows.map(({ line }, index) => {
    const clock = clocks[index] === 'either' ? usual : clocks[index];
    return clock === 'nairobi' ? { ...line, completedAt: nairobiTime(line) } : line;
  });
  return { lines, isMixed };
}

function clockOf(
  { line, isDoubtful }: PulledRow,
  window: Window,
  known: ReadonlyMap<string, Date>,
): Clock | 'sure' | 'either' | 'none' {
  if (!isDoubtful) return isInside(line.completedAt, window) ? 'sure' : 'none';
  // Nothing is listed before it happens.
  const latest = Math.min(window.end.getTime(), Date.now() + CLOCK_DIFFERENCE_MS);
  const listed = { start: window.start, end: new Date(latest) };
  const isUtc = isInside(line.completedAt, listed);
  const isNairobi = isInside(nairobiTime(line), listed);
  if (isUtc !== isNairobi) return isUtc ? 'utc' : 'nairobi';
  if (!isUtc) return 'none';
  const told = known.get(line.transId);
  if (!told) return 'either';
  const distance = (time: Date) => Math.abs(time.getTime() - told.getTime());
  return distance(nairobiTime(line)) < distance(line.completedAt) ? 'nairobi' : 'utc';
}

/** Returns the time of a line whose Z stands for Nairobi's clock. */
function nairobiTime({ completedAt }: StatementLine): Date {
  return new Date(completedAt.getTime() - EAT_OFFSET_MS);
}

/** The clocks of Safaricom and of this machine may differ by this. */
const CLOCK_DIFFERENCE_MS = 5 * MINUTE_MS;

function isInside(time: Date, { start, end }: Window): boolean {
  const from = start.getTime() - (start.getTime() % SECOND_MS);
  return time.getTime() >= from && time < end;
}
