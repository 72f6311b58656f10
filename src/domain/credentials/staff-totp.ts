import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  firstRow,
  hasRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { type KeyRing, open, type Sealed, seal } from '../../process/key-ring.ts';
import { MINUTE_MS } from '../../time.ts';
import { OperatorRefusal } from '../errors.ts';
import { StaffRefusal } from '../staff/require-staff.ts';
import type { StaffMember } from '../staff/staff.ts';
import {
  accountHash,
  accountHashes,
  countLogIn,
  forgetFailures,
  takeBackLogIn,
} from './log-in-limit.ts';
import { newTotpSecret, otpauthUri, timeStepOf } from './one-time-passwords.ts';

const IS_ON =
  'You have one-time passwords already: an admin switches them off with staff reset-totp';
const WRONG = 'The one-time password is wrong, or was used before';

/** Names a member where failures are counted, so that it is not the user of the same address. */
export function staffAccount(email: string): string {
  return `staff ${email}`;
}

/**
 * Names a member where wrong one-time passwords are counted. They are apart from wrong passwords: a
 * stranger who guesses those must not lock out whoever has the right ones.
 */
export function staffOtpAccount(email: string): string {
  return `staff otp ${email}`;
}

/**
 * Forgets the failed log-ins and the wrong one-time passwords of a member, who may log in at once.
 * @returns whether there were any
 */
export function forgetStaffFailures(
  trx: Transaction,
  keys: KeyRing,
  { email }: StaffMember,
): Promise<boolean> {
  const accounts = [staffAccount(email), staffOtpAccount(email)];
  return forgetFailures(
    trx,
    accounts.flatMap((account) => accountHashes(keys, account)),
  );
}

/** Binds a sealed secret to its member, so that it cannot be opened in another row. */
export function staffTotpContext(staff_id: string): string {
  return `staff_totp_secret:${staff_id}`;
}

/**
 * Begins to set up one-time passwords for a member. Beginning again replaces the secret.
 * @returns the secret in base32, and the same for a QR code. It is shown once.
 * @throws OperatorRefusal when they are on
 */
export async function beginStaffTotp(
  trx: Transaction,
  keys: KeyRing,
  { id: staff_id, email }: StaffMember,
): Promise<{ secret: string; otpauth_uri: string }> {
  await requireTotpOff(trx, staff_id);
  const secret = newTotpSecret();
  await rows(
    trx,
    `INSERT INTO staff_totp_secrets (id, staff_id, key_id, ciphertext)
     VALUES (:id, :staff_id, :keyId, :ciphertext)
     ON CONFLICT (staff_id) DO UPDATE SET id = excluded.id, key_id = excluded.key_id,
       ciphertext = excluded.ciphertext, last_step = 0, created_at = excluded.created_at`,
    { id: uuidv7(), staff_id, ...seal(keys, secret, staffTotpContext(staff_id)) },
  );
  return { secret, otpauth_uri: otpauthUri(email, secret) };
}

/** Switches one-time passwords on. @throws OperatorRefusal when they are on, or not begun */
export async function enableStaffTotp(trx: Transaction, { id }: StaffMember): Promise<void> {
  await requireTotpOff(trx, id);
  await rows(trx, 'UPDATE staff SET totp = true WHERE id = :id', { id });
}

/** Waits for another change of the member. @throws OperatorRefusal when they are on */
async function requireTotpOff(trx: Transaction, id: string): Promise<void> {
  const off = 'SELECT FROM staff WHERE id = :id AND NOT totp FOR NO KEY UPDATE';
  if (!(await hasRow(trx, off, { id }))) throw new OperatorRefusal(IS_ON);
}

/**
 * Switches one-time passwords off for a member who has lost them, and ends the member's sessions.
 * @returns whether they were on.
 */
export async function resetStaffTotp(trx: Transaction, { id }: StaffMember): Promise<boolean> {
  const wasOn = await hasRow(
    trx,
    'UPDATE staff SET totp = false, session_no = session_no + 1 WHERE id = :id AND totp RETURNING id',
    { id },
  );
  await rows(trx, 'DELETE FROM staff_totp_secrets WHERE staff_id = :id', { id });
  return wasOn;
}

/**
 * Uses a one-time password of a member, in a transaction of its own: it is spent, whatever follows.
 * Wrong ones are limited as failed log-ins are, with a count of their own: nobody gets here without
 * the password or the token.
 * @throws StaffRefusal when it is wrong or used, or after too many wrong ones
 */
export async function useStaffTotp(
  database: Database,
  keys: KeyRing,
  member: StaffMember,
  code: string,
): Promise<void> {
  const account_hash = accountHash(keys, staffOtpAccount(member.email));
  const { limit, retryInMs } = await countLogIn(database, account_hash, null);
  if (!limit) throw refusal(member, 'otp_limited', tooMany(retryInMs));
  if (!(await spend(database, keys, member.id, code))) throw refusal(member, 'otp', WRONG);
  await takeBackLogIn(database, limit);
}

function refusal({ email: staff, token_prefix: token }: StaffMember, why: string, words: string) {
  return new StaffRefusal(words, { staff, detail: { token, why } });
}

function tooMany(retryInMs: number): string {
  const minutes = Math.max(1, Math.ceil(retryInMs / MINUTE_MS));
  return `Too many wrong one-time passwords: try again in ${minutes} min`;
}

/** Each time step is good once: of two simultaneous uses, one finds the step taken. */
function spend(database: Database, keys: KeyRing, staff_id: string, code: string) {
  return inTransaction(database, async (trx) => {
    const row = await firstRow<Sealed & { now_s: number }>(
      trx,
      `SELECT key_id AS "keyId", ciphertext,
         CAST(extract(epoch FROM clock_timestamp()) AS double precision) AS now_s
       FROM staff_totp_secrets WHERE staff_id = :staff_id`,
      { staff_id },
    );
    if (!row) throw new OperatorRefusal('You have not begun: staff begin-totp');
    const step = timeStepOf(open(keys, row, staffTotpContext(staff_id)), code, row.now_s);
    if (step === null) return false;
    return hasRow(
      trx,
      `UPDATE staff_totp_secrets SET last_step = :step
       WHERE staff_id = :staff_id AND last_step < :step RETURNING id`,
      { staff_id, step },
    );
  });
}
