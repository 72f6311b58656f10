import {
  type Database,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { Refusal } from '../errors.ts';
import { recordSecurityEvent } from '../security/security-events.ts';
import {
  hasTotpSecret,
  otpauthUri,
  plainCode,
  removeTotp,
  setTotp,
  storeTotpSecret,
  useOtp,
  useTotp,
} from './one-time-passwords.ts';
import { eventBy, lockUser, type Person, provePassword, type UserRef, wrongOf } from './person.ts';
import { renewRecoveryCodes } from './recovery-codes.ts';
import { revokeTokens } from './sessions.ts';

/** A new secret of one-time passwords. It is shown once. */
export interface NewTotp {
  /** In base32, for typing. */
  secret: string;
  /** The same for a QR code. */
  otpauth_uri: string;
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
  const hash = await provePassword(database, person, password);
  return inTransaction(database, async (trx) => {
    const { email, totp } = await lockUser(trx, person, hash);
    if (totp) throw new Refusal('totp_enabled');
    const secret = await storeTotpSecret(trx, secretsKeys, person);
    await recordSecurityEvent(trx, { ...eventBy(person), kind: 'totp_begun' });
    return { secret, otpauth_uri: otpauthUri(email, secret) };
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
  const hash = await provePassword(database, person, password);
  return inTransaction(database, async (trx) => {
    if (!(await lockUser(trx, person, hash)).totp) throw new Refusal('totp_not_enabled');
    if (!(await useOtp(trx, secretsKeys, person, otp))) throw wrongOf(person, 'invalid_otp');
    return change(trx);
  });
}

async function forgetTotpOfSessions(trx: Transaction, user: UserRef): Promise<void> {
  await rows(
    trx,
    `UPDATE token_families SET with_totp = false
     WHERE merchant_id = :merchant_id AND user_id = :user_id AND with_totp`,
    user,
  );
}
