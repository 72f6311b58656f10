import { DAY_MS, HOUR_MS, SECOND_MS } from '../../time.ts';

/* A bank may write the day of a movement without its time: it may have moved at any moment of that day. */

/** Tells whether a line has a day alone, in the bank's own zone or in UTC. */
export function isDayAlone(moment: Date): boolean {
  return [0, NAIROBI_MS].some((offset) => (moment.getTime() + offset) % DAY_MS === 0);
}

/** Returns the latest moment that a line may mean. */
export function latestMomentOf({ completed_at }: Moment): Date {
  return isDayAlone(completed_at) ? new Date(completed_at.getTime() + DAY_MS) : completed_at;
}

/** Nairobi's clock is ahead of UTC, all year. */
const NAIROBI_MS = 3 * HOUR_MS;

/** SQL: `isDayAlone` the time of a line. */
export function dayAlone(completedAt: string): string {
  const midnights = [0, DAY_MS - NAIROBI_MS].map((ms) => ms / SECOND_MS);
  return `(extract(epoch FROM ${completedAt}) % ${DAY_MS / SECOND_MS} IN (${midnights.join(', ')}))`;
}

/** SQL: `latestMomentOf` the time of a line. */
export function latestMoment(completedAt: string): string {
  return `(${completedAt} + CASE WHEN ${dayAlone(completedAt)} THEN interval '1 day' ELSE interval '0' END)`;
}

/** Two clocks differ by less than this: by their zones, or because one shows another moment of a transaction. */
const CLOCKS_DIFFER_MS = 12 * HOUR_MS;

/** Tells whether two moments may be one, by two clocks. One of them may be a day alone. */
export function isOfDay(one: Moment, other: Moment): boolean {
  const [earlier, later] = one.completed_at < other.completed_at ? [one, other] : [other, one];
  return later.completed_at.getTime() - latestMomentOf(earlier).getTime() < CLOCKS_DIFFER_MS;
}

interface Moment {
  completed_at: Date;
}

/** SQL: two moments are less than a day apart, as one by two clocks may be. One that is not told may be any. */
export function isWithinDay(one: string, other: string): string {
  return `coalesce(abs(extract(epoch FROM ${one} - ${other})) < ${DAY_MS / SECOND_MS}, true)`;
}
