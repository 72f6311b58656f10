import type { Approval, ApprovalDecision } from '../../domain/staff/approvals.ts';
import { pathTo } from '../routes.ts';
import { FormProblem, ReasonForm } from '../shell/form.tsx';
import { NextPage } from '../shell/keyset.tsx';
import { kes, Money } from '../shell/money.tsx';
import { Badge, type Tone } from '../shell/status.tsx';
import { type Column, Empty, Table } from '../shell/table.tsx';
import { Time } from '../shell/time.tsx';
import type { Visit } from '../visit.ts';
import type { ApprovalLists } from './query.ts';

const TONES: Readonly<Record<ApprovalDecision, Tone>> = {
  approved: 'good',
  rejected: 'bad',
  withdrawn: 'plain',
};

/** The words of each decision, on the button and beside it. */
const DECISION_WORDS: Readonly<Record<ApprovalDecision, string>> = {
  approved: 'Approve: it is done at once',
  rejected: 'Reject: it is not done',
  withdrawn: 'Withdraw',
};

/** What waits for a second person, and below it what was decided. */
export function Approvals({ visit, lists }: { visit: Visit; lists: ApprovalLists }) {
  const { open, decided } = lists;
  const path = pathTo('approvals');
  return (
    <>
      <h1>Approvals</h1>
      <p class="soft">
        Large decisions about money, and replays of many jobs, wait here for a second person.
      </p>
      <h2>Open</h2>
      {open.rows.length === 0 ? (
        <Empty>Nothing waits for a second person.</Empty>
      ) : (
        <Table caption="Open requests" rows={open.rows} columns={[...COMMON, REASON]} />
      )}
      <NextPage {...{ path, query: {}, name: 'open', next: open.next, words: 'Newer requests' }} />
      <h2>Decided</h2>
      {decided.rows.length === 0 ? (
        <Empty>No request has been decided yet.</Empty>
      ) : (
        <Table caption="Decided requests" rows={decided.rows} columns={[...COMMON, DECISION]} />
      )}
      <NextPage
        {...{ path, query: visit.query.open ? { open: visit.query.open } : {}, name: 'decided' }}
        {...{ next: decided.next, words: 'Older requests' }}
      />
    </>
  );
}

const COMMON: readonly Column<Approval>[] = [
  { heading: 'Asked', cell: ({ requested_at }) => <Time at={requested_at} /> },
  {
    heading: 'For',
    cell: ({ id, action, subject }) => (
      <a href={pathTo('approval', { id })}>
        {action}: {subject}
      </a>
    ),
  },
  { heading: 'By', cell: ({ requested_by }) => requested_by },
  {
    heading: 'Amount',
    isNumber: true,
    cell: ({ amount_cents }) => (amount_cents === null ? '–' : <Money cents={amount_cents} />),
  },
];

const REASON: Column<Approval> = { heading: 'Reason', cell: ({ reason }) => reason };

const DECISION: Column<Approval> = {
  heading: 'Decision',
  cell: ({ decision, decided_by }) =>
    decision && (
      <>
        <Badge tone={TONES[decision]} words={decision} /> {decided_by}
      </>
    ),
};

interface ApprovalPageProps {
  visit: Visit;
  request: Approval;
  /** How this member may decide. */
  decisions: readonly ApprovalDecision[];
  problem?: string | undefined;
}

/** One request: what will happen, who wants it and why, and the decision. */
export function ApprovalPage({ visit, request, decisions, problem }: ApprovalPageProps) {
  const { id, action, subject, preview, requested_by } = request;
  const [first] = decisions;
  return (
    <>
      <h1>
        {action}: {subject}
      </h1>
      <section class="card">
        <Facts request={request} />
        <h2>What will happen</h2>
        <ul>
          {preview.split('\n').map((line) => (
            <li>{line}</li>
          ))}
        </ul>
        <Subject request={request} />
      </section>
      {first === undefined ? (
        <>
          <FormProblem words={problem} />
          <p class="soft">{noDecision(request)}</p>
        </>
      ) : (
        <ReasonForm
          {...{ visit, problem, reason: visit.form.reason, back: pathTo('approvals') }}
          action={pathTo('decideApproval', { id })}
          verb={first === 'withdrawn' ? 'Withdraw the request' : 'Decide'}
        >
          {first === 'withdrawn' ? (
            <>
              <p>You have asked for this, so somebody else must approve it.</p>
              <input type="hidden" name="as" value={first} />
            </>
          ) : (
            <fieldset>
              <legend>Your decision about the request of {requested_by}</legend>
              {decisions.map((as) => (
                <p>
                  <label>
                    <input
                      type="radio"
                      name="as"
                      value={as}
                      required
                      checked={visit.form.as === as}
                    />{' '}
                    {DECISION_WORDS[as]}
                  </label>
                </p>
              ))}
            </fieldset>
          )}
        </ReasonForm>
      )}
    </>
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
      <dd>{reason}</dd>
      {merchant_id !== null && (
        <>
          <dt>Merchant</dt>
          <dd>{merchant_id}</dd>
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
            <Time at={decided_at} />: {decision_reason}
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
