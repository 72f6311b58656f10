import { createQueueBackend } from '../../src/jobs/backend.ts';
import { openQueues } from '../../src/jobs/queues.ts';
import { createLogger } from '../../src/process/logger.ts';
import type { Round } from './report.ts';

const QUEUE = 'bench-no-op';
const JOBS_COUNT = 2_000;
/** What the dispatcher adds at once. */
const BATCH_SIZE = 500;
/** As many as a worker of the service takes by default. */
const CONCURRENCY = 10;
const LOCK_MS = 30_000;

/** Runs the drain's reference: jobs that do nothing, added and run in one process. */
export async function runNoOpJobs(databaseUrl: string, redisUrl?: string): Promise<Round> {
  const backend = createQueueBackend({ databaseUrl, redisUrl });
  const queues = openQueues(backend, createLogger('error', 'bench'));
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  const limits = { concurrency: CONCURRENCY, lockMs: LOCK_MS };
  const worker = backend.createWorker(QUEUE, async () => {}, limits);
  // The stores are watched by whoever started them.
  worker.on('error', () => {});
  const finished = new Promise<void>((resolve) => {
    worker.on('completed', () => {
      latenciesMs.push(performance.now() - startedAt);
      if (latenciesMs.length === JOBS_COUNT) resolve();
    });
  });
  const job = { queue: QUEUE, kind: 'callback', step: 'process', merchant_id: 0 } as const;
  for (let first = 0; first < JOBS_COUNT; first += BATCH_SIZE) {
    const rowIds = Array.from({ length: BATCH_SIZE }, (_, index) => `no-op-${first + index}`);
    await queues.add(
      QUEUE,
      rowIds.map((row_id) => ({ ...job, row_id, step_no: 1, delay_ms: 0 })),
    );
  }
  await finished;
  const elapsedMs = performance.now() - startedAt;
  await worker.close();
  await queues.close();
  return { latenciesMs, elapsedMs, errors: 0, firstError: null };
}
