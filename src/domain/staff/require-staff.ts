import { type Database, firstRow, type Transaction } from '../../connections/database.ts';
import { OperatorRefusal } from '../errors.ts';
import type { SecurityEvent, SecurityEventKind } from '../security/security-events.ts';
import {
  hasStaff,
  mayActAs,
  STAFF_COLUMNS,
  type StaffMember,
  type StaffRole,
  tokenHashOf,
  tokenPrefixOf,
} from './staff.ts';

/** A member of staff, or a stranger, may not do this. */
export class StaffRefusal extends OperatorRefusal {
  readonly event: SecurityEvent;

  constructor(
    message: string,
    event: Omit<SecurityEvent, 'kind'>,
    kind: SecurityEventKind = 'staff_refused',
  ) {
    super(message);
    this.event = { ...event, kind };
  }
}

const NO_TOKEN =
  'This needs the token of a member of staff: set MALIPO_STAFF_TOKEN or MALIPO_STAFF_TOKEN_FILE';
const UNKNOWN = 'The staff token is not valid, or another one has replaced it';

/**
 * Finds the member with this token, and requires that the member may do what needs a role.
 * @param lock keeps the member as it is until the end of the transaction
 * @returns null while there are no staff accounts at all: then everybody may do everything
 * @throws OperatorRefusal without a token
 * @throws StaffRefusal when the token is unknown, replaced or expired, or when its member is
 * deactivated or has a lower role
 */
export async function requireStaff(
  executor: Database | Transaction,
  token: string | undefined,
  needed: StaffRole,
  lock: 'FOR SHARE' | '' = '',
): Promise<StaffMember | null> {
  const member = token === undefined ? undefined : await findByToken(executor, token, lock);
  if (!member) {
    if (!(await hasStaff(executor))) return null;
    if (token === undefined) throw new OperatorRefusal(NO_TOKEN);
    throw new StaffRefusal(UNKNOWN, { detail: { token: tokenPrefixOf(token), why: 'unknown' } });
  }
  const problem = problemOf(member, needed);
  if (!problem) return member;
  const { email: staff, token_prefix } = member;
  throw new StaffRefusal(problem.words, {
    staff,
    detail: { token: token_prefix, why: problem.why },
  });
}

/** Finds the member with this token, if it is valid. */
export async function findStaff(
  executor: Database | Transaction,
  token: string,
): Promise<StaffMember | null> {
  const member = await findByToken(executor, token);
  return member && !problemOf(member, 'viewer') ? member : null;
}

/** Requires the valid token of a member whom something else has proved. @throws StaffRefusal */
export async function requireOwnToken(
  executor: Database | Transaction,
  { id, email: staff }: StaffMember,
  token: string,
): Promise<void> {
  if ((await findStaff(executor, token))?.id === id) return;
  const detail = { token: tokenPrefixOf(token), why: 'unknown' };
  throw new StaffRefusal('The staff token is wrong, or has expired', { staff, detail });
}

type Holder = StaffMember & { is_expired: boolean };

async function findByToken(
  executor: Database | Transaction,
  token: string,
  lock: 'FOR SHARE' | '' = '',
): Promise<Holder | undefined> {
  return firstRow<Holder>(
    executor,
    `SELECT ${STAFF_COLUMNS}, token_expires_at <= clock_timestamp() AS is_expired
     FROM staff WHERE token_hash = :token_hash ${lock}`,
    { token_hash: tokenHashOf(token) },
  );
}

function problemOf({ email, role, active, is_expired }: Holder, needed: StaffRole) {
  if (!active) return { why: 'deactivated', words: `${email} is deactivated` };
  if (is_expired) {
    const words = `The token of ${email} has expired: an admin gives out another one with staff new-token ${email}`;
    return { why: 'expired', words };
  }
  if (mayActAs(role, needed)) return null;
  return { why: 'role', words: `This needs the role ${needed}, and ${email} has the role ${role}` };
}
