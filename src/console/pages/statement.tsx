import { Readable } from 'node:stream';
import { OperatorRefusal } from '../../domain/errors.ts';
import { kes } from '../../domain/money.ts';
import {
  firstLines,
  type ImportResult,
  listImports,
  type StatementImport,
  type UnderstoodLine,
} from '../../domain/reconciliation/import-store.ts';
import {
  MAX_PREVIEWED_MISSING,
  type StatementPreview,
} from '../../domain/reconciliation/preview-statement.ts';
import { counted } from '../../domain/text.ts';
import { VEILED } from '../../domain/veil.ts';
import { checkStatement } from '../../operations/check-statement.ts';
import { compareStatement, isAgreement, whyNotAlone } from '../../operations/compare-statement.ts';
import { UsageError } from '../../operations/field.ts';
import { perform } from '../../operations/perform.ts';
import type { GivenFile } from '../../operations/statement-file.ts';
import { recordView } from '../access/audit.ts';
import { keptIn, uploadIn } from '../access/upload.ts';
import { mayUse, pathTo } from '../routes.ts';
import { valuesIn } from '../shell/inputs.tsx';
import { Facts, Money, PaymentLink, Time } from '../shell/links.tsx';
import { orderOf } from '../shell/operation.tsx';
import { idIn } from '../shell/read-fields.ts';
import { givenReason, OtpField, ReasonForm } from '../shell/reason-form.tsx';
import { StatusBadges } from '../shell/status.tsx';
import { type Column, type ListPage, listPage, NextPage, Table } from '../shell/table.tsx';
import type { Answer, Visit } from '../visit.ts';
import { MAX_UPLOAD_LINES, StatementForm } from './statement-form.tsx';
import { breaksOf, ImportList, importOf, type LineBreak, State } from './statements.tsx';

const TITLE = 'Reconciliation';

/** Statements of gateways: upload or fetch one, see what it would do, compare it, and past ones. */
export const reconciliationHandlers = {
  reconciliation: async (visit: Visit): Promise<Answer> => {
    const after = idIn(visit.query, 'after');
    const page = await listPage(
      (limit) => listImports(visit.service.database, { after, limit }),
      ({ id }) => id,
    );
    return { page: <ImportList visit={visit} page={page} />, title: TITLE };
  },

  statementForm: async (visit: Visit): Promise<Answer> => ({
    page: <StatementForm visit={visit} />,
    title: TITLE,
  }),

  statementNew: async (visit: Visit): Promise<Answer> => {
    try {
      const { id } = await check(visit);
      return { goTo: pathTo('statement', { import: id }) };
    } catch (error) {
      const isWrong = error instanceof OperatorRefusal || error instanceof UsageError;
      if (!isWrong) throw error;
      const refusal = new OperatorRefusal(error.message);
      const file = uploadOf(visit);
      const page = <StatementForm visit={visit} problem={error.message} file={file} />;
      return { page, title: TITLE, status: 422, refusal };
    }
  },

  statement: async (visit: Visit): Promise<Answer> => shown(visit, await importOf(visit)),

  statementLive: async (visit: Visit): Promise<Answer> => {
    const statement = await importOf(visit);
    // A page asks every two seconds until the comparison has a result. There is nothing to see before.
    const see = statement.result === null ? breaksOf : seenBreaks;
    const breaks = await see(visit, statement);
    return { part: <Live visit={visit} statement={statement} breaks={breaks} /> };
  },

  statementRun: async (visit: Visit): Promise<Answer> => {
    const statement = await importOf(visit);
    try {
      const order = orderOf(visit, statement, givenReason(visit));
      const otp = visit.form.otp || undefined;
      await perform(compareStatement, { ...order, values: {}, otp });
      return { goTo: pathTo('statement', visit.params) };
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      return { ...(await shown(visit, await importOf(visit), error.message)), refusal: error };
    }
  },
};

async function shown(visit: Visit, statement: StatementImport, problem?: string) {
  const breaks = await seenBreaks(visit, statement);
  const isDraft = statement.started_at === null;
  const first = isDraft ? await firstLines(visit.service.database, statement.id) : [];
  const page = (
    <StatementPage
      visit={visit}
      statement={statement}
      breaks={breaks}
      first={first}
      problem={problem}
    />
  );
  return { page, title: TITLE, status: problem === undefined ? 200 : 422 };
}

/** Reads the breaks, and writes into the audit log that the member sees them. */
async function seenBreaks(visit: Visit, statement: StatementImport) {
  const breaks = await breaksOf(visit, statement);
  await recordView(visit, {
    action: 'reconcile.show',
    merchant_id: null,
    subject: `statement ${statement.id}`,
    lookedFor: {},
    rows: breaks.rows.length,
  });
  return breaks;
}

