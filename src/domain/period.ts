import { HOUR_MS } from '../time.ts';

/**
 * A stretch of time, both ends included. The ends are texts that PostgreSQL reads, in UTC and to
 * the microsecond.
 */
export interface Period {
  created_from?: string | undefined;
  created_to?: string | undefined;
}

/** Returns the conditions of a query for a period, with its ends as bindings. */
export function periodConditions(column: string, { created_from, created_to }: Period): string[] {
  const conditions: string[] = [];
  if (created_from) conditions.push(`${column} >= CAST(:created_from AS timestamptz)`);
  if (created_to) conditions.push(`${column} <= CAST(:created_to AS timestamptz)`);
  return conditions;
}

const TIME =
  /^\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+ -](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** The first and the last microsecond of a day, a second or a millisecond. */
export interface Span {
  first: string;
  last: string;
}

/**
 * Returns the span of a whole UTC day (YYYY-MM-DD), or of a time in ISO 8601 with `Z` or an offset:
 * a whole second without a fraction, else a millisecond. The API shows times in both forms. In an
 * address, a plus that is not written %2B arrives as a space. @returns null for any other text.
 */
export function spanOf(text: string): Span | null {
  if (isDay(text)) return { first: `${text}T00:00:00.000000Z`, last: `${text}T23:59:59.999999Z` };
  if (!TIME.test(text) || !isDay(text.slice(0, DAY_LENGTH))) return null;
  const time = new Date(text.replace(' ', '+')).toISOString();
  // An offset may lead out of the years that PostgreSQL and this text have.
  if (!isDay(time.slice(0, DAY_LENGTH))) return null;
  const millisecond = time.slice(0, -'Z'.length);
  const lastMillisecond = text.includes('.') ? millisecond : millisecond.replace(/0{3}$/, '999');
  return { first: `${millisecond}000Z`, last: `${lastMillisecond}999Z` };
}

const DAY_LENGTH = 'YYYY-MM-DD'.length;

/** Tells whether a text is a day of the calendar, YYYY-MM-DD. */
export function isDay(text: string): boolean {
  // PostgreSQL has no year 0.
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text < '0001') return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** Clocks that people read, by the name that follows a time. Kenya has no summer time. */
const OFFSET_HOURS = { EAT: 3, UTC: 0 } as const;

export type Zone = keyof typeof OFFSET_HOURS;

/** The time of Nairobi. */
export const DEFAULT_ZONE: Zone = 'EAT';

/** Writes a moment as the clock of a zone shows it, in whole seconds. */
export function clockTime(date: Date, zone: Zone): string {
  const shifted = new Date(date.getTime() + OFFSET_HOURS[zone] * HOUR_MS);
  return `${shifted.toISOString().slice(0, 19).replace('T', ' ')} ${zone}`;
}

/** Returns the moment in which a day, YYYY-MM-DD, begins in a zone. */
export function startOfDay(day: string, zone: Zone): Date {
  return new Date(Date.parse(`${day}T00:00:00Z`) - OFFSET_HOURS[zone] * HOUR_MS);
}
