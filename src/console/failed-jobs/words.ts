import { channelByCode } from '../../domain/channels/channel.ts';
import type { BulkFilter, ReplayOutcome } from '../../domain/support/bulk-replay.ts';
import { REPLAY_STEPS, type ReplayAction } from '../../domain/support/decide-replay.ts';
import type { FailedJobState } from '../../domain/support/failed-job-store.ts';
import { REPLAY_REFUSAL_WORDS, REPLAY_WORDS } from '../../domain/support/replay-words.ts';
import { nairobiTime } from '../shell/time.tsx';

const HOUR_MS = 3_600_000;

/** The states of failed jobs, as the list shows them. */
export const STATE_WORDS: Readonly<Record<FailedJobState, string>> = {
  waiting: 'waits for somebody',
  replayed: 'replayed',
  failed_again: 'replayed, and failed again',
  moved_on: 'has moved on by itself',
};

/** Tells whether an outcome is a replay, and not a refusal. */
export function isReplay(outcome: ReplayOutcome): outcome is ReplayAction {
  return Object.hasOwn(REPLAY_STEPS, outcome);
}

/** Says what comes of a job. */
export function outcomeWords(outcome: ReplayOutcome): string {
  return isReplay(outcome) ? REPLAY_WORDS[outcome] : `refused: ${REPLAY_REFUSAL_WORDS[outcome]}`;
}

/** Returns the outcomes with their counts, replays first. */
export function countsOf(
  outcomes: Readonly<Partial<Record<ReplayOutcome, number>>>,
): { outcome: ReplayOutcome; count: number }[] {
  return (Object.entries(outcomes) as [ReplayOutcome, number][])
    .map(([outcome, count]) => ({ outcome, count }))
    .sort((a, b) => Number(isReplay(b.outcome)) - Number(isReplay(a.outcome)) || b.count - a.count);
}

/** Says which jobs a filter selects. */
export function filterWords(filter: BulkFilter): string {
  const { ids, queue, error, merchant_id, channel, olderThanMs, newerThanMs, as_of } = filter;
  if (ids) return `the failed jobs ${ids.join(', ')}`;
  const before = `before ${nairobiTime(new Date(as_of))}`;
  const words = [
    queue && `of the queue ${queue}`,
    error && `whose error has “${error}”`,
    merchant_id !== undefined && `of merchant ${merchant_id}`,
    channel !== undefined && `of ${channelByCode(channel)?.name ?? `channel ${channel}`}`,
    olderThanMs !== undefined && `that failed more than ${hours(olderThanMs)} ${before}`,
    newerThanMs !== undefined && `that failed within ${hours(newerThanMs)} ${before}`,
  ].filter(Boolean);
  return ['all that wait for somebody', ...words].join(', ');
}

function hours(ms: number): string {
  return `${ms / HOUR_MS} h`;
}