/** Stores the statement that a form is about. */
async function check(visit: Visit): Promise<StatementImport> {
  const order = orderOf(visit, undefined, givenReason(visit));
  const upload = uploadOf(visit);
  const file: GivenFile | undefined = upload
    ? { label: 'The file', name: upload.name, open: () => Readable.from([upload.content]) }
    : undefined;
  const paged = { operation: checkStatement, page: checkStatement };
  const given = upload ? visit.form : withoutFile(visit.form);
  const values = valuesIn(paged, undefined, given, { file, max_lines: MAX_UPLOAD_LINES });
  const { result } = await perform(checkStatement, { ...order, values });
  return result!.row as StatementImport;
}

function uploadOf({ req, form }: Visit) {
  return uploadIn(req, 'file') ?? keptIn(form);
}

/** Leaves out what a form says of its file: the gateway's own statement says that itself. */
function withoutFile(form: Visit['form']): Visit['form'] {
  const isOfFile = (name: string) => name === 'complete_until' || name.startsWith('covers_');
  return Object.fromEntries(Object.entries(form).filter(([name]) => !isOfFile(name)));
}

interface Props {
  visit: Visit;
  statement: StatementImport;
  breaks: ListPage<LineBreak, number>;
  /** The first lines of a statement that nobody has compared yet. */
  first?: UnderstoodLine[];
  problem?: string | undefined;
}

/** A statement: what its comparison would find, or has found. */
function StatementPage(props: Props) {
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
function Live(props: Props) {
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
            [
              'From',
              VEILED.text(source) + (brought_by === null ? '' : `, brought by ${brought_by}`),
            ],
            ['Imported', <Time at={imported_at} />],
            ['Has all lines of', covers.join(', ') || 'unknown: what it lacks is not looked for'],
            ['Complete until', complete_until && <Time at={complete_until} />],
          ]}
        />
      </section>
      {result === null && started_at === null && <Decision {...props} />}
      {props.first && props.first.length > 0 && (
        <>
          <h2>The first lines, as they are understood</h2>
          <Table rows={props.first} columns={UNDERSTOOD} caption="First lines" />
        </>
      )}
      {is_running && <Running statement={statement} />}
      {result === null && started_at !== null && !is_running && <Stopped {...props} />}
      {result !== null && (
        <>
          <Results result={result} ownRows={statement.preview?.own_rows} />
          <NotCovered result={result} />
          <Breaks breaks={breaks.rows} />
          <NextPage path={path} next={breaks.next} />
          <Missing result={result} />
        </>
      )}
    </>
  );
}

function Decision({ visit, statement, problem }: Props) {
  const { preview, id, has_lapsed } = statement;
  if (!preview || has_lapsed) return null;
  const why = whyNotAlone(visit, statement);
  return mayUse(visit.member.role, 'statementRun') && why === null ? (
    <ReasonForm
      visit={visit}
      problem={problem}
      back={pathTo('reconciliation')}
      action={pathTo('statementRun', { import: id })}
      verb="Compare and settle"
    >
      <Forecast preview={preview} />
      <Agreement visit={visit} statement={statement} />
    </ReasonForm>
  ) : (
    <section class="card">
      {why && <p class="warning">{why}.</p>}
      <Forecast preview={preview} />
    </section>
  );
}

