import { CHANNELS } from '../../domain/channels/channel.ts';
import { kenyanMobileIn } from '../../domain/text.ts';
import { optional, type Reader, required, UsageError } from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
import { DAY_MS } from '../../time.ts';

/*
 * Readers of options that search. They take what people write, in every usual form. The readers
 * of options that change something take one form only.
 */

const PHONES = 'a Kenyan mobile number such as 0712345678 or +254712345678';

/** A phone in any usual form, as E.164. */
export const anyPhone = read.reader('PHONE', PHONES, (raw) => kenyanMobileIn(raw.trim()));

const CHANNEL_NAMES = "a channel's code or name such as 63902 or M-PESA; channel list shows them";
const letters = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** The code of a channel that is named by its code or its name. */
export const channelOrName = read.reader('CHANNEL', CHANNEL_NAMES, (raw) => {
  const named = (code: number, name: string) =>
    String(code) === raw || letters(name) === letters(raw);
  return CHANNELS.find(({ code, name }) => named(code, name))?.code;
});

/** A moment with its offset; or a day of the zone, as the moment so long after its start. */
function dayOrMoment(afterStartMs: number): Reader<Date> {
  return {
    placeholder: 'DAY',
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
  if (since && until && since >= until) throw new UsageError('--since must be before --until');
}

/** Tells whether a period has a start, and is so long at most. Without an end it ends now. */
export function isPeriodOf(maxDays: number, { since, until = new Date() }: Period): boolean {
  return since !== undefined && until.getTime() - since.getTime() <= maxDays * DAY_MS;
}
