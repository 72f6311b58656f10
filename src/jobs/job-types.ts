/**
 * The rows that are driven by steps, and the queue that each of their steps runs in.
 * A step is the one thing that an open row does next; its job carries ids only.
 */

export type StepKind = 'collection' | 'payout' | 'reversal' | 'return' | 'callback' | 'webhook';

/** Where the rows of a kind are. */
export const STEP_TABLES: Readonly<Record<StepKind, { table: string; id: string }>> = {
  collection: { table: 'collections', id: 'id' },
  payout: { table: 'payouts', id: 'id' },
  reversal: { table: 'reversals', id: 'id' },
  return: { table: 'returns', id: 'id' },
  callback: { table: 'callbacks', id: 'id' },
  webhook: { table: 'webhook_deliveries', id: 'event_id' },
};

export type StepName = 'submit' | 'poll' | 'refund' | 'process' | 'deliver';

/** What a job carries, and all that its worker needs to find the row again. */
export interface JobData {
  kind: StepKind;
  step: StepName;
  merchant_id: number;
  row_id: string;
  /** A job whose number is not its row's has been overtaken and does nothing. */
  step_no: number;
}

/** Process types of the Procfile that run jobs. */
export const WORKER_TYPES = ['submission', 'settlement', 'refunds', 'webhooks'] as const;
export type WorkerType = (typeof WORKER_TYPES)[number];

/** What a process that runs every type, the dispatcher's too, is called. */
export const ALL_TYPES = 'worker';

/** Queues of their own per gateway, so that one that hangs does not fill the slots of the others. */
export const submissionQueue = (gateway: string) => `submission-${gateway}`;
export const pollingQueue = (gateway: string) => `polling-${gateway}`;
export const reversalsQueue = (gateway: string) => `reversals-${gateway}`;
export const returnsQueue = (gateway: string) => `returns-${gateway}`;
export const REFUNDS_QUEUE = 'refunds';
export const CALLBACKS_QUEUE = 'callbacks';
export const WEBHOOKS_QUEUE = 'webhooks';

/** The queues that a worker type serves, with these gateways configured. */
export function queuesOf(type: WorkerType, gateways: string[]): string[] {
  switch (type) {
    case 'submission':
      return gateways.flatMap((gateway) => [submissionQueue(gateway), reversalsQueue(gateway)]);
    case 'settlement':
      return [CALLBACKS_QUEUE, ...gateways.map(pollingQueue)];
    case 'refunds':
      return [REFUNDS_QUEUE, ...gateways.map(returnsQueue)];
    case 'webhooks':
      return [WEBHOOKS_QUEUE];
  }
}

/** The worker type that serves a queue; undefined when none does. */
export function workerTypeOf(queue: string): WorkerType | undefined {
  const gateway = queue.slice(queue.indexOf('-') + 1);
  return WORKER_TYPES.find((type) => queuesOf(type, [gateway]).includes(queue));
}

/** Begins the reason for which a row is parked whose job has failed for good. */
export const JOB_FAILED = 'job failed: ';

/** Never all digits and without a colon, as the queue library demands. */
export function jobId(data: Pick<JobData, 'kind' | 'row_id' | 'step_no'>): string {
  return `${data.kind}-${data.row_id}-${data.step_no}`;
}
