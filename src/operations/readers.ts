import { validate as isUuid } from 'uuid';
import { CHANNELS, type Channel } from '../domain/channels/channel.ts';
import { formatAmount } from '../domain/money.ts';
import { isDay, startOfDay, type Zone } from '../domain/period.ts';
import { isEmail, isKenyanMobile, receiptOf, speltOut } from '../domain/text.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../time.ts';
import { optional, type Reader, UsageError } from './field.ts';

const MAX_SHOWN_LENGTH = 60;

/** Says on one line what a value should be, and what it is. */
export function wrong(expected: string, text: string): UsageError {
  const shown = text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
  return new UsageError(`must be ${expected}, not ${JSON.stringify(shown)}`);
}

/** Reads what `parse` understands. It returns undefined for all other texts. */
export function reader<Value>(
  placeholder: string,
  expected: string,
  parse: (text: string, zone: Zone) => Value | undefined,
): Reader<Value> {
  const read = (text: string, zone: Zone) => {
    const value = parse(text, zone);
    if (value === undefined) throw wrong(expected, text);
    return value;
  };
  return { placeholder, read };
}

/** Reads texts that pass a test, as they are. */
export function textThat(
  placeholder: string,
  expected: string,
  isRight: (text: string) => boolean,
): Reader<string> {
  return reader(placeholder, expected, (text) => (isRight(text) ? text : undefined));
}

/** Text of one line, trimmed, in which each character can be seen. */
export function text(placeholder: string, maxLength: number): Reader<string> {
  return reader(placeholder, `1 to ${maxLength} visible characters on one line`, (raw) => {
    const value = raw.trim();
    const isSeen = !/[\t\n\r]/.test(value) && speltOut(value) === value;
    return isSeen && value !== '' && value.length <= maxLength ? value : undefined;
  });
}

export const MAX_RECEIPT_LENGTH = 100;
const RECEIPT = text('RECEIPT', MAX_RECEIPT_LENGTH);
/** One receipt, or several with commas between them. */
export const receipt: Reader<string> = {
  ...RECEIPT,
  read: (raw, zone) => receiptOf(RECEIPT.read(raw, zone)),
};

/** The longest reason that the audit log takes. */
export const MAX_REASON_LENGTH = 500;
/** Why a member of staff does something. */
export const reason = text('TEXT', MAX_REASON_LENGTH);

export function integer(placeholder: string, min: number, max: number): Reader<number> {
  return reader(placeholder, `a whole number from ${min} to ${max}`, (raw) => {
    const value = /^\d{1,15}$/.test(raw) ? Number(raw) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  });
}

/** Whole numbers from 1, separated by commas. Returns each once, in ascending order. */
export function integers(placeholder: string, max: number, maxCount: number): Reader<number[]> {
  const one = integer(placeholder, 1, max);
  return reader(placeholder, `at most ${maxCount} numbers`, (raw, zone) => {
    const numbers = new Set(raw.split(',').map((part) => one.read(part.trim(), zone)));
    return numbers.size > maxCount ? undefined : [...numbers].sort((a, b) => a - b);
  });
}

/** Also takes the word `default`, as null. */
export function orDefault<Value>(reader: Reader<Value>): Reader<Value | null> {
  const { placeholder, read, write = String } = reader;
  return {
    placeholder: `${placeholder}|default`,
    read: (raw, zone) => (raw === 'default' ? null : read(raw, zone)),
    write: (value) => (value === null ? 'default' : write(value)),
  };
}

/** Also takes the word `none`, as the empty list. */
export function orNone<Value>({ read, ...reader }: Reader<Value[]>): Reader<Value[]> {
  return {
    ...reader,
    none: 'none',
    placeholder: `${reader.placeholder}|none`,
    read: (raw, zone) => (raw === 'none' ? [] : read(raw, zone)),
  };
}

export function oneOf<Word extends string>(words: readonly Word[]): Reader<Word> {
  const expected = words.length > 1 ? `one of ${words.join(', ')}` : words.join();
  const isWord = (raw: string) => words.find((word) => word === raw);
  return { ...reader(words.join('|'), expected, isWord), words };
}

/** Words separated by commas. Returns each once, in the order of `words`. */
export function someOf<Word extends string>(words: readonly Word[]): Reader<Word[]> {
  const placeholder = words.slice(0, 2).join(',');
  const some = reader(placeholder, `a list out of ${words.join(', ')}`, (raw) => {
    const given = raw.split(',').map((word) => word.trim());
    const isKnown = given.every((word) => words.includes(word as Word));
    return isKnown ? words.filter((word) => given.includes(word)) : undefined;
  });
  return { ...some, words, input: 'boxes' };
}

