import type { Approval, ApprovalDecision } from '../../domain/staff/approval-store.ts';
import { pathTo } from '../routes.ts';
import { FormProblem } from '../shell/form.tsx';
import { MerchantLink } from '../shell/merchant-link.tsx';
import { kes } from '../shell/money.tsx';
import { ReasonForm } from '../shell/reason-form.tsx';
import { Badge } from '../shell/status.tsx';
import { Time } from '../shell/time.tsx';
import { VEILED } from '../shell/veil.ts';
import type { Visit } from '../visit.ts';
import { ACTION_WORDS, TONES } from './view.tsx';

/** The words of each decision about somebody else's request. */
const DECISION_WORDS: Readonly<Partial<Record<ApprovalDecision, string>>> = {
  approved: 'Approve: it is done at once',
  rejected: 'Reject: it is not done',
};

interface ApprovalPageProps {
  visit: Visit;
  request: Approval;
  /** The decisions that this member may make. */
  decisions: readonly ApprovalDecision[];
  problem?: string | undefined;
}

/** One request: what will happen, who wants it and why, and the decision. */
export function ApprovalPage({ visit, request, decisions, problem }: ApprovalPageProps) {
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
        <DecisionForm {...{ visit, request, decisions, problem }} />
      )}
    </>
  );
}

function DecisionForm({ visit, request, decisions, problem }: ApprovalPageProps) {
  const { id, requested_by } = request;
  const isOwn = decisions.includes('withdrawn');
  return (
    <ReasonForm
      {...{ visit, problem, back: pathTo('approvals') }}
      action={pathTo('decideApproval', { id })}
      verb={isOwn ? 'Withdraw the request' : 'Decide'}
    >
      {isOwn ? (
        <>
          <p>You have asked for this, so somebody else must approve it.</p>
          <input type="hidden" name="as" value="withdrawn" />
        </>
      ) : (
        <fieldset>
          <legend>Your decision about the request of {requested_by}</legend>
          {decisions.map((as) => (
            <p>
              <label>
                <input type="radio" name="as" value={as} required checked={visit.form.as === as} />{' '}
                {DECISION_WORDS[as]}
              </label>
            </p>
          ))}
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
