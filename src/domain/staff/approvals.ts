import { v7 as uuidv7 } from 'uuid';
import { firstRow, hasRow, rows, type Transaction } from '../../connections/database.ts';
import { violates } from '../../connections/database-errors.ts';
import { HOUR_MS } from '../../time.ts';
import { type Audited, type AuditedChange, recordAudit } from '../audit/audit.ts';
import { NOWHERE, withOrigin } from '../audit/origin.ts';
import { OperatorRefusal } from '../errors.ts';
import {
  APPROVAL_ACTIONS,
  type ApprovalAction,
  type ApprovalActionName,
  type ApprovalOptions,
  type PayloadOf,
} from './approval-actions.ts';
import {
  APPROVAL_COLUMNS,
  APPROVAL_LIFE_DAYS,
  type Approval,
  type Decision,
  IS_EXPIRED,
} from './approval-store.ts';
import { nameOfMember, requireTwoPeople } from './given-access.ts';
import { mayActAs, type StaffMember, type StaffRole } from './staff.ts';

export type NewApproval<Name extends ApprovalActionName = ApprovalActionName> = Pick<
  Approval,
  'subject' | 'merchant_id' | 'amount_cents' | 'preview' | 'requested_by' | 'reason'
> & { action: Name; payload: PayloadOf<Name> };

/** Tells whether money needs a second person: from STAFF_APPROVAL_LIMIT on. 0 means that all money does. */
export function needsApproval(cents: number, limitCents: number): boolean {
  return cents >= limitCents;
}

/**
 * Asks for a second person, with a line in the audit log.
 * @throws OperatorRefusal when the same is asked for already
 */
export async function requestApproval<Name extends ApprovalActionName>(
  audited: Audited,
  wanted: NewApproval<Name>,
): Promise<Approval> {
  try {
    return await audited(async (trx) => {
      const value = await insert(trx, wanted);
      const details = { wants: value.action, preview: value.preview };
      return { value, audit: auditOf(value, details) };
    });
  } catch (error) {
    if (!violates(error, 'approvals_open')) throw error;
    throw new OperatorRefusal(`Somebody has asked for this already (${wanted.subject})`);
  }
}

/**
 * More open requests of one member would hide the requests of other members. Those that a member has withdrawn within
 * the hour count as well: each is kept.
 */
const MAX_OPEN = 20;

async function insert(trx: Transaction, wanted: NewApproval): Promise<Approval> {
  const open = await rows(
    trx,
    `SELECT FROM approvals WHERE requested_by = :requested_by AND (decision IS NULL
       OR decision = 'withdrawn' AND requested_at > now() - interval '1 hour') LIMIT :max`,
    { requested_by: wanted.requested_by, max: MAX_OPEN },
  );
  if (open.length >= MAX_OPEN) {
    throw new OperatorRefusal(
      `${MAX_OPEN} requests of yours are open, or were withdrawn within the hour: have them decided, or come back later`,
    );
  }
  const row = await firstRow<Approval>(
    trx,
    `INSERT INTO approvals (id, action, subject, merchant_id, amount_cents, payload, preview,
       requested_by, reason)
     VALUES (:id, :action, :subject, :merchant_id, :amount_cents, CAST(:payload AS jsonb),
       :preview, :requested_by, :reason)
     RETURNING ${APPROVAL_COLUMNS}`,
    { ...wanted, id: uuidv7(), payload: JSON.stringify(wanted.payload) },
  );
  return row!;
}

/** Tells how a member may decide about a request. Neither a viewer may, nor the member that it is about. */
export function decisionsFor(
  { email, role }: Pick<StaffMember, 'email' | 'role'>,
  { action, subject, requested_by, decision }: Approval,
): Decision[] {
  if (decision !== null) return [];
  if (email === requested_by) return ['withdrawn'];
  if (subject === nameOfMember(email)) return [];
  return mayActAs(role, APPROVAL_ACTIONS[action].role) ? ['approved', 'rejected'] : [];
}

/** The decision about a request. */
export interface Deciding {
  as: Decision;
  /** The e-mail address of the member who decides. */
  by: string;
  reason: string;
}

/**
 * Decides about a request, and does what was asked for if it is approved, all in the caller's
 * transaction. Both names are in the audit log: the action's own line has the first person as its
 * actor, and the line of the decision has the second.
 * @throws OperatorRefusal when somebody has decided already, this member may not decide, or the
 * action is not possible any more. It changes nothing then, and the request stays open.
 */
export async function decideApproval(
  trx: Transaction,
  id: string,
  deciding: Deciding,
  options: ApprovalOptions,
): Promise<AuditedChange<Approval>> {
  const request = await lockOpen(trx, id, deciding.as);
  await requireDecider(trx, request, deciding, options);
  const events = deciding.as === 'approved' ? await run(trx, request, deciding, options) : [];
  const { as, by, reason } = deciding;
  const decided = await firstRow<Approval>(
    trx,
    `UPDATE approvals SET decision = :as, decided_by = :by, decided_at = clock_timestamp(),
       decision_reason = :reason
     WHERE id = :id RETURNING ${APPROVAL_COLUMNS}`,
    { id, as, by, reason },
  );
  const { action: wants, requested_by, reason: request_reason } = request;
  const audit = auditOf(request, { wants, decision: as, requested_by, request_reason });
  return { value: decided!, audit, events };
}

