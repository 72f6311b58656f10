import { createQueueBackend } from '../../../src/jobs/backend.ts';
import { openQueues, type StepJob } from '../../../src/jobs/queues.ts';
import { createLogger } from '../../../src/process/logger.ts';
import type { Round } from '../figures.ts';

const QUEUE = 'bench-no-op';
const JOBS_COUNT = 2_000;
/** What the dispatcher adds at once. */
const BATCH_SIZE = 500;
/** As many as a worker of the service takes by default. */
const CONCURRENCY = 10;
const LOCK_MS = 30_000;

/** What the drain is compared with: jobs that do nothing, added and run in one process. */
export async function runNoOpJobs(config: {
  redisUrl: string | undefined;
  databaseUrl: string;
}): Promise<Round> {
  const backend = createQueueBackend(config);
  await backend.migrate();
  const queues = openQueues(backend, createLogger('error', 'bench'));
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  let finish: () => void;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const worker = backend.createWorker(
    QUEUE,
    async () => {
      latenciesMs.push(performance.now() - startedAt);
      if (latenciesMs.length === JOBS_COUNT) finish();
    },
    { concurrency: CONCURRENCY, lockMs: LOCK_MS },
  );
  // The stores are watched by whoever started them.
  worker.on('error', () => {});
  try {
    for (let first = 0; first < JOBS_COUNT; first += BATCH_SIZE) {
      await queues.add(QUEUE, jobsFrom(first));
    }
    await finished;
    return { latenciesMs, errors: 0, elapsedMs: performance.now() - startedAt };
  } finally {
    await worker.close();
    await queues.close();
  }
}

function jobsFrom(first: number): StepJob[] {
  return Array.from({ length: Math.min(BATCH_SIZE, JOBS_COUNT - first) }, (_, index) => ({
    queue: QUEUE,
    kind: 'callback',
    step: 'process',
    merchant_id: 0,
    row_id: `no-op-${first + index}`,
    step_no: 1,
    delay_ms: 0,
  }));
}
