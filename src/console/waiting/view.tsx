import { PAYMENT_KINDS, type PaymentSummary } from '../../domain/payments/payment-summary.ts';
import { pathTo } from '../routes.ts';
import { PAYMENTS } from '../search/view.tsx';
import { ChoiceFilter, Filters, TextFilter } from '../shell/filters.tsx';
import { type ListPage, NextPage } from '../shell/list-page.tsx';
import { Empty, Table } from '../shell/table.tsx';
import type { Visit } from '../visit.ts';

/** Why a payment needs support. */
export const REASONS = ['parked', 'overdue'] as const;

interface Props {
  query: Visit['query'];
  page: ListPage<PaymentSummary>;
}

/** The payments that do not go on by themselves, or have not ended in time. */
export function WaitingPage({ query, page: { rows, next } }: Props) {
  const path = pathTo('waiting');
  return (
    <>
      <h1>Payments that wait</h1>
      <p class="soft">
        A parked payment goes on when a person has decided. An overdue one has not ended in time:
        the gateway is asked about it all the same. The oldest stands first.
      </p>
      <Filters path={path}>
        <ChoiceFilter name="why" label="Why" query={query} choices={REASONS} />
        <ChoiceFilter name="kind" label="Kind" query={query} choices={PAYMENT_KINDS} />
        <TextFilter name="merchant" label="Merchant" query={query} type="number" />
      </Filters>
      {rows.length === 0 ? (
        <Empty>No payment waits like this. There is nothing to do.</Empty>
      ) : (
        <Table rows={rows} columns={PAYMENTS} caption="Payments that wait" />
      )}
      <NextPage {...{ path, query, next }} />
    </>
  );
}
