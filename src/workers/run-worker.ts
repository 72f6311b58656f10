import { DelayedError, type Job, UnrecoverableError, type Worker } from 'bullmq';
import { type Database, hasRow } from '../connections/database.ts';
import { isOutage, messageOf } from '../connections/database-errors.ts';
import { LostRaceError } from '../domain/payments/payment.ts';
import type { QueueBackend } from '../jobs/backend.ts';
import type { RungLoop } from '../jobs/bell.ts';
import { LastTryError, recordFailedJob } from '../jobs/failed-jobs.ts';
import { gatewayOfQueue, type JobData, STEP_TABLES, type StepName } from '../jobs/job-types.ts';
import { JOB_TRIES } from '../jobs/queues.ts';
import type { LogFields } from '../process/logger.ts';
import { CallbackBaseUnknownError } from '../service/callback-base.ts';
import type { Service } from '../service/service.ts';
import { MINUTE_MS } from '../time.ts';
import { traced } from '../tracing/tracing.ts';
import { deliverWebhook, pollPayment, processStoredCallback, refundFailedPayout } from './steps.ts';
import { submitPayment } from './submission.ts';

const NO_ROW =
  'a job has no row in this database: an older database had it, or a copy of this one uses the same queues';

/** Somebody else was faster. A moment later the row shows what is left to do. */
const LOST_RACE_DELAY_MS = 100;

export function startWorker(
  service: Service,
  backend: QueueBackend,
  queue: string,
  concurrency: number,
): Worker<JobData> {
  const { logger, config } = service;
  const options = { concurrency, lockMs: config.jobLockMs };
  const worker = backend.createWorker(queue, (job, token) => runJob(service, job, token), options);
  // An alert counts these. Prometheus notices a first one only as a rise.
  service.meters.jobs.zero({ queue, outcome: 'no_row' });
  worker.on('error', (error) => logger.warn('worker error', { queue, error: messageOf(error) }));
  return worker;
}

async function runJob(service: Service, job: Job<JobData>, token?: string): Promise<void> {
  const { kind, merchant_id, row_id } = job.data;
  const isPayment = kind !== 'callback' && kind !== 'webhook';
  const fields = { job_id: job.id ?? '', merchant_id, ...(isPayment && { payment_id: row_id }) };
  const own = { ...service, logger: service.logger.child(fields) };
  const stop = service.meters.jobs.startTimer({ queue: job.queueName });
  try {
    await awaitTurn(service, job.queueName);
    const isDone = await runStep(own, job.data, fields);
    // A stale job is normal. One without a row is not: the row was never in this database.
    const isKnown = isDone || (await hasRowOf(service.database, job.data));
    if (!isKnown) own.logger.warn(NO_ROW, { queue: job.queueName });
    stop({ outcome: isKnown ? 'completed' : 'no_row' });
  } catch (error) {
    const reaction = reactionTo(error, job);
    stop({ outcome: reaction.outcome });
    await react(own, job, token, error, reaction);
  } finally {
    service.bell.ring(...LEAVES[job.data.step]);
  }
}

/**
 * The loops that have work after a step: the next step of a failed payout, an event, or room for the next
 * delivery. A submission or a callback mostly leaves nothing else, and rings itself if it does.
 */
const LEAVES: Readonly<Record<StepName, readonly RungLoop[]>> = {
  submit: [],
  poll: ['deliveries', 'outbox'],
  process: ['deliveries'],
  refund: ['deliveries'],
  deliver: ['deliveries'],
};

/** Returns whether the row of a job is in this database, whatever its step. */
function hasRowOf(database: Database, job: JobData): Promise<boolean> {
  const { table, id } = STEP_TABLES[job.kind];
  return hasRow(
    database,
    `SELECT 1 FROM ${table} WHERE merchant_id = :merchant_id AND ${id} = :row_id`,
    job,
  );
}

/** The gateway of a job is busy, so that its call must wait. Nothing was tried. */
class NotItsTurn extends Error {
  readonly waitMs: number;

  constructor(waitMs: number) {
    super('The gateway is busy');
    this.waitMs = waitMs;
  }
}

