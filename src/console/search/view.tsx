import type { MerchantHit } from '../../domain/merchants/find-merchants.ts';
import type { PaymentSummary } from '../../domain/payments/payment-summary.ts';
import { pathTo } from '../routes.ts';
import { MerchantLink } from '../shell/merchant-link.tsx';
import { Money } from '../shell/money.tsx';
import { PaymentLink } from '../shell/payment-link.tsx';
import { Badge, StatusBadges } from '../shell/status.tsx';
import { type Column, Empty, Table } from '../shell/table.tsx';
import { Time } from '../shell/time.tsx';
import { VEILED } from '../shell/veil.ts';
import { type Hits, MAX_HITS, type Search } from './query.ts';

const WHAT =
  'A ref_no, an id or reference of a payment, a receipt, a gateway’s reference, a phone (0712…, 254712…, +254712…), a webhook-id, or a merchant';

/** The page of a search, before and after it. */
export function SearchPage({ search, hits }: { search: Search; hits: Hits | null }) {
  return (
    <>
      <h1>Search</h1>
      <SearchForm search={search} />
      {hits ? (
        <Results search={search} hits={hits} />
      ) : (
        <>
          <p class="soft">{WHAT}.</p>
          <p>
            <a href={pathTo('waiting')}>Payments that wait for a person, or are overdue</a>
          </p>
        </>
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
  const { payments, merchants, more } = hits;
  const narrowed = merchant_id === undefined ? '' : ` of merchant ${merchant_id}`;
  if (payments.length === 0 && merchants.length === 0) {
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

/** How lists show payments. */
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

function Merchants({ merchants }: { merchants: MerchantHit[] }) {
  const columns: Column<MerchantHit>[] = [
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
