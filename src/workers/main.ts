import { createQueueBackend } from '../jobs/backend.ts';
import { addStuckWork, createMetrics } from '../metrics/process-metrics.ts';
import { boot } from '../process/boot.ts';
import { BootError, runMain, shutDownOnSignals } from '../process/lifecycle.ts';
import { startOperatorServer } from '../process/operator-server.ts';
import { createWorkWatch } from './liveness.ts';
import { PROCESS_TYPES, type ProcessType, processName, startWorkers } from './start-workers.ts';

/** Runs the worker types given as arguments in this process; `all` runs every one. */
await runMain(async () => {
  const types = parseTypes(process.argv.slice(2));
  const name = processName(types);
  const service = await boot(name);
  const backend = createQueueBackend(service.config, name);
  const problem = await backend.problem();
  if (problem) throw new BootError(problem);
  const registry = createMetrics(service, name, types);
  const stopping = new AbortController();
  const watch = createWorkWatch();
  addStuckWork(registry, watch.works);
  const { signal } = stopping;
  const operators = await startOperatorServer({
    ...service,
    registry,
    stopping: signal,
    health: watch.health,
  });
  const parts = startWorkers(service, backend, types, watch);
  shutDownOnSignals(service.logger, service.config.shutdownTimeoutMs, stopping, [
    { name: 'watch', close: async () => watch.close() },
    // All stop taking work at once; each then finishes what it has.
    { name: 'workers', close: () => Promise.allSettled(parts.map((part) => part.close())) },
    operators,
    { name: 'database', close: () => service.database.destroy() },
  ]);
  service.logger.info('ready', { types, queues: backend.name });
});

function parseTypes(words: string[]): ProcessType[] {
  if (words.includes('all')) return [...PROCESS_TYPES];
  const wrong = words.find((word) => !PROCESS_TYPES.includes(word as ProcessType));
  if (words.length === 0 || wrong !== undefined) {
    throw new BootError(`Say which workers to run: ${PROCESS_TYPES.join(', ')}, or all`);
  }
  return [...new Set(words)] as ProcessType[];
}
