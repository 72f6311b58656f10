import type { PaymentSummary } from '../../domain/payments/payment-summary.ts';
import type { StatementImport } from '../../domain/reconciliation/import-store.ts';
import {
  MAX_PREVIEWED_MISSING,
  type StatementPreview,
} from '../../domain/reconciliation/preview-statement.ts';
import type { StoredLine } from '../../domain/reconciliation/statement.ts';
import { mayUse, pathTo } from '../routes.ts';
import { Facts } from '../shell/facts.tsx';
import { ReasonForm } from '../shell/form.tsx';
import { type ListPage, NextPage } from '../shell/next-page.tsx';
import { Badge } from '../shell/status.tsx';
import { type Column, Empty, Table } from '../shell/table.tsx';
import { Time } from '../shell/time.tsx';
import type { Visit } from '../visit.ts';
import { Breaks, Missing } from './breaks.tsx';
import { whyNotAlone } from './second-person.ts';

/** A line of a statement that is no part of the books, with the payments that it may be about. */
export interface LineBreak extends StoredLine {
  payments: PaymentSummary[];
}

interface Props {
  visit: Visit;
  statement: StatementImport;
  breaks: ListPage<LineBreak, number>;
  problem?: string | undefined;
}

/** The statements that were imported, the newest first. */
export function ImportList({
  visit,
  page: { rows, next },
}: {
  visit: Visit;
  page: ListPage<StatementImport, string>;
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
      <NextPage path={pathTo('reconciliation')} query={{}} next={next} />
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

function State({ statement: { started_at, is_running, result } }: { statement: StatementImport }) {
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

/** A statement: what its comparison would find, or has found. */
export function StatementPage(props: Props) {
  const { period_from, period_to, gateway } = props.statement;
  return (
    <>
      <h1>
        Statement of {gateway}, {period_from} to {period_to}
      </h1>
      <div id="live">
        <Live {...props} />
      </div>
    </>
  );
}

/** The part that refreshes itself while the comparison goes on. */
export function Live(props: Props) {
  const { statement, breaks } = props;
  const { id, channel, source, brought_by, imported_at, covers, complete_until } = statement;
  const { started_at, is_running, result } = statement;
  const path = pathTo('statement', { import: id });
  return (
    <>
      <p>
        <State statement={statement} />
      </p>
      <section class="card">
        <Facts
          facts={[
            ['Channel', channel],
            ['From', brought_by === null ? source : `${source}, brought by ${brought_by}`],
            ['Imported', <Time at={imported_at} />],
            ['Has all lines of', covers.join(', ') || 'unknown: what it lacks is not looked for'],
            ['Complete until', complete_until && <Time at={complete_until} />],
          ]}
        />
      </section>
      {result === null && started_at === null && <Decision {...props} />}
      {is_running && <Running statement={statement} />}
      {result === null && started_at !== null && !is_running && <Stopped {...props} />}
      {result !== null && (
        <>
          <Results result={result} />
          <Breaks breaks={breaks.rows} />
          <NextPage path={path} query={{}} next={breaks.next} />
          <Missing result={result} />
        </>
      )}
    </>
  );
}

function Decision({ visit, statement, problem }: Props) {
  const { preview, id } = statement;
  if (!preview) return null;
  const why = whyNotAlone(visit, statement);
  return mayUse(visit.member.role, 'statementRun') && why === null ? (
    <ReasonForm
      {...{ visit, problem, reason: visit.form.reason, back: pathTo('reconciliation') }}
      action={pathTo('statementRun', { import: id })}
      verb="Compare and settle"
    >
      <Forecast preview={preview} />
    </ReasonForm>
  ) : (
    <section class="card">
      {why && <p class="warning">{why}.</p>}
      <Forecast preview={preview} />
    </section>
  );
}

function Forecast({ preview }: { preview: StatementPreview }) {
  const { lines, outside, known, settles, differs, unexplained, unseen, missing } = preview;
  const atLeast = missing >= MAX_PREVIEWED_MISSING ? 'at least ' : '';
  return (
    <>
      <h2>What will happen</h2>
      <ul>
        <li>
          Of {lines} lines, {known} repeat what is booked: nothing happens.
        </li>
        <li>{settles} name an open payment with the same amount: it ends as completed.</li>
        <li>
          {differs} name a payment that has ended, or another amount: late money is booked, and a
          difference becomes a discrepancy.
        </li>
        <li>
          {unexplained} name no payment, or several: each becomes a discrepancy, unless phone,
          amount and time tell which collection it is.
        </li>
        {unseen > 0 && <li>{unseen} more lines were not looked at one by one.</li>}
        {outside > 0 && <li>{outside} lines are outside of the days, and count all the same.</li>}
        <li>
          {atLeast}
          {missing} booked movements are not in it: each becomes a discrepancy.
        </li>
        <li>
          {preview.ruled_out} overdue payments are not in it: the gateway is asked about each, and
          those fail that it does not know better.
        </li>
        <li>
          The comparison decides anew: more may become known until then. It books nothing twice.
        </li>
      </ul>
    </>
  );
}

function Running({ statement: { id, started_at } }: Pick<Props, 'statement'>) {
  return (
    <>
      <div
        hx-get={pathTo('statementLive', { import: id })}
        hx-trigger="every 2s"
        hx-target="#live"
        hx-swap="innerMorph"
      />
      <p class="note">
        The comparison goes on since <Time at={started_at!} />. You may leave this page.
      </p>
    </>
  );
}

function Stopped({ visit, statement: { id, started_at }, problem }: Props) {
  const words = (
    <p>
      The comparison that began on <Time at={started_at!} /> has stopped before its end, because its
      process ended or met an error. What it has done stands. It can simply be begun again: it goes
      on where it was, and books nothing twice.
    </p>
  );
  return mayUse(visit.member.role, 'statementRun') ? (
    <ReasonForm
      {...{ visit, problem, reason: visit.form.reason, back: pathTo('reconciliation') }}
      action={pathTo('statementRun', { import: id })}
      verb="Begin it again"
    >
      {words}
    </ReasonForm>
  ) : (
    <section class="card">{words}</section>
  );
}

function Results({ result }: { result: NonNullable<StatementImport['result']> }) {
  const { lines, outside, answered, failed, missing_count } = result;
  return (
    <section class="card">
      <Facts
        facts={[
          ['Lines that match', lines.matched],
          ['Lines that were news, and are booked', lines.settled],
          ['Lines that differ from the books', lines.contradicts],
          ['Lines of nothing that we know', lines.unknown],
          ['Booked movements that it lacks', missing_count],
          ['Lines outside of the days', outside],
          ['Payments that the gateway has answered about', answered],
          ['Payments that failed by it', failed],
        ]}
      />
    </section>
  );
}
