/**
 * Returns a function that says yes `limit` times in each period, to each key once. Without a key it
 * says yes to every call.
 */
export function atMost(limit: number, periodMs: number): (key?: string) => boolean {
  let periodStart = Number.NEGATIVE_INFINITY;
  let count = 0;
  const seen = new Set<string>();
  return (key) => {
    if (performance.now() - periodStart >= periodMs) {
      periodStart = performance.now();
      count = 0;
      seen.clear();
    }
    if (count >= limit || (key !== undefined && seen.has(key))) return false;
    count += 1;
    if (key !== undefined) seen.add(key);
    return true;
  };
}
