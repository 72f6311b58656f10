/** A client's own timeout comes first, because its error says what it waited for. */
const GRACE_MS = 500;

/**
 * Runs `work` with a signal that aborts it shortly after `timeoutMs`. A client's own timeout
 * misses some cases, such as an answer that switches protocols.
 */
export async function withDeadline<Result>(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error('timeout')), timeoutMs + GRACE_MS);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}
