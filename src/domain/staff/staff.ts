import { createHash, randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  firstRow,
  hasRow,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { lockUntilCommit } from '../../connections/locks.ts';
import { OperatorRefusal } from '../errors.ts';
import type { KeysetPage } from '../lists.ts';
import { type Differences, updateRow } from '../update-row.ts';

/** A viewer looks, support decides about payments and helps people, an admin does everything. */
export const STAFF_ROLES = ['viewer', 'support', 'admin'] as const;
export type StaffRole = (typeof STAFF_ROLES)[number];

/** A person or a machine that uses the command line, or a person at the console. */
export interface StaffMember {
  id: string;
  name: string;
  /** Unique. The audit log names the member by it. */
  email: string;
  role: StaffRole;
  active: boolean;
  /** Log-ins to the console, and changes of staff, by this member need a one-time password. */
  totp: boolean;
  /** The beginning of the member's only token. */
  token_prefix: string;
  token_expires_at: Date;
  created_at: Date;
}

/** The columns that a member is read with: all but the hash of the token. */
export const STAFF_COLUMNS =
  'id, name, email, role, active, totp, token_prefix, token_expires_at, created_at';

/** Tells whether a role may do what needs another one. Each may do what those before it may. */
export function mayActAs(role: StaffRole, needed: StaffRole): boolean {
  return STAFF_ROLES.indexOf(role) >= STAFF_ROLES.indexOf(needed);
}

export type NewStaff = Pick<StaffMember, 'name' | 'email' | 'role'>;
export type StaffChanges = Partial<Pick<StaffMember, 'name' | 'role' | 'active'>>;

/** A member with a new token, which cannot be read again. */
export interface IssuedToken {
  member: StaffMember;
  token: string;
}

/** What is stored of a token, to recognize it by. */
export interface StoredToken {
  token_hash: Buffer;
  token_prefix: string;
}

/** The life of a staff token. */
export const TOKEN_LIFETIME_DAYS = 90;
const TOKEN_EXPIRY = `now() + ${TOKEN_LIFETIME_DAYS} * interval '1 day'`;

/**
 * Adds a member of staff with the hash of a token. While there are no members, only the first can be added,
 * and only once: of two at the same time one is refused.
 * @throws OperatorRefusal when the e-mail address is taken, or `isFirst` is not what it is
 */
export async function createStaff(
  trx: Transaction,
  { email, ...details }: NewStaff & StoredToken,
  isFirst: boolean,
): Promise<StaffMember> {
  await lockUntilCommit(trx, 'staff accounts');
  if (isFirst && (await hasStaff(trx))) {
    throw new OperatorRefusal('There is staff already: --first makes only the first admin');
  }
  if (!isFirst && !(await hasStaff(trx))) {
    throw new OperatorRefusal('There is no staff yet: --first makes the first admin');
  }
  const member = await firstRow<StaffMember>(
    trx,
    `INSERT INTO staff (id, name, email, role, token_hash, token_prefix, token_expires_at)
     VALUES (:id, :name, :email, :role, :token_hash, :token_prefix, ${TOKEN_EXPIRY})
     ON CONFLICT (email) DO NOTHING RETURNING ${STAFF_COLUMNS}`,
    { ...details, id: uuidv7(), email: email.toLowerCase() },
  );
  if (!member) throw new OperatorRefusal(`${email} is a member of staff already`);
  return member;
}

/**
 * Tells whether a member of staff has ever had a token. No member is ever deleted. Only the sandbox
 * makes one without: its member logs in to the console, and its command line asks for no token.
 */
export function hasStaff(executor: Database | Transaction): Promise<boolean> {
  return hasRow(executor, "SELECT FROM staff WHERE token_prefix <> '' LIMIT 1");
}

/** Returns a line with what to do while a production installation has too few staff accounts. */
export async function staffWarning(
  database: Database,
  { malipoEnv }: { malipoEnv: string },
): Promise<string | null> {
  if (malipoEnv !== 'production') return null;
  if (await hasStaff(database)) return TOO_FEW_ADMINS[await countAdmins(database)] ?? null;
  return 'there are no staff accounts, so whoever reaches the database first makes the first admin: make it now, with staff create --first';
}

/** By the number of admins. */
const TOO_FEW_ADMINS: Readonly<Record<number, string>> = {
  1: 'there is one admin, so nobody can agree to what needs two admins, such as a top-up: make two more, with staff create',
  2: 'there are two admins, and each could shut the other one out and be alone with the access of all merchants: make one more, with staff create',
};

async function countAdmins(database: Database): Promise<number> {
  const row = await firstRow<{ count: number }>(
    database,
    "SELECT count(*) AS count FROM staff WHERE active AND role = 'admin'",
  );
  return row!.count;
}

/** Lists the members of staff in the order of their e-mail addresses. */
export function listStaff(
  database: Database,
  { after = '', limit }: KeysetPage<string>,
): Promise<StaffMember[]> {
  return rows<StaffMember>(
    database,
    `SELECT ${STAFF_COLUMNS} FROM staff WHERE email > :after ORDER BY email LIMIT :limit`,
    { after, limit },
  );
}

/** A member, with what a review of the roles asks. */
export interface ReviewedMember extends Pick<StaffMember, 'email' | 'name' | 'role' | 'totp'> {
  /** The member has done or read something then. Null: nothing within the last 90 days. */
  last_seen_at: Date | null;
  /** Who has given the member access last, and when. Null: nobody is on record. */
  given_by: string | null;
  given_at: Date | null;
}

/** Lists the active members for a review of their roles, in the order of their e-mail addresses. */
export function listForReview(trx: Transaction): Promise<ReviewedMember[]> {
  return rows<ReviewedMember>(
    trx,
    `SELECT s.email, s.name, s.role, s.totp, given.actor AS given_by, given.happened_at AS given_at,
       (SELECT max(happened_at) FROM audit_log
        WHERE actor = s.email AND happened_at > now() - interval '90 days'
          -- Somebody else was there when what the member had asked for was done.
          AND NOT details ? 'approval') AS last_seen_at
     FROM staff s LEFT JOIN LATERAL (
       SELECT actor, happened_at FROM audit_log
       WHERE subject = 'staff member ' || s.email AND actor <> s.email AND reason IS NOT NULL
         AND action IN ('staff.create', 'staff.update', 'staff.new-token')
       ORDER BY happened_at DESC LIMIT 1
     ) given ON true
     WHERE s.active ORDER BY s.email`,
  );
}

/**
 * Changes a member of staff. A deactivation ends token and password for good: who is let in again
 * needs new ones.
 * @throws OperatorRefusal when there is no such member, or no active admin would be left
 */
export async function updateStaff(
  trx: Transaction,
  email: string,
  wanted: StaffChanges,
): Promise<{ member: StaffMember; changed: Differences }> {
  const found = await lockMember(trx, email);
  const before = wanted.active === false ? await endAccess(trx, found) : found;
  const table = { name: 'staff', key: ['id'], columns: STAFF_COLUMNS };
  const { row: member, changed } = await updateRow<StaffMember>(trx, table, before, wanted);
  await requireAdmin(trx);
  return { member, changed };
}

/**
 * Gives a member a new token. The old one ends at once.
 * @throws OperatorRefusal when there is no such member, or the member is deactivated
 */
export async function renewToken(
  trx: Transaction,
  email: string,
  stored: StoredToken,
): Promise<StaffMember> {
  const { id } = requireActive(await lockMember(trx, email));
  const member = await firstRow<StaffMember>(
    trx,
    `UPDATE staff SET token_hash = :token_hash, token_prefix = :token_prefix,
       token_expires_at = ${TOKEN_EXPIRY}
     WHERE id = :id RETURNING ${STAFF_COLUMNS}`,
    { ...stored, id },
  );
  return member!;
}

/** Returns a member who may get access. @throws OperatorRefusal when the member is deactivated */
export function requireActive(member: StaffMember): StaffMember {
  const { active, email } = member;
  if (active) return member;
  throw new OperatorRefusal(`${email} is deactivated: staff update ${email} --reactivate first`);
}

/** Reads a member. @throws OperatorRefusal when there is no such member */
export async function requireMember(
  executor: Database | Transaction,
  email: string,
  lock: 'FOR NO KEY UPDATE' | '' = '',
): Promise<StaffMember> {
  const member = await firstRow<StaffMember>(
    executor,
    `SELECT ${STAFF_COLUMNS} FROM staff WHERE email = :email ${lock}`,
    { email: email.toLowerCase() },
  );
  if (!member) throw new OperatorRefusal(`There is no member of staff ${email}`);
  return member;
}

/**
 * Reads a member, after other changes of staff have ended: no two admins deactivate each other.
 * @throws OperatorRefusal when there is no such member
 */
export async function lockMember(trx: Transaction, email: string): Promise<StaffMember> {
  await lockUntilCommit(trx, 'staff accounts');
  return requireMember(trx, email, 'FOR NO KEY UPDATE');
}

/** Requires that a member is still an active admin, until the commit. @throws OperatorRefusal */
export async function requireStillAdmin(trx: Transaction, { id }: StaffMember): Promise<void> {
  const isAdmin = "SELECT FROM staff WHERE id = :id AND active AND role = 'admin' FOR SHARE";
  if (!(await hasRow(trx, isAdmin, { id }))) throw new OperatorRefusal('You are no admin any more');
}

async function endAccess(trx: Transaction, { id }: StaffMember): Promise<StaffMember> {
  const ended = await firstRow<StaffMember>(
    trx,
    `UPDATE staff SET token_expires_at = least(token_expires_at, now()), password_hash = NULL,
       session_no = session_no + 1
     WHERE id = :id RETURNING ${STAFF_COLUMNS}`,
    { id },
  );
  return ended!;
}

async function requireAdmin(trx: Transaction): Promise<void> {
  if (await hasRow(trx, "SELECT FROM staff WHERE active AND role = 'admin' LIMIT 1")) return;
  throw new OperatorRefusal('An active admin must be left: make somebody else an admin first');
}

const MARK = 'staff_';
const TOKEN_BYTES = 32;
const SHOWN_LENGTH = MARK.length + 6;

/** Makes a token that is shown once, with what is stored of it. */
export function newToken(): StoredToken & { token: string } {
  const token = `${MARK}${randomBytes(TOKEN_BYTES).toString('base64url')}`;
  return { token, token_hash: tokenHashOf(token), token_prefix: tokenPrefixOf(token) };
}

export function tokenHashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Returns the part of a token that may be shown. Of another text it shows nothing. */
export function tokenPrefixOf(token: string): string {
  return token.startsWith(MARK) ? token.slice(0, SHOWN_LENGTH) : '';
}
