import type { Logger } from 'winston';
import { messageOf } from '../connections/database-errors.ts';
import type { Config } from '../process/config.ts';
import { RECORDING_MARGIN_MS } from '../process/production-rules.ts';

/** The comparisons of statements that go on in this process, and for which no request waits. */
export interface Comparisons {
  /** @param compare stops with an error soon after `stopping` */
  start(import_id: string, compare: (stopping: AbortSignal) => Promise<unknown>): void;
  /** Waits until none is under way. */
  ended(): Promise<void>;
}

/**
 * Lets comparisons go on when the process is told to stop, as long as the question under way can
 * still be answered and recorded afterwards. Then they stop, and may be begun again.
 */
export function createComparisons(
  { config, logger }: { config: Config; logger: Logger },
  stopping: AbortSignal,
): Comparisons {
  const underWay = new Set<Promise<unknown>>();
  const cutOff = new AbortController();
  const { shutdownTimeoutMs, gatewayTimeoutMs } = config;
  const graceMs = Math.max(0, shutdownTimeoutMs - gatewayTimeoutMs - RECORDING_MARGIN_MS);
  stopping.addEventListener('abort', () => {
    setTimeout(() => cutOff.abort(new Error('The process stops')), graceMs).unref();
  });
  return {
    start: (import_id, compare) => {
      const comparing = compare(cutOff.signal)
        .catch((error: unknown) => {
          logger.error('a comparison has stopped', { import_id, error: messageOf(error) });
        })
        .finally(() => underWay.delete(comparing));
      underWay.add(comparing);
    },
    ended: async () => {
      await Promise.all(underWay);
    },
  };
}
