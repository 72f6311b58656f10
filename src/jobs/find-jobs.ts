import { messageOf } from '../connections/database-errors.ts';
import { type JobData, jobId } from './job-types.ts';
import type { QueueBackend } from './queue-backend.ts';
import { openQueueStates } from './queue-states.ts';

/** A step, and the queue that its job belongs in. */
type QueuedStep = Pick<JobData, 'kind' | 'row_id' | 'step_no'> & { queue: string };

export interface FoundJobs {
  /** The state of each step's job, in the order of the steps. Null: its queue does not have it. */
  states: (string | null)[];
  /** Why the queues did not tell, in one line. Then there are no states. */
  problem: string | null;
}

/** Looks for the jobs of a few steps. Waits some seconds at most for queues that are away. */
export async function findJobs(backend: QueueBackend, steps: QueuedStep[]): Promise<FoundJobs> {
  if (steps.length === 0) return { states: [], problem: null };
  const problem = await backend.problem();
  if (problem) return { states: [], problem };
  // An error of a queue is a part of the answer, not a line of the log.
  const queues = openQueueStates(backend, { debug: () => undefined as never });
  try {
    const states: FoundJobs['states'] = [];
    for (const step of steps) states.push(await queues.stateOf(step.queue, jobId(step)));
    return { states, problem: null };
  } catch (error) {
    return { states: [], problem: `The queues do not answer: ${messageOf(error)}` };
  } finally {
    await queues.close();
  }
}
