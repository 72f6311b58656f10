import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import type { Approval } from '../../domain/staff/approval-store.ts';
import { decideApproval, decisionsFor } from '../../domain/staff/approvals.ts';
import { auditedBy } from '../access/audited-by.ts';
import { pathTo } from '../routes.ts';
import { givenReason } from '../shell/reason-form.tsx';
import type { Answer, Visit } from '../visit.ts';
import { readApproval, readApprovals } from './query.ts';
import { ApprovalPage } from './request-view.tsx';
import { Approvals } from './view.tsx';

/** The names of the decisions in the audit log. */
const ACTIONS = {
  approved: 'approval.approve',
  rejected: 'approval.reject',
  withdrawn: 'approval.withdraw',
} as const;

/** Requests that wait for a second person. */
export const approvalHandlers = {
  approvals: async (visit: Visit): Promise<Answer> => {
    const lists = await readApprovals(visit);
    return { page: <Approvals visit={visit} lists={lists} />, title: 'Approvals' };
  },

  approval: async (visit: Visit): Promise<Answer> => show(visit, await readApproval(visit)),

  decideApproval: async (visit: Visit): Promise<Answer> => {
    const request = await readApproval(visit);
    try {
      await decide(visit, request);
      return { goTo: pathTo('approval', { id: request.id }) };
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      // Somebody else may have decided meanwhile.
      return show(visit, await readApproval(visit), error);
    }
  },
};

async function decide(visit: Visit, { id }: Approval): Promise<void> {
  const { service, form, member } = visit;
  const as = decisionIn(form.as);
  const reason = givenReason(visit);
  const audited = auditedBy(visit, 'decideApproval', { action: ACTIONS[as], reason });
  const options = { ...service.config, parserOf: service.parserOf };
  await audited((trx) => decideApproval(trx, id, { as, by: member.email, reason }, options));
}

function decisionIn(text = ''): keyof typeof ACTIONS {
  if (Object.hasOwn(ACTIONS, text)) return text as keyof typeof ACTIONS;
  throw new OperatorRefusal('Say whether you approve or reject this');
}

function show(visit: Visit, request: Approval, refusal?: OperatorRefusal): Answer {
  const decisions = decisionsFor(visit.member, request);
  const problem = refusal?.message;
  const page = <ApprovalPage {...{ visit, request, decisions, problem }} />;
  return { page, title: `Approval: ${request.subject}`, ...(refusal && { status: 422, refusal }) };
}
