import { COUNT_MAX, type DueStep, type DueSteps } from '../jobs/consistency.ts';
import { columns, moment, yesNo } from './output.ts';
import type { QueueLine, QueuesStatus } from './queue-status.ts';

/** How many ids of each kind people are shown. */
const MAX_SHOWN_IDS = 5;

/** The status as JSON; what the queues did not say is null. */
export function statusDocument(status: QueuesStatus) {
  const { backend, queues, due, deliveries, leases, isDispatcherAlive, problems } = status;
  return {
    queues_in: backend,
    queues: queues.map(queueDocument),
    due: due.map((each) => dueDocument(each, status)),
    deliveries_waiting: { count: deliveries.count, oldest_ms: Math.round(deliveries.oldestDueMs) },
    leases: leases.map(({ name, holder, heldUntil, isHeld }) => ({
      ...{ name, holder, held_until: heldUntil.toISOString(), held: isHeld },
    })),
    dispatcher_running: isDispatcherAlive,
    problems,
  };
}

function queueDocument({ queue, state, outbox, failed }: QueueLine) {
  return {
    queue,
    waiting: state?.waiting ?? null,
    oldest_waiting_ms: state?.oldestWaitingMs ?? null,
    active: state?.active ?? null,
    delayed: state?.delayed ?? null,
    paused: state?.isPaused ?? null,
    workers: state?.workers ?? null,
    ended_last_minute: state?.endedLastMinute ?? null,
    outbox: outbox?.count ?? 0,
    outbox_oldest_ms: outbox ? Math.round(outbox.oldestDueMs) : null,
    failed_waiting: failed,
  };
}

function dueDocument({ kind, count, oldestDueMs, sample }: DueSteps, { lost }: QueuesStatus) {
  return {
    kind,
    count,
    oldest_ms: Math.round(oldestDueMs),
    sample: sample.map((step) => ({
      ...{ id: step.row_id, merchant_id: step.merchant_id, step: step.step, queue: step.queue },
      ...{ due_ms: Math.round(step.dueMs), lost: lost?.includes(step) ?? null },
    })),
  };
}

const TITLES = [
  ...['QUEUE', 'WAITING', 'SINCE', 'ACTIVE', 'DELAYED', 'ENDED/MIN', 'WORKERS', 'PAUSED'],
  ...['OUTBOX', 'SINCE', 'FAILED'],
];

/** The same for people. */
export function statusLines(status: QueuesStatus): string[] {
  const { backend, queues, deliveries, leases, problems } = status;
  const failed = queues.reduce((sum, queue) => sum + queue.failed, 0);
  return [
    `Queues are in ${backend === 'redis' ? 'Redis' : 'PostgreSQL'}`,
    ...columns([TITLES, ...queues.map(queueCells)]),
    '',
    ...dueLines(status),
    `Webhooks that are due and wait for a place at their endpoint: ${counted(deliveries.count)}` +
      (deliveries.count > 0 ? `, the oldest for ${age(deliveries.oldestDueMs)}` : ''),
    ...leases.map(
      ({ name, holder, heldUntil, isHeld }) =>
        `Lease ${name}: ${isHeld ? '' : 'ended, was '}held by ${holder} until ${moment(heldUntil)}`,
    ),
    ...(failed > 0
      ? [`Failed jobs that wait for somebody: ${failed}; jobs list --state waiting`]
      : []),
    '',
    ...(problems.length === 0
      ? ['All is well']
      : ['Problems:', ...problems.map((line) => `  ${line}`)]),
  ];
}

function queueCells({ queue, state, outbox, failed }: QueueLine): string[] {
  const of = (value: number | null | undefined) => (value == null ? '-' : String(value));
  const since = (ms: number | null | undefined) => (ms == null ? '-' : age(ms));
  return [
    queue,
    of(state?.waiting),
    since(state?.oldestWaitingMs),
    of(state?.active),
    of(state?.delayed),
    of(state?.endedLastMinute),
    of(state?.workers),
    state ? yesNo(state.isPaused) : '-',
    of(outbox?.count ?? 0),
    since(outbox?.oldestDueMs),
    String(failed),
  ];
}

function dueLines({ due, lost }: QueuesStatus): string[] {
  if (due.length === 0) return ['Steps that are due and not in the outbox: none'];
  return [
    'Steps that are due and not in the outbox:',
    ...columns([
      ['  KIND', 'COUNT', 'SINCE', 'LOOKED FOR', 'LOST', 'WHICH'],
      ...due.map(({ kind, count, oldestDueMs, sample }) => {
        const missing = lost?.filter((step) => sample.includes(step)) ?? [];
        return [
          `  ${kind}`,
          counted(count),
          age(oldestDueMs),
          lost ? String(sample.length) : '-',
          lost ? String(missing.length) : '-',
          idsOf(missing.length > 0 ? missing : sample),
        ];
      }),
    ]),
  ];
}

function idsOf(steps: DueStep[]): string {
  const shown = steps.slice(0, MAX_SHOWN_IDS).map(({ row_id: rowId }) => rowId);
  return steps.length > shown.length ? `${shown.join(' ')} …` : shown.join(' ');
}

function counted(count: number): string {
  return count < COUNT_MAX ? String(count) : `${COUNT_MAX} or more`;
}

const UNITS: [name: string, seconds: number][] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
];

/** A span of time in its largest unit, rounded down. */
function age(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const [name, length] = UNITS.find(([, each]) => seconds >= each) ?? ['s', 1];
  return `${Math.floor(seconds / length)}${name}`;
}
