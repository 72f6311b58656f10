import { generateSecret, generateURI, verifySync } from 'otplib';
import { v7 as uuidv7 } from 'uuid';
import { firstRow, hasRow, rows, type Transaction } from '../../connections/database.ts';
import { type KeyRing, open, type Sealed, seal } from '../../process/key-ring.ts';
import { Refusal } from '../errors.ts';
import { recordSecurityEvent } from '../security/security-events.ts';
import { eventBy, type Person, type UserRef } from './person.ts';
import { useRecoveryCode } from './recovery-codes.ts';

/** One-time passwords by time, RFC 6238, in the form that every authenticator app knows. */
const STEP_S = 30;
const DIGITS = 6;
/** A clock may be one step away from ours, in either direction. */
const DRIFT_S = STEP_S;
/** The name that an authenticator app shows. */
const ISSUER = 'Malipo';
const TOTP_CODE = new RegExp(`^\\d{${DIGITS}}$`);

/** Binds a sealed secret to its user, so that it cannot be opened in another row. */
export function totpContext(user_id: string): string {
  return `totp_secret:${user_id}`;
}

/** Makes a secret, in base32. */
export function newTotpSecret(): string {
  return generateSecret();
}

/**
 * Returns the time step that a one-time password is of, or null when it is wrong.
 * @param nowS is the Unix time in seconds. A password may be one step away from it.
 */
export function timeStepOf(secret: string, code: string, nowS: number): number | null {
  if (!TOTP_CODE.test(code)) return null;
  const times = { epoch: Math.floor(nowS), period: STEP_S, epochTolerance: DRIFT_S };
  const result = verifySync({ secret, token: code, digits: DIGITS, ...times });
  return result.valid && 'timeStep' in result ? result.timeStep : null;
}

/** Returns the address that an authenticator app takes as a QR code. */
export function otpauthUri(email: string, secret: string): string {
  return generateURI({ issuer: ISSUER, label: email, secret, period: STEP_S, digits: DIGITS });
}

/** Gives a user a fresh secret, in place of any other. It is stored encrypted. @returns it in base32. */
export async function storeTotpSecret(
  trx: Transaction,
  secretsKeys: KeyRing,
  { merchant_id, user_id }: UserRef,
): Promise<string> {
  const secret = newTotpSecret();
  await rows(
    trx,
    `INSERT INTO totp_secrets (id, merchant_id, user_id, key_id, ciphertext)
     VALUES (:id, :merchant_id, :user_id, :keyId, :ciphertext)
     ON CONFLICT (merchant_id, user_id) DO UPDATE SET id = excluded.id, key_id = excluded.key_id,
       ciphertext = excluded.ciphertext, last_step = 0, created_at = excluded.created_at`,
    { merchant_id, user_id, id: uuidv7(), ...seal(secretsKeys, secret, totpContext(user_id)) },
  );
  return secret;
}

/** Tells whether a user has a secret, in use or not yet confirmed. */
export function hasTotpSecret(trx: Transaction, user: UserRef): Promise<boolean> {
  return hasRow(
    trx,
    'SELECT 1 FROM totp_secrets WHERE merchant_id = :merchant_id AND user_id = :user_id',
    user,
  );
}

interface SecretRow extends Sealed {
  id: string;
  now_s: number;
}

/**
 * Uses a one-time password of a user. Each time step is good once, and none before one that was
 * used: of two simultaneous uses, one finds the step taken.
 * @returns whether it was right.
 */
export async function useTotp(
  trx: Transaction,
  secretsKeys: KeyRing,
  { merchant_id, user_id }: UserRef,
  code: string,
): Promise<boolean> {
  const row = await firstRow<SecretRow>(
    trx,
    `SELECT id, key_id AS "keyId", ciphertext,
       CAST(extract(epoch FROM clock_timestamp()) AS double precision) AS now_s
     FROM totp_secrets WHERE merchant_id = :merchant_id AND user_id = :user_id`,
    { merchant_id, user_id },
  );
  if (!row) return false;
  const step = timeStepOf(open(secretsKeys, row, totpContext(user_id)), code, row.now_s);
  if (step === null) return false;
  return hasRow(
    trx,
    `UPDATE totp_secrets SET last_step = :step
     WHERE merchant_id = :merchant_id AND id = :id AND last_step < :step RETURNING id`,
    { merchant_id, id: row.id, step },
  );
}

/** Switches one-time passwords off for a user, and forgets the secret and the recovery codes. */
export async function removeTotp(trx: Transaction, user: UserRef): Promise<void> {
  await rows(
    trx,
    'DELETE FROM totp_secrets WHERE merchant_id = :merchant_id AND user_id = :user_id',
    user,
  );
  await rows(
    trx,
    'DELETE FROM recovery_codes WHERE merchant_id = :merchant_id AND user_id = :user_id',
    user,
  );
  await setTotp(trx, user, false);
}

/** Forgets a secret that was begun and not confirmed: somebody else may have begun it. */
export async function removeUnconfirmedTotp(trx: Transaction, user: UserRef): Promise<void> {
  await rows(
    trx,
    `DELETE FROM totp_secrets WHERE merchant_id = :merchant_id AND user_id = :user_id
       AND NOT (SELECT totp FROM users WHERE merchant_id = :merchant_id AND id = :user_id)`,
    user,
  );
}

/** Says whether a user logs in with one-time passwords. */
export async function setTotp(trx: Transaction, user: UserRef, totp: boolean): Promise<void> {
  const bindings = { merchant_id: user.merchant_id, user_id: user.user_id, totp };
  await rows(
    trx,
    'UPDATE users SET totp = :totp WHERE merchant_id = :merchant_id AND id = :user_id',
    bindings,
  );
}

/** Returns the one-time password of a request. @throws Refusal `otp_required` */
export function givenOtp(otp: string | undefined): string {
  if (!otp) throw new Refusal('otp_required');
  return otp;
}

/**
 * Uses a one-time password, or a recovery code in its place. Spaces and dashes do not matter.
 * The use is undone with the transaction, so one that is refused later stays good.
 * @returns whether it was right.
 */
export async function useOtp(
  trx: Transaction,
  secretsKeys: KeyRing,
  person: Person,
  otp: string,
): Promise<boolean> {
  const code = plainCode(otp);
  if (await useTotp(trx, secretsKeys, person, code)) return true;
  if (!(await useRecoveryCode(trx, person, code))) return false;
  await recordSecurityEvent(trx, { ...eventBy(person), kind: 'recovery_code_used' });
  return true;
}

/** Returns a code as it is made, however people write it. */
export function plainCode(otp: string): string {
  return otp.replace(/[\s-]/g, '').toLowerCase();
}
