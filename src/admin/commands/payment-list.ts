import { CHANNELS } from '../../domain/channels/channel.ts';
import { STATUS_CODES } from '../../domain/payments/payment.ts';
import { listForSupport, searchPayments } from '../../domain/support/list-for-support.ts';
import { kenyanMobileIn } from '../../domain/text.ts';
import { flag, optional, UsageError, type ValuesOf } from '../../operations/field.ts';
import { narrowing } from '../../operations/payment.ts';
import { checkPeriod, isPeriodOf, period } from '../../operations/period.ts';
import * as read from '../../operations/readers.ts';
import { lists } from '../output/answers.ts';
import { payments } from '../output/payments.ts';

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

/** No index has these. */
const UNINDEXED = {
  app_code: optional('app', read.appCode, 'Only those of this app'),
  channel: optional('channel', channelOrName, 'Only those of this channel, by code or name'),
  amount_cents: optional('amount', read.positiveAmount, 'Only those of this amount'),
  min_cents: optional('min', read.positiveAmount, 'Only those of this amount or more'),
  max_cents: optional('max', read.positiveAmount, 'Only those of this amount or less'),
};
const filters = {
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
/** The names of the filters when an exact amount is a range. */
const FILTERS = (Object.keys(filters) as (keyof typeof filters)[]).filter(
  (name) => name !== 'amount_cents',
);
/** A list reads all payments of so many days at most, if no index has what it looks for. */
const MAX_UNINDEXED_DAYS = 31;

export const list = lists(payments, read.uuid, {
  role: 'support',
  summary: 'Lists the payments that fit the filters, or those that need support',
  notes: `Without filters it lists the payments that need support, parked or overdue, oldest first. With filters it lists all payments that fit, newest first. --parked and --overdue list only those that need support, and filters narrow them. Days are days of Nairobi. --app, --channel and amounts need --phone, or a period of at most ${MAX_UNINDEXED_DAYS} days. A failed payout that waits for its refund is in state failed, though its merchant sees it as processing.`,
  options: {
    ...filters,
    parked: flag('parked', 'Only those that do not go on by themselves'),
    overdue: flag('overdue', 'Only those that have not ended in time'),
  },
  check: ({ parked, overdue, ...given }) => {
    checkPeriod(given);
    checkAmounts(given);
    if (!parked && !overdue && given.phone === undefined) checkUnindexed(given);
  },
  read: ({ database }, { parked, overdue, amount_cents, ...given }) => {
    const { min_cents = amount_cents, max_cents = amount_cents } = given;
    const filter = { ...given, min_cents, max_cents };
    const isSearch = FILTERS.some((name) => filter[name] !== undefined) && !parked && !overdue;
    if (isSearch) return searchPayments(database, filter);
    return listForSupport(database, { ...filter, parked, overdue });
  },
});

type Given = ValuesOf<typeof filters>;

function checkAmounts({ amount_cents, min_cents, max_cents }: Given): void {
  const isRange = min_cents !== undefined || max_cents !== undefined;
  if (amount_cents !== undefined && isRange) {
    throw new UsageError('--amount is exact: give it without --min and --max');
  }
  if (min_cents !== undefined && max_cents !== undefined && min_cents > max_cents) {
    throw new UsageError('--min must not be more than --max');
  }
}

function checkUnindexed(given: Given): void {
  const names = Object.keys(UNINDEXED) as (keyof typeof UNINDEXED)[];
  const name = names.find((each) => given[each] !== undefined);
  if (name === undefined || isPeriodOf(MAX_UNINDEXED_DAYS, given)) return;
  throw new UsageError(
    `--${UNINDEXED[name].flag} needs --phone, or --since at most ${MAX_UNINDEXED_DAYS} days before --until (now, if it is not given)`,
  );
}
