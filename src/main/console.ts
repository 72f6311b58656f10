import { commandRoutes } from '../admin/remote/serve.ts';
import { createConsole } from '../console/app.ts';
import { startHttpServer } from '../http/http-server.ts';
import { queueBackendOf } from '../jobs/backend.ts';
import { bellLineOf } from '../jobs/bell-line.ts';
import { openQueueReader } from '../jobs/queue-reader.ts';
import { createMetrics } from '../metrics/process-metrics.ts';
import { BootError, runMain, shutDownOnSignals } from '../process/lifecycle.ts';
import { startOperatorServer } from '../process/operator-server.ts';
import { createComparisons } from '../service/comparisons.ts';
import { boot } from './boot.ts';

await runMain(async () => {
  const service = await boot('console');
  const { config, logger, database } = service;
  if (config.malipoEnv === 'production' && !config.consoleUrlIsGiven) {
    throw new BootError('CONSOLE_URL is required for the console in production');
  }
  const queueReader = openQueueReader(await queueBackendOf(service, 'console'));
  const line = await bellLineOf(service);
  service.bell.connect(line.ring);
  const registry = createMetrics(service, 'console');
  const stopping = new AbortController();
  const { signal } = stopping;
  const operators = await startOperatorServer({
    ...service,
    type: 'console',
    registry,
    stopping: signal,
  });
  const comparisons = createComparisons(service, signal);
  const listening = { tls: config.tls, host: config.consoleHost, port: config.consolePort };
  const server = await startHttpServer(
    { ...listening, setting: 'CONSOLE_PORT' },
    createConsole({ ...service, comparisons, queueReader }, commandRoutes(service)),
    signal,
  );
  shutDownOnSignals(logger, config.shutdownTimeoutMs, stopping, [
    { name: 'server', close: () => server.close() },
    { name: 'comparisons', close: comparisons.ended },
    { name: 'queues', close: queueReader.close },
    { name: 'bell', close: line.close },
    operators,
    { name: 'database', close: () => database.destroy() },
    ...service.traces,
  ]);
  logger.info('ready', { port: server.port, url: config.consoleUrl });
}, 'console');
