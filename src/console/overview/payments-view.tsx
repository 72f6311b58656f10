import { PAYMENT_KINDS } from '../../domain/payments/payment-summary.ts';
import { pathTo } from '../routes.ts';
import { type Column, Table } from '../shell/table.tsx';
import { spanOf } from '../shell/time.tsx';
import type { REASONS } from '../waiting/view.tsx';
import { countOf, type Gauges } from './figures.ts';

interface OpenKind {
  kind: string;
  gauges: Gauges;
}

/** Open payments by kind. What waits for a person leads to its list. */
export function OpenPayments({ gauges }: { gauges: Gauges }) {
  const rows = PAYMENT_KINDS.map((kind) => ({ kind, gauges }));
  return <Table rows={rows} columns={OPEN} caption="Open payments by kind" />;
}

const OPEN: readonly Column<OpenKind>[] = [
  { heading: 'Kind', cell: ({ kind }) => kind },
  stateColumn('Pending', 'pending'),
  stateColumn('Processing', 'processing'),
  {
    heading: 'Oldest',
    cell: ({ kind, gauges }) => spanOf(gauges.max('malipo_payments_oldest_open_seconds', { kind })),
    isNumber: true,
  },
  troubleColumn('Overdue', 'overdue'),
  troubleColumn('Waiting for a person', 'parked'),
];

function stateColumn(heading: string, state: string): Column<OpenKind> {
  return {
    heading,
    cell: ({ kind, gauges }) => countOf(gauges.sum('malipo_payments_open', { kind, state })),
    isNumber: true,
  };
}

function troubleColumn(heading: string, why: (typeof REASONS)[number]): Column<OpenKind> {
  return {
    heading,
    cell: ({ kind, gauges }) => {
      // The rows of both states repeat it.
      const count = gauges.max(`malipo_payments_${why}`, { kind });
      if (count === 0) return <span class="good">0</span>;
      const query = new URLSearchParams({ why, kind });
      return (
        <a class="bad" href={`${pathTo('waiting')}?${query}`}>
          {countOf(count)}
        </a>
      );
    },
    isNumber: true,
  };
}
