import { COUNT_MAX } from '../../jobs/consistency.ts';
import { workerTypeOf } from '../../jobs/job-types.ts';
import type { QueueStatus } from '../../jobs/queue-status.ts';
import { Badge } from '../shell/status.tsx';
import { type Column, Table } from '../shell/table.tsx';
import { spanOf } from '../shell/time.tsx';

type Queue = QueueStatus['queues'][number];

/** What waits in the queues, and what is wrong with them. @param status a line when they are late */
export function QueuesPart({ status }: { status: QueueStatus | string }) {
  if (typeof status === 'string') {
    return (
      <>
        <h2>Queues</h2>
        <p class="warning">{status}. Payments that were accepted are safe. They are asked again.</p>
      </>
    );
  }
  const { queues_in, queues, problems } = status;
  const store = queues_in === 'redis' ? 'Redis' : 'PostgreSQL';
  return (
    <>
      <h2>Queues in {store}</h2>
      {queues.some(({ waiting }) => waiting === null) && (
        <p class="warning">
          {store} does not answer for the queues, so this is only what the database tells. Payments
          that were accepted are safe: their jobs are sent when it is back.
        </p>
      )}
      {problems.map((line) => (
        <p class="warning">{line}.</p>
      ))}
      <Table rows={queues} columns={COLUMNS} caption="Queues by process type" />
      <Due status={status} />
    </>
  );
}

/** A queue that does not answer tells nothing. */
const known = (count: number | null) => count ?? 'not known';
const ageOf = (ms: number | null) => (ms === null ? null : spanOf(ms / 1_000));

const COLUMNS: readonly Column<Queue>[] = [
  { heading: 'Process type', cell: ({ queue }) => workerTypeOf(queue) ?? 'none' },
  {
    heading: 'Queue',
    cell: ({ queue, paused }) => (
      <>
        {queue} {paused && <Badge tone="bad" words="paused" />}
      </>
    ),
  },
  { heading: 'Waiting', cell: ({ waiting }) => known(waiting), isNumber: true },
  { heading: 'Oldest', cell: ({ oldest_waiting_ms }) => ageOf(oldest_waiting_ms), isNumber: true },
  { heading: 'Active', cell: ({ active }) => known(active), isNumber: true },
  { heading: 'Later', cell: ({ delayed }) => known(delayed), isNumber: true },
  {
    heading: 'Ended per minute',
    cell: ({ ended_last_minute: ended }) => known(ended),
    isNumber: true,
  },
  { heading: 'Workers', cell: ({ workers }) => known(workers), isNumber: true },
  {
    heading: 'Outbox',
    cell: ({ outbox, outbox_oldest_ms: ms }) => (ms ? `${outbox}, ${ageOf(ms)}` : outbox),
    isNumber: true,
  },
  { heading: 'Failed', cell: ({ failed_waiting }) => failed_waiting, isNumber: true },
];

/** Rows that are due and not in the outbox. Only the queues know whether each has its job. */
function Due({ status: { due, deliveries_waiting: deliveries } }: { status: QueueStatus }) {
  return (
    <>
      {due.length === 0 && <p class="good">No row has been due for longer than it may be.</p>}
      {due.map(({ kind, count, oldest_ms, sample }) => (
        <p>
          {countWords(count)} {kind} rows are due for {ageOf(oldest_ms)} or less.{' '}
          {lostWords(sample)}
        </p>
      ))}
      {deliveries.count > 0 && (
        <p>
          {countWords(deliveries.count)} webhooks wait for a place at their endpoint, the oldest for{' '}
          {ageOf(deliveries.oldest_ms)}.
        </p>
      )}
    </>
  );
}

function lostWords(sample: QueueStatus['due'][number]['sample']): string {
  if (sample.some(({ lost }) => lost === null)) return 'The queues do not say whether they know.';
  const lost = sample.filter((step) => step.lost).length;
  return `Without a job are ${lost} of the ${sample.length} that were looked for.`;
}

function countWords(count: number): string {
  return count < COUNT_MAX ? String(count) : `at least ${COUNT_MAX}`;
}
