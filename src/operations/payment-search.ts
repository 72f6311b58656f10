import { CHANNELS } from '../domain/channels/channel.ts';
import { STATUS_CODES } from '../domain/payments/payment.ts';
import type { PaymentFilter } from '../domain/support/find-payments.ts';
import { kenyanMobileIn } from '../domain/text.ts';
import { optional, UsageError, type ValuesOf } from './field.ts';
import { narrowing } from './payment.ts';
import { checkPeriod, isPeriodOf, period } from './period.ts';
import * as read from './readers.ts';

/* The filters of payments, as support gives them at the command line and at the console. */

const PHONES = 'a Kenyan mobile number such as 0712345678 or +254712345678';
/** A phone in any usual form, as E.164. */
const anyPhone = read.reader('PHONE', PHONES, (raw) => kenyanMobileIn(raw.trim()));

const CHANNEL_NAMES = "a channel's code or name such as 63902 or M-PESA; channel list shows them";
const letters = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** The code of a channel that is named by its code or its name. */
const channelOrName = read.reader('CHANNEL', CHANNEL_NAMES, (raw) => {
  const named = (code: number, name: string) =>
    String(code) === raw || letters(name) === letters(raw);
  return CHANNELS.find(({ code, name }) => named(code, name))?.code;
});

/** The last digits of a phone or account, which people remember or read on a screen. */
const lastDigits = read.textThat('DIGITS', 'the last 3 to 9 digits', (raw) =>
  /^\d{3,9}$/.test(raw),
);

/** No index has these. */
const UNINDEXED = {
  ends_with: optional(
    'phone-ends',
    lastDigits,
    'Only those whose phone or account ends with these digits',
  ),
  app_code: optional('app', read.appCode, 'Only those of this app'),
  channel: optional('channel', channelOrName, 'Only those of this channel, by code or name'),
  amount_cents: optional('amount', read.positiveAmount, 'Only those of this amount'),
  min_cents: optional('min', read.positiveAmount, 'Only those of this amount or more'),
  max_cents: optional('max', read.positiveAmount, 'Only those of this amount or less'),
};
export const paymentSearch = {
  phone: optional('phone', anyPhone, 'Only those of this phone, in any usual form'),
  ...narrowing,
  statuses: optional(
    'state',
    read.someOf(STATUS_CODES),
    `Only those in these states: ${STATUS_CODES.join(', ')}`,
  ),
  ...period,
  ...UNINDEXED,
};
/** A list reads all payments of so many days at most, if no index has what it looks for. */
export const MAX_UNINDEXED_DAYS = 31;

export type PaymentSearch = ValuesOf<typeof paymentSearch>;

/**
 * Checks filters that depend on each other.
 * @param isIndexed is true for a list that reads few payments anyway
 * @throws UsageError
 */
export function checkPaymentSearch(given: PaymentSearch, { isIndexed = false } = {}): void {
  checkPeriod(given);
  checkAmounts(given);
  if (!isIndexed && given.phone === undefined) checkUnindexed(given);
}

/** Returns the filter of a search. An exact amount is a range. */
export function paymentFilterOf({ amount_cents, ...given }: PaymentSearch): PaymentFilter {
  const { min_cents = amount_cents, max_cents = amount_cents } = given;
  return { ...given, min_cents, max_cents };
}

function checkAmounts({ amount_cents, min_cents, max_cents }: PaymentSearch): void {
  const isRange = min_cents !== undefined || max_cents !== undefined;
  if (amount_cents !== undefined && isRange) {
    throw new UsageError('An amount is exact: give it without min and max');
  }
  if (min_cents !== undefined && max_cents !== undefined && min_cents > max_cents) {
    throw new UsageError('The least amount (min) must not be more than the most (max)');
  }
}

function checkUnindexed(given: PaymentSearch): void {
  const names = Object.keys(UNINDEXED) as (keyof typeof UNINDEXED)[];
  const name = names.find((each) => given[each] !== undefined);
  if (name === undefined || isPeriodOf(MAX_UNINDEXED_DAYS, given)) return;
  throw new UsageError(
    `The filter ${UNINDEXED[name].flag} needs a phone, or a period (since, until) of at most ${MAX_UNINDEXED_DAYS} days`,
  );
}
