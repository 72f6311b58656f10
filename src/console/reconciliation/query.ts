import { type Database, databaseNow, inTransaction } from '../../connections/database.ts';
import type { Audited } from '../../domain/audited-change.ts';
import { type PaymentSummary, summariesOf } from '../../domain/payments/payment-summary.ts';
import {
  findImport,
  listBreaks,
  type StatementImport,
} from '../../domain/reconciliation/import-store.ts';
import { candidatesOf } from '../../domain/reconciliation/payments-of-line.ts';
import { keepPreview, previewStatement } from '../../domain/reconciliation/preview-statement.ts';
import { listedUntil } from '../../domain/reconciliation/reconcile.ts';
import { keepStatement } from '../../domain/reconciliation/reconcile-statement.ts';
import {
  momentsOf,
  PAYMENTS_OF_LINES,
  type StoredLine,
} from '../../domain/reconciliation/statement.ts';
import { ConsoleError } from '../console-error.ts';
import { type ListPage, listPage } from '../shell/list-page.tsx';
import { numberIn } from '../shell/read-filter.ts';
import { uuidIn } from '../shell/read-path.ts';
import type { Visit } from '../visit.ts';
import type { statementIn } from './read-statement.ts';

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
      ...{ import_id: kept.value, gateway: gateway.name, channel: statement.channel },
      kinds: statement.covers.flatMap((kind) => PAYMENTS_OF_LINES[kind]),
      ...{ start, end, period_end, settling_window_ms: gateway.settlingWindowMs },
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
