import type { ApprovalActionName } from '../../domain/staff/approval-actions.ts';
import type { Approval, ApprovalDecision } from '../../domain/staff/approval-store.ts';
import { pathTo } from '../routes.ts';
import { NextPage } from '../shell/list-page.tsx';
import { Money } from '../shell/money.tsx';
import { Badge, type Tone } from '../shell/status.tsx';
import { type Column, Empty, Table } from '../shell/table.tsx';
import { Time } from '../shell/time.tsx';
import { VEILED } from '../shell/veil.ts';
import type { Visit } from '../visit.ts';
import type { ApprovalLists } from './query.ts';

/** What somebody asks for. */
export const ACTION_WORDS: Readonly<Record<ApprovalActionName, string>> = {
  'discrepancy.resolve': 'Decide',
  'jobs.replay': 'Replay',
  'wallet.topup': 'Top up',
  'wallet.adjust': 'Adjust',
};

/** The colours of decisions. */
export const TONES: Readonly<Record<ApprovalDecision, Tone>> = {
  approved: 'good',
  rejected: 'bad',
  withdrawn: 'plain',
};

/** Shows the requests that wait for a second person, and below them those that were decided. */
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
      <NextPage {...{ path, name: 'open', next: open.next }} />
      <h2>Decided</h2>
      {decided.rows.length === 0 ? (
        <Empty>No request has been decided yet.</Empty>
      ) : (
        <Table caption="Decided requests" rows={decided.rows} columns={[...COMMON, DECISION]} />
      )}
      <NextPage
        {...{ path, name: 'decided', next: decided.next }}
        query={{ open: visit.query.open ?? '' }}
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
        {ACTION_WORDS[action]}: {subject}
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

const REASON: Column<Approval> = { heading: 'Reason', cell: ({ reason }) => VEILED.text(reason) };

const DECISION: Column<Approval> = {
  heading: 'Decision',
  cell: ({ decision, decided_by }) =>
    decision && (
      <>
        <Badge tone={TONES[decision]} words={decision} /> {decided_by}
      </>
    ),
};
