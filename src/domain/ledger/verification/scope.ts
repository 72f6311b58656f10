/**
 * What is read again of what a run before has seen, in milliseconds. A transaction that was
 * under way then had its rows' times already, and commits later than they say: several
 * statements of 15 s each, with pauses, are minutes. Journals' ids are made by the clock of
 * the process instead, which may be off; with an hour neither matters.
 */
const OVERLAP_MS = 3_600_000;

/** What of a merchant is checked. */
export interface Scope {
  merchant_id: number;
  /** What ended before was checked before. */
  since: Date;
  /** Journals have ids that begin with their time; this is the first that counts. */
  sinceJournal: string;
  /** Whether everything is checked, also what nothing tells the time of. */
  isFull: boolean;
  signal: AbortSignal;
}

/** @param verifiedAt the moment up to which a run before has found nothing; null for everything */
export function scopeOf(merchantId: number, verifiedAt: Date | null, signal: AbortSignal): Scope {
  const since = new Date(verifiedAt === null ? 0 : verifiedAt.getTime() - OVERLAP_MS);
  const sinceJournal = firstUuidOf(since);
  return { merchant_id: merchantId, since, sinceJournal, isFull: verifiedAt === null, signal };
}

const TIME_DIGITS = 12;

/** No UUIDv7 of this moment or later is less. */
function firstUuidOf(moment: Date): string {
  const time = moment.getTime().toString(16).padStart(TIME_DIGITS, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}
