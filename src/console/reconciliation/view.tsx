import type { StatementImport } from '../../domain/reconciliation/import-store.ts';
import { mayUse, pathTo } from '../routes.ts';
import { Facts } from '../shell/facts.tsx';
import { type ListPage, NextPage } from '../shell/list-page.tsx';
import { ReasonForm } from '../shell/reason-form.tsx';
import { Time } from '../shell/time.tsx';
import type { Visit } from '../visit.ts';
import { Breaks, Missing } from './breaks.tsx';
import { Forecast } from './forecast.tsx';
import { State } from './list.tsx';
import type { LineBreak } from './query.ts';
import { whyNotAlone } from './second-person.ts';

interface Props {
  visit: Visit;
  statement: StatementImport;
  breaks: ListPage<LineBreak, number>;
  problem?: string | undefined;
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
          <NextPage path={path} next={breaks.next} />
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
      {...{ visit, problem, back: pathTo('reconciliation') }}
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
      {...{ visit, problem, back: pathTo('reconciliation') }}
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
