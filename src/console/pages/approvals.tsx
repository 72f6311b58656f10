import type { ApprovalActionName } from '../../domain/staff/approval-actions.ts';
import {
  type Approval,
  type ApprovalDecision,
  findApproval,
  listDecidedApprovals,
  listOpenApprovals,
} from '../../domain/staff/approval-store.ts';
import { VEILED } from '../../domain/veil.ts';
import { recordView } from '../access/audit.ts';
import { pathTo } from '../routes.ts';
import { Money, Time } from '../shell/links.tsx';
import { idIn, uuidIn } from '../shell/read-fields.ts';
import { Badge, type Tone } from '../shell/status.tsx';
import { type Column, Empty, type ListPage, listPage, NextPage, Table } from '../shell/table.tsx';
import { ConsoleError, type Visit } from '../visit.ts';

/** The requests that wait for a second person, and those that were decided. */
interface ApprovalLists {
  open: ListPage<Approval>;
  decided: ListPage<Approval>;
}

/** Reads a page of each list. The two are turned separately. */
export async function readApprovals(visit: Visit): Promise<ApprovalLists> {
  const { service, query } = visit;
  const pageOf = (list: typeof listOpenApprovals, name: keyof ApprovalLists) => {
    const after = idIn(query, name);
    return listPage(
      async (limit) =>
        (await list(service.database, { after, limit })).map((each) => shownTo(visit, each)),
      ({ id }) => id,
    );
  };
  const lists = {
    open: await pageOf(listOpenApprovals, 'open'),
    decided: await pageOf(listDecidedApprovals, 'decided'),
  };
  const count = lists.open.rows.length + lists.decided.rows.length;
  const read = { action: 'approval.list', merchant_id: null, subject: 'approval', lookedFor: {} };
  await recordView(visit, { ...read, rows: count });
  return lists;
}

/** Finds a request, and records that it was read. @throws ConsoleError 404 */
export async function readApproval(visit: Visit): Promise<Approval> {
  const id = uuidIn(visit.params, 'id');
  const found = await findApproval(visit.service.database, id);
  if (!found) throw new ConsoleError(404, 'There is no such request');
  const { merchant_id } = found;
  const read = { action: 'approval.show', merchant_id, subject: `approval ${id}`, lookedFor: {} };
  await recordView(visit, { ...read, rows: 1 });
  return shownTo(visit, found);
}

/** Hides phones and accounts in a request from who may not decide. Who decides must see what is booked. */
function shownTo({ member }: Visit, request: Approval): Approval {
  if (member.role !== 'viewer') return request;
  const { subject, preview } = request;
  return { ...request, subject: VEILED.text(subject), preview: VEILED.text(preview) };
}

/** What somebody asks for. */
export const ACTION_WORDS: Readonly<Record<ApprovalActionName, string>> = {
  'app.activate': 'Activate',
  'app.create': 'Create',
  'app.rotate-secret': 'Give a new secret to',
  'app.rotate-webhook-secret': 'Give a new webhook secret to',
  'app.update': 'Change',
  'merchant.activate': 'Activate',
  'merchant.release-payouts': 'Release the payouts of',
  'merchant.update': 'Change',
  'user.create': 'Create',
  'user.reset-totp': 'Reset the one-time passwords of',
  'user.update': 'Change',
  'discrepancy.resolve': 'Decide',
  'discrepancy.adopt': 'Adopt',
  'jobs.replay': 'Replay',
  'staff.create': 'Add',
  'staff.update': 'Change the access of',
  'staff.deactivate': 'Shut out',
  'staff.new-token': 'Give a new token to',
  'staff.reset-totp': 'Reset the one-time passwords of',
  'wallet.topup': 'Top up',
  'wallet.adjust': 'Adjust',
  'ledger.move': 'Book a move',
  'ledger.bank-statement': 'Keep a statement of the bank',
};

/** The colours of decisions. */
export const TONES: Readonly<Record<ApprovalDecision, Tone>> = {
  approved: 'good',
  rejected: 'bad',
  withdrawn: 'plain',
  expired: 'plain',
};

/** Shows the requests that wait for a second person, and below them those that were decided. */
export function Approvals({ visit, lists }: { visit: Visit; lists: ApprovalLists }) {
  const { open, decided } = lists;
  const path = pathTo('approvals');
  return (
    <>
      <h1>Approvals</h1>
      <p class="soft">
        Decisions about large sums, or on the word of a person alone, and replays of many jobs wait
        here for a second person.
      </p>
      <h2>Open</h2>
      {open.rows.length === 0 ? (
        <Empty>Nothing waits for a second person.</Empty>
      ) : (
        <Table caption="Open requests" rows={open.rows} columns={[...COMMON, REASON]} />
      )}
      <NextPage path={path} name="open" next={open.next} />
      <h2>Decided</h2>
      {decided.rows.length === 0 ? (
        <Empty>No request has been decided yet.</Empty>
      ) : (
        <Table caption="Decided requests" rows={decided.rows} columns={[...COMMON, DECISION]} />
      )}
      <NextPage
        path={path}
        name="decided"
        next={decided.next}
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
