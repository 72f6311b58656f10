/** Kenya is three hours ahead of UTC and has no summer time. */
const AHEAD_MS = 3 * 60 * 60 * 1_000;

/** Writes a time in Nairobi as yyyyMMddHHmmss. */
export function compactTime(date: Date): string {
  const { year, month, day, time } = parts(date);
  return `${year}${month}${day}${time.join('')}`;
}

/** Writes a time in Nairobi as ddMMyyyyHHmmss. */
export function dayFirstTime(date: Date): string {
  const { year, month, day, time } = parts(date);
  return `${day}${month}${year}${time.join('')}`;
}

/** Writes a time in Nairobi as dd.MM.yyyy HH:mm:ss. */
export function dottedTime(date: Date): string {
  const { year, month, day, time } = parts(date);
  return `${day}.${month}.${year} ${time.join(':')}`;
}

/** Writes the day in Nairobi as yyyyMMdd. */
export function compactDay(date: Date): string {
  const { year, month, day } = parts(date);
  return `${year}${month}${day}`;
}

/** Reads yyyyMMddHHmmss, or yyyy-MM-dd HH:mm:ss, in Nairobi. Returns null for any other text. */
export function parseNairobiTime(text: string): Date | null {
  const match =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text) ??
    /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)$/.exec(text);
  if (!match) return null;
  const [, year, month, day, hour, minute, second] = match;
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const utc = new Date(`${local}Z`);
  // A Date takes the 30th of February for the 2nd of March.
  const isReal = !Number.isNaN(utc.getTime()) && utc.toISOString().startsWith(local);
  return isReal ? new Date(utc.getTime() - AHEAD_MS) : null;
}

function parts(date: Date) {
  const [days, clock] = new Date(date.getTime() + AHEAD_MS).toISOString().split('T');
  const [year, month, day] = days!.split('-');
  const time = clock!.slice(0, 'HH:mm:ss'.length).split(':');
  return { year, month, day, time };
}
