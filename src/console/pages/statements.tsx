import { inTransaction } from '../../connections/database.ts';
import { type PaymentSummary, summariesOf } from '../../domain/payments/payment-summary.ts';
import { candidatesOf } from '../../domain/reconciliation/candidates.ts';
import {
  findImport,
  listBreaks,
  type StatementImport,
} from '../../domain/reconciliation/import-store.ts';
import type { StoredLine } from '../../domain/reconciliation/statement.ts';
import { VEILED } from '../../domain/veil.ts';
import { mayUse, pathTo } from '../routes.ts';
import { Time } from '../shell/links.tsx';
import { numberIn, uuidIn } from '../shell/read-fields.ts';
import { Badge } from '../shell/status.tsx';
import { type Column, Empty, type ListPage, listPage, NextPage, Table } from '../shell/table.tsx';
import { ConsoleError, type Visit } from '../visit.ts';

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
  { heading: 'From', cell: ({ source }) => VEILED.text(source) },
  { heading: 'State', cell: (statement) => <State statement={statement} /> },
];

/** The state of a statement's comparison. */
export function State({
  statement: { started_at, is_running, has_lapsed, result },
}: {
  statement: StatementImport;
}) {
  if (has_lapsed) return <Badge tone="plain" words="not compared in time: bring it anew" />;
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

/** The lines on a page of breaks: each is looked up in the books. */
const BREAKS_PER_PAGE = 20;

/** A line of a statement that is no part of the books, with the payments that it may be about. */
export interface LineBreak extends StoredLine {
  payments: PaymentSummary[];
}

export async function importOf({ service, params }: Visit): Promise<StatementImport> {
  const found = await findImport(service.database, uuidIn(params, 'import'));
  if (!found) throw new ConsoleError(404, `There is no statement ${params.import}`);
  return found;
}

/** Reads a page of the breaks of a statement, each with the payments that it may be about. */
export async function breaksOf(
  { service: { database }, query }: Visit,
  { id, gateway, result }: StatementImport,
): Promise<ListPage<LineBreak, number>> {
  if (result === null) return { rows: [], next: null };
  const after = numberIn(query, 'after');
  const { rows: lines, next } = await listPage(
    (limit) => listBreaks(database, id, { after, limit }),
    ({ line_no }) => line_no,
    BREAKS_PER_PAGE,
  );
  const rows = await inTransaction(database, async (trx) => {
    const breaks: LineBreak[] = [];
    for (const line of lines) {
      const payments = await summariesOf(trx, await candidatesOf(trx, gateway, line));
      breaks.push({ ...line, payments });
    }
    return breaks;
  });
  return { rows, next };
}
