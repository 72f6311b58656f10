import { DISCREPANCY_KINDS, type DiscrepancyKind } from '../../domain/discrepancies/discrepancy.ts';
import { shownName } from '../../domain/discrepancies/row-back.ts';
import {
  type DiscrepancyCase,
  type DiscrepancyFilter,
  findCase,
  listCases,
} from '../../domain/support/discrepancy-cases.ts';
import { discrepancySubject } from '../../operations/discrepancy.ts';
import { recordView } from '../access/audit.ts';
import { mayUse, pathTo } from '../routes.ts';
import { Field } from '../shell/fields.tsx';
import { AgeFilter, ChoiceFilter, Filters, TextFilter } from '../shell/filters.tsx';
import { MerchantLink, Money, PaymentLink, Time } from '../shell/links.tsx';
import { ageIn, idIn, numberIn, uuidIn, wordIn } from '../shell/read-fields.ts';
import { Badge } from '../shell/status.tsx';
import { type Column, Empty, type ListPage, listPage, NextPage, Table } from '../shell/table.tsx';
import { ConsoleError, type Visit } from '../visit.ts';

const STATES = ['open', 'resolved'] as const;
const KINDS = Object.keys(DISCREPANCY_KINDS) as DiscrepancyKind[];

/** Reads a page of discrepancies: the open ones oldest first, the resolved ones newest first. */
export async function readDiscrepancies(visit: Visit): Promise<ListPage<DiscrepancyCase>> {
  const { service, query } = visit;
  const filter = filterIn(query);
  const order = filter.open ? 'oldest first' : 'newest first';
  const after = idIn(query, 'after');
  const page = await listPage(
    (limit) => listCases(service.database, { ...filter, order, after, limit }),
    ({ id }) => id,
  );
  await recordView(visit, {
    action: 'discrepancy.list',
    subject: 'discrepancy',
    rows: page.rows.length,
    merchant_id: filter.merchant_id ?? null,
    lookedFor: { ...filter, after },
  });
  return page;
}

function filterIn(
  query: Visit['query'],
): Pick<DiscrepancyFilter, 'open' | 'kind' | 'merchant_id' | 'olderThanMs'> {
  return {
    open: wordIn(query, 'state', STATES) !== 'resolved',
    kind: wordIn(query, 'kind', KINDS),
    merchant_id: numberIn(query, 'merchant'),
    olderThanMs: ageIn(query, 'older'),
  };
}

/** Reads a discrepancy, and records that it was read. @throws ConsoleError 404 */
export async function readDiscrepancy(visit: Visit): Promise<DiscrepancyCase> {
  const id = uuidIn(visit.params, 'id');
  const found = await findCase(visit.service.database, id);
  if (!found) throw new ConsoleError(404, 'There is no such discrepancy');
  await recordView(visit, {
    action: 'discrepancy.show',
    merchant_id: found.merchant_id,
    subject: discrepancySubject(id),
    rows: 1,
    lookedFor: {},
  });
  return found;
}

const KIND_CHOICES = Object.entries(DISCREPANCY_KINDS).map(([kind, words]) => {
  return [kind, `${kind}: ${words}`] as const;
});
const RESOLVED = ['resolved', 'resolved, newest first'] as const;

interface DiscrepanciesProps {
  visit: Visit;
  page: ListPage<DiscrepancyCase>;
}

/** What does not add up, and what to do about it. */
export function Discrepancies({ visit, page }: DiscrepanciesProps) {
  const { query } = visit;
  const path = pathTo('discrepancies');
  return (
    <>
      <h1>Discrepancies</h1>
      <Filters path={path}>
        <ChoiceFilter
          name="state"
          label="State"
          query={query}
          choices={[RESOLVED]}
          all="open, oldest first"
        />
        <ChoiceFilter name="kind" label="Kind" query={query} choices={KIND_CHOICES} />
        <TextFilter name="merchant" label="Merchant" query={query} type="number" />
        <AgeFilter name="older" label="Older than" query={query} />
      </Filters>
      {page.rows.length === 0 ? (
        <Empty>No discrepancy matches these filters.</Empty>
      ) : (
        <List visit={visit} rows={page.rows} />
      )}
      <NextPage path={path} query={query} next={page.next} />
    </>
  );
}

