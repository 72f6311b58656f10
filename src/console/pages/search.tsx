import type { Database } from '../../connections/database.ts';
import { listMerchants, type MerchantRecord } from '../../domain/merchants/merchant.ts';
import type { PaymentSummary } from '../../domain/payments/payment-summary.ts';
import { type DiscrepancyCase, unexplainedUnder } from '../../domain/support/discrepancy-cases.ts';
import { findPayments } from '../../domain/support/find-payments.ts';
import { searchPayments } from '../../domain/support/list-for-support.ts';
import { maskPhones, receiptOf } from '../../domain/text.ts';
import { VEILED } from '../../domain/veil.ts';
import { recordView } from '../access/audit.ts';
import { mayUse, pathTo } from '../routes.ts';
import { MerchantLink, Money, PaymentLink, Time } from '../shell/links.tsx';
import { Badge, StatusBadges } from '../shell/status.tsx';
import { type Column, Empty, Table } from '../shell/table.tsx';
import { type Answer, ConsoleError, type Visit } from '../visit.ts';
import { DISCREPANCIES } from './discrepancies.tsx';

/** A search with more hits must be narrowed anyway. */
const MAX_HITS = 50;
const MAX_SEARCH_LENGTH = 200;

/** The terms of a search. */
interface Search {
  what: string;
  merchant_id: number | undefined;
}

interface Hits {
  payments: PaymentSummary[];
  merchants: MerchantRecord[];
  /** Money that a gateway has told under this receipt, and no payment here explained. */
  unexplained: DiscrepancyCase[];
  /** There are more payments than are shown. */
  more: boolean;
}

/** Finds payments, merchants and unexplained receipts. Without words it takes the newest payments of the merchant. */
async function search(database: Database, { what, merchant_id }: Search): Promise<Hits> {
  const limit = MAX_HITS + 1;
  const [payments, merchants, unexplained] = await Promise.all([
    what === ''
      ? searchPayments(database, { merchant_id, after: undefined, limit })
      : findPayments(database, { what, merchant_id, limit }),
    what === '' || merchant_id !== undefined
      ? []
      : listMerchants(database, { what, after: undefined, limit: MAX_HITS }),
    what === '' || merchant_id !== undefined ? [] : unexplainedUnder(database, receiptOf(what)),
  ]);
  const more = payments.length > MAX_HITS;
  return { payments: payments.slice(0, MAX_HITS), merchants, unexplained, more };
}

const MERCHANT_ID = /^\d{1,15}$/;

export const searchHandlers = {
  /** One hit is shown at once. */
  search: async (visit: Visit): Promise<Answer> => {
    const { q: what = '', merchant } = visit.query;
    if (what.length > MAX_SEARCH_LENGTH || (merchant && !MERCHANT_ID.test(merchant))) {
      throw new ConsoleError(400, 'This search is too long, or its merchant is no number');
    }
    const wanted: Search = { what, merchant_id: merchant ? Number(merchant) : undefined };
    const isEmpty = what === '' && wanted.merchant_id === undefined;
    const hits = isEmpty ? null : await search(visit.service.database, wanted);
    if (hits) {
      await recordView(visit, {
        action: 'payment.search',
        subject: `payment ${maskPhones(what)}`.trim(),
        merchant_id: wanted.merchant_id ?? null,
        lookedFor: { what },
        rows: countOf(hits),
      });
      const [payment, ...others] = hits.payments;
      if (what !== '' && payment && others.length === 0 && countOf(hits) === 1) {
        return { goTo: pathTo('payment', { ...payment }) };
      }
    }
    const mayFilter = mayUse(visit.member.role, 'payments');
    return {
      page: <SearchPage search={wanted} hits={hits} mayFilter={mayFilter} />,
      title: 'Search',
    };
  },
};

function countOf({ payments, merchants, unexplained }: Hits): number {
  return payments.length + merchants.length + unexplained.length;
}

const WHAT =
  'A ref_no, an id or reference of a payment, a receipt, a gateway’s reference, a phone (0712…, 254712…, +254712…), a webhook-id, or a merchant';

