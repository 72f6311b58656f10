import type { AppRecord } from '../../domain/merchants/app.ts';
import { pathTo } from '../routes.ts';
import { Badge } from '../shell/status.tsx';
import { type Column, Table } from '../shell/table.tsx';

const ANYWHERE = 'anywhere';

const COLUMNS: readonly Column<AppRecord>[] = [
  {
    heading: 'App',
    cell: ({ merchant_id, code, name }) => (
      <a href={pathTo('app', { merchant_id, code })}>{name}</a>
    ),
  },
  { heading: 'Code', cell: ({ code }) => code },
  { heading: 'Products', cell: ({ products }) => products.join(', ') || 'none' },
  { heading: 'May call from', cell: ({ ip_allow_list }) => ip_allow_list.join(', ') || ANYWHERE },
  { heading: 'State', cell: ({ active }) => <ActiveBadge active={active} off="suspended" /> },
];

/** The apps of a merchant, by their codes. */
export function AppTable({ apps }: { apps: AppRecord[] }) {
  return <Table rows={apps} columns={COLUMNS} caption="Apps" />;
}

export function ActiveBadge({ active, off }: { active: boolean; off: string }) {
  return <Badge tone={active ? 'good' : 'bad'} words={active ? 'active' : off} />;
}