/** The list. Who may adopt movements that no payment explains can select them. */
function List({ visit, rows }: { visit: Visit; rows: DiscrepancyCase[] }) {
  const { kind, merchant_id } = filterIn(visit.query);
  const table = (columns: typeof DISCREPANCIES) => (
    <Table caption="Discrepancies" rows={rows} columns={columns} />
  );
  const isAdoptable = kind === 'unknown_movement' || kind === 'unknown_payment';
  if (!isAdoptable || !mayUse(visit.member.role, 'adoptForm')) return table(DISCREPANCIES);
  return (
    <form method="get" action={pathTo('adoptChoice')}>
      <Field name="merchant" label="Adopt for merchant" value={String(merchant_id ?? '')} />
      <p class="buttons">
        <button type="submit">Adopt the selected …</button>
      </p>
      {table([BOX, ...DISCREPANCIES])}
    </form>
  );
}

const BOX: Column<DiscrepancyCase> = {
  heading: 'Select',
  cell: ({ trans_id, details, resolution }) =>
    trans_id === null || resolution !== null ? null : (
      <input
        type="checkbox"
        name={`receipt ${trans_id}`}
        aria-label={`Receipt ${shownName(trans_id, details.reference)}`}
      />
    ),
};

/** The columns of discrepancies in lists. */
export const DISCREPANCIES: readonly Column<DiscrepancyCase>[] = [
  { heading: 'Since', cell: ({ opened_at }) => <Time at={opened_at} /> },
  {
    heading: 'What',
    cell: ({ id, kind }) => (
      <>
        <a href={pathTo('discrepancy', { id })}>{kind}</a>
        <br />
        <span class="soft">{DISCREPANCY_KINDS[kind]}</span>
      </>
    ),
  },
  { heading: 'Merchant', cell: ({ merchant_id }) => <MerchantLink merchant_id={merchant_id} /> },
  { heading: 'Payment', cell: (row) => <PaymentOf found={row} /> },
  { heading: 'Asked', isNumber: true, cell: ({ asked_cents }) => <Cents cents={asked_cents} /> },
  { heading: 'Moved', isNumber: true, cell: (found) => <Cents cents={movedCents(found)} /> },
  {
    heading: 'State',
    cell: ({ resolution }) =>
      resolution ? <Badge tone="good" words={resolution} /> : <Badge tone="warn" words="open" />,
  },
];

/** What has moved, as far as somebody has told of it. An open question has the payment's amount. */
export function movedCents({ kind, amount_cents }: DiscrepancyCase): number | null {
  return NOTHING_MOVED.has(kind) ? null : amount_cents;
}

/** Nobody has told of a movement. */
const NOTHING_MOVED: ReadonlySet<DiscrepancyKind> = new Set<DiscrepancyKind>([
  ...(['overdue', 'never_taken', 'taken_after_failure', 'taken_twice'] as const),
]);

/** An amount that may not be known. */
export function Cents({ cents }: { cents: number | null }) {
  return cents === null ? '–' : <Money cents={cents} />;
}

/** The payment of a discrepancy, or the movement that no payment here explains. */
export function PaymentOf({ found }: { found: DiscrepancyCase }) {
  const { payment_kind, merchant_id, payment_id, ref_no } = found;
  if (payment_kind === null || merchant_id === null || payment_id === null) {
    return 'none here explains it';
  }
  return (
    <PaymentLink payment={{ kind: payment_kind, merchant_id, id: payment_id }} ref_no={ref_no} />
  );
}
