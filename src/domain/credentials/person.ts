import { type Database, firstRow, hasRow, type Transaction } from '../../connections/database.ts';
import type { Caller } from '../access/caller.ts';
import { Refusal } from '../errors.ts';
import type { SecurityEvent } from '../security/security-events.ts';
import { isPassword } from './passwords.ts';
import { TOKEN_FIELDS } from './tokens.ts';

/** A user, by the columns that name it. */
export interface UserRef {
  merchant_id: number;
  user_id: string;
}

/** A person who asks for something of its own, in a session. */
export interface Person extends UserRef {
  /** The session. */
  family: string;
  /** The address that allow-lists see. */
  ip: string | null;
}

/** Returns the person behind a caller that is not an app. */
export function personOf({ merchant_id, asker }: Caller): Person {
  const { asked_user, asked_family, asked_ip } = asker;
  if (asked_user === null || asked_family === null) throw new Error('The caller is no person');
  return { merchant_id, user_id: asked_user, family: asked_family, ip: asked_ip };
}

/** Returns the fields of a security event that a person has caused. */
export function eventBy(person: Person): Omit<SecurityEvent, 'kind'> {
  const { merchant_id, user_id, family, ip } = person;
  return { merchant_id, user_id, family, ip };
}

/**
 * Checks the password of a person. It takes long, so no transaction may be open.
 * @returns the hash that it was checked by, for `lockUser` to compare.
 * @throws Refusal `invalid_credentials`
 */
export async function provePassword(
  database: Database,
  person: Person,
  password: string,
): Promise<string> {
  const { merchant_id, user_id } = person;
  const user = await firstRow<{ password_hash: string }>(
    database,
    'SELECT password_hash FROM users WHERE merchant_id = :merchant_id AND id = :user_id AND active',
    { merchant_id, user_id },
  );
  const isRight = await isPassword(password, user?.password_hash);
  if (!user || !isRight) throw wrongOf(person, 'invalid_credentials');
  return user.password_hash;
}

/** Refuses what a person has given wrong in a session, which may be stolen. */
export function wrongOf(person: Person, code: 'invalid_credentials' | 'invalid_otp'): Refusal {
  return new Refusal(code).recordedAs({ ...eventBy(person), kind: 'log_in_failed' });
}

/**
 * Locks the row of a person, before any other row of its access. So changes of it take turns.
 * @param provenHash is that of `provePassword`. The password may have been changed since.
 * @throws Refusal `invalid_credentials`, and `token_revoked` when the session has ended meanwhile
 */
export async function lockUser(
  trx: Transaction,
  { merchant_id, user_id, family }: Person,
  provenHash: string | null,
): Promise<{ email: string; totp: boolean }> {
  const user = await firstRow<{ email: string; totp: boolean }>(
    trx,
    `SELECT email, totp FROM users
     WHERE merchant_id = :merchant_id AND id = :user_id AND active
       AND password_hash = coalesce(:proven_hash, password_hash) FOR NO KEY UPDATE`,
    { merchant_id, user_id, proven_hash: provenHash },
  );
  if (!user) throw new Refusal('invalid_credentials');
  // It may have ended while this waited. A statement of its own sees that.
  const isLiving = await hasRow(
    trx,
    `SELECT FROM token_families
     WHERE merchant_id = :merchant_id AND id = :family AND revoked_at IS NULL`,
    { merchant_id, family },
  );
  if (!isLiving) throw new Refusal('token_revoked', TOKEN_FIELDS.access);
  return user;
}
