import type { UserRecord } from '../../domain/merchants/user.ts';
import { ActiveBadge } from '../apps/table.tsx';
import { pathTo } from '../routes.ts';
import { type Column, Table } from '../shell/table.tsx';

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
