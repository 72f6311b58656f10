import type { AuditRecord } from '../../domain/audit-log.ts';
import { pathTo } from '../routes.ts';
import { ChoiceFilter, DayFilters, Filters, TextFilter } from '../shell/filters.tsx';
import { type ListPage, NextPage } from '../shell/list-page.tsx';
import { type Column, Empty, Table } from '../shell/table.tsx';
import { Time } from '../shell/time.tsx';
import { veiled } from './veiled.ts';

/** Shows reads in place of changes. */
export const READS = 'reads';

type Query = Readonly<Record<string, string>>;

/** Who has changed or read what, newest first. */
export function AuditPage({
  query,
  page: { rows, next },
}: {
  query: Query;
  page: ListPage<AuditRecord>;
}) {
  const path = pathTo('audit');
  const { after: _, ...filters } = query;
  return (
    <>
      <h1>Audit log</h1>
      <Filters path={path}>
        <ChoiceFilter name="show" label="Show" query={query} choices={[READS]} all="changes" />
        <TextFilter name="actor" label="By: an e-mail address or a name" query={query} />
        <TextFilter name="noun" label="Action: its first word, such as app" query={query} />
        <TextFilter name="subject" label="Of what, such as app 5001" query={query} />
        <TextFilter name="merchant" label="Merchant" query={query} type="number" />
        <DayFilters query={query} />
      </Filters>
      {rows.length === 0 ? (
        <Empty>No line fits. Take fewer filters, an earlier day, or the reads.</Empty>
      ) : (
        <>
          <p>
            <a href={`${pathTo('auditCsv')}?${new URLSearchParams(filters)}`} download>
              All that fit, as CSV
            </a>
          </p>
          <Table rows={rows.map(veiled)} columns={COLUMNS} caption="Audit log, newest first" />
        </>
      )}
      <NextPage {...{ path, query, next }} />
    </>
  );
}

const COLUMNS: readonly Column<AuditRecord>[] = [
  { heading: 'When', cell: ({ happened_at }) => <Time at={happened_at} /> },
  { heading: 'Who', cell: ({ actor }) => actor },
  { heading: 'Action', cell: ({ action }) => action },
  { heading: 'Of what', cell: ({ subject }) => subject },
  { heading: 'Merchant', cell: ({ merchant_id }) => merchant_id },
  { heading: 'Reason', cell: ({ reason }) => reason },
  { heading: 'Details', cell: ({ details }) => <Details details={details} /> },
];

function Details({ details }: Pick<AuditRecord, 'details'>) {
  if (Object.keys(details).length === 0) return null;
  return <code>{JSON.stringify(details)}</code>;
}
