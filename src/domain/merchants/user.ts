import { v7 as uuidv7 } from 'uuid';
import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { violates } from '../../connections/database-errors.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { holdNewAccess } from '../access/new-access.ts';
import { type AuditedChange, endedSessions, type RowChange } from '../audit/audit.ts';
import { accountHashes, forgetFailures, refuseManyForgotten } from '../credentials/log-in-limit.ts';
import { removeTotp } from '../credentials/one-time-passwords.ts';
import { hashPassword } from '../credentials/passwords.ts';
import type { UserRef } from '../credentials/people.ts';
import { revokeTokens } from '../credentials/sessions.ts';
import { OperatorRefusal } from '../errors.ts';
import type { KeysetPage } from '../lists.ts';
import { changeEvents, revocationEvents } from '../security/security-events.ts';
import { updateRow } from '../update-row.ts';
import { lockMerchant } from './merchant.ts';

export const ROLES = ['Admin', 'Finance', 'Operator'] as const;
export type Role = (typeof ROLES)[number];

/** A person who may log in for a merchant. */
export interface UserRecord {
  id: string;
  merchant_id: number;
  email: string;
  /** Null for a user that was created without one. */
  name: string | null;
  role: Role;
  active: boolean;
  /** Logs in with one-time passwords. */
  totp: boolean;
  /** May do nothing else before. */
  must_change_password: boolean;
  created_at: Date;
}

interface NewUser {
  email: string;
  name?: string | undefined;
  password: string;
  role: Role;
  must_change_password?: boolean;
  /** It sends no money out for so long. */
  holdMs?: number;
}

/** Names a user. E-mail addresses are unique; the merchant is only a check. */
export interface UserName {
  email: string;
  merchant_id?: number | undefined;
}

export interface UserChanges {
  name?: string | undefined;
  role?: Role | undefined;
  active?: boolean | undefined;
  /** The result of `hashPassword`. */
  password_hash?: string | undefined;
  must_change_password?: boolean | undefined;
}

const COLUMNS = `id, merchant_id, email, name, role, active, totp, must_change_password,
  created_at`;

/** Creates a user of a merchant. @returns the user's id. */
export async function createUser(
  database: Database,
  merchantId: number,
  { email, name, password, role, must_change_password = false }: NewUser,
): Promise<string> {
  const id = uuidv7();
  const password_hash = await hashPassword(password);
  await rows(
    database,
    `INSERT INTO users (id, merchant_id, email, name, password_hash, role, must_change_password)
     VALUES (:id, :merchant_id, :email, :name, :password_hash, :role, :must_change_password)`,
    {
      id,
      merchant_id: merchantId,
      email: email.toLowerCase(),
      name: name ?? null,
      password_hash,
      role,
      must_change_password,
    },
  );
  return id;
}

/** Lists the users of one merchant or of all, in the order of their e-mail addresses. */
export function listUsers(
  database: Database,
  { merchant_id, after = '', limit }: KeysetPage<string> & { merchant_id?: number | undefined },
): Promise<UserRecord[]> {
  return rows<UserRecord>(
    database,
    `SELECT ${COLUMNS} FROM users
     WHERE email > :after AND merchant_id = coalesce(:merchant_id, merchant_id)
     ORDER BY email LIMIT :limit`,
    { merchant_id: merchant_id ?? null, after, limit },
  );
}

/** Reads a user. @throws OperatorRefusal when there is no such user. */
export async function requireUser(
  database: Database | Transaction,
  name: UserName,
  lock: 'FOR NO KEY UPDATE' | '' = '',
): Promise<UserRecord> {
  const user = await findUser(database, name, lock);
  if (!user) throw new OperatorRefusal(`There is no user ${describe(name)}`);
  return user;
}

/** Reads a user by id. @throws OperatorRefusal when the merchant has no such user. */
export async function requireUserById(
  database: Database | Transaction,
  { merchant_id, user_id }: UserRef,
): Promise<UserRecord> {
  const user = await firstRow<UserRecord>(
    database,
    `SELECT ${COLUMNS} FROM users
     WHERE merchant_id = :merchant_id AND id = CAST(:user_id AS uuid)`,
    { merchant_id, user_id },
  );
  if (!user) throw new OperatorRefusal(`Merchant ${merchant_id} has no user ${user_id}`);
  return user;
}

/** Reads the hash of a user's password, which is another one after each replacement. */
export async function passwordHashOf(
  database: Database | Transaction,
  { merchant_id, id }: Pick<UserRecord, 'merchant_id' | 'id'>,
  lock: 'FOR NO KEY UPDATE' | '' = '',
): Promise<string | undefined> {
  const user = await firstRow<{ password_hash: string }>(
    database,
    `SELECT password_hash FROM users WHERE merchant_id = :merchant_id AND id = :id ${lock}`,
    { merchant_id, id },
  );
  return user?.password_hash;
}

