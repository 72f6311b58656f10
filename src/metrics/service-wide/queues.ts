import type { QueueStates } from '../../jobs/queue-states.ts';
import type { Source } from '../scraped-gauges.ts';

const MS_PER_SECOND = 1_000;

/** The queues as their backend tells of them. */
export function queuesSource(queues: Pick<QueueStates, 'read'>, names: readonly string[]): Source {
  return {
    name: 'queues',
    gauges: [
      {
        name: 'malipo_queue_jobs',
        help: 'Jobs in a queue: waiting, active, or delayed until their time comes',
        labels: ['queue', 'state'],
      },
      {
        name: 'malipo_queue_oldest_waiting_seconds',
        help: 'For how long the first of the waiting jobs has been due',
        labels: ['queue'],
      },
      {
        name: 'malipo_queue_workers',
        help: 'Workers that are connected to take jobs from a queue',
        labels: ['queue'],
      },
      {
        name: 'malipo_queue_paused',
        help: '1 when somebody has paused the queue itself',
        labels: ['queue'],
      },
    ],
    read: async () => {
      const states = await Promise.all(names.map((name) => queues.read(name)));
      return states.flatMap(({ queue, oldestWaitingMs, workers, isPaused, ...jobs }) => [
        ...(['waiting', 'active', 'delayed'] as const).map((state) => ({
          name: 'malipo_queue_jobs',
          labels: { queue, state },
          value: jobs[state],
        })),
        {
          name: 'malipo_queue_oldest_waiting_seconds',
          labels: { queue },
          value: (oldestWaitingMs ?? 0) / MS_PER_SECOND,
        },
        ...(workers === null
          ? []
          : [{ name: 'malipo_queue_workers', labels: { queue }, value: workers }]),
        { name: 'malipo_queue_paused', labels: { queue }, value: isPaused ? 1 : 0 },
      ]);
    },
  };
}
