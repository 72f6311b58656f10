import type { Zone } from '../domain/period.ts';

/** The input is wrong, and nothing was changed. The message is one line. */
export class UsageError extends Error {}

/** Reads the text of a field. */
export interface Reader<Value> {
  /** Stands for the value in --help. */
  placeholder: string;
  /** The allowed words, if only some are allowed. A list of words consists of these. */
  words?: readonly string[];
  /** Default: a line of text, or a choice of one of the words. */
  input?: 'text' | 'email' | 'date' | 'choice' | 'boxes';
  /** The text of an empty list. */
  none?: string;
  /**
   * Reads a day as one of the zone.
   * @throws UsageError whose message follows the name of the field, such as "must be …".
   */
  read(text: string, zone: Zone): Value;
  /** Writes a value as `read` takes it. Default: String. */
  write?(value: Value): string;
}

/** The words of a field in a form, where the command line has other words. */
interface FormWords {
  /** The words above the field. */
  label?: string;
  /** The text that a form opens with, if the thing has no value yet. */
  initial?: string;
  /** A form does not show the present value, because it is personal data. */
  isPersonal?: boolean;
  /** The words of a choice for no value. */
  unchosen?: string;
  /** The meaning of an empty list, for the second person. Default: none. */
  empty?: string;
}

/** A value that an operation asks for: an option of the command line, and an input of a form. */
export interface Field<Value> extends FormWords {
  /** The name on the command line, without the dashes. */
  flag: string;
  help: string;
  label: string;
  input: 'text' | 'email' | 'date' | 'choice' | 'boxes' | 'box' | 'pipe';
  /** Null for a field without a value. */
  placeholder: string | null;
  /** The words of a closed list, as completion offers them. */
  words?: readonly string[] | undefined;
  none?: string | undefined;
  isRequired: boolean;
  /** Reads the text, which is undefined when the field is not given. */
  read(text: string | undefined, zone: Zone): Value;
  write(value: unknown): string;
}

/** The fields of an operation, by the names of their values. */
export type Fields = Readonly<Record<string, Field<unknown>>>;
export type ValuesOf<Spec extends Fields> = {
  [Name in keyof Spec]: Spec[Name] extends Field<infer Value> ? Value : never;
};

export function required<Value>(
  name: string,
  reader: Reader<Value>,
  help: string,
  words?: FormWords,
): Field<Value> {
  return { ...fieldOf(name, reader, help, words), isRequired: true, read: readingOf(reader) };
}

export function optional<Value>(
  name: string,
  reader: Reader<Value>,
  help: string,
  words?: FormWords,
): Field<Value | undefined> {
  return withDefault<Value | undefined>(name, reader, help, undefined, words);
}

export function withDefault<Value>(
  name: string,
  reader: Reader<Value>,
  help: string,
  value: Value,
  words?: FormWords,
): Field<Value> {
  const given = readingOf(reader);
  const read = (text: string | undefined, zone: Zone) =>
    text === undefined ? value : given(text, zone);
  return { ...fieldOf(name, reader, help, words), isRequired: false, read };
}

/** A field without a value: it is there or not. */
export function flag(name: string, help: string, words?: FormWords): Field<boolean> {
  const read = (text: string | undefined) => text !== undefined;
  const reader = { placeholder: '', read };
  return {
    ...fieldOf(name, reader, help, words),
    placeholder: null,
    input: 'box',
    read,
    isRequired: false,
  };
}

/**
 * A secret that the command line reads from a pipe. Forms do not have it. Its value is the secret, or
 * undefined.
 */
export function piped(name: string, help: string): Field<string | undefined> {
  return { ...flag(name, help), input: 'pipe', read: (text) => text };
}

function readingOf<Value>(reader: Reader<Value>) {
  return (text: string | undefined, zone: Zone) => reader.read(text ?? '', zone);
}

function fieldOf<Value>(flag: string, reader: Reader<Value>, help: string, words?: FormWords) {
  const { placeholder, words: allowed, none, write = textOf } = reader;
  const named = flag.replaceAll('-', ' ');
  return {
    flag,
    help,
    label: `${named[0]!.toUpperCase()}${named.slice(1)}`,
    input: reader.input ?? (allowed ? ('choice' as const) : ('text' as const)),
    placeholder,
    words: allowed,
    none,
    write: write as (value: unknown) => string,
    ...words,
  };
}

function textOf(value: unknown): string {
  return value === null ? '' : String(value);
}

/** The name of a field's input, which is also its name in addresses. */
export function inputName(name: string): string {
  return name.replace(/_cents$/, '');
}

/** @throws UsageError with this message when none of the values is given. */
export function requireOne(values: Record<string, unknown>, message: string): void {
  const isGiven = Object.values(values).some((value) => value !== undefined && value !== false);
  if (!isGiven) throw new UsageError(message);
}
