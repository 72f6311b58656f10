import { type Database, firstRow, inTransaction, rows } from '../../connections/database.ts';
import { MINUTE_MS } from '../../time.ts';
import { recordAudit } from '../audit/audit.ts';
import { APPROVAL_ACTIONS } from './approval-actions.ts';
import {
  APPROVAL_COLUMNS,
  APPROVAL_LIFE_DAYS,
  type Approval,
  IS_EXPIRED,
} from './approval-store.ts';
import { auditOf } from './approvals.ts';
import { nameOfMember } from './given-access.ts';
import { mayActAs, type StaffMember, type StaffRole } from './staff.ts';

/*
 * Requests that wait: members are told of them, and those that nobody decides
 * about expire.
 */

/** Ends the requests that nobody has decided about in time, each with its line in the audit log. */
export async function expireApprovals(database: Database): Promise<number> {
  const reason = `Nobody has decided within ${APPROVAL_LIFE_DAYS} days`;
  return inTransaction(database, async (trx) => {
    const expired = await rows<Approval>(
      trx,
      `UPDATE approvals SET decision = 'expired', decided_by = :by, decided_at = clock_timestamp(),
         decision_reason = :reason
       WHERE decision IS NULL AND ${IS_EXPIRED} RETURNING ${APPROVAL_COLUMNS}`,
      { by: SCHEDULE, reason },
    );
    for (const request of expired) {
      const details = { wants: request.action, decision: 'expired' };
      const audit = auditOf(request, details);
      await recordAudit(trx, { ...audit, actor: SCHEDULE, action: 'approval.expire', reason });
    }
    return expired.length;
  });
}

/** The audit log's name for what the service does by itself. */
const SCHEDULE = 'schedule';

/** The time after which a request is told again, if telling it failed. */
const TELL_AGAIN_MS = 5 * MINUTE_MS;

/** A request, with the addresses of those who hear of it, and of those who have heard of it already. */
export interface UntoldApproval extends Approval {
  tell: string[];
  told: string[];
}

/**
 * Takes a request of which nobody was told, so that no other process tells it for a while. One that was approved
 * at once is told too. Those who may agree to it hear of it, and the member in whose name it was asked: somebody
 * else may have asked with that member's token.
 * @returns null when everybody was told of every request
 */
export async function takeUntold(database: Database): Promise<UntoldApproval | null> {
  const taken = await firstRow<Omit<UntoldApproval, 'tell'>>(
    database,
    `UPDATE approvals SET tell_at = now() + :again_ms * interval '1 millisecond'
     WHERE id = (SELECT id FROM approvals WHERE ${IS_TOLD} AND tell_at <= now()
       ORDER BY tell_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
     RETURNING ${APPROVAL_COLUMNS}, told`,
    { again_ms: TELL_AGAIN_MS },
    'fresh',
  );
  if (!taken) return null;
  const staff = await rows<{ email: string; role: StaffRole }>(
    database,
    'SELECT email, role FROM staff WHERE active ORDER BY email',
  );
  const { role } = APPROVAL_ACTIONS[taken.action];
  const mayDecide = staff.filter(
    ({ email, role: own }) =>
      email === taken.requested_by ||
      (mayActAs(own, role) && taken.subject !== nameOfMember(email)),
  );
  return { ...taken, tell: mayDecide.map(({ email }) => email) };
}

/** SQL: members hear of this request. */
const IS_TOLD = "(decision IS NULL OR decision = 'approved')";

/** Keeps that some were told of a request, and others were not. */
export async function keepTold(
  database: Database,
  { id }: Approval,
  told: readonly string[],
): Promise<void> {
  await rows(
    database,
    `UPDATE approvals SET told = told || CAST(:told AS text[])
     WHERE id = :id`,
    { id, told },
  );
}

/** Keeps that everybody was told of a request. */
export async function markTold(database: Database, { id }: Approval): Promise<void> {
  await rows(database, 'UPDATE approvals SET tell_at = NULL WHERE id = :id', { id });
}

/** Counts the open requests that a member may agree to. */
export async function countApprovalsFor(
  database: Database,
  { email, role }: Pick<StaffMember, 'email' | 'role'>,
): Promise<number> {
  const names = Object.entries(APPROVAL_ACTIONS).filter(([, each]) => mayActAs(role, each.role));
  const row = await firstRow<{ count: number }>(
    database,
    `SELECT count(*) AS count FROM approvals
     WHERE decision IS NULL AND requested_by <> :email AND subject <> :own
       AND action = ANY (:names)`,
    { email, own: nameOfMember(email), names: names.map(([name]) => name) },
  );
  return row!.count;
}