/** Waits in line for the gateway of a queue. @throws NotItsTurn when the line is too long */
async function awaitTurn({ gateways }: Service, queue: string): Promise<void> {
  const gateway = gatewayOfQueue(queue);
  const pace = gateway === undefined ? undefined : gateways.get(gateway)?.pace;
  const waitMs = pace ? await pace.turn() : 0;
  if (waitMs > 0) throw new NotItsTurn(waitMs);
}

/**
 * Runs the step of a job.
 * @param fields are the fields of the job's log lines. A step may add to them.
 * @returns false when the job is stale, or its step was put off.
 */
export function runStep(service: Service, data: JobData, fields: LogFields): Promise<boolean> {
  const { kind, step, merchant_id, row_id, step_no } = data;
  if (kind === 'callback') return processStoredCallback(service, merchant_id, row_id, fields);
  if (kind === 'webhook') {
    return deliverWebhook(service, { merchant_id, event_id: row_id, step_no }, fields);
  }
  const submitOrPoll = step === 'submit' ? submitPayment : pollPayment;
  const run = step === 'refund' ? refundFailedPayout : submitOrPoll;
  const ref = { kind, merchant_id, id: row_id };
  return traced(`${step} ${kind}`, row_id, () => run(service, ref, step_no));
}

interface Reaction {
  outcome: 'lost_race' | 'put_off' | 'retried' | 'failed';
  /** The job comes again after this time, which spends no try. */
  delayMs?: number;
  /** Nobody wants a line for each job. */
  isLogged?: boolean;
}

/**
 * Decides what an error means: an outage, a missing address for callbacks or a lost race only
 * delays the job; the queue retries it after any other error; the last try has failed for good.
 */
function reactionTo(error: unknown, job: Job<JobData>): Reaction {
  if (error instanceof LastTryError) return { outcome: 'failed' };
  if (error instanceof LostRaceError) return { outcome: 'lost_race', delayMs: LOST_RACE_DELAY_MS };
  if (error instanceof NotItsTurn) {
    return { outcome: 'put_off', delayMs: error.waitMs, isLogged: true };
  }
  const isLogged = error instanceof CallbackBaseUnknownError;
  if (isLogged || isOutage(error)) {
    return { outcome: 'put_off', delayMs: outageBackoffMs(earlierDelaysOf(job)), isLogged };
  }
  return { outcome: triesOf(job) < JOB_TRIES ? 'retried' : 'failed' };
}

/** Throws what tells the queue how to go on. Parks the row of a job that failed for good. */
async function react(
  { database, logger }: Service,
  job: Job<JobData>,
  token: string | undefined,
  error: unknown,
  { outcome, delayMs, isLogged = false }: Reaction,
): Promise<never> {
  if (delayMs !== undefined) {
    if (!isLogged) logger.warn('job put off', { error: messageOf(error), delay_ms: delayMs });
    await job.moveToDelayed(Date.now() + delayMs, token);
    throw new DelayedError();
  }
  const { stack } = error as Error;
  logger.error('job failed', { error: messageOf(error), stack, tries: triesOf(job) });
  if (outcome === 'retried') throw error;
  await recordFailedJob(database, job.queueName, job.data, error);
  throw new UnrecoverableError(messageOf(error));
}

function triesOf(job: Job<JobData>): number {
  return job.attemptsMade + 1;
}

const OUTAGE_DELAY_MS = 2_000;
/** Most outages are over by then. What waited for them should go on at once. */
const QUICK_RETRIES = 5;
/** The most that a job waits after the end of a long outage. */
const MAX_OUTAGE_DELAY_MS = MINUTE_MS;

/**
 * Returns how long an outage delays a job that outages have delayed so often before, in ms.
 * The delay grows, because the job may call a gateway or a receiver each time.
 */
export function outageBackoffMs(earlierDelays: number): number {
  const doublings = Math.max(0, earlierDelays + 1 - QUICK_RETRIES);
  return Math.min(OUTAGE_DELAY_MS * 2 ** doublings, MAX_OUTAGE_DELAY_MS);
}

/** Counts the runs of a job that ended in a delay: begun, and neither tried nor under way. */
export function earlierDelaysOf({ attemptsStarted, attemptsMade }: Job): number {
  return attemptsStarted - attemptsMade - 1;
}
