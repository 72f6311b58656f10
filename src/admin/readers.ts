import { validate as isUuid } from 'uuid';
import { CHANNELS, type Channel } from '../domain/channels/channel.ts';
import { isEmail } from '../domain/email.ts';
import type { Role } from '../domain/identity/manage-users.ts';
import type { Product } from '../domain/merchants/manage-apps.ts';
import { isKenyanMobile } from '../domain/phone.ts';
import { type Reader, UsageError } from './command.ts';
import { COLUMN_NAMES, type ColumnMap, type ColumnName, isDay } from './statement-file.ts';

const MAX_SHOWN_LENGTH = 60;

/** Says what a value should be, and what it is, on one line whatever that contains. */
export function wrong(expected: string, text: string): UsageError {
  const shown = text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
  return new UsageError(`must be ${expected}, not ${JSON.stringify(shown)}`);
}

/** Control characters, lone surrogates and line separators. */
const NOT_PLAIN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Text of one line, trimmed, up to `maxLength` characters. */
export function text(placeholder: string, maxLength: number): Reader<string> {
  return {
    placeholder,
    read: (raw) => {
      const value = raw.trim();
      if (value === '' || value.length > maxLength || NOT_PLAIN.test(value)) {
        throw wrong(`1 to ${maxLength} characters on one line`, raw);
      }
      return value;
    },
  };
}

/** A whole number from `min` to `max`. */
export function integer(placeholder: string, min: number, max: number): Reader<number> {
  return {
    placeholder,
    read: (raw) => {
      const value = /^\d{1,15}$/.test(raw) ? Number(raw) : Number.NaN;
      if (!(value >= min && value <= max)) throw wrong(`a whole number from ${min} to ${max}`, raw);
      return value;
    },
  };
}

/** Whole numbers from 1, between commas, each once and in order of size; at most `maxCount`. */
export function integers(placeholder: string, max: number, maxCount: number): Reader<number[]> {
  const one = integer(placeholder, 1, max);
  return {
    placeholder,
    read: (raw) => {
      const numbers = new Set(raw.split(',').map((part) => one.read(part.trim())));
      if (numbers.size > maxCount) throw wrong(`at most ${maxCount} numbers`, raw);
      return [...numbers].sort((a, b) => a - b);
    },
  };
}

/** A reader that also takes the word `default`, as null. */
export function orDefault<Value>(reader: Reader<Value>): Reader<Value | null> {
  return {
    placeholder: `${reader.placeholder}|default`,
    read: (raw) => (raw === 'default' ? null : reader.read(raw)),
  };
}

/** One word out of a few. */
export function oneOf<Word extends string>(words: readonly Word[]): Reader<Word> {
  return {
    placeholder: words.join('|'),
    read: (raw) => {
      const word = words.find((candidate) => candidate === raw);
      if (!word) throw wrong(words.length > 1 ? `one of ${words.join(', ')}` : words.join(), raw);
      return word;
    },
  };
}

/** Words out of a few, between commas; in their usual order, each once. */
export function someOf<Word extends string>(words: readonly Word[]): Reader<Word[]> {
  return {
    placeholder: words.slice(0, 2).join(','),
    read: (raw) => {
      const given = raw.split(',').map((word) => word.trim());
      if (given.some((word) => !words.includes(word as Word))) {
        throw wrong(`a list out of ${words.join(', ')}`, raw);
      }
      return words.filter((word) => given.includes(word));
    },
  };
}

const MAX_ID = 999_999_999_999_999;
const MAX_NAME_LENGTH = 100;

export const merchantId: Reader<number> = {
  placeholder: 'ID',
  read: (raw) => idOf(raw, "a merchant's number such as 1001"),
};
export const appCode: Reader<number> = {
  placeholder: 'CODE',
  read: (raw) => idOf(raw, "an app's code such as 5001"),
};
export const name = text('NAME', MAX_NAME_LENGTH);
export const role = oneOf<Role>(['Admin', 'Finance', 'Operator']);
export const products = someOf<Product>(['collections', 'payouts', 'disbursements']);

