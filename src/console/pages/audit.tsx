import {
  type AuditFilter,
  type AuditRecord,
  auditCsv,
  listAudit,
} from '../../domain/audit/audit-log.ts';
import { veiled } from '../../domain/veil.ts';
import { recordView } from '../access/audit.ts';
import { pathTo } from '../routes.ts';
import { ChoiceFilter, DayFilters, Filters, TextFilter } from '../shell/filters.tsx';
import { Time } from '../shell/links.tsx';
import { daysIn, idIn, numberIn, textIn, wordIn } from '../shell/read-fields.ts';
import { type Column, Empty, type ListPage, listPage, NextPage, Table } from '../shell/table.tsx';
import { type Answer, ConsoleError, type Visit } from '../visit.ts';

export const auditHandlers = {
  audit: async (visit: Visit): Promise<Answer> => {
    const filter = filterIn(visit);
    const after = idIn(visit.query, 'after');
    const page = await listPage(
      (limit) => listAudit(visit.service.database, { ...filter, after, limit }),
      ({ id }) => id,
    );
    await recordAuditView(visit, filter, page.rows.length);
    return { page: <AuditPage query={visit.query} page={page} />, title: 'Audit log' };
  },

  /** The same lines as a file, however many. */
  auditCsv: async (visit: Visit): Promise<Answer> => {
    const filter = filterIn(visit);
    await recordAuditView(visit, filter, null);
    return {
      file: auditCsv(visit.service.database, filter, veiled),
      name: 'audit-log.csv',
      type: 'text/csv',
    };
  },
};

const NOUN = /^[a-z][a-z_-]{0,49}$/;

function filterIn({ query }: Visit): AuditFilter {
  const noun = textIn(query, 'noun');
  if (noun !== undefined && !NOUN.test(noun)) {
    throw new ConsoleError(400, 'The field noun must be a noun such as app or webhooks');
  }
  const subject = textIn(query, 'subject');
  return {
    ...daysIn(query),
    actor: textIn(query, 'actor'),
    noun,
    merchant_id: numberIn(query, 'merchant'),
    subjects: subject === undefined ? undefined : [subject],
    reads: wordIn(query, 'show', [READS]) === READS,
  };
}

async function recordAuditView(
  visit: Visit,
  { subjects, ...filter }: AuditFilter,
  rows: number | null,
): Promise<void> {
  await recordView(visit, {
    action: 'audit.list',
    subject: 'audit',
    merchant_id: filter.merchant_id ?? null,
    rows,
    lookedFor: { ...filter, subject: subjects?.[0] },
  });
}

/** Shows reads in place of changes. */
const READS = 'reads';

type Query = Readonly<Record<string, string>>;

/** Who has changed or read what, newest first. */
function AuditPage({ query, page: { rows, next } }: { query: Query; page: ListPage<AuditRecord> }) {
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
      <NextPage path={path} query={query} next={next} />
    </>
  );
}

const COLUMNS: readonly Column<AuditRecord>[] = [
  { heading: 'When', cell: ({ happened_at }) => <Time at={happened_at} /> },
  { heading: 'Who', cell: ({ actor }) => actor },
  { heading: 'Action', cell: ({ action }) => action },
  { heading: 'Of what', cell: ({ subject }) => subject },
  { heading: 'Merchant', cell: ({ merchant_id }) => merchant_id },
  { heading: 'From', cell: ({ door, address }) => [door, address].filter(Boolean).join(' ') },
  { heading: 'Reason', cell: ({ reason }) => reason },
  { heading: 'Details', cell: ({ details }) => <Details details={details} /> },
];

function Details({ details }: Pick<AuditRecord, 'details'>) {
  if (Object.keys(details).length === 0) return null;
  return <code>{JSON.stringify(details)}</code>;
}