/** A request with what its action needs. */
type Request = Approval & { payload: Record<string, unknown> };

async function lockOpen(trx: Transaction, id: string, as: Decision): Promise<Request> {
  const request = await firstRow<Request & { is_expired: boolean }>(
    trx,
    `SELECT *, ${IS_EXPIRED} AS is_expired FROM approvals WHERE id = :id FOR NO KEY UPDATE`,
    { id },
  );
  if (!request) throw new OperatorRefusal(`There is no request ${id}`);
  const { decision, decided_by, is_expired } = request;
  if (decision !== null)
    throw new OperatorRefusal(`${decided_by} has decided already: ${decision}`);
  if (!is_expired || as !== 'approved') return request;
  throw new OperatorRefusal(
    `This is older than ${APPROVAL_LIFE_DAYS} days: look at it again, and ask anew`,
  );
}

/**
 * Reads both members anew, and keeps roles and access as they are until the commit. Who has asked
 * must be allowed to act still, if it is to be done.
 */
async function requireDecider(
  trx: Transaction,
  request: Approval,
  { as, by }: Deciding,
  { newAccessHoldMs }: ApprovalOptions,
): Promise<void> {
  const isOwn = request.requested_by === by;
  if (isOwn && as !== 'withdrawn') {
    throw new OperatorRefusal('You have asked for this yourself: somebody else must decide');
  }
  if (!isOwn && as === 'withdrawn') {
    throw new OperatorRefusal(`Only ${request.requested_by} may withdraw this: reject it instead`);
  }
  if (!isOwn && request.subject === nameOfMember(by)) {
    throw new OperatorRefusal('This is about you: somebody else must decide');
  }
  const members = await lockMembers(trx, [by, request.requested_by]);
  const { role, isAboutAccess } = APPROVAL_ACTIONS[request.action] as ApprovalAction<unknown>;
  const mayDecide = members.has(by) && (isOwn || mayActAs(members.get(by)!, role));
  if (!mayDecide) throw new OperatorRefusal(`This needs an active member with the role ${role}`);
  if (as !== 'approved') return;
  await refuseNewOtp(trx, by, newAccessHoldMs);
  await requireTwoPeople(trx, request.requested_by, by, isAboutAccess ? request : null);
  await requireStillMay(trx, request.requested_by, role);
}

/**
 * Keeps a member who has asked for something as it is until the commit.
 * @throws OperatorRefusal when the member has lost access or role since
 */
export async function requireStillMay(
  trx: Transaction,
  email: string,
  role: StaffRole,
): Promise<void> {
  const own = (await lockMembers(trx, [email])).get(email);
  if (own !== undefined && mayActAs(own, role)) return;
  throw new OperatorRefusal(
    `${email} may not do this any more: reject the request, and ask for it yourself`,
  );
}

/**
 * Refuses a member whose one-time passwords are new: somebody may have set them up with a token that was left on a
 * machine. The first day of an installation counts not.
 * @throws OperatorRefusal
 */
export async function refuseNewOtp(trx: Transaction, email: string, holdMs: number): Promise<void> {
  const isNew = await hasRow(
    trx,
    `SELECT FROM staff_totp_secrets t JOIN staff s ON s.id = t.staff_id
     WHERE s.email = :email AND t.created_at > now() - :holdMs * interval '1 millisecond'
       AND t.created_at > (SELECT min(created_at) FROM staff) + interval '1 day'`,
    { email, holdMs },
  );
  if (!isNew) return;
  throw new OperatorRefusal(
    `Your one-time passwords are new: they approve nothing for ${holdMs / HOUR_MS} h`,
  );
}

/** Returns the roles of those who are active, by e-mail address. They stay so until the commit. */
async function lockMembers(
  trx: Transaction,
  emails: readonly string[],
): Promise<Map<string, StaffRole>> {
  const members = await rows<{ email: string; role: StaffRole }>(
    trx,
    'SELECT email, role FROM staff WHERE email = ANY (:emails) AND active ORDER BY email FOR SHARE',
    { emails: [...emails] },
  );
  return new Map(members.map(({ email, role }) => [email, role]));
}

async function run(
  trx: Transaction,
  request: Request,
  { by: approved_by, reason: approval_reason }: Deciding,
  options: ApprovalOptions,
) {
  const { id, action, requested_by, reason } = request;
  const by = { requested_by, reason, approved_by };
  // The payload fits its action: `NewApproval` saw to it.
  const payload = request.payload as never;
  const { audit, events } = await APPROVAL_ACTIONS[action].run(trx, payload, by, options);
  if (audit) {
    const details = { ...audit.details, approval: id, approved_by, approval_reason };
    // The line of the decision says where its member was. This one is of the member who has asked before.
    await withOrigin(NOWHERE, () =>
      recordAudit(trx, { ...audit, details, actor: requested_by, action, reason }),
    );
  }
  return events;
}

/** The line stands with the thing that the request is about. */
export function auditOf({ id, subject, merchant_id }: Approval, details: Record<string, unknown>) {
  return { merchant_id, subject, details: { approval: id, ...details } };
}
