/** Writes a time as `DD/MM/YYYY HH:MM:SS` in UTC, the form of created_at in the API. */
export function formatDateTime(date: Date): string {
  const [day, time] = date.toISOString().split('T') as [string, string];
  return `${day.split('-').reverse().join('/')} ${time.slice(0, 8)}`;
}
