/**
 * The rows that steps drive, and the queue of each step. A step is the one thing that an
 * open row does next. Its job carries ids only.
 */

export type StepKind = 'collection' | 'payout' | 'reversal' | 'return' | 'callback' | 'webhook';
export type StepName = 'submit' | 'poll' | 'refund' | 'process' | 'deliver';

/** The table of each kind, and its id column. */
export const STEP_TABLES: Readonly<Record<StepKind, { table: string; id: string }>> = {
  collection: { table: 'collections', id: 'id' },
  payout: { table: 'payouts', id: 'id' },
  reversal: { table: 'reversals', id: 'id' },
  return: { table: 'returns', id: 'id' },
  callback: { table: 'callbacks', id: 'id' },
  webhook: { table: 'webhook_deliveries', id: 'event_id' },
};

/**
 * Every queue has its name here and nowhere else. The gateway's name takes the place of `*`:
 * a gateway that hangs then fills no slots of the others.
 */
const QUEUES = {
  submission: 'submission-*',
  polling: 'polling-*',
  reversals: 'reversals-*',
  returns: 'returns-*',
  refunds: 'refunds',
  callbacks: 'callbacks',
  webhooks: 'webhooks',
} as const;
type Queue = keyof typeof QUEUES;

/** Reversals and returns have queues of their own, so that they do not wait behind new payments. */
const STEP_QUEUES: Readonly<Record<StepKind, Partial<Record<StepName, Queue>>>> = {
  collection: { submit: 'submission', poll: 'polling' },
  payout: { submit: 'submission', poll: 'polling', refund: 'refunds' },
  reversal: { submit: 'reversals', poll: 'polling' },
  return: { submit: 'returns', poll: 'polling' },
  callback: { process: 'callbacks' },
  webhook: { deliver: 'webhooks' },
};

/** Returns the queue of a step. Steps of payments need the payment's gateway. */
export function queueOf(kind: StepKind, step: StepName, gateway = ''): string {
  const queue = STEP_QUEUES[kind][step];
  if (!queue) throw new Error(`A ${kind} has no step ${step}`);
  return QUEUES[queue].replace('*', gateway);
}

/** Returns SQL for the queue of a row's next step, from the row's `next_step` and `gateway`. */
export function queueOfRow(kind: StepKind): string {
  const cases = Object.entries(STEP_QUEUES[kind]).map(([step, queue]) => {
    const [name, perGateway] = QUEUES[queue].split('*');
    return `WHEN '${step}' THEN '${name}'${perGateway === undefined ? '' : ' || gateway'}`;
  });
  return `CASE next_step ${cases.join(' ')} END`;
}

/** Process types of the Procfile that run jobs, and the queues that each serves. */
const WORKER_QUEUES = {
  submission: ['submission', 'reversals'],
  settlement: ['callbacks', 'polling'],
  refunds: ['refunds', 'returns'],
  webhooks: ['webhooks'],
} as const satisfies Record<string, readonly Queue[]>;
export type WorkerType = keyof typeof WORKER_QUEUES;
export const WORKER_TYPES = Object.keys(WORKER_QUEUES) as WorkerType[];

/** The name of a process that runs every type. */
export const ALL_TYPES = 'worker';

/** Returns the queues that a worker type serves with these gateways. */
export function queuesOf(type: WorkerType, gateways: string[]): string[] {
  const names = WORKER_QUEUES[type].map((queue) => QUEUES[queue]);
  const perGateway = names.filter((name) => name.includes('*'));
  return [
    ...names.filter((name) => !name.includes('*')),
    ...gateways.flatMap((gateway) => perGateway.map((name) => name.replace('*', gateway))),
  ];
}

/** Returns every queue that workers serve with these gateways. */
export function allQueues(gateways: string[]): string[] {
  return WORKER_TYPES.flatMap((type) => queuesOf(type, gateways));
}

/** Returns the worker type that serves a queue, or undefined when none does. */
export function workerTypeOf(queue: string): WorkerType | undefined {
  const gateway = gatewayOfQueue(queue) ?? '';
  return WORKER_TYPES.find((type) => queuesOf(type, [gateway]).includes(queue));
}

/** Returns the gateway of a queue that each gateway has, or undefined. */
export function gatewayOfQueue(queue: string): string | undefined {
  const at = queue.indexOf('-');
  return at < 0 ? undefined : queue.slice(at + 1);
}

/** The data of a job: what its worker needs to find the row. */
export interface JobData {
  kind: StepKind;
  step: StepName;
  merchant_id: number;
  row_id: string;
  /** A job whose number is not its row's is stale and does nothing. */
  step_no: number;
}

/** Begins the reason of a row that is parked because its job failed for good. */
export const JOB_FAILED = 'job failed: ';

/** Returns a job's id. BullMQ refuses ids that are all digits or have a colon. */
export function jobId(data: Pick<JobData, 'kind' | 'row_id' | 'step_no'>): string {
  return `${data.kind}-${data.row_id}-${data.step_no}`;
}
