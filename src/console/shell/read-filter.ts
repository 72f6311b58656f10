import { validate as isUuid } from 'uuid';
import { isDay } from '../../domain/period.ts';
import { startOfDay } from '../../domain/zone.ts';
import { ConsoleError } from '../console-error.ts';

/*
 * Readers of what an address or a form narrows a page to. A field that is empty narrows nothing.
 * All throw a ConsoleError that says what a wrong field should be.
 */

type Fields = Readonly<Record<string, string>>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const POSITIVE = /^[1-9]\d{0,14}$/;
/** No person looks for a longer text. */
export const MAX_TEXT_LENGTH = 254;

/** The ages that lists are narrowed by, with their words. */
export const AGES = {
  '1h': ['1 hour', HOUR_MS],
  '6h': ['6 hours', 6 * HOUR_MS],
  '24h': ['1 day', DAY_MS],
  '7d': ['7 days', 7 * DAY_MS],
  '30d': ['30 days', 30 * DAY_MS],
} as const;

/** Reads a whole number from 1 on. */
export function numberIn(fields: Fields, name: string): number | undefined {
  const text = fields[name];
  if (!text) return undefined;
  if (!POSITIVE.test(text)) throw wrong(name, 'a whole number, such as 1001');
  return Number(text);
}

export function wordIn<Word extends string>(
  fields: Fields,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const text = fields[name];
  if (!text) return undefined;
  const word = words.find((each) => each === text);
  if (word === undefined) throw wrong(name, `one of ${words.join(', ')}`);
  return word;
}

export function textIn(fields: Fields, name: string): string | undefined {
  const text = fields[name];
  if (!text) return undefined;
  if (text.length > MAX_TEXT_LENGTH || text.includes('\0')) {
    throw wrong(name, `a text of at most ${MAX_TEXT_LENGTH} characters`);
  }
  return text;
}

export function idIn(fields: Fields, name: string): string | undefined {
  const text = fields[name];
  if (!text) return undefined;
  if (!isUuid(text)) throw wrong(name, 'an id, as the list shows it');
  return text.toLowerCase();
}

/** Reads an age. @returns it in ms */
export function ageIn(fields: Fields, name: string): number | undefined {
  const age = wordIn(fields, name, Object.keys(AGES) as (keyof typeof AGES)[]);
  return age && AGES[age][1];
}

export interface Days {
  since: Date | undefined;
  /** Not at or after this moment. */
  until: Date | undefined;
}

/** Reads the first and the last day of a period, both included. They are days of Nairobi. */
export function daysIn(fields: Fields): Days {
  const since = dayIn(fields, 'since');
  const last = dayIn(fields, 'until');
  if (since && last && since > last) throw wrong('since', 'a day that is not after the last one');
  return { since, until: last && new Date(last.getTime() + DAY_MS) };
}

function dayIn(fields: Fields, name: string): Date | undefined {
  const text = fields[name];
  if (!text) return undefined;
  if (!isDay(text)) throw wrong(name, 'a day, such as 2026-11-20');
  return startOfDay(text, 'EAT');
}

function wrong(name: string, expected: string): ConsoleError {
  return new ConsoleError(400, `The field ${name} must be ${expected}. Go back and change it`);
}
