import { DAY_MS, HOUR_MS, SECOND_MS } from '../../time.ts';

/* A bank may write the day of a movement without its time: it may have moved at any moment of that day. */

/** Returns the latest moment that a line may mean. A bank may write days alone, in its own zone or in UTC. */
export function latestMomentOf({ completed_at }: { completed_at: Date }): Date {
  const at = completed_at.getTime();
  const isDayAlone = [0, NAIROBI_MS].some((offset) => (at + offset) % DAY_MS === 0);
  return isDayAlone ? new Date(at + DAY_MS) : completed_at;
}

/** Nairobi's clock is ahead of UTC, all year. */
const NAIROBI_MS = 3 * HOUR_MS;

/** SQL: `latestMomentOf` the time of a line. */
export function latestMoment(completedAt: string): string {
  const midnights = [0, DAY_MS - NAIROBI_MS].map((ms) => ms / SECOND_MS);
  return `(${completedAt} + CASE WHEN extract(epoch FROM ${completedAt}) % ${DAY_MS / SECOND_MS}
    IN (${midnights.join(', ')}) THEN interval '1 day' ELSE interval '0' END)`;
}
