import type { Zone } from '../../domain/period.ts';

/** The command line is wrong, and nothing was changed. The message is one line. */
export class UsageError extends Error {}

/** Reads the text of an option. */
export interface Reader<Value> {
  /** Stands for the value in --help. */
  placeholder: string;
  /** All that it takes, or that a list of it consists of, if that is a closed list. */
  words?: readonly string[];
  /**
   * Reads a day as one of the zone.
   * @throws UsageError whose message follows the name of the option, such as "must be …".
   */
  read(text: string, zone: Zone): Value;
}

export interface Option<Value> {
  /** The name on the command line, without the dashes. */
  flag: string;
  help: string;
  /** Null for an option without a value. */
  placeholder: string | null;
  /** The words of a closed list, as completion offers them. */
  words?: readonly string[] | undefined;
  isRequired: boolean;
  /** Reads the text, which is undefined when the option is not there. */
  read(text: string | undefined, zone: Zone): Value;
}

/** The options of a verb, by the names of their values. */
export type Options = Readonly<Record<string, Option<unknown>>>;
export type ValuesOf<Spec extends Options> = {
  [Name in keyof Spec]: Spec[Name] extends Option<infer Value> ? Value : never;
};

export function required<Value>(flag: string, reader: Reader<Value>, help: string): Option<Value> {
  const read = (text: string | undefined, zone: Zone) => reader.read(text ?? '', zone);
  const { placeholder, words } = reader;
  return { flag, help: `${help} (required)`, placeholder, words, isRequired: true, read };
}

export function optional<Value>(
  flag: string,
  reader: Reader<Value>,
  help: string,
): Option<Value | undefined> {
  return withDefault<Value | undefined>(flag, reader, help, undefined);
}

export function withDefault<Value>(
  flag: string,
  reader: Reader<Value>,
  help: string,
  value: Value,
): Option<Value> {
  const read = (text: string | undefined, zone: Zone) =>
    text === undefined ? value : reader.read(text, zone);
  const { placeholder, words } = reader;
  return { flag, help, placeholder, words, isRequired: false, read };
}

/** An option without a value: it is there or not. */
export function flag(name: string, help: string): Option<boolean> {
  const read = (text: string | undefined) => text !== undefined;
  return { flag: name, help, placeholder: null, isRequired: false, read };
}

/** @throws UsageError with this message when none of the values is given. */
export function requireOne(values: Record<string, unknown>, message: string): void {
  const isGiven = Object.values(values).some((value) => value !== undefined && value !== false);
  if (!isGiven) throw new UsageError(message);
}