interface SearchPageProps {
  search: Search;
  hits: Hits | null;
  /** The member may look by a part of a phone, by amount and by day. */
  mayFilter: boolean;
}

/** The page of a search, before and after it. */
function SearchPage({ search, hits, mayFilter }: SearchPageProps) {
  return (
    <>
      <h1>Search</h1>
      <SearchForm search={search} />
      {hits ? <Results search={search} hits={hits} /> : <p class="soft">{WHAT}.</p>}
      {(!hits || countOf(hits) === 0) && mayFilter && (
        <p>
          <a href={pathTo('payments')}>Payments by day, amount or a part of the phone</a>
        </p>
      )}
      {!hits && (
        <p>
          <a href={pathTo('waiting')}>Payments that wait for a person, or are overdue</a>
        </p>
      )}
    </>
  );
}

function SearchForm({ search: { what, merchant_id } }: { search: Search }) {
  return (
    <form method="get" action={pathTo('search')} class="card search">
      <input type="search" name="q" value={what} aria-label="What to look for" />
      {merchant_id !== undefined && <input type="hidden" name="merchant" value={merchant_id} />}
      <button type="submit">Search</button>
    </form>
  );
}

function Results({ search: { what, merchant_id }, hits }: { search: Search; hits: Hits }) {
  const { payments, merchants, unexplained, more } = hits;
  const narrowed = merchant_id === undefined ? '' : ` of merchant ${merchant_id}`;
  if (countOf(hits) === 0) {
    return (
      <Empty>
        Nothing is known by {JSON.stringify(what)}
        {narrowed}. Look for a typing error, or take something else: {WHAT}.
      </Empty>
    );
  }
  return (
    <>
      {merchants.length > 0 && <Merchants merchants={merchants} />}
      {unexplained.length > 0 && (
        <>
          <h2>No payment here explains it</h2>
          <Table rows={unexplained} columns={DISCREPANCIES} caption="Discrepancies" />
        </>
      )}
      {payments.length > 0 && (
        <>
          <h2>{what === '' ? `The newest payments${narrowed}` : `Payments${narrowed}`}</h2>
          {more && (
            <p class="note">
              Only the newest {MAX_HITS} are shown. Take the ref_no or the receipt to find an older
              one, or <code>payment list</code> of the command line.
            </p>
          )}
          <Table rows={payments} columns={PAYMENTS} caption="Payments" />
        </>
      )}
    </>
  );
}

/** The columns of payments in lists. */
export const PAYMENTS: readonly Column<PaymentSummary>[] = [
  {
    heading: 'Payment',
    cell: (payment) => <PaymentLink payment={payment} ref_no={payment.ref_no} />,
  },
  { heading: 'Status', cell: (payment) => <StatusBadges {...payment} /> },
  { heading: 'Amount', cell: ({ amount_cents }) => <Money cents={amount_cents} />, isNumber: true },
  { heading: 'Phone or account', cell: ({ account }) => VEILED.account(account) },
  { heading: 'Merchant', cell: ({ merchant_id }) => <MerchantLink merchant_id={merchant_id} /> },
  { heading: 'Asked for', cell: ({ created_at }) => <Time at={created_at} /> },
];

function Merchants({ merchants }: { merchants: MerchantRecord[] }) {
  const columns: Column<MerchantRecord>[] = [
    {
      heading: 'Merchant',
      cell: ({ id, name }) => <a href={`${pathTo('search')}?merchant=${id}`}>{name}</a>,
    },
    { heading: 'Id', cell: ({ id }) => id },
    {
      heading: 'State',
      cell: ({ active, approved }) =>
        active ? (
          <Badge
            tone={approved ? 'good' : 'plain'}
            words={approved ? 'approved' : 'not approved'}
          />
        ) : (
          <Badge tone="bad" words="suspended" />
        ),
    },
  ];
  return (
    <>
      <h2>Merchants</h2>
      <Table rows={merchants} columns={columns} caption="Merchants" />
    </>
  );
}
