/**
 * Milliseconds before the previous run that a run reads again. A transaction may commit minutes
 * after the times in its rows. The ids of journals are made with the clock of the process, which
 * may be off. An hour covers both.
 */
const OVERLAP_MS = 3_600_000;

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
