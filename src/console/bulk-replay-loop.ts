import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../connections/database-errors.ts';
import { leaseHolder } from '../connections/locks.ts';
import { releaseBulkReplays, workBulkReplays } from '../domain/support/work-bulk-replays.ts';
import type { Service } from '../service/service.ts';
import { SECOND_MS } from '../time.ts';

/**
 * Works off the replays of many failed jobs, for as long as this process runs. Of several consoles
 * one works on each, and another goes on when it stops.
 * @returns the function that stops it after the job under way
 */
export function startBulkReplays({ database, logger }: Service): () => Promise<void> {
  const holder = leaseHolder();
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = (async () => {
    while (!signal.aborted) {
      const startedAt = performance.now();
      await workBulkReplays(database, holder, signal).catch((error) => {
        logger.warn('bulk replays put off', { error: messageOf(error) });
      });
      const restMs = Math.max(0, SECOND_MS - (performance.now() - startedAt));
      await sleep(restMs, undefined, { signal }).catch(() => {});
    }
  })();
  return async () => {
    stopping.abort();
    await running;
    // If this fails, the lease expires.
    await releaseBulkReplays(database, holder).catch(() => {});
  };
}
