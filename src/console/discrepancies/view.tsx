import { DISCREPANCY_KINDS, type DiscrepancyKind } from '../../domain/discrepancies/discrepancy.ts';
import type { DiscrepancyCase } from '../../domain/support/discrepancy-cases.ts';
import { pathTo } from '../routes.ts';
import { AgeFilter, ChoiceFilter, Filters, TextFilter } from '../shell/filters.tsx';
import { type ListPage, NextPage } from '../shell/list-page.tsx';
import { MerchantLink } from '../shell/merchant-link.tsx';
import { Money } from '../shell/money.tsx';
import { PaymentLink } from '../shell/payment-link.tsx';
import { Badge } from '../shell/status.tsx';
import { type Column, Empty, Table } from '../shell/table.tsx';
import { Time } from '../shell/time.tsx';
import type { Visit } from '../visit.ts';

const KINDS = Object.entries(DISCREPANCY_KINDS).map(([kind, words]) => {
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
          {...{ name: 'state', label: 'State', query, choices: [RESOLVED] }}
          all="open, oldest first"
        />
        <ChoiceFilter name="kind" label="Kind" query={query} choices={KINDS} />
        <TextFilter name="merchant" label="Merchant" query={query} type="number" />
        <AgeFilter name="older" label="Older than" query={query} />
      </Filters>
      {page.rows.length === 0 ? (
        <Empty>Nothing here. Look again without a filter, or be glad.</Empty>
      ) : (
        <Table caption="Discrepancies" rows={page.rows} columns={COLUMNS} />
      )}
      <NextPage {...{ path, query, next: page.next }} />
    </>
  );
}

const COLUMNS: readonly Column<DiscrepancyCase>[] = [
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
    <PaymentLink payment={{ kind: payment_kind, merchant_id, id: payment_id }} {...{ ref_no }} />
  );
}
