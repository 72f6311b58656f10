import { reads } from './command.ts';
import { readQueuesStatus } from './queue-status.ts';
import { empty } from './queues-empty.ts';
import { statusDocument, statusLines } from './queues-view.ts';

const status = reads({
  summary: 'Compares what the queues hold with what is due in the database',
  notes: [
    'OUTBOX: jobs that the dispatcher has yet to add. FAILED: jobs list --state waiting.',
    'ENDED/MIN: jobs that ended in the last whole minute; not counted in PostgreSQL.',
    'Due and not in the outbox: their jobs are in a queue, or lost, which is looked up for a few.',
    'Exit status 1 when there is a problem; without the queues the rest is shown all the same.',
  ],
  options: {},
  run: async (service) => {
    const found = await readQueuesStatus(service);
    return {
      isFailure: found.problems.length > 0,
      data: statusDocument(found),
      lines: statusLines(found),
    };
  },
});

export const queuesVerbs = { status, empty };
