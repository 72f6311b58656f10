import { DelayedError, type Job, UnrecoverableError, type Worker } from 'bullmq';
import { isOutage, messageOf } from '../connections/database-errors.ts';
import { LostRaceError } from '../domain/payments/state-machine.ts';
import type { QueueBackend } from '../jobs/backend.ts';
import { recordFailedJob } from '../jobs/failed-jobs.ts';
import type { JobData } from '../jobs/job-types.ts';
import { JOB_TRIES } from '../jobs/queues.ts';
import type { Service } from '../process/boot.ts';
import { withLogContext } from '../process/logger.ts';
import { outageDelayMs, putOffsOf } from './outage-retry.ts';
import { pollPayment, processStoredCallback } from './polling.ts';
import { refund } from './refunds.ts';
import { submitPayment } from './submission.ts';
import { deliverWebhook } from './webhooks.ts';

/** Somebody else was faster; a moment later the row shows what is left to do. */
const LOST_RACE_DELAY_MS = 100;

/** Starts working on one queue. */
export function startWorker(
  context: Service,
  backend: QueueBackend,
  queue: string,
  concurrency: number,
): Worker<JobData> {
  const { logger, config } = context;
  const worker = backend.createWorker(queue, (job, token) => runJob(context, job, token), {
    concurrency,
    lockMs: config.jobLockMs,
  });
  worker.on('error', (error) => logger.warn('worker error', { queue, error: messageOf(error) }));
  return worker;
}

async function runJob(context: Service, job: Job<JobData>, token?: string): Promise<void> {
  const { kind, merchant_id, row_id } = job.data;
  const isPayment = kind !== 'callback' && kind !== 'webhook';
  const fields = {
    job_id: job.id ?? '',
    merchant_id,
    ...(isPayment ? { payment_id: row_id } : {}),
  };
  await withLogContext(fields, async () => {
    const stop = context.meters.jobs.startTimer({ queue: job.queueName });
    try {
      await perform(context, job.data);
      stop({ outcome: 'completed' });
    } catch (error) {
      stop({ outcome: outcomeAfter(job, error) });
      await afterError(context, job, token, error);
    }
  });
}

function perform(context: Service, data: JobData): Promise<void> {
  const { kind, step, merchant_id, row_id, step_no } = data;
  if (kind === 'callback') return processStoredCallback(context, merchant_id, row_id);
  if (kind === 'webhook') return deliverWebhook(context, merchant_id, row_id, step_no);
  const ref = { kind, merchant_id, id: row_id };
  if (step === 'refund') return refund(context, ref, step_no);
  return step === 'submit'
    ? submitPayment(context, ref, step_no)
    : pollPayment(context, ref, step_no);
}

/**
 * Decides what an error means: an outage or a lost race puts the job off; anything else is
 * tried again by the queue; after the last try the row is parked for support.
 */
async function afterError(
  context: Service,
  job: Job<JobData>,
  token: string | undefined,
  error: unknown,
): Promise<never> {
  const { logger } = context;
  const putOffMs = putOffAfter(job, error);
  if (putOffMs !== null) {
    logger.warn('job put off', { error: messageOf(error), delay_ms: putOffMs });
    await job.moveToDelayed(Date.now() + putOffMs, token);
    throw new DelayedError();
  }
  const tries = triesOf(job);
  logger.error('job failed', { error: messageOf(error), stack: (error as Error).stack, tries });
  if (tries < JOB_TRIES) throw error;
  await recordFailedJob(context.database, job.queueName, job.data, error);
  throw new UnrecoverableError(messageOf(error));
}

function triesOf(job: Job<JobData>): number {
  return job.attemptsMade + 1;
}

/** What comes of a job that threw, in a word. */
function outcomeAfter(job: Job<JobData>, error: unknown): string {
  if (error instanceof LostRaceError) return 'lost_race';
  if (isOutage(error)) return 'put_off';
  return triesOf(job) < JOB_TRIES ? 'retried' : 'failed';
}

/** While Postgres or Redis is away, a job is only put off: that spends no try. */
function putOffAfter(job: Job<JobData>, error: unknown): number | null {
  if (error instanceof LostRaceError) return LOST_RACE_DELAY_MS;
  return isOutage(error) ? outageDelayMs(putOffsOf(job)) : null;
}
