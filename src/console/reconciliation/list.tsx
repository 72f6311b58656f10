import type { StatementImport } from '../../domain/reconciliation/import-store.ts';
import { mayUse, pathTo } from '../routes.ts';
import { type ListPage, NextPage } from '../shell/list-page.tsx';
import { Badge } from '../shell/status.tsx';
import { type Column, Empty, Table } from '../shell/table.tsx';
import { Time } from '../shell/time.tsx';
import type { Visit } from '../visit.ts';

/** The statements that were imported, the newest first. */
export function ImportList({
  visit,
  page: { rows, next },
}: {
  visit: Visit;
  page: ListPage<StatementImport>;
}) {
  return (
    <>
      <h1>Reconciliation</h1>
      <p class="soft">The gateways' statements against the books.</p>
      {mayUse(visit.member.role, 'statementNew') && (
        <p>
          <a class="button" href={pathTo('statementForm')}>
            Compare a statement
          </a>
        </p>
      )}
      {rows.length > 0 ? (
        <Table rows={rows} columns={COLUMNS} caption="Statements" />
      ) : (
        <Empty>No statement was imported yet. Compare one every day.</Empty>
      )}
      <NextPage path={pathTo('reconciliation')} next={next} />
    </>
  );
}

const COLUMNS: readonly Column<StatementImport>[] = [
  {
    heading: 'Imported',
    cell: ({ id, imported_at }) => (
      <a href={pathTo('statement', { import: id })}>
        <Time at={imported_at} />
      </a>
    ),
  },
  { heading: 'Gateway', cell: ({ gateway, channel }) => `${gateway}, channel ${channel}` },
  { heading: 'Days', cell: ({ period_from, period_to }) => `${period_from} to ${period_to}` },
  { heading: 'From', cell: ({ source }) => source },
  { heading: 'State', cell: (statement) => <State statement={statement} /> },
];

/** How far a statement is. */
export function State({
  statement: { started_at, is_running, result },
}: {
  statement: StatementImport;
}) {
  if (started_at === null) return <Badge tone="warn" words="not compared yet" />;
  if (is_running) return <Badge tone="plain" words="comparison under way" />;
  if (result === null) return <Badge tone="warn" words="comparison stopped before its end" />;
  const breaks = result.lines.unknown + result.lines.contradicts + result.missing_count;
  return breaks === 0 ? (
    <Badge tone="good" words="no breaks" />
  ) : (
    <Badge tone="warn" words={`breaks: ${breaks}`} />
  );
}
