import { type Database, firstRow, rows } from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { MINUTE_MS } from '../../time.ts';
import { StaffRefusal } from '../staff/require-staff.ts';
import { STAFF_COLUMNS, type StaffMember } from '../staff/staff.ts';
import { accountHash, countLogIn, type LogInLimit, takeBackLogIn } from './log-in-limit.ts';
import { isPassword, renewedHash } from './passwords.ts';
import { staffAccount } from './staff-totp.ts';

/** The same for every wrong part, and for unknown accounts. */
const WRONG = 'The e-mail address or the password is wrong';

/** A member who has proved a password, and the number that the member's sessions have now. */
export interface ProvenMember {
  member: StaffMember;
  session_no: number;
}

/**
 * Checks the password of a member. It takes as long for unknown accounts. Failures are limited as
 * those of users are.
 * @param network is the caller's address or network; null when it is not known
 * @throws StaffRefusal when it is wrong, or after too many wrong ones
 * @throws Refusal `unavailable` when too many passwords are being checked
 */
export async function proveStaffPassword(
  database: Database,
  keys: KeyRing,
  { email, password }: { email: string; password: string },
  network: string | null,
): Promise<ProvenMember> {
  const limit = await requireFewFailures(database, keys, email, network);
  const found = await firstRow<StaffMember & { password_hash: string | null; session_no: number }>(
    database,
    `SELECT ${STAFF_COLUMNS}, password_hash, session_no FROM staff
     WHERE email = lower(:email) AND active`,
    { email },
  );
  const isRight = await isPassword(password, found?.password_hash ?? undefined);
  if (!found || !isRight) throw failedLogIn(keys, email, WRONG);
  await takeBackLogIn(database, limit);
  const { password_hash, session_no, ...member } = found;
  const renewed = await renewedHash(password, password_hash!);
  if (renewed) {
    await rows(
      database,
      'UPDATE staff SET password_hash = :renewed WHERE id = :id AND password_hash = :password_hash',
      { ...found, renewed },
    );
  }
  return { member, session_no };
}

/**
 * Counts a log-in of a member as a failure, until it is taken back.
 * @throws StaffRefusal after too many failures
 */
export async function requireFewFailures(
  database: Database,
  keys: KeyRing,
  email: string,
  network: string | null,
): Promise<LogInLimit> {
  const account_hash = accountHash(keys, staffAccount(email));
  const { limit, retryInMs } = await countLogIn(database, account_hash, network);
  if (limit) return limit;
  const minutes = Math.max(1, Math.ceil(retryInMs / MINUTE_MS));
  const words = `Too many log-ins to this account have failed: try again in ${minutes} min`;
  throw new StaffRefusal(words, { account_hash }, 'log_in_limited');
}

/** Returns the refusal of a log-in that was wrong. Its event does not name the account. */
export function failedLogIn(keys: KeyRing, email: string, words: string): StaffRefusal {
  const account_hash = accountHash(keys, staffAccount(email));
  return new StaffRefusal(words, { account_hash }, 'log_in_failed');
}
