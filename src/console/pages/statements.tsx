import { type Database, databaseNow, inTransaction } from '../../connections/database.ts';
import { messageOf } from '../../connections/database-errors.ts';
import type { Audited } from '../../domain/audit/audit.ts';
import { kes } from '../../domain/money.ts';
import { type PaymentSummary, summariesOf } from '../../domain/payments/payment-summary.ts';
import {
  findImport,
  listBreaks,
  type StatementImport,
} from '../../domain/reconciliation/import-store.ts';
import { candidatesOf } from '../../domain/reconciliation/match-line.ts';
import { keepPreview, previewStatement } from '../../domain/reconciliation/preview-statement.ts';
import { listedUntil } from '../../domain/reconciliation/reconcile.ts';
import { keepStatement } from '../../domain/reconciliation/reconcile-statement.ts';
import {
  momentsOf,
  PAYMENTS_OF_LINES,
  type StoredLine,
} from '../../domain/reconciliation/statement.ts';
import { needsApproval } from '../../domain/staff/approvals.ts';
import { RECORDING_MARGIN_MS } from '../../process/production-rules.ts';
import type { Service } from '../../service/service.ts';
import { mayUse, pathTo } from '../routes.ts';
import { Time } from '../shell/links.tsx';
import { numberIn, uuidIn } from '../shell/read-fields.ts';
import { Badge } from '../shell/status.tsx';
import { type Column, Empty, type ListPage, listPage, NextPage, Table } from '../shell/table.tsx';
import { ConsoleError, type Visit } from '../visit.ts';
import type { statementIn } from './statement-form.tsx';

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

/** The state of a statement's comparison. */
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

/** The lines on a page of breaks: each is looked up in the books. */
const BREAKS_PER_PAGE = 20;

/** A line of a statement that is no part of the books, with the payments that it may be about. */
export interface LineBreak extends StoredLine {
  payments: PaymentSummary[];
}

/** Stores a statement as a draft, with what its comparison would find. @returns its id */
export async function storeDraft(
  database: Database,
  audited: Audited,
  { gateway, statement }: Awaited<ReturnType<typeof statementIn>>,
): Promise<string> {
  const now = await databaseNow(database);
  const { start, end: period_end } = momentsOf(statement.period);
  const { complete_until, lines } = statement;
  const newest = lines.reduce((latest, { completedAt }) => {
    return completedAt > latest ? completedAt : latest;
  }, start);
  const end = listedUntil({ complete_until, newest, end: period_end, now });
  return audited(async (trx) => {
    const kept = await keepStatement(trx, { ...statement, isDraft: true });
    const preview = await previewStatement(trx, {
      import_id: kept.value,
      gateway: gateway.name,
      channel: statement.channel,
      kinds: statement.covers.flatMap((kind) => PAYMENTS_OF_LINES[kind]),
      start,
      end,
      period_end,
      settling_window_ms: gateway.settlingWindowMs,
      rulesOut: complete_until !== null,
    });
    await keepPreview(trx, kept.value, preview);
    return kept;
  });
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

/** The comparisons of statements that go on in this process, and for which no request waits. */
export interface Comparisons {
  /** @param compare stops with an error soon after `stopping` */
  start(import_id: string, compare: (stopping: AbortSignal) => Promise<unknown>): void;
  /** Waits until none is under way. */
  ended(): Promise<void>;
}

/**
 * Lets comparisons go on when the process is told to stop, as long as the question under way can
 * still be answered and recorded afterwards. Then they stop, and may be begun again.
 */
export function createComparisons(
  { config, logger }: Pick<Service, 'config' | 'logger'>,
  stopping: AbortSignal,
): Comparisons {
  const underWay = new Set<Promise<unknown>>();
  const cutOff = new AbortController();
  const { shutdownTimeoutMs, gatewayTimeoutMs } = config;
  const graceMs = Math.max(0, shutdownTimeoutMs - gatewayTimeoutMs - RECORDING_MARGIN_MS);
  stopping.addEventListener('abort', () => {
    setTimeout(() => cutOff.abort(new Error('The process stops')), graceMs).unref();
  });
  return {
    start: (import_id, compare) => {
      const comparing = compare(cutOff.signal)
        .catch((error: unknown) => {
          logger.error('a comparison has stopped', { import_id, error: messageOf(error) });
        })
        .finally(() => underWay.delete(comparing));
      underWay.add(comparing);
    },
    ended: async () => {
      await Promise.all(underWay);
    },
  };
}

/**
 * Says why a member may not begin the comparison of a statement; null when the member may. A file
 * could say anything. So another member than its uploader begins a comparison about much money.
 */
export function whyNotAlone(
  { member, service }: Pick<Visit, 'member' | 'service'>,
  { brought_by, preview }: StatementImport,
): string | null {
  const { staffApprovalLimit: limit } = service.config;
  const stake = preview?.stake_cents ?? 0;
  if (brought_by !== member.email || !needsApproval(stake, limit)) return null;
  return `It is about ${kes(stake)}, and you have brought the file. Above ${kes(limit)} somebody else must compare it`;
}
