import type { Transaction } from '../connections/database.ts';
import type { Audited, AuditedChange } from '../domain/audit/audit.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import type { AskedDeed } from '../domain/staff/approval-actions.ts';
import { hasSecondAdmin } from '../domain/staff/given-access.ts';
import type { Service } from '../service/service.ts';
import { HOUR_MS } from '../time.ts';
import type { Fields } from './field.ts';
import { type Asked, type Look, type Operation, type Result, versionOf } from './operation.ts';

/*
 * A merchant's access is the key of its wallets. So another admin must agree before one admin gives
 * somebody such access, or makes it wider. The request keeps the values, and the operation itself
 * runs in the transaction of the approval.
 */

interface SecondAdmin<Subject, Values> {
  /** The values of `Noun.find` that name the thing. */
  names(subject: Subject): Record<string, unknown>;
  /** Names the thing, or what is made of it, in the audit log and in requests. */
  subject(subject: Subject, values: Values): string;
  merchant(subject: Subject): number;
  /** Tells whether these values need it. Default: they do. @throws UsageError */
  isNeeded?(subject: Subject, values: Values): boolean;
  /** Says what needs it. Default: all of it does. */
  what?: string;
  /** It makes something, so that no state of before counts. */
  isNew?: true;
}

const WHERE = 'where another admin is a second person';

/** Lets another admin agree to an operation, if there is one who is a second person. */
export function bySecondAdmin<Subject, Values extends object>({
  names,
  subject: named,
  merchant,
  isNeeded = () => true,
  what,
  isNew,
}: SecondAdmin<Subject, Values>) {
  return {
    twoPeople: what ? `${what}, ${WHERE}` : WHERE,
    approval: async (
      { service: { database }, member, subject }: Look<Subject>,
      values: Values,
    ): Promise<Asked | null> => {
      if (!(await hasSecondAdmin(database, member!.email))) return null;
      if (!isNeeded(subject, values)) return null;
      return {
        subject: named(subject, values),
        merchant_id: merchant(subject),
        amount_cents: null,
        payload: { names: names(subject), values: { ...values } as Record<string, unknown> },
        isToldWithValues: true,
        isOfPresent: !isNew,
        why: 'Nothing happens now: another admin must approve it first.',
      };
    },
  };
}

/** Says how long new access of a merchant sends no money out. */
export function holdNote({ config }: Pick<Service, 'config'>): string | false {
  const hours = config.newAccessHoldMs / HOUR_MS;
  return (
    hours > 0 &&
    `It sends no money out for ${hours} h, unless a user of the merchant with the role Admin releases it`
  );
}

/** Writes the values that are given, and the present ones beside them, for the second person. */
export function valueLines(
  { fields, now }: Pick<Operation, 'now'> & { fields: Fields },
  subject: unknown,
  values: Record<string, unknown>,
): string[] {
  const present: Record<string, unknown> = now?.(subject) ?? {};
  return Object.entries(fields).flatMap(([name, field]) => {
    const value = values[name];
    if (value === undefined || value === false) return [];
    if (value === true) return [`${field.label}.`];
    if (field.isPersonal) return [`${field.label}: another one.`];
    const before = name in present ? ` It is ${shown(field, present[name])} now.` : '';
    return [`${field.label}: ${shown(field, value)}.${before}`];
  });
}

/** Writes a value. What the asker has worded is quoted, and passes for nothing else. */
function shown({ write, words, empty = 'none' }: Fields[string], value: unknown): string {
  const text = write(value);
  if (text === '' || (Array.isArray(value) && value.length === 0)) return empty;
  return typeof value === 'string' && !words ? JSON.stringify(text) : text;
}

/**
 * Does an operation as somebody has asked, in the transaction of its approval.
 * @throws OperatorRefusal when the thing has changed since
 */
export async function doAsAsked(
  trx: Transaction,
  operation: Operation,
  { names, values, version }: AskedDeed,
  { service, ...look }: Omit<Look<unknown>, 'subject'>,
): Promise<{ change: AuditedChange<unknown>; result: Result }> {
  const subject = await operation.about!.find({ ...service, database: trx }, names);
  const seen = version && (await operation.seen!(trx, subject, 'FOR NO KEY UPDATE'));
  if (seen && version !== versionOf(seen)) {
    throw new OperatorRefusal(
      'It has changed since the request: reject it, look again, and ask anew',
    );
  }
  let change: AuditedChange<unknown> | undefined;
  const audited: Audited = async (work) => {
    const made = await work(trx);
    change = made;
    return made.value;
  };
  const result = await operation.perform({ ...look, service, subject, audited }, values);
  return { change: change!, result };
}
