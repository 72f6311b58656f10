import { Counter, Histogram, type Registry } from 'prom-client';

const JOB_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
const ATTEMPT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
/** From a gateway that answers at once to a bank that takes two days. */
const PAYMENT_SECONDS = [
  ...[0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600],
  ...[1_800, 3_600, 14_400, 43_200, 172_800],
];

/** What workers and dispatchers count as they work. */
export function workMeters(registry: Registry) {
  const registers = [registry];
  return {
    jobs: new Histogram({
      name: 'malipo_job_duration_seconds',
      help: 'Jobs run, by queue and by what came of the run',
      labelNames: ['queue', 'outcome'] as const,
      buckets: JOB_SECONDS,
      registers,
    }),
    webhookAttempts: new Histogram({
      name: 'malipo_webhook_attempt_duration_seconds',
      help: 'Webhooks sent, by what follows from the attempt',
      labelNames: ['result'] as const,
      buckets: ATTEMPT_SECONDS,
      registers,
    }),
    paymentsEnded: new Histogram({
      name: 'malipo_payment_duration_seconds',
      help: 'Payments that have ended, from their acceptance to their settlement event',
      labelNames: ['kind', 'state'] as const,
      buckets: PAYMENT_SECONDS,
      registers,
    }),
    stepsSwept: new Counter({
      name: 'malipo_steps_swept_total',
      help: 'Due steps that the sweeper has sent to their queue again',
      registers,
    }),
    dispatcherFailures: new Counter({
      name: 'malipo_dispatcher_round_failures_total',
      help: 'Rounds of the dispatcher that ended in an error, by loop',
      labelNames: ['loop'] as const,
      registers,
    }),
  };
}

export type WorkMeters = ReturnType<typeof workMeters>;
