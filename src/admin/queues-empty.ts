import { OperatorRefusal } from '../domain/operator-refusal.ts';
import { createQueueBackend } from '../jobs/backend.ts';
import { emptyQueues } from '../jobs/empty-queues.ts';
import { allQueues } from '../jobs/queue-states.ts';
import { changes } from './command.ts';
import { columns } from './output.ts';

/** Takes all jobs out of the queues; the sweeper sends again what is due. */
export const empty = changes({
  summary: 'Takes every job out of the queues, after a restore from a backup',
  notes: [
    'Nothing is lost: what is due is in the database, and the dispatcher sends it again after',
    'SWEEP_GRACE_MS. What a queue still knows of a database that is no more would only be in',
    'the way. If it is interrupted, run it again: a queue is paused while it is emptied.',
  ],
  options: {},
  run: async ({ service, audited }) => {
    const { config, gateways } = service;
    const backend = createQueueBackend(config);
    const problem = await backend.problem();
    if (problem) throw new OperatorRefusal(problem);
    const queues = await emptyQueues(backend, allQueues([...gateways.keys()]));
    const jobs = queues.reduce((sum, queue) => sum + queue.jobs, 0);
    const details = {
      backend: backend.name,
      jobs,
      queues: queues.filter((queue) => queue.jobs > 0),
    };
    // The queues are in no transaction of the database: written down when it is done.
    await audited(async () => ({
      value: null,
      audit: { merchant_id: null, subject: 'queues', details },
    }));
    return {
      data: { backend: backend.name, jobs, queues },
      lines: [
        `Queues in ${backend.name} emptied; jobs taken out: ${jobs}`,
        ...columns([
          ['QUEUE', 'JOBS'],
          ...queues.map(({ queue, jobs: count }) => [queue, String(count)]),
        ]),
      ],
    };
  },
});
