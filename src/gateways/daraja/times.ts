import { HOUR_MS } from '../../time.ts';

/** Daraja writes and reads times of East Africa: UTC+3 all year. */
const EAT_OFFSET_MS = 3 * HOUR_MS;

/** Writes a time as `YYYYMMDDHHmmss`. */
export function eatTimestamp(time: Date): string {
  return eatIso(time).replace(/\D/g, '');
}

/** Writes a time as `YYYY-MM-DD HH:mm:ss`. */
export function eatDateTime(time: Date): string {
  return eatIso(time).replace('T', ' ');
}

const DIGITS = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/;
const DAY_FIRST = /^(\d\d)\.(\d\d)\.(\d{4}) (\d\d:\d\d:\d\d)$/;
const YEAR_FIRST = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?(Z?)$/;

/**
 * Reads any of Daraja's forms: `20191219102115` (text or number), `19.12.2019 11:45:50` and
 * `2020-08-05 10:13:00`, which are Nairobi's time, and `2020-08-05T10:13:00Z`.
 * @returns null for anything else
 */
export function readTime(value: unknown): Date | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value).replace(DIGITS, '$1-$2-$3T$4:$5:$6').replace(DAY_FIRST, '$3-$2-$1T$4');
  const [, day, clock, zone] = YEAR_FIRST.exec(text) ?? [];
  if (!day) return null;
  const utc = new Date(`${day}T${clock}Z`);
  // A Date takes the 30th of February for the 2nd of March.
  if (Number.isNaN(utc.getTime()) || !utc.toISOString().startsWith(`${day}T${clock}`)) return null;
  return zone === 'Z' ? utc : new Date(utc.getTime() - EAT_OFFSET_MS);
}

function eatIso(time: Date): string {
  const seconds = 'YYYY-MM-DDTHH:mm:ss'.length;
  return new Date(time.getTime() + EAT_OFFSET_MS).toISOString().slice(0, seconds);
}