/**
 * Reads shillings as cents: 5000 is 5000.00. 5000.5 and 5,000 may be slips. The most that one entry
 * may be is far above a day's top-up.
 */
function amount(expected: string, allows: (cents: number) => boolean): Reader<number> {
  const inCents = reader('AMOUNT', expected, (raw) => {
    const [, sign, shillings, cents = '00'] = /^(-?)(\d{1,9})(?:\.(\d{2}))?$/.exec(raw) ?? [];
    const value = Number(`${sign}${shillings}${cents}`);
    return allows(value) ? value : undefined;
  });
  return { ...inCents, write: formatAmount };
}

const FORM = 'with two decimals or none, and without commas';
const POSITIVE = `an amount from 0.01 to 999999999.99, such as 100.00 or 100: ${FORM}`;
const NOT_ZERO = `an amount that is not zero, such as 100.00 or -100: ${FORM}`;
const FEE = `an amount of 0.00 or more, such as 5.00 or 5: ${FORM}`;
export const positiveAmount = amount(POSITIVE, (cents) => cents > 0);
export const signedAmount = amount(NOT_ZERO, (cents) => Math.abs(cents) > 0);
export const feeAmount = amount(FEE, (cents) => cents >= 0 && !Object.is(cents, -0));

function id(placeholder: string, expected: string): Reader<number> {
  return reader(placeholder, expected, (raw) =>
    /^[1-9]\d{0,14}$/.test(raw) ? Number(raw) : undefined,
  );
}

const MAX_NAME_LENGTH = 100;

export const merchantId = id('ID', "a merchant's number such as 1001");
export const appCode = id('CODE', "an app's code such as 5001");
export const name = text('NAME', MAX_NAME_LENGTH);
export const email: Reader<string> = {
  ...textThat('EMAIL', 'an e-mail address', isEmail),
  input: 'email',
};
const PHONES = 'a Kenyan mobile number such as +254712345678';
export const phone = textThat('PHONE', PHONES, isKenyanMobile);

/** An id as it is stored. */
export const uuid = reader('ID', 'an id such as 0199f0c0-5a3e-7cc1-8f0e-3d5b0a1c2d3e', (raw) =>
  isUuid(raw) ? raw.toLowerCase() : undefined,
);

const CHANNEL_CODES = "a channel's code such as 63902, one that channel list shows";
export const channel = {
  ...reader('CODE', CHANNEL_CODES, (raw) => CHANNELS.find(({ code }) => String(code) === raw)),
  words: CHANNELS.map(({ code }) => String(code)),
  write: ({ code }: Channel) => String(code),
};

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
};

/** A duration such as `24h`, in milliseconds. */
export function duration(maxDays: number): Reader<number> {
  const expected = `a time such as 90s, 30m, 24h or 7d (at most ${maxDays}d), or 0`;
  const inMs = reader('DURATION', expected, (raw) => {
    if (raw === '0') return 0;
    const [, count, unit] = /^(\d{1,7})([smhd])$/.exec(raw) ?? [];
    const ms = Number(count) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
    return ms <= maxDays * UNIT_MS.d! ? ms : undefined;
  });
  return { ...inMs, write: writeDuration };
}

/** Writes a duration in the largest unit that it is a whole number of. */
function writeDuration(ms: number): string {
  const [unit, unitMs] = Object.entries(UNIT_MS).findLast(([, each]) => ms % each === 0)!;
  return ms === 0 ? '0' : `${ms / unitMs}${unit}`;
}

const DAY = /^[1-9]\d{3}-\d\d-\d\d$/;
export const day = textThat(
  'YYYY-MM-DD',
  'a day, YYYY-MM-DD',
  (raw) => DAY.test(raw) && isDay(raw),
);

const MOMENT = /^([1-9]\d{3}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;
const MOMENTS = 'a moment such as 2026-11-20T18:00:00+03:00, or a day';

/** A moment in ISO 8601 with its offset. A day stands for its start in the zone. */
export const moment = reader('MOMENT', MOMENTS, (raw, zone) => {
  const [, date = '', time] = MOMENT.exec(raw) ?? [];
  const read = time === undefined ? startOfDay(raw, zone) : new Date(raw);
  return isDay(date) && !Number.isNaN(read.getTime()) ? read : undefined;
});

/** The difference between a clock and UTC. */
export const utcOffset = textThat('+HH:MM', 'an offset such as +03:00', (raw) =>
  /^[+-](0\d|1[0-4]):[0-5]\d$/.test(raw),
);

/** Narrows a list to one merchant. */
export const ofMerchant = optional('merchant', merchantId, 'Only of this merchant');
