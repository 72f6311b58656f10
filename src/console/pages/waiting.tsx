import { PAYMENT_KINDS, type PaymentSummary } from '../../domain/payments/payment-summary.ts';
import { listForSupport } from '../../domain/support/list-for-support.ts';
import { recordView } from '../access/audit.ts';
import { pathTo } from '../routes.ts';
import { ChoiceFilter, Filters, TextFilter } from '../shell/filters.tsx';
import { idIn, numberIn, wordIn } from '../shell/read-fields.ts';
import { Empty, type ListPage, listPage, NextPage, Table } from '../shell/table.tsx';
import type { Answer, Visit } from '../visit.ts';
import { PAYMENTS } from './search.tsx';

/** Payments that need support: parked, or overdue. The oldest stands first. */
export const waitingHandlers = {
  waiting: async (visit: Visit): Promise<Answer> => {
    const { query, service } = visit;
    const kind = wordIn(query, 'kind', PAYMENT_KINDS);
    const why = wordIn(query, 'why', REASONS);
    const merchant_id = numberIn(query, 'merchant');
    const after = idIn(query, 'after');
    const filter = { kind, merchant_id, parked: why === 'parked', overdue: why === 'overdue' };
    const page = await listPage(
      (limit) => listForSupport(service.database, { ...filter, after, limit }),
      ({ id }) => id,
    );
    await recordView(visit, {
      action: 'payment.list',
      subject: 'payment',
      lookedFor: { ...filter, after },
      merchant_id: merchant_id ?? null,
      rows: page.rows.length,
    });
    return { page: <WaitingPage query={query} page={page} />, title: 'Payments that wait' };
  },
};

/** Why a payment needs support. */
export const REASONS = ['parked', 'overdue'] as const;

interface Props {
  query: Visit['query'];
  page: ListPage<PaymentSummary>;
}

/** The payments that do not go on by themselves, or have not ended in time. */
function WaitingPage({ query, page: { rows, next } }: Props) {
  const path = pathTo('waiting');
  return (
    <>
      <h1>Payments that wait</h1>
      <p class="soft">
        A parked payment goes on when a person has decided. An overdue one has not ended in time:
        the service still asks the gateway about it. The oldest stands first.
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
      <NextPage path={path} query={query} next={next} />
    </>
  );
}
