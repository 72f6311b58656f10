import { roleWarning } from '../../connections/database-warnings.ts';
import { installationId } from '../../connections/installation.ts';
import { type ChannelPause, channelPauses } from '../../domain/channels/channel-store.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import { appsWithUnsignedWebhooks } from '../../domain/merchants/rotate-secrets.ts';
import {
  isPolledOnly,
  type LearnedLately,
  readLearnedLately,
} from '../../domain/settlement/lately.ts';
import { countWaitingJobs } from '../../domain/support/failed-job-store.ts';
import { otherDatabase, whyPaused } from '../../domain/upkeep/other-database.ts';
import { countExhausted } from '../../domain/webhooks/list-deliveries.ts';
import { COUNT_MAX } from '../../jobs/consistency.ts';
import {
  allQueues,
  emptyQueues,
  openQueueWatch,
  type QueueStatus,
  readQueueStatus,
} from '../../jobs/queue-watch.ts';
import { CALLBACK_BASE_UNKNOWN } from '../../service/callback-base.ts';
import { channelWords, sinceWords } from '../output/pauses.ts';
import { moment, render, table } from '../output/table.ts';
import { loadQueueBackend } from '../queue-backend.ts';
import { changes, type Lines, type Noun, reads } from '../verb.ts';

/** The table shows this many ids of each kind. */
const MAX_SHOWN_IDS = 5;

const status = reads({
  role: 'anyone',
  summary: 'Compares the queues with what is due in the database',
  notes:
    'OUTBOX: jobs that the dispatcher has not added yet. FAILED: jobs that wait for a decision, as jobs list --state waiting shows them. ENDED/MIN: jobs that ended in the last whole minute; queues in PostgreSQL do not count them. Steps that are due and not in the outbox: their jobs are in a queue, or lost. The command looks up a few of them. Exit status 1 when there is a problem. If the queues do not answer, the command still shows the rest.',
  run: async (service) => {
    const { database, config, gateways, callbackBase } = service;
    const watch = openQueueWatch(service, await loadQueueBackend(service));
    const status = await readQueueStatus(database, watch, {
      queues: allQueues([...gateways.keys()]),
      failed: await countWaitingJobs(database),
      graceMs: config.sweepGraceMs,
    }).finally(() => watch.close());
    const other = await otherDatabase(database);
    const callback_url = await callbackBase.find();
    const learned_lately = await readLearnedLately(database);
    const problems = [
      ...(other ? [whyPaused(other)] : []),
      ...(callback_url === null ? [CALLBACK_BASE_UNKNOWN] : []),
      ...learned_lately.filter(isPolledOnly).map(polledOnly),
      ...(await appsWithUnsignedWebhooks(database)).map(unsigned),
      ...status.problems,
    ];
    const role = await roleWarning(database);
    const data = {
      installation_id: await installationId(database),
      ...status,
      problems,
      warnings: role === null ? [] : [role],
      submissions_paused: other,
      callback_url,
      learned_lately,
      paused_channels: [...(await channelPauses(database)).values()],
      webhooks_exhausted: await countExhausted(database, COUNT_MAX),
    };
    return { isFailure: data.problems.length > 0, data, lines: statusLines(data) };
  },
});

function polledOnly({ channel, by_poll }: LearnedLately): string {
  return `Callbacks of channel ${channel} do not arrive: ${by_poll} payments of the last half hour ended by questions, and no callback came`;
}

function unsigned(app: number): string {
  return `Webhooks of app ${app} wait, because it has no secret to sign with: app show ${app}`;
}

interface Status extends QueueStatus {
  installation_id: string;
  callback_url: string | null;
  learned_lately: LearnedLately[];
  paused_channels: ChannelPause[];
  webhooks_exhausted: number;
  warnings: string[];
}

