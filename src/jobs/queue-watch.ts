import type { Database } from '../connections/database.ts';
import { messageOf } from '../connections/database-errors.ts';
import type { Logger } from '../process/logger.ts';
import { type DueStep, isStillDue } from './consistency.ts';
import { jobId } from './job-types.ts';
import type { QueueBackend } from './queue-backend.ts';
import { openQueueStates, type QueueState, type QueueStates } from './queue-states.ts';

/** What the queues tell, as far as they answer. */
export interface QueueAnswers {
  /** By the name of the queue. A queue that did not answer is missing. */
  states: Map<string, QueueState>;
  /** The steps whose queue has no job for them. */
  lost: Set<DueStep>;
  /** Why not all queues answered, in one line. */
  problem: string | null;
}

/** Asks the queues now and then. */
export interface QueueWatch {
  backendName: QueueBackend['name'];
  ask(names: string[], wanted: { steps: DueStep[]; graceMs: number }): Promise<QueueAnswers>;
  close(): Promise<void>;
}

/**
 * Asks queues through connections that stay open, and come back by themselves after an outage. As
 * long as the queues have not answered, it first finds out whether they can be used.
 */
export function openQueueWatch(
  { database, logger }: { database: Database; logger: Logger },
  backend: QueueBackend,
): QueueWatch {
  // An error of a queue is a problem of the answer, not a line of the log.
  const states = openQueueStates(backend, { debug: () => logger });
  let haveAnswered = false;
  return {
    backendName: backend.name,
    close: states.close,
    ask: async (names, { steps, graceMs }) => {
      const answers: QueueAnswers = { states: new Map(), lost: new Set(), problem: null };
      if (!haveAnswered) answers.problem = await backend.problem();
      if (answers.problem) return answers;
      try {
        // One after the other, so that queues in PostgreSQL take few connections.
        for (const name of names) {
          answers.states.set(name, await states.read(name));
          for (const step of steps.filter(({ queue }) => queue === name)) {
            if (await isLost(database, states, step, graceMs)) answers.lost.add(step);
          }
        }
        haveAnswered = true;
        return answers;
      } catch (error) {
        haveAnswered = false;
        return { ...answers, problem: `The queues do not answer: ${messageOf(error)}` };
      }
    },
  };
}

/** Asks for the row between two looks into the queue: a job that ends meanwhile is not lost. */
async function isLost(
  database: Database,
  states: QueueStates,
  step: DueStep,
  graceMs: number,
): Promise<boolean> {
  const hasJob = () => states.has(step.queue, jobId(step));
  return !(await hasJob()) && (await isStillDue(database, step, graceMs)) && !(await hasJob());
}
