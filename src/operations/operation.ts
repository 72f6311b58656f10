import { createHash } from 'node:crypto';
import type { Database, Transaction } from '../connections/database.ts';
import type { Audited } from '../domain/audit/audit.ts';
import type { ApprovalActionName } from '../domain/staff/approval-actions.ts';
import type { NewApproval } from '../domain/staff/approvals.ts';
import type { StaffMember, StaffRole } from '../domain/staff/staff.ts';
import type { Service } from '../service/service.ts';
import type { Fields, ValuesOf } from './field.ts';

/** The kind of thing that operations are about. */
export interface Noun<Thing> {
  /** The fields that name a thing on the command line. */
  fields: Fields;
  /** The field whose value may stand without its flag. */
  argument: string;
  /** @throws OperatorRefusal when there is no such thing */
  find(service: Service, names: Record<string, unknown>): Promise<Thing>;
}

/** The surroundings of an operation before it is done. */
export interface Look<Subject> {
  service: Service;
  subject: Subject;
  /** The name for the audit log: the e-mail address of a member of staff, or what was typed. */
  actor: string;
  member: StaffMember | null;
  /** Why, in the words of the person. Empty for a preview. */
  reason: string;
  /** Writes a moment as the door shows it. */
  time(moment: Date): string;
}

/** The surroundings in which an operation is done. */
export interface Deed<Subject> extends Look<Subject> {
  /** Changes something in a transaction that also checks the person again and writes the audit log. */
  audited: Audited;
}

/** The outcome of an operation. Each door shows it in its own way. */
export interface Result {
  /** Says what was done, in one line without a full stop. */
  title: string;
  /** The thing as it is now. */
  row?: object;
  /** The outcome, if the row does not say all of it. */
  facts?: object;
  /** More values for programs. `notes` say for people what matters of them. */
  more?: object;
  /** Shown once, and stored nowhere in plain text. */
  secret?: { name: string; what: string; value: string } | undefined;
  /** Further facts for people, one line each. */
  notes?: readonly (string | false)[];
  /** False when nothing was left to do. Default: true. */
  isDone?: boolean;
}

/** A request for a second person, who decides about it as `approval` operations. */
export interface Asked<Name extends ApprovalActionName = ApprovalActionName>
  extends Pick<NewApproval<Name>, 'subject' | 'merchant_id' | 'amount_cents' | 'payload'> {
  /** Says why the operation waits for a second person. */
  why: string;
  /** The second person reads the values before the preview, which is the same for all values. */
  isToldWithValues?: boolean;
  /** It is about something as it is now: a change of that makes the request useless. */
  isOfPresent?: boolean;
  /** Shown once to the one who asks. It is good once the second person has agreed. */
  secret?: Result['secret'];
}

/** A page of a form: what will happen, the fields, and the question why. */
export interface Page<Subject, Values = Record<string, unknown>> {
  title: string;
  /** The words of the button. Default: the title. */
  button?: string;
  /** The fields that the form has. Default: all. */
  asks?: readonly (keyof Values & string)[];
  /** The values that the page itself gives. */
  gives?: Partial<Values>;
  /** Returns the present values, with which the form opens. */
  now?(subject: Subject): Partial<Record<keyof Values, unknown>>;
  /** Says why there is nothing to do; null when there is. Then no page offers it. */
  whyNot?(subject: Subject): string | null;
  /**
   * Says what will happen, one line each, and changes nothing.
   * @param values is null as long as some are missing
   * @returns null if that cannot be said without the values
   * @throws OperatorRefusal when it is not possible
   */
  preview(
    look: Look<Subject>,
    values: Values | null,
  ): readonly string[] | null | Promise<readonly string[] | null>;
}

/** The words of operations that always need a second admin. */
export const SECOND_ADMIN = {
  twoPeople: 'always, another admin',
  why: 'Nothing is booked now: another admin must approve it first.',
} as const;

type Lock = 'FOR NO KEY UPDATE' | '';

interface OperationOf<Subject, Spec extends Fields> extends Page<Subject, ValuesOf<Spec>> {
  /** Noun and verb, as the command line and the audit log have them. */
  name: string;
  /** Members with this role or a higher one may do it. */
  role: StaffRole;
  /** Says in one line of --help what it does. */
  summary: string;
  /** More for --help. */
  notes?: string;
  /** Left out when the operation is not about a thing that is there already. */
  about?: Noun<Subject>;
  fields: Spec;
  /** The field whose value may stand without its flag. Default: the one of the noun. */
  argument?: string;
  /** More pages beside its own, by the last part of their addresses. */
  pages?: Readonly<Record<string, Page<Subject, ValuesOf<Spec>>>>;
  /** The fields change what will happen. Forms ask for them first, and then for the reason. */
  asksFirst?: boolean;
  /**
   * Needs a one-time password: `fresh` needs one for this deed, `if set up` one of a member who has
   * them and whose session has not proved one.
   */
  otp?: 'fresh' | 'if set up';
  /** Tells whether it needs one for what it is about. Default: it does. */
  needsOtp?(look: Pick<Look<Subject>, 'member' | 'subject'>): boolean;
  /** Checks values that depend on each other. @throws UsageError with a whole message */
  check?(values: ValuesOf<Spec>): void;
  /**
   * Reads what a person has seen before deciding. A form that was made before a change of it is
   * refused, and so is a form that was sent already.
   * @param lock keeps it as it is until the end of the transaction
   */
  seen?(executor: Database | Transaction, subject: Subject, lock: Lock): Promise<unknown>;
  /** Says when a second person must agree, for --help and SECURITY.md. Left out: never. */
  twoPeople?: string;
  /** Says whether a second person must approve it. @returns null when one person is enough */
  approval?(look: Look<Subject>, values: ValuesOf<Spec>): Promise<Asked | null>;
  /** Does it. @throws OperatorRefusal when it is not possible any more */
  perform(deed: Deed<Subject>, values: ValuesOf<Spec>): Promise<Result>;
}

/** An operation as the doors and the gate see it: its values have been read by its fields. */
export type Operation<Subject = unknown> = Omit<OperationOf<Subject, Fields>, 'about'> & {
  about?: Noun<Subject> | undefined;
};

/** Defines something that members of staff can do. Every door renders it, and none has more rules. */
export function define<Subject, const Spec extends Fields>(
  operation: OperationOf<Subject, Spec>,
): Operation<Subject> {
  return operation as unknown as Operation<Subject>;
}

/** Returns the last part of an operation's name, which is its verb. */
export function verbOf({ name }: Pick<Operation, 'name'>): string {
  return name.slice(name.indexOf('.') + 1);
}

/** Names a state in few letters, so that a form can say which one its member has seen. */
export function versionOf(seen: unknown): string {
  return createHash('sha256').update(JSON.stringify(seen)).digest('base64url');
}