function idOf(raw: string, expected: string): number {
  const value = /^[1-9]\d{0,14}$/.test(raw) ? Number(raw) : Number.NaN;
  if (!(value <= MAX_ID)) throw wrong(expected, raw);
  return value;
}

/** An id as it is stored. */
export const uuid: Reader<string> = {
  placeholder: 'ID',
  read: (raw) => {
    if (!isUuid(raw)) throw wrong('an id such as 0199f0c0-5a3e-7cc1-8f0e-3d5b0a1c2d3e', raw);
    return raw.toLowerCase();
  },
};

export const email: Reader<string> = {
  placeholder: 'EMAIL',
  read: (raw) => {
    if (!isEmail(raw)) throw wrong('an e-mail address', raw);
    return raw;
  },
};

export const phone: Reader<string> = {
  placeholder: 'PHONE',
  read: (raw) => {
    if (!isKenyanMobile(raw)) throw wrong('a Kenyan mobile number such as +254712345678', raw);
    return raw;
  },
};

export const channel: Reader<Channel> = {
  placeholder: 'CODE',
  read: (raw) => {
    const known = CHANNELS.find(({ code }) => String(code) === raw);
    if (known) return known;
    throw wrong("a channel's code such as 63902, one that channel list shows", raw);
  },
};

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A duration such as `24h`, in milliseconds; `0` is none. */
export function duration(maxDays: number): Reader<number> {
  return {
    placeholder: 'DURATION',
    read: (raw) => {
      if (raw === '0') return 0;
      const [, count, unit] = /^(\d{1,7})([smhd])$/.exec(raw) ?? [];
      const ms = Number(count) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
      if (ms <= maxDays * UNIT_MS.d!) return ms;
      throw wrong(`a time such as 90s, 30m, 24h or 7d (at most ${maxDays}d), or 0`, raw);
    },
  };
}

/** A day, YYYY-MM-DD. */
export const day: Reader<string> = {
  placeholder: 'YYYY-MM-DD',
  read: (raw) => {
    if (!/^[1-9]\d{3}-\d\d-\d\d$/.test(raw) || !isDay(raw)) throw wrong('a day, YYYY-MM-DD', raw);
    return raw;
  },
};

const MOMENT = /^([1-9]\d{3}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** A moment, in ISO 8601 with its offset; of a day its beginning in UTC. */
export const moment: Reader<Date> = {
  placeholder: 'MOMENT',
  read: (raw) => {
    const [, date = ''] = MOMENT.exec(raw) ?? [];
    const read = new Date(raw);
    if (isDay(date) && !Number.isNaN(read.getTime())) return read;
    throw wrong('a moment such as 2026-11-20T18:00:00+03:00, or a day', raw);
  },
};

/** How far a clock is from UTC. */
export const utcOffset: Reader<string> = {
  placeholder: '+HH:MM',
  read: (raw) => {
    if (!/^[+-](0\d|1[0-4]):[0-5]\d$/.test(raw)) throw wrong('an offset such as +03:00', raw);
    return raw;
  },
};

/** What the columns of a statement are called: `reference=Our ref,trans_id=Receipt`. */
export const columnMap: Reader<ColumnMap> = {
  placeholder: 'NAME=COLUMN,…',
  read: (raw) => {
    const pairs = raw.split(',').map((pair) => {
      const [, name, column] = /^(\w+)=(.+)$/.exec(pair.trim()) ?? [];
      if (!column || !COLUMN_NAMES.includes(name as ColumnName)) {
        throw wrong(`a list of NAME=COLUMN with names out of ${COLUMN_NAMES.join(', ')}`, raw);
      }
      return [name, column];
    });
    return Object.fromEntries(pairs);
  },
};