function findUser(
  database: Database | Transaction,
  { email, merchant_id }: UserName,
  lock: 'FOR NO KEY UPDATE' | '' = '',
): Promise<UserRecord | undefined> {
  return firstRow<UserRecord>(
    database,
    `SELECT ${COLUMNS} FROM users
     WHERE email = :email AND merchant_id = coalesce(:merchant_id, merchant_id) ${lock}`,
    { email: email.toLowerCase(), merchant_id: merchant_id ?? null },
  );
}

function describe({ email, merchant_id }: UserName): string {
  return merchant_id === undefined ? email : `${email} of merchant ${merchant_id}`;
}

/**
 * Creates a user for an operator, with the line for the audit log.
 * @throws OperatorRefusal when there is no such merchant, or the e-mail address is taken.
 */
export async function registerUser(
  trx: Transaction,
  merchant_id: number,
  user: NewUser,
): Promise<AuditedChange<UserRecord>> {
  await lockMerchant(trx, merchant_id);
  const taken = await findUser(trx, user);
  if (taken) {
    throw new OperatorRefusal(
      `${taken.email} is a user of merchant ${taken.merchant_id} already: an e-mail address is good for one user`,
    );
  }
  try {
    const user_id = await createUser(trx, merchant_id, user);
    await holdNewAccess(trx, { merchant_id, user_id }, user.holdMs ?? 0);
  } catch (error) {
    if (!violates(error, 'users_email_key')) throw error;
    throw new OperatorRefusal(`${user.email} has just become another user's e-mail address`);
  }
  const value = await requireUser(trx, user);
  const { email, name, role, must_change_password } = value;
  const details = {
    email,
    ...(name !== null && { name }),
    role,
    ...(must_change_password && { must_change_password }),
  };
  return {
    value,
    audit: { merchant_id, subject: `user ${email}`, details },
    events: [{ kind: 'user_created', merchant_id, user_id: value.id, detail: { role } }],
  };
}

export interface UserChange extends RowChange<UserRecord> {
  /** The number of sessions that were ended. */
  revoked: number;
}

/** Parts of a user's change that are no columns. */
interface Manner {
  /** New access sends no money out for so long. */
  holdMs: number;
  /** The keys under which failed log-ins are counted, to forget the user's failures. */
  forgetWith?: KeyRing | undefined;
}

/**
 * Changes a user for an operator. A new role, a new password or a deactivation ends the sessions.
 * @throws OperatorRefusal when there is no such user.
 */
export async function changeUser(
  trx: Transaction,
  name: UserName,
  { password_hash, ...wanted }: UserChanges,
  { holdMs, forgetWith }: Manner,
): Promise<UserChange> {
  const before = await requireUser(trx, name, 'FOR NO KEY UPDATE');
  const { merchant_id, id: user_id } = before;
  const subject = { merchant_id, user_id };
  const table = { name: 'users', key: ['merchant_id', 'id'], columns: COLUMNS };
  const hidden = password_hash === undefined ? {} : { password_hash };
  const { row, changed } = await updateRow<UserRecord>(trx, table, before, wanted, hidden);
  // A repeated deactivation ends the sessions that were started since the first one, too.
  const ends = wanted.active === false || changed.role !== undefined || password_hash !== undefined;
  const revoked = ends ? await revokeTokens(trx, subject) : 0;
  const replaced = password_hash && { password: 'replaced' };
  const gives = replaced || changed.role !== undefined || changed.active?.to === true;
  if (gives) await holdNewAccess(trx, subject, holdMs);
  const hashes = forgetWith ? accountHashes(forgetWith, row.email) : [];
  const forgotten = (await forgetFailures(trx, hashes)) && { failed_log_ins: 'forgotten' };
  const lines = { subject: `user ${row.email}`, action: 'user.update' };
  if (forgotten) await refuseManyForgotten(trx, lines);
  return {
    row,
    merchant_id,
    revoked,
    changed: { ...changed, ...replaced, ...forgotten, ...endedSessions(revoked) },
    events: [
      ...changeEvents(subject, changed, 'user_deactivated'),
      ...revocationEvents(subject, revoked),
      ...(replaced ? [{ ...subject, kind: 'password_changed' } as const] : []),
      ...(forgotten ? [{ ...subject, kind: 'log_in_limit_lifted' } as const] : []),
    ],
  };
}

/**
 * Switches one-time passwords off for a user who has lost them, and ends the sessions.
 * @throws OperatorRefusal when there is no such user.
 */
export async function resetUserTotp(
  trx: Transaction,
  name: UserName,
  holdMs: number,
): Promise<UserChange> {
  const user = await requireUser(trx, name, 'FOR NO KEY UPDATE');
  const { merchant_id, id: user_id } = user;
  const subject = { merchant_id, user_id };
  if (!user.totp) return { row: user, merchant_id, revoked: 0, changed: {}, events: [] };
  await removeTotp(trx, subject);
  await holdNewAccess(trx, subject, holdMs);
  const revoked = await revokeTokens(trx, subject);
  return {
    row: { ...user, totp: false },
    merchant_id,
    revoked,
    changed: { totp: { from: true, to: false }, ...endedSessions(revoked) },
    events: [{ ...subject, kind: 'totp_reset' }, ...revocationEvents(subject, revoked)],
  };
}