function statusLines(status: Status): Lines {
  const { queues, deliveries_waiting: deliveries, webhooks_exhausted, problems } = status;
  const failed = queues.reduce((sum, queue) => sum + queue.failed_waiting, 0);
  const paused = status.paused_channels.map(
    (pause) => `${channelWords(pause.code)} ${sinceWords(pause)}`,
  );
  const longest = deliveries.count > 0 ? `, the oldest for ${age(deliveries.oldest_ms)}` : '';
  return [
    `Queues are in ${status.queues_in === 'redis' ? 'Redis' : 'PostgreSQL'}`,
    `Installation ${status.installation_id}; gateways call back at ${status.callback_url ?? 'no address'}`,
    queueTable(queues),
    '',
    dueLines(status.due),
    `Webhooks that are due and wait for a place at their endpoint: ${counted(deliveries.count)}${longest}`,
    status.leases.map(({ name, holder, held_until, held }) => {
      const until = moment(new Date(held_until));
      return `Lease ${name}: ${held ? '' : 'ended, was '}held by ${holder} until ${until}`;
    }),
    `Webhooks that were given up: ${counted(webhooks_exhausted)}${webhooks_exhausted > 0 ? '; webhooks list' : ''}`,
    status.learned_lately.map(
      ({ channel, by_callback, by_poll }) =>
        `Channel ${channel} in the last half hour: ${by_callback} called back, ${by_poll} ended by questions only`,
    ),
    paused.length > 0 && `Paused channels: ${paused.join('; ')}`,
    failed > 0 && `Failed jobs that wait for somebody: ${failed}; jobs list --state waiting`,
    '',
    problems.length === 0 ? 'All is well' : 'Problems:',
    problems.map((line) => `  ${line}`),
    status.warnings.map((line) => `Warning: ${line}`),
  ];
}

function queueTable(queues: QueueStatus['queues']): string[] {
  const rows = queues.map(({ oldest_waiting_ms, outbox_oldest_ms, ...queue }) => {
    return { ...queue, since: age(oldest_waiting_ms), outbox_since: age(outbox_oldest_ms) };
  });
  return table(rows, [
    'queue',
    'waiting',
    'since',
    'active',
    'delayed',
    ['ENDED/MIN', 'ended_last_minute'],
    'workers',
    'paused',
    'outbox',
    ['SINCE', 'outbox_since'],
    ['FAILED', 'failed_waiting'],
  ]);
}

function dueLines(due: QueueStatus['due']): string[] {
  if (due.length === 0) return ['Steps that are due and not in the outbox: none'];
  const rows = due.map(({ sample, ...step }) => {
    const lost = sample.filter((each) => each.lost);
    const isAnswered = sample.every((each) => each.lost !== null);
    return {
      ...step,
      count: counted(step.count),
      since: age(step.oldest_ms),
      looked_for: isAnswered ? sample.length : null,
      lost: isAnswered ? lost.length : null,
      which: idsOf(lost.length > 0 ? lost : sample),
    };
  });
  const columns = ['kind', 'count', 'since', 'looked_for', 'lost', 'which'] as const;
  return ['Steps that are due and not in the outbox:', ...table(rows, columns, '  ')];
}

function idsOf(steps: { id: string }[]): string {
  const ids = steps.map(({ id }) => id);
  return ids.length > MAX_SHOWN_IDS ? `${ids.slice(0, MAX_SHOWN_IDS).join(' ')} …` : ids.join(' ');
}

function counted(count: number): string {
  return count < COUNT_MAX ? String(count) : `${COUNT_MAX} or more`;
}

const UNITS_S: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, m: 60, s: 1 };

/** A span of time in its largest unit, rounded down. */
function age(ms: number | null): string | null {
  if (ms === null) return null;
  const seconds = Math.floor(ms / 1_000);
  const [name, length] = Object.entries(UNITS_S).find(([, each]) => seconds >= each) ?? ['s', 1];
  return `${Math.floor(seconds / length)}${name}`;
}

const empty = changes({
  role: 'anyone',
  summary: 'Takes every job out of the queues, after a restore from a backup',
  notes:
    'Nothing is lost: what is due is in the database, and the dispatcher sends it again after SWEEP_GRACE_MS. Jobs of the old database are useless. If the command is interrupted, run it again: it pauses a queue while it empties it.',
  run: async (service, _values, { audited }) => {
    const backend = await loadQueueBackend(service);
    const problem = await backend.problem();
    if (problem) throw new OperatorRefusal(problem);
    const queues = await emptyQueues(backend, allQueues([...service.gateways.keys()]));
    const jobs = queues.reduce((sum, queue) => sum + queue.jobs, 0);
    const data = { backend: backend.name, jobs, queues };
    const details = { ...data, queues: queues.filter((queue) => queue.jobs > 0) };
    const audit = { merchant_id: null, subject: 'queues', details };
    // The queues take part in no transaction, so this is written down afterwards.
    await audited(async () => ({ value: null, audit }));
    const title = `Queues in ${backend.name} emptied; jobs taken out: ${jobs}`;
    return { data, lines: [title, render({ queues })] };
  },
});

export const queues: Noun = { summary: 'Where jobs wait for workers', verbs: { status, empty } };
