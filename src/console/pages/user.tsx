import { type OpenSetUp, openSetUps } from '../../domain/credentials/set-ups.ts';
import { requireUserById, type UserRecord } from '../../domain/merchants/user.ts';
import { createUser, userOperations } from '../../operations/user.ts';
import { recordView } from '../access/audit.ts';
import { mayUse, pathTo } from '../routes.ts';
import { Facts, Time } from '../shell/links.tsx';
import { OperationLinks, operationHandlers, pagesOf, type Resource } from '../shell/operation.tsx';
import { found, numberInPath, uuidIn } from '../shell/read-fields.ts';
import { ActiveBadge } from '../shell/status.tsx';
import { type Column, Table } from '../shell/table.tsx';
import type { Answer, Visit } from '../visit.ts';
import { MERCHANT } from './merchants.tsx';
import { linkFacts } from './set-up-links.tsx';

/** The user that the pages under its address are about. */
const USER: Resource<UserRecord> = {
  find: ({ service, params }) => {
    const merchant_id = numberInPath(params, 'merchant_id');
    const user_id = uuidIn(params, 'user_id');
    return found(requireUserById(service.database, { merchant_id, user_id }));
  },
  recordView: recordUserView,
  nameOf: ({ email, merchant_id }) => `${email} of merchant ${merchant_id}`,
  pathOf: ({ merchant_id, id: user_id }) => pathTo('user', { merchant_id, user_id }),
};

async function recordUserView(visit: Visit, { email, merchant_id }: UserRecord): Promise<void> {
  const read = { action: 'user.show', merchant_id, subject: `user ${email}` };
  await recordView(visit, { ...read, lookedFor: { email }, rows: 1 });
}

const { update, deactivate, resetTotp } = userOperations;
const pages = pagesOf([update, resetTotp]);

/** The page of a user, and what can be done about it. */
export const userHandlers = {
  user: async (visit: Visit): Promise<Answer> => {
    const user = await USER.find(visit);
    await recordUserView(visit, user);
    const { merchant_id, id: user_id } = user;
    const links = await openSetUps(visit.service.database, { merchant_id, user_id });
    return { page: <UserPage visit={visit} user={user} links={links} />, title: user.email };
  },

  ...operationHandlers('userDeactivate', {
    resource: USER,
    pages: pagesOf([deactivate]),
    part: 'deactivate',
  }),
  ...operationHandlers('userChange', { resource: USER, pages }),
  ...operationHandlers('userNew', {
    resource: MERCHANT,
    pages: pagesOf([createUser]),
    part: 'create',
    madeAt: ({ row }) => USER.pathOf(row as UserRecord),
  }),
};

/** A person who may log in for a merchant. */
function UserPage({ visit, user, links }: { visit: Visit; user: UserRecord; links: OpenSetUp[] }) {
  const { merchant_id, id: user_id, active } = user;
  const { role } = visit.member;
  return (
    <>
      <h1>{user.email}</h1>
      <p>
        <ActiveBadge active={active} off="deactivated" /> of{' '}
        <a href={pathTo('merchant', { merchant_id })}>merchant {merchant_id}</a>
      </p>
      <section class="card">
        <Facts
          facts={[
            ['Name', user.name],
            ['Role', user.role],
            ['One-time passwords', user.totp ? 'yes' : 'no'],
            ['Must change the password first', user.must_change_password ? 'yes' : 'no'],
            ['Created', <Time at={user.created_at} />],
            ...linkFacts(links),
          ]}
        />
        <p class="buttons">
          {mayUse(role, 'userDeactivate') && active && (
            <a class="button quiet" href={pathTo('userDeactivateForm', { merchant_id, user_id })}>
              Deactivate
            </a>
          )}
          {mayUse(role, 'userChange') && (
            <OperationLinks route="userChange" params={visit.params} subject={user} pages={pages} />
          )}
        </p>
      </section>
    </>
  );
}

const COLUMNS: readonly Column<UserRecord>[] = [
  {
    heading: 'User',
    cell: ({ merchant_id, id: user_id, email }) => (
      <a href={pathTo('user', { merchant_id, user_id })}>{email}</a>
    ),
  },
  { heading: 'Name', cell: ({ name }) => name ?? '' },
  { heading: 'Role', cell: ({ role }) => role },
  { heading: 'One-time passwords', cell: ({ totp }) => (totp ? 'yes' : 'no') },
  { heading: 'State', cell: ({ active }) => <ActiveBadge active={active} off="deactivated" /> },
];

/** The users of a merchant, by their e-mail addresses. */
export function UserTable({ users }: { users: UserRecord[] }) {
  return <Table rows={users} columns={COLUMNS} caption="Users" />;
}
