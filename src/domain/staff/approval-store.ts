import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import type { KeysetPage } from '../lists.ts';
import type { ApprovalActionName } from './approval-actions.ts';

export type ApprovalDecision = 'approved' | 'rejected' | 'withdrawn';

/** Something that a member of staff wants to do, with what became of the wish. */
export interface Approval {
  id: string;
  action: ApprovalActionName;
  /** The thing that it is about, as the audit log names it. */
  subject: string;
  merchant_id: number | null;
  amount_cents: number | null;
  payload: Record<string, unknown>;
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

/** Lists what waits for a second person, oldest first. */
export function listOpenApprovals(
  database: Database,
  { after, limit }: KeysetPage<string>,
): Promise<Approval[]> {
  return rows<Approval>(
    database,
    `SELECT * FROM approvals
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
    `SELECT * FROM approvals
     WHERE decision IS NOT NULL AND (CAST(:after AS uuid) IS NULL OR id < CAST(:after AS uuid))
     ORDER BY id DESC LIMIT :limit`,
    { after: after ?? null, limit },
  );
}

export function findApproval(
  database: Database | Transaction,
  id: string,
): Promise<Approval | undefined> {
  return firstRow<Approval>(database, 'SELECT * FROM approvals WHERE id = :id', { id });
}

/** Finds the open request to do something to a thing. There is one at most. */
export function openApprovalAbout(
  database: Database,
  action: ApprovalActionName,
  subject: string,
): Promise<Approval | undefined> {
  return firstRow<Approval>(
    database,
    `SELECT * FROM approvals
     WHERE action = :action AND subject = :subject AND decision IS NULL`,
    { action, subject },
  );
}
