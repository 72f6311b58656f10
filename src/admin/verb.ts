import type { Audited } from '../domain/audit/audit.ts';
import type { Zone } from '../domain/period.ts';
import type { StaffMember, StaffRole } from '../domain/staff/staff.ts';
import { type Fields, optional, required, type ValuesOf } from '../operations/field.ts';
import type { Operator } from '../operations/perform.ts';
import { reason, text } from '../operations/readers.ts';
import type { Service } from '../service/service.ts';
import type { Input } from './options/new-password.ts';

/** The answer of a verb: one JSON document, and lines for people. */
export interface Answer {
  data: object;
  lines: Lines;
  /** An answer that may be too long for memory. It is printed part by part, in place of both. */
  stream?: AsyncIterable<string>;
  /** The answer reports a problem, so the exit status is 1. */
  isFailure?: boolean;
  /** The audit log has the change. An operation knows it. */
  isRecorded?: boolean;
  /** The number of rows that a read has shown. Default: 1. A stream does not know it. */
  count?: number;
}

/** Lines, also in groups. What is false or null is left out. */
export type Lines = readonly (string | false | null | Lines)[];

/** The operator behind a change, and the way to make it. */
export interface Change {
  actor: string;
  /** The actor, if it is a member of staff. */
  member: StaffMember | null;
  /** Why, in the operator's words. */
  reason: string;
  stdin: Input;
  audited: Audited;
  operator: Operator;
}

/** Once there are staff accounts, members with this role or a higher one may run the verb. */
export type NeededRole = StaffRole | 'anyone';

interface VerbOf<Spec extends Fields, Context extends unknown[]> {
  /** `anyone` is for what machines do, and what must be possible when no token is known. */
  role: NeededRole;
  summary: string;
  /** More for --help. */
  notes?: string;
  /** When a second person must agree. */
  twoPeople?: string;
  /** It is done beside the service alone, by people who have its settings. */
  isBesideService?: boolean;
  options?: Spec;
  /** The option whose value may stand without its flag. */
  argument?: keyof Spec & string;
  /** Checks values that depend on each other. @throws UsageError with a whole message. */
  check?(values: ValuesOf<Spec>): void;
  run(service: Service, values: ValuesOf<Spec>, ...context: Context): Promise<Answer>;
}

/** A verb as the command line sees it. It gets a `change` when `changes` is true. */
export type Verb = VerbOf<Fields, [change?: Change]> & {
  options: Fields;
  changes: boolean;
  /** It is run without a configuration and a database: its `service` is null. */
  isLocal?: boolean;
};

export interface Noun {
  summary: string;
  verbs: Readonly<Record<string, Verb>>;
  /** The verb that may be left out. */
  defaultVerb?: string;
}

export type Nouns = Readonly<Record<string, Noun>>;

/**
 * A verb that only reads. It needs no reason. If it needs a role, it shows data of merchants or
 * customers, and the audit log has each read.
 */
export function reads<const Spec extends Fields>(verb: VerbOf<Spec, []>): Verb {
  return { options: {}, ...verb, changes: false } as Verb;
}

/** A verb that tells something of the command line itself. */
export function tells(verb: { summary: string; notes?: string; run(): Promise<Answer> }): Verb {
  return { ...verb, role: 'anyone', options: {}, changes: false, isLocal: true };
}

const MAX_ACTOR_LENGTH = 100;
export const ACTOR = text('NAME', MAX_ACTOR_LENGTH);
export const ACTOR_VARIABLE = 'MALIPO_ACTOR';
export const TOKEN_VARIABLE = 'MALIPO_STAFF_TOKEN';

const CHANGE_OPTIONS = {
  actor: optional('actor', ACTOR, `Who you are. Default: your staff account, or ${ACTOR_VARIABLE}`),
  reason: required('reason', reason, 'Why; kept in the audit log'),
};

/** A verb that changes something. It needs an actor and a reason, which the audit log keeps. */
export function changes<const Spec extends Fields>(verb: VerbOf<Spec, [Change]>): Verb {
  return { ...verb, options: { ...verb.options, ...CHANGE_OPTIONS }, changes: true } as Verb;
}

/** The operator's identity, as the command line and the environment give it. */
export interface Identity {
  /** By --actor. */
  named?: string | undefined;
  /** By MALIPO_ACTOR. */
  usual?: string | undefined;
  /** The token of a member of staff. */
  token?: string | undefined;
}

/** A verb with the values of the arguments. */
export interface Order {
  /** Noun and verb for the audit log, such as `app.suspend`. */
  action: string;
  verb: Verb;
  values: Record<string, unknown>;
  isJson: boolean;
  /** The clock of the times that the answer shows. */
  zone: Zone;
  identity: Identity;
  /** Null for a verb that only reads. */
  reason: string | null;
}
