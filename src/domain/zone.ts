const HOUR_MS = 3_600_000;

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
