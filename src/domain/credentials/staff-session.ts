import {
  type Database,
  firstRow,
  hasRow,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { MINUTE_MS } from '../../time.ts';
import { StaffRefusal } from '../staff/require-staff.ts';
import { mayActAs, STAFF_COLUMNS, type StaffMember, type StaffRole } from '../staff/staff.ts';

/** A session that nobody uses for this long has ended. */
export const SESSION_IDLE_MS = 30 * MINUTE_MS;
/** Nobody stays logged in for longer, however busy. */
export const SESSION_MAX_MS = 12 * 60 * MINUTE_MS;
/** SQL: the database's time in ms. */
const NOW_MS = 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)';
/** Uses within this time count as one. */
const SAME_USE_MS = MINUTE_MS;

/** The facts that a session of the console keeps of its member. Times are the database's, in ms. */
export interface StaffSession {
  staff_id: string;
  /** The member's `session_no` when it began. A change of access ends all that began before. */
  session_no: number;
  /** The member has given a one-time password too. */
  with_totp: boolean;
  /** Where the member logged in from. */
  address: string | null;
  started_at_ms: number;
  used_at_ms: number;
}

/** The next thing that a member must do before anything else; null when nothing is left. */
export type MissingProof = 'one-time password' | 'set-up' | null;

/**
 * Reads the member of a session, as the member is now. A page that refreshes itself is no use. The session may have
 * been ended while the request came.
 * @returns null when the session has ended: idle for too long, too old, or its member has no
 * access any more
 */
export async function memberOfSession(
  database: Database,
  session: StaffSession,
  { sid, isUse }: { sid: string; isUse: boolean },
): Promise<{ member: StaffMember; session: StaffSession } | null> {
  const found = await firstRow<StaffMember & { now_ms: number }>(
    database,
    `SELECT ${STAFF_COLUMNS}, ${NOW_MS} AS now_ms FROM staff
     WHERE id = :staff_id AND active AND session_no = :session_no
       AND EXISTS (SELECT FROM console_sessions WHERE sid = :sid)`,
    { ...session, sid },
  );
  if (!found) return null;
  const { now_ms, ...member } = found;
  const isOver =
    now_ms - session.used_at_ms >= SESSION_IDLE_MS ||
    now_ms - session.started_at_ms >= SESSION_MAX_MS;
  if (isOver) return null;
  const isLater = isUse && now_ms - session.used_at_ms >= SAME_USE_MS;
  return { member, session: isLater ? { ...session, used_at_ms: now_ms } : session };
}

/** Starts a session that knows no one-time password yet. */
export async function startStaffSession(
  database: Database,
  { member, session_no }: { member: StaffMember; session_no: number },
  address: string | null,
): Promise<StaffSession> {
  const { now_ms } = (await firstRow<{ now_ms: number }>(database, `SELECT ${NOW_MS} AS now_ms`))!;
  const times = { started_at_ms: now_ms, used_at_ms: now_ms };
  return { staff_id: member.id, session_no, with_totp: false, address, ...times };
}

/** A session as its member sees it. */
export interface OwnSession {
  /** As the audit log has it. */
  name: string;
  address: string | null;
  started_at: Date;
  used_at: Date;
}

/** SQL: the sessions of a member that have not ended, with the name that the audit log gives them. */
const OWN = `SELECT sid, sess, left(encode(sha256(convert_to(sid, 'UTF8')), 'hex'), 12) AS name
  FROM console_sessions
  WHERE sess->'staff'->>'staff_id' = CAST(:staff_id AS text)
    AND CAST(sess->'staff'->>'session_no' AS bigint) = :session_no
    AND CAST(sess->'staff'->>'used_at_ms' AS bigint) > ${NOW_MS} - ${SESSION_IDLE_MS}
    AND CAST(sess->'staff'->>'started_at_ms' AS bigint) > ${NOW_MS} - ${SESSION_MAX_MS}`;

/** Lists the sessions of a member, the one that was used last first. */
export function listOwnSessions(
  database: Database,
  { staff_id, session_no }: StaffSession,
): Promise<OwnSession[]> {
  const moment = (name: string) =>
    `to_timestamp(CAST(sess->'staff'->>'${name}' AS bigint) / 1000.0) AS ${name.replace('_ms', '')}`;
  return rows<OwnSession>(
    database,
    `SELECT name, sess->'staff'->>'address' AS address, ${moment('started_at_ms')},
       ${moment('used_at_ms')}
     FROM (${OWN}) AS own ORDER BY used_at DESC, name`,
    { staff_id, session_no },
  );
}

/** Ends one session of a member. @returns whether there was such a one */
export function endOwnSession(
  database: Database,
  { staff_id, session_no }: StaffSession,
  name: string,
): Promise<boolean> {
  return hasRow(
    database,
    `DELETE FROM console_sessions WHERE sid IN (SELECT sid FROM (${OWN}) AS own
       WHERE name = :name) RETURNING sid`,
    { staff_id, session_no, name },
  );
}

/** Ends all sessions of a member at once. */
export async function endStaffSessions(trx: Transaction, staff_id: string): Promise<void> {
  const next = 'UPDATE staff SET session_no = session_no + 1 WHERE id = :staff_id';
  await rows(trx, next, { staff_id });
}

/**
 * Requires that a session goes on, and that its member still has access and the role, until the commit. The form may
 * have come slowly.
 * @param session.name is the name that the audit log gives it
 * @throws StaffRefusal
 */
export async function requireStillMember(
  trx: Transaction,
  session: StaffSession & { name: string },
  needed: StaffRole,
): Promise<void> {
  const member = await firstRow<Pick<StaffMember, 'email' | 'role'>>(
    trx,
    `SELECT email, role FROM staff
     WHERE id = :staff_id AND active AND session_no = :session_no
       AND EXISTS (SELECT FROM (${OWN}) AS own WHERE name = :name) FOR SHARE`,
    session,
  );
  if (member && mayActAs(member.role, needed)) return;
  const event = { staff: member?.email, detail: { why: member ? 'role' : 'session ended' } };
  throw new StaffRefusal('You may not do this any more', event);
}

/** Says what a session still lacks. Every member must use one-time passwords: each sees payments. */
export function missingProof({ totp }: StaffMember, { with_totp }: StaffSession): MissingProof {
  if (!totp) return 'set-up';
  return with_totp ? null : 'one-time password';
}
