import type { Database } from '../connections/database.ts';
import { isReadOnlyError } from '../connections/database-errors.ts';
import { type Audited, auditedFor, recordRead } from '../domain/audit/audit.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import { recordSecurityEvent } from '../domain/security/security-events.ts';
import { StaffRefusal } from '../domain/staff/require-staff.ts';
import { maskPhones } from '../domain/text.ts';
import type { Service } from '../service/service.ts';
import { operatorOf } from './operator.ts';
import type { Input } from './options/new-password.ts';
import type { Answer, Change, Lines, Order, Verb } from './verb.ts';

/** The output of a command. */
interface Printed extends Pick<Answer, 'stream'> {
  data: object;
  lines: string[];
  isFailure: boolean;
  /** A line for standard error. */
  warning: string | null;
}

/** Does what the arguments ask for. Only a local verb gets along without a service. */
export async function perform(
  service: Service | null,
  order: Order,
  stdin: Input = process.stdin,
): Promise<Printed> {
  const { verb, values } = order;
  if (!service) return printed(await verb.run(null as never, values));
  try {
    if (verb.changes) return await makeChange(service, order, stdin);
    return verb.role === 'anyone'
      ? printed(await verb.run(service, values))
      : await showData(service, order);
  } catch (error) {
    if (error instanceof StaffRefusal) await recordRefusal(service.database, error, order);
    throw error;
  }
}

async function makeChange(service: Service, order: Order, stdin: Input): Promise<Printed> {
  const { database } = service;
  const { verb } = order;
  const operator = await operatorOf(service, order);
  const { actor, member } = operator;
  const reason = order.reason!;
  const audited = auditedFor(database, { actor, reason, action: order.action }, (trx) =>
    operator.authorize(trx, verb.role),
  );
  let isRecorded = false;
  const noting: Audited = (work) =>
    audited(async (trx) => {
      const made = await work(trx);
      isRecorded ||= made.audit !== null;
      return made;
    });
  const change: Change = { actor, member, reason, stdin, audited: noting, operator };
  const answer = await verb.run(service, order.values, change).catch(async (error) => {
    // Why it is refused tells something of what was named.
    const isTold = error instanceof OperatorRefusal && verb.role !== 'anyone';
    if (isTold) await recordOrder(service, actor, order, 0);
    throw error;
  });
  // A command that finds nothing to change still shows data.
  if (isRecorded || answer.isRecorded || verb.role === 'anyone') return printed(answer);
  return { ...printed(answer), warning: await recordOrder(service, actor, order, 1) };
}

/** Shows data, and records that it was read before anybody can read it. */
async function showData(service: Service, order: Order): Promise<Printed> {
  const { actor } = await operatorOf(service, order);
  const record = (count: number | null) => recordOrder(service, actor, order, count);
  const answer = await order.verb.run(service, order.values).catch(async (error) => {
    // The log also has searches that find nothing.
    if (error instanceof OperatorRefusal) await record(0);
    throw error;
  });
  const count = answer.stream ? null : (answer.count ?? 1);
  return { ...printed(answer), warning: await record(count) };
}

async function recordRefusal(
  database: Database,
  { event }: StaffRefusal,
  { action }: Order,
): Promise<void> {
  try {
    await recordSecurityEvent(database, { ...event, detail: { ...event.detail, action } });
  } catch (error) {
    if (!isReadOnlyError(error)) throw error;
  }
}

function printed({ data, lines, stream, isFailure = false }: Answer): Printed {
  return { data, lines: flat(lines), stream, isFailure, warning: null };
}

function flat(lines: Lines): string[] {
  return lines.flatMap((line) => {
    if (typeof line === 'string') return line;
    return line ? flat(line) : [];
  });
}

/**
 * Writes into the audit log that an operator reads data: what was looked for, with phones
 * masked, and how many rows were found.
 * @returns null, or a warning when the database can only be read: then data is needed most
 */
export function recordOrder(
  { database, config }: Service,
  actor: string,
  { action, verb, values }: Order,
  rows: number | null,
): Promise<string | null> {
  const [noun] = action.split('.') as [string];
  const named = nameOf(verb, values);
  const { merchant_id } = values;
  return recordRead(database, config.secretsKeys, {
    actor,
    action,
    rows,
    lookedFor: lookedFor(values),
    merchant_id: typeof merchant_id === 'number' ? merchant_id : null,
    subject: named === undefined ? noun : `${noun} ${maskPhones(named)}`,
  });
}

/** A one-time password is in no log: it may still be good. */
const ONE_TIME_PASSWORD = 'otp';

function lookedFor(values: Order['values']): Record<string, unknown> {
  const given = Object.entries(values).filter(
    ([name, value]) => value !== undefined && value !== false && name !== ONE_TIME_PASSWORD,
  );
  return Object.fromEntries(given);
}

/** Names the thing of the order as its argument does. */
function nameOf({ argument, options }: Verb, values: Order['values']): string | undefined {
  if (argument === ONE_TIME_PASSWORD) return undefined;
  const value = argument === undefined ? undefined : values[argument];
  return value === undefined ? undefined : options[argument!]!.write(value);
}
