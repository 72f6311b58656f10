import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import type { KeysetPage } from '../lists.ts';
import type { ApprovalActionName } from './approval-actions.ts';

/** The decisions that a member may make. */
export type Decision = 'approved' | 'rejected' | 'withdrawn';
export type ApprovalDecision = Decision | 'expired';

/** A request expires after this number of days without a decision: the world has gone on. */
export const APPROVAL_LIFE_DAYS = 3;
/** SQL */
export const IS_EXPIRED = `requested_at < now() - interval '${APPROVAL_LIFE_DAYS} days'`;

/** Something that a member of staff wants to do, with what became of the wish. */
export interface Approval {
  id: string;
  action: ApprovalActionName;
  /** The thing that it is about, as the audit log names it. */
  subject: string;
  merchant_id: number | null;
  /** As it is now. Missing in lists. */
  merchant_name?: string | null;
  amount_cents: number | null;
  /** What will happen, line by line. */
  preview: string;
  /** E-mail addresses of staff. */
  requested_by: string;
  reason: string;
  requested_at: Date;
  /** These four are null while nobody has decided. */
  decided_by: string | null;
  decided_at: Date | null;
  decision: ApprovalDecision | null;
  decision_reason: string | null;
}

/** SQL: what people see of a request. What its action needs may be megabytes. */
export const APPROVAL_COLUMNS = `id, action, subject, merchant_id, amount_cents, preview, requested_by, reason,
  requested_at, decided_by, decided_at, decision, decision_reason`;

/** Lists what waits for a second person, oldest first. */
export function listOpenApprovals(
  database: Database,
  { after, limit }: KeysetPage<string>,
): Promise<Approval[]> {
  return rows<Approval>(
    database,
    `SELECT ${APPROVAL_COLUMNS} FROM approvals
     WHERE decision IS NULL AND (CAST(:after AS uuid) IS NULL OR id > CAST(:after AS uuid))
     ORDER BY id LIMIT :limit`,
    { after: after ?? null, limit },
  );
}

/** Lists what was decided, the newest request first. */
export function listDecidedApprovals(
  database: Database,
  { after, limit }: KeysetPage<string>,
): Promise<Approval[]> {
  return rows<Approval>(
    database,
    `SELECT ${APPROVAL_COLUMNS} FROM approvals
     WHERE decision IS NOT NULL AND (CAST(:after AS uuid) IS NULL OR id < CAST(:after AS uuid))
     ORDER BY id DESC LIMIT :limit`,
    { after: after ?? null, limit },
  );
}

export function findApproval(
  database: Database | Transaction,
  id: string,
): Promise<Approval | undefined> {
  return firstRow<Approval>(
    database,
    `SELECT ${APPROVAL_COLUMNS}, (SELECT name FROM merchants WHERE merchants.id = merchant_id)
       AS merchant_name FROM approvals WHERE id = :id`,
    { id },
  );
}

/** Finds the open requests to do something to these things. There is one about each at most. */
export function openApprovalsAbout(
  database: Database,
  action: ApprovalActionName,
  subjects: readonly string[],
): Promise<Approval[]> {
  return rows<Approval>(
    database,
    `SELECT ${APPROVAL_COLUMNS} FROM approvals
     WHERE action = :action AND subject = ANY (:subjects) AND decision IS NULL ORDER BY id`,
    { action, subjects },
  );
}
