import {
  type Database,
  firstRow,
  hasRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { MINUTE_MS } from '../../time.ts';
import { auditedFor } from '../audit/audit.ts';
import { presentOrigin } from '../audit/origin.ts';
import { OperatorRefusal } from '../errors.ts';
import { findStaff, StaffRefusal } from '../staff/require-staff.ts';
import { STAFF_COLUMNS, type StaffMember, tokenHashOf } from '../staff/staff.ts';
import { accountHash, accountHashes, countFailures, forgetFailures } from './log-in-limit.ts';
import {
  hasTotpSecret,
  type NewTotp,
  removeTotp,
  setTotp,
  storeTotpSecret,
  useTotp,
} from './one-time-passwords.ts';
import { hashPassword, inLine, provePassword, renewHash } from './passwords.ts';
import { STAFF } from './people.ts';
import { endStaffSessions } from './staff-session.ts';

/** The same for every wrong part, and for unknown accounts. */
const WRONG_PASSWORD = 'The e-mail address or the password is wrong';
const WRONG_TOKEN = 'The e-mail address or the staff token is wrong, or the token has expired';
const WRONG_OTP = 'The one-time password is wrong, or was used before: wait for the next one';
const OTP_IS_ON =
  'You have one-time passwords already: an admin switches them off with staff reset-totp';

/** A member who has proved a password, and the number that the member's sessions have now. */
export interface ProvenMember {
  member: StaffMember;
  session_no: number;
}

/**
 * Checks the password of a member. It takes as long for unknown accounts. Failures are limited, and
 * log-ins of strangers wait in line, as with users.
 * @param network is the caller's address or network; null when it is not known
 * @throws StaffRefusal when it is wrong, or after too many wrong ones
 * @throws LineIsFull when too many passwords are being checked
 */
export function proveStaffPassword(
  database: Database,
  keys: KeyRing,
  { email, password }: { email: string; password: string },
  network: string | null,
): Promise<ProvenMember> {
  const check = async (): Promise<ProvenMember> => {
    const found = await firstRow<
      StaffMember & { password_hash: string | null; session_no: number }
    >(
      database,
      `SELECT ${STAFF_COLUMNS}, password_hash, session_no FROM staff
       WHERE email = lower(:email) AND active`,
      { email },
    );
    const proven = await provePassword(password, found?.password_hash);
    if (!found || !proven) throw failedLogIn(keys, email, WRONG_PASSWORD);
    const { password_hash: _, session_no, ...member } = found;
    await renewHash(database, { staff_id: member.id }, proven);
    return { member, session_no };
  };
  return countLogIns(database, keys, email, network, (isKnown) =>
    inLine(String(network), isKnown, check),
  );
}

/** The proof that a member gives to set a password for the console. */
export interface NewStaffPassword {
  email: string;
  /** The member's staff token, which proves who it is. */
  token: string;
  password: string;
}

/**
 * Sets the password with which a member logs in to the console, and ends all sessions of the
 * member. Wrong tokens are limited as failed log-ins are.
 * @param origin has the caller's address, and the network that failures are counted for
 * @throws StaffRefusal when address and token do not belong together, or after too many failures
 * @throws LineIsFull when too many passwords are being hashed
 */
export function setStaffPassword(
  database: Database,
  keys: KeyRing,
  { email, token, password }: NewStaffPassword,
  { ip, network }: { ip: string | null; network: string | null },
): Promise<void> {
  return countLogIns(database, keys, email, network, async () => {
    const member = await findStaff(database, token);
    if (member?.email !== email.toLowerCase()) throw failedLogIn(keys, email, WRONG_TOKEN);
    const password_hash = await hashPassword(password);
    const change = { action: 'staff.set-password', reason: 'The member set it at the console' };
    await auditedFor(database, { ...change, actor: member.email })(async (trx) => {
      // The token may have been replaced meanwhile.
      const isSet = await hasRow(
        trx,
        `UPDATE staff SET password_hash = :password_hash, session_no = session_no + 1
         WHERE id = :id AND active AND token_hash = :token_hash AND token_expires_at > now()
         RETURNING id`,
        { id: member.id, password_hash, token_hash: tokenHashOf(token) },
      );
      if (!isSet) throw failedLogIn(keys, email, WRONG_TOKEN);
      const detail = { staff_id: member.id };
      const event = { kind: 'password_changed', ip, detail } as const;
      const audit = { merchant_id: null, subject: `staff member ${member.email}`, details: {} };
      return { value: null, audit, events: [event] };
    });
  });
}

/** Counts failed log-ins of a member, known or not. */
function countLogIns<Result>(
  database: Database,
  keys: KeyRing,
  email: string,
  network: string | null,
  check: (isKnown: boolean) => Promise<Result>,
): Promise<Result> {
  const account_hash = accountHash(keys, STAFF.accountOf(email));
  const refuse = (retryInMs: number) => {
    const words = `Too many log-ins to this account have failed: ${tryAgain(retryInMs)}`;
    return new StaffRefusal(words, { account_hash }, 'log_in_limited');
  };
  return countFailures(database, { account_hash, network, isWrong, refuse }, check);
}

function isWrong(error: unknown): boolean {
  return error instanceof StaffRefusal;
}

/** Returns the refusal of a log-in that was wrong. Its event does not name the account. */
function failedLogIn(keys: KeyRing, email: string, words: string): StaffRefusal {
  const account_hash = accountHash(keys, STAFF.accountOf(email));
  return new StaffRefusal(words, { account_hash }, 'log_in_failed');
}

function tryAgain(retryInMs: number): string {
  return `try again in ${Math.max(1, Math.ceil(retryInMs / MINUTE_MS))} min`;
}

/**
 * Names a member where wrong one-time passwords are counted. They are apart from wrong passwords: a
 * stranger who guesses passwords must not lock out the member who has the right one. Both doors are
 * apart too: a thief of the password gets to the console, and not to the command line.
 */
function otpAccount(email: string, isAtConsole: boolean): string {
  return isAtConsole ? `staff console otp ${email}` : `staff otp ${email}`;
}

/**
 * Uses a one-time password of a member, in a transaction of its own: it is spent, whatever follows.
 * Wrong ones are limited as failed log-ins are, with a count of their own, and another one for
 * networks that the member has logged in from lately.
 * @param network is the network of a browser, or null
 * @throws StaffRefusal when it is wrong or used, or after too many wrong ones
 */
export function useStaffTotp(
  database: Database,
  keys: KeyRing,
  { id: staff_id, email, token_prefix: token }: StaffMember,
  code: string,
  network: string | null,
): Promise<void> {
  const refusal = (why: string, words: string) =>
    new StaffRefusal(words, { staff: email, detail: { token, why } });
  const refuse = (retryInMs: number) =>
    refusal('otp_limited', `Too many wrong one-time passwords: ${tryAgain(retryInMs)}`);
  const isAtConsole = presentOrigin().door === 'console';
  const account_hash = accountHash(keys, otpAccount(email, isAtConsole));
  const known_by = accountHash(keys, STAFF.accountOf(email));
  const counted = { account_hash, known_by, network, isWrong, refuse };
  return countFailures(database, counted, async () => {
    const isRight = await inTransaction(database, async (trx) => {
      if (await useTotp(trx, keys, { staff_id }, code)) return true;
      if (await hasTotpSecret(trx, { staff_id })) return false;
      throw new OperatorRefusal('You have not begun: staff begin-totp');
    });
    if (!isRight) throw refusal('otp', WRONG_OTP);
  });
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
  const accounts = [STAFF.accountOf(email), otpAccount(email, true), otpAccount(email, false)];
  const hashes = accounts.flatMap((account) => accountHashes(keys, account));
  return forgetFailures(trx, hashes);
}

/**
 * Begins to set up one-time passwords for a member. Beginning again replaces the secret.
 * @throws OperatorRefusal when they are on
 */
export async function beginStaffTotp(
  trx: Transaction,
  keys: KeyRing,
  { id: staff_id, email }: StaffMember,
): Promise<NewTotp> {
  await requireTotpOff(trx, staff_id);
  return storeTotpSecret(trx, keys, { staff_id }, email);
}

/** Switches one-time passwords on. @throws OperatorRefusal when they are on, or not begun */
export async function enableStaffTotp(trx: Transaction, { id }: StaffMember): Promise<void> {
  await requireTotpOff(trx, id);
  await setTotp(trx, { staff_id: id }, true);
  // They count as new from their confirmation on. Somebody may have begun them long before, unnoticed.
  await rows(trx, 'UPDATE staff_totp_secrets SET created_at = now() WHERE staff_id = :id', { id });
}

/** Waits for another change of the member. @throws OperatorRefusal when they are on */
async function requireTotpOff(trx: Transaction, id: string): Promise<void> {
  const off = 'SELECT FROM staff WHERE id = :id AND NOT totp FOR NO KEY UPDATE';
  if (!(await hasRow(trx, off, { id }))) throw new OperatorRefusal(OTP_IS_ON);
}

/**
 * Switches one-time passwords off for a member who has lost them, and ends the member's sessions.
 * @returns whether they were on.
 */
export async function resetStaffTotp(
  trx: Transaction,
  { id: staff_id }: StaffMember,
): Promise<boolean> {
  const on = 'SELECT FROM staff WHERE id = :staff_id AND totp FOR NO KEY UPDATE';
  const wasOn = await hasRow(trx, on, { staff_id });
  await removeTotp(trx, { staff_id });
  if (wasOn) await endStaffSessions(trx, staff_id);
  return wasOn;
}
