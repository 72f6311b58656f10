import { DAY_MS } from '../time.ts';
import { optional, type Reader, required, UsageError } from './field.ts';
import * as read from './readers.ts';

/** A moment with its offset; or a day of the zone, as the moment this long after its start. */
function dayOrMoment(afterStartMs: number): Reader<Date> {
  return {
    placeholder: 'DAY',
    input: 'date',
    read: (raw, zone) => {
      const at = read.moment.read(raw, zone);
      return raw.includes('T') ? at : new Date(at.getTime() + afterStartMs);
    },
  };
}

const SINCE_HELP = 'From this day on, or from a moment on';

/** Narrows a list to a time: from `since` on, and before `until`. */
export const period = {
  since: optional('since', dayOrMoment(0), SINCE_HELP),
  until: optional('until', dayOrMoment(DAY_MS), 'Up to this day, included, or before a moment'),
};

/** The start of a period that must have one. */
export const requiredSince = required('since', dayOrMoment(0), SINCE_HELP);

type Period = { since: Date | undefined; until: Date | undefined };

/** @throws UsageError when the period is empty. */
export function checkPeriod({ since, until }: Period): void {
  if (since && until && since >= until) {
    throw new UsageError('The start of the period (since) must be before its end (until)');
  }
}

/** Tells whether a period has a start, and is so long at most. Without an end it ends now. */
export function isPeriodOf(maxDays: number, { since, until = new Date() }: Period): boolean {
  return since !== undefined && until.getTime() - since.getTime() <= maxDays * DAY_MS;
}
