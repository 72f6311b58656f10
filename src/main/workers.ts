import { allQueues } from '../jobs/job-types.ts';
import { addStuckWork, createMetrics } from '../metrics/process-metrics.ts';
import { BootError, runMain, shutDownOnSignals } from '../process/lifecycle.ts';
import { startOperatorServer } from '../process/operator-server.ts';
import { createLiveness } from '../workers/liveness.ts';
import {
  connectWorkers,
  PROCESS_TYPES,
  type ProcessType,
  processName,
  startWorkers,
  submits,
  workerCondition,
} from '../workers/start-workers.ts';
import { boot } from './boot.ts';

/** Runs the worker types given as arguments in this process; `all` runs every one. */
await runMain(async () => {
  const types = parseTypes(process.argv.slice(2));
  const name = processName(types);
  const service = await boot(name);
  const { backend, line } = await connectWorkers(service, name);
  const problem = await backend.problem();
  if (problem) throw new BootError(problem);
  const registry = createMetrics(service, name, types);
  const liveness = createLiveness();
  addStuckWork(registry, liveness.works);
  const stopping = new AbortController();
  const operators = await startOperatorServer({
    ...service,
    type: name,
    registry,
    stopping: stopping.signal,
    health: liveness.health,
    condition: workerCondition(service, types),
  });
  const parts = startWorkers(service, { backend, line }, types, liveness);
  shutDownOnSignals(service.logger, service.config.shutdownTimeoutMs, stopping, [
    { name: 'liveness', close: async () => liveness.close() },
    // All stop taking jobs at once. Each then finishes the jobs that it has.
    { name: 'workers', close: () => Promise.allSettled(parts.map((part) => part.close())) },
    operators,
    { name: 'database', close: () => service.database.destroy() },
    ...service.traces,
  ]);
  service.logger.info('ready', { types, queues: backend.name });
  const warning = await backend.warning(allQueues([...service.gateways.keys()]));
  if (warning) service.logger.warn(warning);
  // Logs it if nothing can be submitted. Payments would say so only when they come.
  if (submits(types)) await service.callbackBase.require().catch(() => {});
}, process.argv.slice(2).join('+'));

function parseTypes(words: string[]): ProcessType[] {
  if (words.includes('all')) return [...PROCESS_TYPES];
  const wrong = words.find((word) => !PROCESS_TYPES.includes(word as ProcessType));
  if (words.length === 0 || wrong !== undefined) {
    throw new BootError(`Say which workers to run: ${PROCESS_TYPES.join(', ')}, or all`);
  }
  return [...new Set(words)] as ProcessType[];
}
