import { percentile } from './report.ts';
import { OLDEST_IN_OUTBOX, type Sample } from './soak-sample.ts';

/** The first part of the load is not judged: programs are compiled, pools and caches fill. */
export const WARM_UP_PART = 0.25;
/** How much more something may be at the end than at the beginning. */
const GROWTH_PART = 0.1;
/** So many seconds' worth of payments may be open or not delivered on top. */
const BACKLOG_SLACK_S = 2;
/** No row of the outbox may ever be due for longer. */
const OUTBOX_MAX_AGE_MS = 5_000;
/** Fewer in a third have no median worth the name. */
const MIN_SAMPLES_COUNT = 4;

/**
 * Says whether anything grows that must not. Cuts what comes after the warm-up into thirds.
 * The median of the last third may be a tenth above the median of the first.
 * @param perSecond the payments that were offered
 * @returns lines for people, and of them the problems: none when the service can go on like this
 */
export function judge(samples: readonly Sample[], perSecond: number) {
  const durationMs = samples.at(-1)?.atMs ?? 0;
  const judged = samples.filter(({ atMs }) => atMs >= durationMs * WARM_UP_PART);
  const third = Math.floor(judged.length / 3);
  if (third < MIN_SAMPLES_COUNT) return { trends: [], problems: ['it was too short to judge'] };
  const { atMs, [OLDEST_IN_OUTBOX]: oldest, ...others } = judged[0]!;
  const medianOf = (part: Sample[], name: string) =>
    percentile(
      part.map((sample) => sample[name]!),
      50,
    );
  const trends = Object.keys(others).map((name) => {
    const first = medianOf(judged.slice(0, third), name);
    const last = medianOf(judged.slice(-third), name);
    const percent = first === 0 ? '' : ` (${Math.round((last / first - 1) * 100)} %)`;
    const line = `${name}: ${first.toFixed(1)} to ${last.toFixed(1)}${percent}`;
    return { line, grows: last > first * (1 + GROWTH_PART) + slackOf(name, perSecond) };
  });
  const problems = trends.filter(({ grows }) => grows).map(({ line }) => `${line} grows`);
  const oldestMs = Math.max(...judged.map((sample) => sample[OLDEST_IN_OUTBOX]!));
  if (oldestMs > OUTBOX_MAX_AGE_MS) problems.push(`${OLDEST_IN_OUTBOX}: ${Math.round(oldestMs)}`);
  return { trends: trends.map(({ line }) => line), problems };
}

/** Says how much more than a tenth something may grow, where a tenth of little is nothing. */
function slackOf(name: string, perSecond: number): number {
  if (name.startsWith('open files')) return 10;
  if (name === 'MiB used in Redis') return 1;
  if (name === 'connections to PostgreSQL') return 5;
  if (name === 'rows of the outbox') return 20;
  return name.startsWith('MiB') ? 0 : perSecond * BACKLOG_SLACK_S;
}
