import type { Transaction } from '../connections/database.ts';
import type { AuditSubject } from '../domain/audit.ts';
import type { Service } from '../process/boot.ts';

/** The command line is wrong; nothing was asked of the database. The message is one line. */
export class UsageError extends Error {}

/** How a value on the command line is read. */
export interface Reader<Value> {
  /** What stands for the value in --help. */
  placeholder: string;
  /** @throws UsageError whose message goes on after the option's name, such as "must be …". */
  read(text: string): Value;
}

export interface Option<Value> {
  presence: 'required' | 'optional' | 'flag';
  placeholder: string;
  help: string;
  /** Called with the text, or with undefined when the option is not there. */
  read(text: string | undefined): Value;
}

export type Options = Readonly<Record<string, Option<unknown>>>;
export type ValuesOf<Spec extends Options> = {
  [Name in keyof Spec]: Spec[Name] extends Option<infer Value> ? Value : never;
};

export function required<Value>(reader: Reader<Value>, help: string): Option<Value> {
  return {
    presence: 'required',
    placeholder: reader.placeholder,
    help,
    read: (text) => reader.read(text ?? ''),
  };
}

export function optional<Value>(reader: Reader<Value>, help: string): Option<Value | undefined> {
  return optionalOr<Value | undefined>(reader, undefined, help);
}

export function optionalOr<Value>(
  reader: Reader<Value>,
  fallback: Value,
  help: string,
): Option<Value> {
  return {
    presence: 'optional',
    placeholder: reader.placeholder,
    help,
    read: (text) => (text === undefined ? fallback : reader.read(text)),
  };
}

/** An option without value: it is there or not. */
export function flag(help: string): Option<boolean> {
  return { presence: 'flag', placeholder: '', help, read: (text) => text !== undefined };
}

/** What a command has to say: one JSON document, and the same for people. */
export interface Answer {
  data: Record<string, unknown>;
  lines: string[];
  /** Whether it says that something is wrong, which the exit status repeats. */
  isFailure?: boolean;
}

/** What a change says, after what is so, when there was nothing to do. */
export const ALREADY = 'already: nothing was changed';

export interface Change<Value> {
  value: Value;
  /** Null when all was as wanted before, and nothing was changed. */
  audit: AuditSubject | null;
}

export interface ChangeContext {
  service: Service;
  /** Who changes it. */
  actor: string;
  /** Why it is changed, in the operator's words. */
  reason: string;
  /** Makes a change and its line in the audit log, in one transaction. `work` may run again. */
  audited<Value>(work: (trx: Transaction) => Promise<Change<Value>>): Promise<Value>;
}

/** What a verb does and takes. The options that every verb takes are not listed. */
export interface Verb<Context, Spec extends Options> {
  summary: string;
  /** More for --help, a paragraph a line. */
  notes?: string[];
  options: Spec;
  /** The option whose name may be left out: the word after the verb is its value. */
  argument?: keyof Spec & string;
  /** What no option can say by itself. @throws UsageError with a whole message. */
  check?(values: ValuesOf<Spec>): void;
  run(context: Context, values: ValuesOf<Spec>): Promise<Answer>;
}

/** A verb in the table, its option types forgotten. */
export type Command = {
  summary: string;
  notes: string[];
  options: Options;
  argument: string | null;
  check(values: Record<string, unknown>): void;
} & (
  | { changes: false; run(service: Service, values: Record<string, unknown>): Promise<Answer> }
  | { changes: true; run(context: ChangeContext, values: Record<string, unknown>): Promise<Answer> }
);

export interface Noun {
  summary: string;
  verbs: Readonly<Record<string, Command>>;
  /** The verb that need not be said, where there is but one. */
  onlyVerb?: string;
}

/** A verb that only reads: anybody with the configuration may. */
export function reads<Spec extends Options>(verb: Verb<Service, Spec>): Command {
  return {
    summary: verb.summary,
    notes: verb.notes ?? [],
    options: verb.options,
    argument: verb.argument ?? null,
    check: (values) => verb.check?.(values as ValuesOf<Spec>),
    changes: false,
    run: (service, values) => verb.run(service, values as ValuesOf<Spec>),
  };
}

/** A verb that changes something: it needs an actor and a reason, and is audited. */
export function changes<Spec extends Options>(verb: Verb<ChangeContext, Spec>): Command {
  return {
    summary: verb.summary,
    notes: verb.notes ?? [],
    options: verb.options,
    argument: verb.argument ?? null,
    check: (values) => verb.check?.(values as ValuesOf<Spec>),
    changes: true,
    run: (context, values) => verb.run(context, values as ValuesOf<Spec>),
  };
}
