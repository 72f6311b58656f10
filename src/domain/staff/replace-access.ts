import { isDeepStrictEqual } from 'node:util';
import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { type AuditedChange, auditedRow, isDifferent, type RowChange } from '../audit/audit.ts';
import { removeUnconfirmedTotp } from '../credentials/one-time-passwords.ts';
import { resetStaffTotp } from '../credentials/staff-log-in.ts';
import { OperatorRefusal } from '../errors.ts';
import { givenToken, nameOfMember } from './given-access.ts';
import {
  createStaff,
  lockMember,
  type NewStaff,
  renewToken,
  type StaffChanges,
  type StaffMember,
  type StoredToken,
  updateStaff,
} from './staff.ts';

/*
 * New access for somebody else: whoever gives it could act as that member, and as two members who
 * agree with each other. So another admin agrees, where there is one.
 */

/** A token for a member, of which only the hash is kept. It works once a second admin has agreed. */
export interface AskedToken extends Pick<NewStaff, 'email'> {
  /** In hexadecimal. */
  token_hash: string;
  token_prefix: string;
}

/** Tells whether there is an active admin besides the one who asks and the member that it is about. */
export async function hasOtherAdmin(
  database: Database,
  ...emails: readonly string[]
): Promise<boolean> {
  const row = await firstRow<{ found: boolean }>(
    database,
    `SELECT EXISTS (SELECT FROM staff
       WHERE active AND role = 'admin' AND email <> ALL (:emails)) AS found`,
    { emails: [...emails] },
  );
  return row!.found;
}

/** Adds a member in the caller's transaction, with its event. @throws OperatorRefusal as `createStaff` */
export async function addMember(
  trx: Transaction,
  wanted: NewStaff & StoredToken,
  isFirst: boolean,
): Promise<AuditedChange<StaffMember>> {
  const value = await createStaff(trx, wanted, isFirst);
  const { id: staff_id, name, role, token_prefix, token_expires_at } = value;
  const audit = auditOf(value, { name, role, token_prefix, token_expires_at });
  return { value, audit, events: [{ kind: 'staff_created', detail: { staff_id, role } }] };
}

/** Does so as somebody has asked, once a second admin has agreed. */
export function addMemberAsAsked(
  trx: Transaction,
  { token_hash, ...wanted }: AskedToken & NewStaff,
): Promise<AuditedChange<StaffMember>> {
  return addMember(trx, { ...wanted, token_hash: Buffer.from(token_hash, 'hex') }, false);
}

/**
 * Gives a member a new token in the caller's transaction, with its event. The old one ends at once. If somebody
 * else may have had it, so does what that one may have begun with it: the giver of a token may have renewed it as the
 * member, and nothing but confirmed one-time passwords shows that the member is the only one who acts. So a token
 * that was renewed without them counts as given still.
 * @param renewal.isOwn tells that the member renews it
 */
export async function replaceToken(
  trx: Transaction,
  email: string,
  token: StoredToken,
  { isOwn }: { isOwn: boolean },
): Promise<AuditedChange<StaffMember>> {
  const { id: of, token_prefix: old, totp } = await lockMember(trx, email);
  const given_as = await givenToken(trx, email, old);
  if (!totp || given_as !== null) await forgetBegun(trx, of);
  const value = await renewToken(trx, email, token);
  const { id: staff_id, name, role, token_prefix, token_expires_at } = value;
  const isGiven = isOwn && !totp && given_as !== null;
  const facts = { name, role, token_prefix, token_expires_at };
  const audit = auditOf(value, isGiven ? { ...facts, given_as } : facts);
  return { value, audit, events: [{ kind: 'staff_token_renewed', detail: { staff_id, role } }] };
}

/** Ends the password and the sessions at the console, and one-time passwords that were not confirmed. */
async function forgetBegun(trx: Transaction, staff_id: string): Promise<void> {
  await removeUnconfirmedTotp(trx, { staff_id });
  await rows(
    trx,
    'UPDATE staff SET password_hash = NULL, session_no = session_no + 1 WHERE id = :staff_id',
    { staff_id },
  );
}

/** Does so as somebody has asked, once a second admin has agreed. */
export function replaceTokenAsAsked(
  trx: Transaction,
  { email, token_hash, token_prefix }: AskedToken,
): Promise<AuditedChange<StaffMember>> {
  const token = { token_hash: Buffer.from(token_hash, 'hex'), token_prefix };
  return replaceToken(trx, email, token, { isOwn: false });
}

/** Changes a member in the caller's transaction, with its event. @throws OperatorRefusal as `updateStaff` */
export async function changeMember(
  trx: Transaction,
  email: string,
  wanted: StaffChanges,
): Promise<RowChange<StaffMember>> {
  const { member: row, changed } = await updateStaff(trx, email, wanted);
  const { id: staff_id, role, active } = row;
  const event = { kind: 'staff_changed', detail: { staff_id, role, active } } as const;
  return { row, merchant_id: null, changed, events: isDifferent({ changed }) ? [event] : [] };
}

/** A change of a member that somebody has asked for. */
interface AskedRole extends Pick<StaffMember, 'email' | 'role'> {
  active?: true;
  /** The member's role and state when the request was made. */
  was: Pick<StaffMember, 'role' | 'active'>;
}

/** Gives a member another role, or lets one in again, as somebody has asked, once a second admin has agreed. */
export async function changeRoleAsAsked(
  trx: Transaction,
  { email, was, ...wanted }: AskedRole,
): Promise<AuditedChange<RowChange<StaffMember>>> {
  const { role, active } = await lockMember(trx, email);
  if (!isDeepStrictEqual({ role, active }, was)) {
    throw new OperatorRefusal(
      `${email} has changed since the request: reject it, look again, and ask anew`,
    );
  }
  return auditedRow(nameOfMember(email), await changeMember(trx, email, wanted));
}

/** Shuts a member out as somebody has asked, once a second admin has agreed. */
export async function deactivateAsAsked(
  trx: Transaction,
  { email }: Pick<StaffMember, 'email'>,
): Promise<AuditedChange<RowChange<StaffMember>>> {
  return auditedRow(nameOfMember(email), await changeMember(trx, email, { active: false }));
}

/** Switches a member's one-time passwords off in the caller's transaction. @returns whether they were on */
export async function switchTotpOff(
  trx: Transaction,
  { email }: { email: string },
): Promise<AuditedChange<boolean>> {
  const member = await lockMember(trx, email);
  const value = await resetStaffTotp(trx, member);
  if (!value) return { value, audit: null };
  const event = { kind: 'staff_totp_reset', detail: { staff_id: member.id } } as const;
  return { value, audit: auditOf(member, { totp: false }), events: [event] };
}

function auditOf({ email }: StaffMember, details: Record<string, unknown>) {
  return { merchant_id: null, subject: nameOfMember(email), details };
}
