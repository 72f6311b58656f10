import {
  type Database,
  firstRow,
  hasRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { Refusal } from '../errors.ts';
import { recordSecurityEvent } from '../security/security-events.ts';
import {
  hasTotpSecret,
  type NewTotp,
  plainCode,
  removeTotp,
  removeUnconfirmedTotp,
  renewRecoveryCodes,
  setTotp,
  storeTotpSecret,
  useOtp,
  useTotp,
} from './one-time-passwords.ts';
import { passwordProblem } from './password-problem.ts';
import { hashPassword, isPassword } from './passwords.ts';
import { eventBy, type Person, type UserRef } from './people.ts';
import { revokeTokens } from './sessions.ts';
import { TOKEN_FIELDS } from './tokens.ts';

/**
 * Changes the password of a person who knows the old one. The session goes on; all others of the
 * person end. A log-in with the old password at the same moment is either ended or refused.
 * @throws Refusal `invalid_credentials`, `token_revoked` when the session has ended meanwhile, and
 *   `invalid_field` when it is the old password again or too easy to guess
 */
export async function changeOwnPassword(
  database: Database,
  person: Person,
  oldPassword: string,
  newPassword: string,
  email: string | null,
): Promise<void> {
  const proven_hash = await proveOwnPassword(database, person, oldPassword);
  const isTooEasy = passwordProblem(newPassword, email ? [email] : []) !== null;
  if (newPassword === oldPassword || isTooEasy) throw new Refusal('invalid_field', 'new_password');
  const password_hash = await hashPassword(newPassword);
  await inTransaction(database, async (trx) => {
    await lockUser(trx, person, proven_hash);
    const { merchant_id, user_id, family } = person;
    await rows(
      trx,
      `UPDATE users SET password_hash = :password_hash, must_change_password = false
       WHERE merchant_id = :merchant_id AND id = :user_id`,
      { merchant_id, user_id, password_hash },
    );
    await removeUnconfirmedTotp(trx, person);
    const sessions_ended = await revokeTokens(trx, { merchant_id, user_id }, family);
    const event = { ...eventBy(person), detail: { sessions_ended } };
    await recordSecurityEvent(trx, { ...event, kind: 'password_changed' });
  });
}

/**
 * Begins to set up one-time passwords. Nothing changes for log-ins until `confirmTotp`. Beginning
 * again replaces the secret.
 * @throws Refusal `invalid_credentials`, `totp_enabled`
 */
export async function beginTotp(
  database: Database,
  secretsKeys: KeyRing,
  person: Person,
  password: string,
): Promise<NewTotp> {
  return withPassword(database, person, password, async (trx, { email, totp }) => {
    if (totp) throw new Refusal('totp_enabled');
    const begun = await storeTotpSecret(trx, secretsKeys, person, email);
    await recordSecurityEvent(trx, { ...eventBy(person), kind: 'totp_begun' });
    return begun;
  });
}

/**
 * Switches one-time passwords on, with a first one. From now on log-ins need them. All other
 * sessions of the person end. This one goes on, but does not count as begun with one: somebody may
 * have stolen its tokens before.
 * @returns the recovery codes, which are shown once.
 * @throws Refusal `totp_enabled`, `totp_not_enabled` (not begun), `invalid_otp`
 */
export async function confirmTotp(
  database: Database,
  secretsKeys: KeyRing,
  person: Person,
  otp: string,
): Promise<string[]> {
  return inTransaction(database, async (trx) => {
    if ((await lockUser(trx, person, null)).totp) throw new Refusal('totp_enabled');
    if (!(await hasTotpSecret(trx, person))) throw new Refusal('totp_not_enabled');
    if (!(await useTotp(trx, secretsKeys, person, plainCode(otp)))) {
      throw wrongOf(person, 'invalid_otp');
    }
    await setTotp(trx, person, true);
    const { merchant_id, user_id, family } = person;
    const sessions_ended = await revokeTokens(trx, { merchant_id, user_id }, family);
    const event = { ...eventBy(person), detail: { sessions_ended } };
    await recordSecurityEvent(trx, { ...event, kind: 'totp_enabled' });
    return renewRecoveryCodes(trx, person);
  });
}

/**
 * Switches one-time passwords off. No session counts as begun with one any more.
 * @throws Refusal `invalid_credentials`, `totp_not_enabled`, `invalid_otp`
 */
export async function disableTotp(
  database: Database,
  secretsKeys: KeyRing,
  person: Person,
  password: string,
  otp: string,
): Promise<void> {
  await withBoth(database, secretsKeys, person, password, otp, async (trx) => {
    await removeTotp(trx, person);
    await forgetTotpOfSessions(trx, person);
    await recordSecurityEvent(trx, { ...eventBy(person), kind: 'totp_disabled' });
  });
}

/**
 * Gives a person new recovery codes. The old ones end.
 * @throws Refusal `invalid_credentials`, `totp_not_enabled`, `invalid_otp`
 */
export async function replaceRecoveryCodes(
  database: Database,
  secretsKeys: KeyRing,
  person: Person,
  password: string,
  otp: string,
): Promise<string[]> {
  return withBoth(database, secretsKeys, person, password, otp, async (trx) => {
    await recordSecurityEvent(trx, { ...eventBy(person), kind: 'recovery_codes_renewed' });
    return renewRecoveryCodes(trx, person);
  });
}

/** Makes a change for a person who has given both the password and a one-time password. */
async function withBoth<Result>(
  database: Database,
  secretsKeys: KeyRing,
  person: Person,
  password: string,
  otp: string,
  change: (trx: Transaction) => Promise<Result>,
): Promise<Result> {
  return withPassword(database, person, password, async (trx, { totp }) => {
    if (!totp) throw new Refusal('totp_not_enabled');
    if (!(await useOtp(trx, secretsKeys, person, otp))) throw wrongOf(person, 'invalid_otp');
    return change(trx);
  });
}

/**
 * Makes a change for a person who has given the password again.
 * @throws Refusal `invalid_credentials`, `token_revoked`
 */
export async function withPassword<Result>(
  database: Database,
  person: Person,
  password: string,
  change: (trx: Transaction, user: { email: string; totp: boolean }) => Promise<Result>,
): Promise<Result> {
  const hash = await proveOwnPassword(database, person, password);
  return inTransaction(database, async (trx) => change(trx, await lockUser(trx, person, hash)));
}

async function forgetTotpOfSessions(trx: Transaction, user: UserRef): Promise<void> {
  await rows(
    trx,
    `UPDATE token_families SET with_totp = false
     WHERE merchant_id = :merchant_id AND user_id = :user_id AND with_totp`,
    user,
  );
}

/**
 * Checks the password of a person. It takes long, so no transaction may be open.
 * @returns the hash that it was checked by, for `lockUser` to compare.
 * @throws Refusal `invalid_credentials`
 */
async function proveOwnPassword(
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
function wrongOf(person: Person, code: 'invalid_credentials' | 'invalid_otp'): Refusal {
  return new Refusal(code).recordedAs({ ...eventBy(person), kind: 'log_in_failed' });
}

/**
 * Locks the row of a person, before any other row of its access. So changes of it take turns.
 * @param provenHash comes from `proveOwnPassword`. The password may have been changed since.
 * @throws Refusal `invalid_credentials`, and `token_revoked` when the session has ended meanwhile
 */
async function lockUser(
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
