import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import { requestApproval } from '../../domain/staff/approvals.ts';
import {
  beginBulkReplay,
  bulkSubject,
  refuseWrongOrder,
} from '../../domain/support/bulk-replay.ts';
import { auditedBy } from '../access/audited-by.ts';
import { recordView } from '../access/record-view.ts';
import { pathTo } from '../routes.ts';
import { NotPossible } from '../shell/action-page.tsx';
import { givenReason } from '../shell/reason-form.tsx';
import type { Answer, Visit } from '../visit.ts';
import { linesOf, PlanForm } from './plan-view.tsx';
import { readFailedJobs } from './query.ts';
import { type Plan, planOf } from './selection.ts';
import { FailedJobs } from './view.tsx';

/** Jobs that have failed for good, and their replay. */
export const failedJobHandlers = {
  failedJobs: async (visit: Visit): Promise<Answer> => {
    const page = await readFailedJobs(visit);
    return { page: <FailedJobs visit={visit} page={page} />, title: 'Failed jobs' };
  },

  bulkReplayForm: async (visit: Visit): Promise<Answer> => form(visit, visit.query),

  beginBulkReplay: async (visit: Visit): Promise<Answer> => {
    try {
      const reason = givenReason(visit);
      const plan = await planOf(visit, visit.form);
      return { goTo: await begin(visit, plan, reason) };
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      return form(visit, visit.form, error);
    }
  },
};

/** Begins a replay, or asks for a second person. @returns the page that shows what comes of it */
async function begin(visit: Visit, plan: Plan, reason: string): Promise<string> {
  const { order } = plan;
  const { email: requested_by } = visit.member;
  const by = (action: string) => auditedBy(visit, 'beginBulkReplay', { action, reason });
  if (!plan.needsSecond) {
    const alone = { requested_by, reason, approved_by: null };
    await by('jobs.replay')((trx) => beginBulkReplay(trx, order, alone));
    return pathTo('bulkReplay', { id: order.id });
  }
  refuseWrongOrder(order);
  const { id } = await requestApproval(by('approval.request'), {
    action: 'jobs.replay',
    subject: bulkSubject(order.id),
    merchant_id: order.filter.merchant_id ?? null,
    amount_cents: null,
    payload: order,
    preview: linesOf(plan).join('\n'),
    ...{ requested_by, reason },
  });
  return pathTo('approval', { id });
}

async function form(
  visit: Visit,
  given: Readonly<Record<string, string>>,
  refusal?: OperatorRefusal,
): Promise<Answer> {
  const plan = await planOrProblem(visit, given);
  const title = 'Replay failed jobs';
  const page =
    'problem' in plan ? (
      <>
        <h1>{title}</h1>
        <NotPossible why={plan.problem} back={pathTo('failedJobs')} />
      </>
    ) : (
      <PlanForm {...{ visit, plan, problem: refusal?.message }} />
    );
  const isRefused = refusal !== undefined || 'problem' in plan;
  return { page, title, status: isRefused ? 422 : 200, ...(refusal && { refusal }) };
}

async function planOrProblem(
  visit: Visit,
  given: Readonly<Record<string, string>>,
): Promise<Plan | { problem: string }> {
  try {
    const plan = await planOf(visit, given);
    await recordView(visit, {
      ...{ action: 'jobs.preview', subject: 'jobs', rows: plan.count },
      merchant_id: plan.order.filter.merchant_id ?? null,
      lookedFor: { ...plan.order.filter },
    });
    return plan;
  } catch (error) {
    if (!(error instanceof OperatorRefusal)) throw error;
    return { problem: error.message };
  }
}
