import { crc32 } from 'node:zlib';

/** The fields of a line that sampling looks at. */
interface Line {
  level: string;
  message: unknown;
  payment_id?: unknown;
  request_id?: unknown;
  [field: string]: unknown;
}

/** The lines that every payment writes, and when they say that all went as usual. */
const USUAL: Readonly<Record<string, (line: Line) => boolean>> = {
  request: ({ status, aborted }) => Number(status) < 400 && aborted === undefined,
  submitted: ({ outcome }) => outcome === 'acknowledged',
  'callback processed': ({ settlement }) => ENDED.has(settlement),
  polled: ({ outcome }) => outcome === 'pending' || ENDED.has(outcome),
  refunded: () => true,
  'webhook attempted': ({ result }) => result === 'delivered',
};

/** The words for the end of a payment, or for its repetition. */
const ENDED = new Set<unknown>(['succeeded', 'completed', 'failed', 'repeat']);

/**
 * Tells whether a line is written. Every unusual line is. The usual lines of `percent` in 100 payments are, and the
 * lines of as many requests that name no payment: a payment has all of its usual lines, or none.
 */
export function isSampled(line: Line, percent: number): boolean {
  if (percent >= 100 || line.level !== 'info') return true;
  if (!USUAL[String(line.message)]?.(line)) return true;
  return crc32(String(line.payment_id ?? line.request_id)) % 100 < percent;
}
