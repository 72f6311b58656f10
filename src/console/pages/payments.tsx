import { CHANNELS } from '../../domain/channels/channel.ts';
import { STATUS_CODES } from '../../domain/payments/payment.ts';
import { PAYMENT_KINDS, type PaymentSummary } from '../../domain/payments/payment-summary.ts';
import { DEFAULT_ZONE } from '../../domain/period.ts';
import { searchPayments } from '../../domain/support/list-for-support.ts';
import { type Field, UsageError } from '../../operations/field.ts';
import {
  checkPaymentSearch,
  MAX_UNINDEXED_DAYS,
  type PaymentSearch,
  paymentFilterOf,
  paymentSearch,
} from '../../operations/payment-search.ts';
import { recordView } from '../access/audit.ts';
import { pathTo } from '../routes.ts';
import { ChoiceFilter, DayFilters, Filters, TextFilter } from '../shell/filters.tsx';
import { idIn } from '../shell/read-fields.ts';
import { Empty, type ListPage, listPage, NextPage, Table } from '../shell/table.tsx';
import { type Answer, ConsoleError, type Visit } from '../visit.ts';
import { PAYMENTS } from './search.tsx';

type Query = Visit['query'];

export const paymentsHandlers = {
  /** Payments by what a customer knows: a part of the phone, the amount and the day. The newest stands first. */
  payments: async (visit: Visit): Promise<Answer> => {
    const { query, service } = visit;
    const given = searchIn(query);
    const after = idIn(query, 'after');
    const isEmpty = Object.values(given).every((value) => value === undefined);
    const filter = paymentFilterOf(given);
    const page = isEmpty
      ? null
      : await listPage(
          (limit) => searchPayments(service.database, { ...filter, after, limit }),
          ({ id }) => id,
        );
    if (page) {
      await recordView(visit, {
        action: 'payment.list',
        subject: 'payment',
        lookedFor: { ...given, after },
        merchant_id: given.merchant_id ?? null,
        rows: page.rows.length,
      });
    }
    return { page: <PaymentsPage query={query} page={page} />, title: 'Payments' };
  },
};

/** Reads the filters as the command line reads its options. A day is one of Nairobi. @throws ConsoleError */
function searchIn(query: Query): PaymentSearch {
  try {
    const read = Object.entries(paymentSearch).map(([name, field]) => {
      return [name, readOf(query[field.flag], field)];
    });
    const given = Object.fromEntries(read) as PaymentSearch;
    checkPaymentSearch(given);
    return given;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new ConsoleError(400, `${error.message}. Go back and change it`);
  }
}

function readOf(text: string | undefined, { label, read }: Field<unknown>): unknown {
  try {
    return read(text || undefined, DEFAULT_ZONE);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${label} ${error.message}`);
  }
}

const CHANNEL_CHOICES = CHANNELS.map(({ code, name }) => [String(code), name] as const);

function PaymentsPage({ query, page }: { query: Query; page: ListPage<PaymentSummary> | null }) {
  const path = pathTo('payments');
  return (
    <>
      <h1>Payments</h1>
      <p class="soft">
        Look for a payment by what the customer knows. A part of the phone, an amount or a channel
        needs a first day at most {MAX_UNINDEXED_DAYS} days ago, or the whole phone.
      </p>
      <Filters path={path} clear="Clear">
        <DayFilters query={query} />
        <TextFilter name="amount" label="Amount in KES" query={query} />
        <TextFilter name="phone-ends" label="End of the phone" query={query} />
        <TextFilter name="phone" label="Whole phone" query={query} />
        <ChoiceFilter name="state" label="State" query={query} choices={STATUS_CODES} />
        <ChoiceFilter name="kind" label="Kind" query={query} choices={PAYMENT_KINDS} />
        <ChoiceFilter name="channel" label="Channel" query={query} choices={CHANNEL_CHOICES} />
        <TextFilter name="merchant" label="Merchant number" query={query} type="number" />
      </Filters>
      {page && <Found query={query} page={page} />}
    </>
  );
}

function Found({ query, page: { rows, next } }: { query: Query; page: ListPage<PaymentSummary> }) {
  if (rows.length === 0) return <Empty>No payment fits these filters.</Empty>;
  return (
    <>
      <Table rows={rows} columns={PAYMENTS} caption="Payments" />
      <NextPage path={pathTo('payments')} query={query} next={next} />
    </>
  );
}
