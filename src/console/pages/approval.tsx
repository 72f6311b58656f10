import { OperatorRefusal } from '../../domain/errors.ts';
import { kes } from '../../domain/money.ts';
import type { Approval, Decision } from '../../domain/staff/approval-store.ts';
import { decisionsFor } from '../../domain/staff/approvals.ts';
import { VEILED } from '../../domain/veil.ts';
import { approvalOperations } from '../../operations/approval.ts';
import type { Result } from '../../operations/operation.ts';
import { perform } from '../../operations/perform.ts';
import { pathTo } from '../routes.ts';
import { FormProblem } from '../shell/fields.tsx';
import { MerchantLink, Time } from '../shell/links.tsx';
import { answerOf, orderOf } from '../shell/operation.tsx';
import { givenReason, OtpField, ReasonForm } from '../shell/reason-form.tsx';
import { Badge } from '../shell/status.tsx';
import type { Answer, Visit } from '../visit.ts';
import { ACTION_WORDS, Approvals, readApproval, readApprovals, TONES } from './approvals.tsx';

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
      return answerOf(await decide(visit, request), pathTo('approval', { id: request.id }));
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      // Somebody else may have decided meanwhile.
      return show(visit, await readApproval(visit), error);
    }
  },
};

async function decide(visit: Visit, subject: Approval): Promise<Result> {
  const { as = '' } = visit.form;
  if (!Object.hasOwn(approvalOperations, as)) {
    throw new OperatorRefusal('Say whether you approve or reject this');
  }
  const operation = approvalOperations[as as Decision];
  const order = orderOf(visit, subject, givenReason(visit));
  const wanted = { ...order, values: {}, otp: visit.form.otp || undefined };
  // A decision itself needs nobody else.
  return (await perform(operation, wanted)).result!;
}

function show(visit: Visit, request: Approval, refusal?: OperatorRefusal): Answer {
  const decisions = decisionsFor(visit.member, request);
  const problem = refusal?.message;
  const shown = { visit, request, decisions, problem };
  const page = <ApprovalPage {...shown} />;
  return { page, title: `Approval: ${request.subject}`, ...(refusal && { status: 422, refusal }) };
}

interface ApprovalPageProps {
  visit: Visit;
  request: Approval;
  /** The decisions that this member may make. */
  decisions: readonly Decision[];
  problem?: string | undefined;
}

/** One request: what will happen, who wants it and why, and the decision. */
function ApprovalPage({ visit, request, decisions, problem }: ApprovalPageProps) {
  const { action, subject, preview } = request;
  return (
    <>
      <h1>
        {ACTION_WORDS[action]}: {subject}
      </h1>
      <section class="card">
        <Facts request={request} />
        <h2>What will happen</h2>
        <p class="soft">
          As it was foreseen when it was asked for, <Time at={request.requested_at} />.
        </p>
        <ul>
          {preview.split('\n').map((line) => (
            <li>{line}</li>
          ))}
        </ul>
        <Subject request={request} />
      </section>
      {decisions.length === 0 ? (
        <>
          <FormProblem words={problem} />
          <p class="soft">{noDecision(request)}</p>
        </>
      ) : (
        <DecisionForm visit={visit} request={request} decisions={decisions} problem={problem} />
      )}
    </>
  );
}

function DecisionForm({ visit, request, decisions, problem }: ApprovalPageProps) {
  const { id, requested_by } = request;
  const isOwn = decisions.includes('withdrawn');
  return (
    <ReasonForm
      visit={visit}
      problem={problem}
      back={pathTo('approvals')}
      action={pathTo('decideApproval', { id })}
      verb={isOwn ? approvalOperations.withdrawn.title : 'Decide'}
    >
      {isOwn ? (
        <>
          <p>You have asked for this, so somebody else must approve it: tell a colleague.</p>
          <input type="hidden" name="as" value="withdrawn" />
        </>
      ) : (
        <fieldset>
          <legend>Your decision about the request of {requested_by}</legend>
          {decisions.map((as) => (
            <p>
              <label>
                <input type="radio" name="as" value={as} required checked={visit.form.as === as} />{' '}
                {approvalOperations[as].title}
              </label>
            </p>
          ))}
          <OtpField isRequired={false} hint="To approve it" />
        </fieldset>
      )}
    </ReasonForm>
  );
}

function noDecision({ decision }: Approval): string {
  return decision === null
    ? 'Your role cannot decide about this.'
    : 'This is decided. Nothing is left to do.';
}

function Facts({ request }: { request: Approval }) {
  const { merchant_id, amount_cents, requested_by, reason, requested_at } = request;
  const { decision, decided_by, decided_at, decision_reason } = request;
  return (
    <dl>
      <dt>Asked by</dt>
      <dd>
        {requested_by}, <Time at={requested_at} />
      </dd>
      <dt>Reason</dt>
      <dd>{VEILED.text(reason)}</dd>
      {merchant_id !== null && (
        <>
          <dt>Merchant</dt>
          <dd>
            <MerchantLink merchant_id={merchant_id} />
          </dd>
        </>
      )}
      {amount_cents !== null && (
        <>
          <dt>Amount</dt>
          <dd>{kes(amount_cents)}</dd>
        </>
      )}
      {decision && decided_at && (
        <>
          <dt>Decision</dt>
          <dd>
            <Badge tone={TONES[decision]} words={decision} /> by {decided_by},{' '}
            <Time at={decided_at} />: {VEILED.text(decision_reason ?? '')}
          </dd>
        </>
      )}
    </dl>
  );
}

/** The pages of the things that requests are about, by the first words of their subjects. */
const PAGES = { discrepancy: 'discrepancy', 'bulk replay': 'bulkReplay' } as const;

/** The page of the thing itself. A bulk replay has none before it is approved. */
function Subject({ request: { subject, decision } }: { request: Approval }) {
  const [, what = '', id] = /^([a-z ]+) ([\da-f-]{36})$/.exec(subject) ?? [];
  if (!Object.hasOwn(PAGES, what) || (what === 'bulk replay' && decision !== 'approved')) {
    return null;
  }
  return (
    <p>
      <a href={pathTo(PAGES[what as keyof typeof PAGES], { id })}>See the {what}</a>
    </p>
  );
}
