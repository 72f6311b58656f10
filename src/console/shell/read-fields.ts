import { validate as isUuid } from 'uuid';
import { OperatorRefusal } from '../../domain/errors.ts';
import { isDay, startOfDay } from '../../domain/period.ts';
import { DAY_MS, HOUR_MS } from '../../time.ts';
import { ConsoleError } from '../visit.ts';

type Fields = Readonly<Record<string, string>>;

/** Returns the words whose boxes are checked. @param prefix begins the boxes' names */
export function checkedWords<Word extends string>(
  form: Fields,
  prefix: string,
  words: readonly Word[],
): Word[] {
  return words.filter((word) => form[`${prefix}${word}`] === 'on');
}

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
  /** The end of the period; rows at this time are not in it. */
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

/** Answers 404 where the domain finds nothing. */
export async function found<Value>(reading: Promise<Value>): Promise<Value> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof OperatorRefusal)) throw error;
    throw new ConsoleError(404, error.message);
  }
}

/** Reads a number of an address, such as a merchant's id. @throws ConsoleError for another text */
export function numberInPath(params: Readonly<Record<string, string>>, name: string): number {
  const text = params[name] ?? '';
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new ConsoleError(404, 'There is no such page');
  return Number(text);
}

/** Reads an id of an address. @throws ConsoleError for another text */
export function uuidIn(params: Readonly<Record<string, string>>, name: string): string {
  const text = params[name] ?? '';
  if (!isUuid(text)) throw new ConsoleError(404, 'There is no such page');
  return text.toLowerCase();
}