/** The one-time password of a member who compares what another one has brought. */
function Agreement({ visit, statement }: Pick<Props, 'visit' | 'statement'>) {
  if (!isAgreement({ member: visit.member, subject: statement })) return null;
  return <OtpField isRequired hint="You agree to what another member has brought" />;
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

function Stopped({ visit, statement, problem }: Props) {
  const { id, started_at } = statement;
  const words = (
    <p>
      The comparison that began on <Time at={started_at!} /> has stopped before its end, because its
      process ended or met an error. What it has done stands. It can simply be begun again: it goes
      on where it was, and books nothing twice.
    </p>
  );
  return mayUse(visit.member.role, 'statementRun') ? (
    <ReasonForm
      visit={visit}
      problem={problem}
      back={pathTo('reconciliation')}
      action={pathTo('statementRun', { import: id })}
      verb="Begin it again"
    >
      {words}
      <Agreement visit={visit} statement={statement} />
    </ReasonForm>
  ) : (
    <section class="card">{words}</section>
  );
}

function Results({ result, ownRows = 0 }: { result: ImportResult; ownRows?: number | undefined }) {
  const { lines, outside, answered, failed, missing_count } = result;
  return (
    <section class="card">
      <Facts
        facts={[
          ['Lines that match', lines.matched],
          ['Lines that were news, and are booked', lines.settled],
          ['Lines that differ from the books', lines.contradicts],
          ['Lines that match no payment', lines.unknown],
          ['Booked movements that it lacks', missing_count],
          ['Lines outside of the days', outside],
          ['Rows of own accounts, which settle nothing', ownRows],
          ['Payments that the gateway has answered about', answered],
          ['Payments that failed by it', failed],
        ]}
      />
    </section>
  );
}

/** The days and kinds for which the comparison proves nothing. */
function NotCovered({ result: { not_covered } }: { result: ImportResult }) {
  if (not_covered.length === 0) return null;
  return (
    <>
      <h2>What it does not cover</h2>
      <ul>
        {not_covered.map((line) => (
          <li>{line}.</li>
        ))}
      </ul>
    </>
  );
}

/** The lines that are no part of the books, each beside our records. */
function Breaks({ breaks }: { breaks: LineBreak[] }) {
  if (breaks.length === 0) return null;
  return (
    <>
      <h2>In the statement, and not like that in the books</h2>
      <p class="soft">Each is a discrepancy, or belongs to one.</p>
      <Table rows={breaks} columns={BREAKS} caption="Breaks" />
    </>
  );
}

const UNDERSTOOD: readonly Column<UnderstoodLine>[] = [
  {
    heading: 'Kind',
    cell: ({ kind, undecided }) => (undecided ? `${kind}, undecided` : kind),
  },
  { heading: 'Receipt', cell: ({ trans_id }) => trans_id },
  { heading: 'Reference', cell: ({ reference }) => reference && VEILED.numbers(reference) },
  { heading: 'Account', cell: ({ account }) => account },
  { heading: 'Time', cell: ({ completed_at }) => <Time at={completed_at} /> },
  { heading: 'Amount', cell: ({ amount_cents }) => <Money cents={amount_cents} />, isNumber: true },
];

const BREAKS: readonly Column<LineBreak>[] = [
  {
    heading: "The gateway's line",
    cell: ({ line_no, kind, reference, trans_id, account, completed_at, amount_cents }) => (
      <>
        <strong>
          {kind} <Money cents={amount_cents} />
        </strong>
        <br />
        receipt {trans_id ?? 'none'}, reference {reference ? VEILED.numbers(reference) : 'none'}
        {account !== null && `, ${VEILED.account(account)}`}
        <br />
        <Time at={completed_at} /> <span class="soft">line {line_no}</span>
      </>
    ),
  },
  {
    heading: 'Our record',
    cell: ({ payments }) =>
      payments.length === 0
        ? 'No payment has this reference or receipt'
        : payments.map((payment) => (
            <div>
              <PaymentLink payment={payment} ref_no={payment.ref_no} />{' '}
              <Money cents={payment.amount_cents} /> <StatusBadges {...payment} />
              <br />
              merchant {payment.merchant_id}, {VEILED.account(payment.account)},{' '}
              <Time at={payment.created_at} />
            </div>
          )),
  },
];

/** The movements that are booked here and not in the statement. */
function Missing({ result: { missing, missing_count } }: { result: ImportResult }) {
  if (missing.length === 0) return null;
  return (
    <>
      <h2>In the books, and not in the statement</h2>
      <p class="soft">
        Each is a discrepancy.
        {missing_count > missing.length && ` The first ${missing.length} of ${missing_count}.`}
      </p>
      <Table rows={missing} columns={MISSING} caption="Missing in the statement" />
    </>
  );
}

const MISSING: readonly Column<ImportResult['missing'][number]>[] = [
  { heading: "The gateway's line", cell: () => 'none' },
  {
    heading: 'Our record',
    cell: ({ kind, merchant_id, payment_id: id, trans_id }) => (
      <>
        <PaymentLink payment={{ kind, merchant_id, id }} />
        <br />
        merchant {merchant_id}, receipt {trans_id ?? 'none'}
      </>
    ),
  },
  { heading: 'Amount', cell: ({ amount_cents }) => <Money cents={amount_cents} />, isNumber: true },
];

/** The findings that a comparison of the statement would have now. */
function Forecast({ preview }: { preview: StatementPreview }) {
  const { lines, outside, known, settles, differs, unexplained, unseen, missing } = preview;
  const atLeast = missing >= MAX_PREVIEWED_MISSING ? 'at least ' : '';
  return (
    <>
      <h2>What will happen</h2>
      <ul>
        <li>
          {known} of {counted(lines, 'line')} repeat the books. They change nothing.
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
        {preview.come_back > 0 && (
          <li>
            {counted(preview.come_back, 'row')} bring money back: each that explains no money which
            is back becomes a discrepancy.
          </li>
        )}
        {unseen > 0 && <li>{unseen} more lines were not looked at one by one.</li>}
        {preview.own_rows ? (
          <li>
            {counted(preview.own_rows, 'row')} of own accounts settle nothing:{' '}
            <a href={pathTo('balances')}>Balances</a> shows those that no booked move explains.
          </li>
        ) : null}
        {outside > 0 && (
          <li>{counted(outside, 'line')} outside of these days. Such lines count too.</li>
        )}
        <li>
          {atLeast}
          {missing} booked movements are not in it: each becomes a discrepancy.
        </li>
        <li>
          {preview.ruled_out} overdue payments are not in it: the gateway is asked about each, and
          those fail that it does not know better.
        </li>
        {preview.stake_cents > 0 && (
          <li>
            It is about {kes(preview.stake_cents)} in all. A collection that is asked for only now
            may get some of it, if phone, amount and time fit.
          </li>
        )}
        <li>
          The comparison decides anew: more may become known until then. It books nothing twice.
        </li>
      </ul>
    </>
  );
}
