import type { Logger } from './logger.ts';

/** A part of a process that is closed at its end. Parts close one after the other. */
export interface Closable {
  name: string;
  close: () => Promise<unknown>;
}

/** A signal that comes again so soon is the same one: a terminal sends it, and `npm` passes it on. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Makes SIGTERM and SIGINT end the process in order. `stopping` is aborted at once, with the
 * signal as its reason. Then the parts are closed and the exit status is 0. It is 1 when that
 * takes longer than `timeoutMs`, and when a second signal ends the process at once, for an
 * operator who does not want to wait.
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

/** A process cannot start. The message gives a reason that the operator can remove. */
export class BootError extends Error {}

/**
 * Runs a main program. A failure ends it with status 1, and with its message, or its stack if unexpected.
 * @param service names a process of the service, whose failure in production is a line of the log, as all its lines are
 */
export async function runMain(main: () => Promise<void>, service?: string): Promise<void> {
  try {
    await main();
  } catch (error) {
    const expected = error instanceof BootError || (error as Error).name === 'ConfigError';
    const what = expected ? (error as Error).message : error;
    const isLogged = service !== undefined && process.env.MALIPO_ENV === 'production';
    if (isLogged) await logFailure(service, what);
    else console.error(what);
    process.exit(1);
  }
}

/** Loads the logger only here: the command line is faster without it. */
async function logFailure(service: string, error: unknown): Promise<void> {
  const { createLogger } = await import('./logger.ts');
  createLogger('error', service).error('cannot start', { error });
}
