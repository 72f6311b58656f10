import { messageOf } from '../connections/database-errors.ts';
import { countWaitingJobs } from '../domain/support/count-waiting-jobs.ts';
import { createQueueBackend } from '../jobs/backend.ts';
import {
  type DueStep,
  type DueSteps,
  isStillDue,
  type Lease,
  type OutboxLag,
  readDueSteps,
  readLeases,
  readOutboxLag,
  readWaitingDeliveries,
  type WaitingDeliveries,
} from '../jobs/consistency.ts';
import { jobId } from '../jobs/job-types.ts';
import { SWEEPER_LEASE } from '../jobs/lease.ts';
import type { QueueBackend } from '../jobs/queue-backend.ts';
import {
  allQueues,
  openQueueStates,
  type QueueState,
  type QueueStates,
} from '../jobs/queue-states.ts';
import type { Service } from '../process/boot.ts';

/** A queue as its backend, the outbox and the failed jobs tell. */
export interface QueueLine {
  queue: string;
  /** Null when the backend does not answer. */
  state: QueueState | null;
  outbox: OutboxLag | null;
  /** Failed jobs of it that wait for somebody. */
  failed: number;
}

export interface QueuesStatus {
  backend: QueueBackend['name'];
  queues: QueueLine[];
  due: DueSteps[];
  /** Of the samples of `due`, those of which the queue has no job; null when it was not asked. */
  lost: DueStep[] | null;
  deliveries: WaitingDeliveries;
  leases: Lease[];
  isDispatcherAlive: boolean;
  /** What is not as it should be, a line each. */
  problems: string[];
}

/**
 * Compares what the queues hold with what PostgreSQL knows. What PostgreSQL knows is told
 * also when the queues do not answer, which is waited for some seconds at most.
 */
export async function readQueuesStatus(service: Service): Promise<QueuesStatus> {
  const { database, config, gateways } = service;
  const backend = createQueueBackend(config);
  const [outbox, due, deliveries, leases, failed] = await Promise.all([
    readOutboxLag(database),
    readDueSteps(database, config.sweepGraceMs),
    readWaitingDeliveries(database),
    readLeases(database),
    countWaitingJobs(database),
  ]);
  // Also the queues that nobody serves any more, such as those of a gateway that is gone.
  const names = new Set([
    ...allQueues([...gateways.keys()]),
    ...[...outbox, ...failed].map(({ queue }) => queue),
  ]);
  const asked = await askQueues(service, backend, [...names], due);
  const queues = [...names].map((queue) => ({
    queue,
    state: asked.states.get(queue) ?? null,
    outbox: outbox.find((lag) => lag.queue === queue) ?? null,
    failed: failed.find((each) => each.queue === queue)?.count ?? 0,
  }));
  const isDispatcherAlive = leases.some(({ name, isHeld }) => name === SWEEPER_LEASE && isHeld);
  const status = { queues, due, lost: asked.problem ? null : asked.lost, isDispatcherAlive };
  const problems = [...(asked.problem ? [asked.problem] : []), ...problemsOf(status)];
  return { backend: backend.name, ...status, deliveries, leases, problems };
}

interface Asked {
  states: Map<string, QueueState>;
  lost: DueStep[];
  problem: string | null;
}

/** One after the other, so that queues in PostgreSQL take few connections. */
async function askQueues(
  service: Service,
  backend: QueueBackend,
  names: string[],
  due: DueSteps[],
): Promise<Asked> {
  // What goes wrong is a problem of the answer, and no line among it.
  const quiet = { debug: () => service.logger };
  const steps = due.flatMap(({ sample }) => sample);
  const asked: Asked = { states: new Map(), lost: [], problem: await backend.problem() };
  if (asked.problem) return asked;
  for (const name of names) {
    const states = openQueueStates(backend, quiet);
    try {
      asked.states.set(name, await states.read(name));
      for (const step of steps.filter(({ queue }) => queue === name)) {
        if (await isLost(service, states, step)) asked.lost.push(step);
      }
    } catch (error) {
      return { ...asked, problem: `The queues do not answer: ${messageOf(error)}` };
    } finally {
      await states.close();
    }
  }
  return asked;
}

/** A job that ends between the two questions is not lost, so the row is asked in between. */
async function isLost(
  { database, config }: Service,
  states: QueueStates,
  step: DueStep,
): Promise<boolean> {
  const has = () => states.has(step.queue, jobId(step));
  return (
    !(await has()) && (await isStillDue(database, step, config.sweepGraceMs)) && !(await has())
  );
}

type Found = Pick<QueuesStatus, 'queues' | 'lost' | 'isDispatcherAlive'>;

function problemsOf({ queues, lost, isDispatcherAlive }: Found): string[] {
  return [
    ...(isDispatcherAlive
      ? []
      : ['No dispatcher is running: nobody renews the lease of the sweeper']),
    ...(lost && lost.length > 0
      ? [
          `Due, and no queue has the job: ${lost.length} of those looked for. A sweeper sends them again`,
        ]
      : []),
    ...queues.flatMap(({ queue, state }) => (state ? problemsOfQueue(queue, state) : [])),
  ];
}

function problemsOfQueue(queue: string, { isPaused, waiting, workers }: QueueState): string[] {
  if (isPaused) return [`The queue ${queue} is paused: no worker takes anything from it`];
  // Null is not known: no reason to call it a problem.
  if (waiting === 0 || workers !== 0) return [];
  return [`Jobs wait in the queue ${queue}, and no worker takes them`];
}
