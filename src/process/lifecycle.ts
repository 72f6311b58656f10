import type { Logger } from './logger.ts';

/** Something to close at the end, in the order given; each has the rest of the deadline. */
export interface Closable {
  name: string;
  close: () => Promise<unknown>;
}

/** Within this time a signal that comes again is the same one: `npm` passes on what a terminal has sent to all. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Makes SIGTERM and SIGINT end the process in order: `stopping` is aborted at once, with the
 * signal as its reason; what runs is finished within `timeoutMs`, then the exit status is 0;
 * a deadline that passes exits with 1. A second signal exits at once, for an operator who
 * will not wait.
 */
export function shutDownOnSignals(
  logger: Logger,
  timeoutMs: number,
  stopping: AbortController,
  parts: Closable[],
): void {
  let stoppedAt: number | null = null;
  const stop = (signal: NodeJS.Signals) => {
    if (stoppedAt !== null) {
      if (performance.now() - stoppedAt < SAME_SIGNAL_MS) return;
      logger.warn('second signal: exiting at once', { signal });
      process.exit(1);
    }
    stoppedAt = performance.now();
    logger.info('stopping', { signal, timeout_ms: timeoutMs });
    stopping.abort(signal);
    setTimeout(() => {
      logger.error('not everything stopped in time', { timeout_ms: timeoutMs });
      process.exit(1);
    }, timeoutMs).unref();
    void closeInOrder(logger, parts).then(() => {
      logger.info('stopped');
      process.exit(0);
    });
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

async function closeInOrder(logger: Logger, parts: Closable[]): Promise<void> {
  for (const part of parts) {
    try {
      await part.close();
    } catch (error) {
      logger.warn('closing failed', { part: part.name, error: String(error) });
    }
  }
}

/** A process cannot start, for a reason that its operator can mend; the message says which. */
export class BootError extends Error {}

/** Runs a main program: an expected failure is one line on standard error and exit status 1. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    const expected = error instanceof BootError || (error as Error).name === 'ConfigError';
    console.error(expected ? (error as Error).message : error);
    process.exit(1);
  }
}
