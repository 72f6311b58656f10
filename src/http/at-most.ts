/**
 * Returns a function that says yes `limit` times in each period, and `limitOfKey` of them to one
 * key. Without a key only `limit` counts.
 */
export function atMost(limit: number, periodMs: number, limitOfKey = 1): (key?: string) => boolean {
  let periodStart = Number.NEGATIVE_INFINITY;
  let count = 0;
  const countOfKey = new Map<string, number>();
  return (key) => {
    if (performance.now() - periodStart >= periodMs) {
      periodStart = performance.now();
      count = 0;
      countOfKey.clear();
    }
    const before = key === undefined ? 0 : (countOfKey.get(key) ?? 0);
    if (count >= limit || before >= limitOfKey) return false;
    count += 1;
    if (key !== undefined) countOfKey.set(key, before + 1);
    return true;
  };
}
