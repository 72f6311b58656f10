import type { Transaction } from '../connections/database.ts';
import { type Audited, auditedFor } from '../domain/audit/audit.ts';
import { useStaffTotp } from '../domain/credentials/staff-log-in.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import type { Approval } from '../domain/staff/approval-store.ts';
import { type NewApproval, requestApproval } from '../domain/staff/approvals.ts';
import { StaffRefusal } from '../domain/staff/require-staff.ts';
import { mayActAs, type StaffMember, type StaffRole } from '../domain/staff/staff.ts';
import type { Service } from '../service/service.ts';
import { type Asked, type Look, type Operation, type Result, versionOf } from './operation.ts';
import { valueLines } from './second-admin.ts';

/** The person or machine that uses a door, as the door has proved it. */
export interface Operator {
  /** The name for the audit log: the e-mail address of a member of staff, or what was typed. */
  actor: string;
  /** Null while there are no staff accounts: then everybody may do everything. */
  member: StaffMember | null;
  /** The session began with a one-time password. */
  hasGivenOtp: boolean;
  /** The network of a browser; null at the command line. */
  network: string | null;
  /** Checks once more, in a transaction, that the operator has the role. */
  authorize(trx: Transaction, role: StaffRole): Promise<unknown>;
}

/** An operation with all that a door was told. */
export interface Order<Subject> {
  service: Service;
  operator: Operator;
  subject: Subject;
  /** As the fields of the operation have read them. */
  values: Record<string, unknown>;
  reason: string;
  otp?: string | undefined;
  /** The version of what the person has seen. A door without forms does not know it. */
  version?: string | undefined;
  /** Reads the subject anew. An operation with `seen` needs it. */
  find?: () => Promise<Subject>;
  time(moment: Date): string;
}

/** An operation is done, or waits for a second person. */
export type Outcome =
  | { result: Result; isRecorded: boolean; asked?: undefined }
  | ({ result?: undefined; asked: Approval } & Pick<Asked, 'why' | 'secret'>);

/**
 * Does an operation, or asks a second person for it. It is the one gate of all doors: role, one-time
 * password, what the person has seen, second person, and the audit log in the same transaction.
 * @throws OperatorRefusal, StaffRefusal when it is not possible or not allowed
 */
export async function perform<Subject>(
  operation: Operation<Subject>,
  given: Order<Subject>,
): Promise<Outcome> {
  const { operator, values } = given;
  requireRole(operator, operation);
  operation.check?.(values);
  await requireOtp(operation, given);
  const order = await asOfNow(operation, given);
  const look = lookOf(order);
  const needed = operator.member && (await operation.approval?.(look, values));
  if (needed) return ask(operation, order, needed);
  let isRecorded = false;
  const audited = auditedAs(operation, order, operation.name);
  const noting: Audited = (work) =>
    audited(async (trx) => {
      const made = await work(trx);
      isRecorded ||= made.audit !== null;
      return made;
    });
  const result = await operation.perform({ ...look, audited: noting }, values);
  order.service.bell.ring('outbox', 'deliveries');
  return { result, isRecorded };
}

/**
 * Gives the order the version and the subject of now, so that who must agree is judged by what is there when it
 * is done. A form may be older than both: a thing can be again what it was when the form was made.
 * @throws OperatorRefusal when the form shows something else than what is there
 */
async function asOfNow<Subject>(
  { name, seen }: Operation<Subject>,
  order: Order<Subject>,
): Promise<Order<Subject>> {
  if (!seen) return order;
  const { service, subject, find } = order;
  if (!find) throw new Error(`${name} needs a way to read its subject anew`);
  const version = versionOf(await seen(service.database, subject, ''));
  if (order.version !== undefined && order.version !== version) throw changedMeanwhile();
  // The subject is no older than the version.
  return { ...order, version, subject: await find() };
}

function changedMeanwhile(): OperatorRefusal {
  return new OperatorRefusal(
    'It has changed since you looked at it: look at it again, and decide anew',
  );
}

/** Returns the surroundings of an operation for its preview. */
export function lookOf<Subject>(
  order: Pick<Order<Subject>, 'service' | 'operator' | 'subject' | 'reason' | 'time'>,
): Look<Subject> {
  const { service, operator, subject, reason, time } = order;
  const { actor, member } = operator;
  return { service, subject, actor, member, reason, time };
}

function requireRole({ member }: Operator, { name, role }: Operation): void {
  if (!member || mayActAs(member.role, role)) return;
  throw new StaffRefusal(
    `This needs the role ${role}, and ${member.email} has the role ${member.role}`,
    { staff: member.email, detail: { why: 'role', action: name } },
  );
}

const NEEDS_OTP = {
  fresh: 'This needs a one-time password that you have not used yet (on the command line: --otp)',
  'if set up': 'This needs your one-time password (on the command line: --otp)',
} as const;

const WITHOUT_OTPS = 'You have not set up one-time passwords: staff begin-totp';
const WITHOUT_ACCOUNT =
  'This needs a member of staff with one-time passwords: use your staff token, or the console';

/** Spends the one-time password, whatever follows. */
async function requireOtp<Subject>(
  operation: Operation<Subject>,
  order: Order<Subject>,
): Promise<void> {
  const { service, otp } = order;
  const { member, hasGivenOtp, network } = order.operator;
  const rule = operation.needsOtp?.(lookOf(order)) === false ? undefined : operation.otp;
  if (!rule || (hasGivenOtp && rule !== 'fresh')) return;
  if (member?.totp) {
    if (otp === undefined) throw new OperatorRefusal(NEEDS_OTP[rule]);
    await useStaffTotp(service.database, service.config.secretsKeys, member, otp, network);
  } else if (otp !== undefined || rule === 'fresh') {
    throw new OperatorRefusal(member ? WITHOUT_OTPS : WITHOUT_ACCOUNT);
  }
}

async function ask<Subject>(
  operation: Operation<Subject>,
  order: Order<Subject>,
  { why, secret, isToldWithValues, isOfPresent, ...wanted }: Asked,
): Promise<Outcome> {
  const { operator, subject, values, reason, service } = order;
  const seen = isOfPresent && (await operation.seen?.(service.database, subject, ''));
  const version = seen ? { version: versionOf(seen) } : {};
  const lines = [
    ...(isToldWithValues ? valueLines(operation, subject, values) : []),
    ...((await operation.preview(lookOf(order), values)) ?? []),
  ];
  const asked = await requestApproval(auditedAs(operation, order, 'approval.request'), {
    ...wanted,
    payload: { ...wanted.payload, ...version },
    action: operation.name,
    // Whatever a value has, it makes no line of its own.
    preview: lines.map((line) => line.replace(/\s+/g, ' ')).join('\n'),
    requested_by: operator.actor,
    reason,
  } as NewApproval);
  return { asked, why, secret };
}

function auditedAs<Subject>(
  { role, seen }: Operation<Subject>,
  { service, operator, subject, reason, version }: Order<Subject>,
  action: string,
): Audited {
  const { actor } = operator;
  return auditedFor(service.database, { actor, action, reason }, async (trx) => {
    await operator.authorize(trx, role);
    if (!seen || version === undefined) return;
    if (version === versionOf(await seen(trx, subject, 'FOR NO KEY UPDATE'))) return;
    throw changedMeanwhile();
  });
}
