import { channelByCode } from '../domain/channels/channel.ts';
import { kes } from '../domain/money.ts';
import type { BulkFilter, ReplayOutcome } from '../domain/support/bulk-replay.ts';
import {
  REPLAY_REFUSAL_WORDS,
  REPLAY_STEPS,
  REPLAY_WORDS,
  type ReplayAction,
} from '../domain/support/replay-job.ts';
import { counted } from '../domain/text.ts';
import { HOUR_MS } from '../time.ts';

/** The replays after which money may move. */
export const MOVING: ReadonlySet<ReplayAction> = new Set<ReplayAction>([
  'send',
  'ask_not_send',
  'refund',
]);

/** A refund puts the fee back, too. */
export function moneyOf(action: ReplayAction, cents: number): string {
  return action === 'refund' ? `${kes(cents)} and the fee` : kes(cents);
}

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

/** Says which jobs a filter selects. @param time writes a moment */
export function filterWords(filter: BulkFilter, time: (at: Date) => string): string {
  const { ids, queue, error, merchant_id, channel, payments, as_of } = filter;
  const { olderThanMs, newerThanMs } = filter;
  if (ids) return `the failed jobs ${ids.join(', ')}`;
  const before = `before ${time(new Date(as_of))}`;
  const words = [
    queue && `of the queue ${queue}`,
    error && `whose error has “${error}”`,
    merchant_id !== undefined && `of merchant ${merchant_id}`,
    channel !== undefined && `of ${channelByCode(channel)?.name ?? `channel ${channel}`}`,
    payments && `of ${counted(payments.length, 'payment')}`,
    olderThanMs !== undefined && `that failed more than ${hours(olderThanMs)} ${before}`,
    newerThanMs !== undefined && `that failed within ${hours(newerThanMs)} ${before}`,
  ].filter(Boolean);
  return ['all that wait for somebody', ...words].join(', ');
}

function hours(ms: number): string {
  return `${ms / HOUR_MS} h`;
}
