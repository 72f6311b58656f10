import { DISCREPANCY_KINDS } from '../../domain/discrepancies/discrepancy.ts';
import { PAYMENT_KINDS } from '../../domain/payments/payment-summary.ts';
import {
  listSuspense,
  MAX_SUMMED,
  type SuspendedMoney,
  type SuspenseSum,
  sumSuspense,
} from '../../domain/support/list-suspense.ts';
import { VEILED } from '../../domain/veil.ts';
import { recordView } from '../access/audit.ts';
import { pathTo } from '../routes.ts';
import { ChoiceFilter, Filters, TextFilter } from '../shell/filters.tsx';
import { MerchantLink, Money, PaymentLink, Time } from '../shell/links.tsx';
import { idIn, numberIn, wordIn } from '../shell/read-fields.ts';
import { Badge } from '../shell/status.tsx';
import { type Column, Empty, type ListPage, listPage, NextPage, Table } from '../shell/table.tsx';
import type { Answer, Visit } from '../visit.ts';

/** Money in suspense, oldest first. */
export const suspenseHandlers = {
  suspense: async (visit: Visit): Promise<Answer> => {
    const { query, service } = visit;
    const { database } = service;
    const merchant_id = numberIn(query, 'merchant');
    const filter = { kind: wordIn(query, 'kind', PAYMENT_KINDS), merchant_id };
    const after = idIn(query, 'after');
    const page = await listPage(
      (limit) => listSuspense(database, { ...filter, after, limit }),
      ({ id }) => id,
    );
    const sums = await sumSuspense(database, filter);
    await recordView(visit, {
      action: 'suspense.list',
      subject: 'suspense',
      lookedFor: { ...filter, after },
      merchant_id: merchant_id ?? null,
      rows: page.rows.length,
    });
    const shown = <SuspensePage query={query} sums={sums} page={page} />;
    return { page: shown, title: 'Money in suspense' };
  },
};

interface Props {
  query: Visit['query'];
  sums: SuspenseSum[];
  page: ListPage<SuspendedMoney>;
}

/** The money that gateways have moved and that waits for a decision. */
function SuspensePage({ query, sums, page: { rows, next } }: Props) {
  const path = pathTo('suspense');
  const isNarrowed = Boolean(query.kind || query.merchant);
  return (
    <>
      <h1>Money in suspense</h1>
      <p class="soft">
        A gateway has moved it, and nobody has decided yet whose it is, or a return is taking it
        back. The oldest stands first.
      </p>
      <Filters path={path}>
        <ChoiceFilter name="kind" label="Kind of payment" query={query} choices={PAYMENT_KINDS} />
        <TextFilter name="merchant" label="Merchant" query={query} type="number" />
      </Filters>
      {rows.length === 0 ? (
        <Empty>
          {isNarrowed
            ? 'No money in suspense is like that. Take all kinds and all merchants.'
            : 'No money is in suspense. There is nothing to do.'}
        </Empty>
      ) : (
        <>
          <Sums sums={sums} />
          <Table rows={rows} columns={columns()} caption="Money in suspense" />
        </>
      )}
      <NextPage path={path} query={query} next={next} />
    </>
  );
}

function Sums({ sums }: { sums: SuspenseSum[] }) {
  const isMore = sums.reduce((total, { count }) => total + count, 0) >= MAX_SUMMED;
  return (
    <section class="cards">
      {sums.map(({ kind, count, amount_cents, oldest }) => (
        <div class="card">
          <h2>{kind}s</h2>
          <p>
            {isMore && 'at least '}
            <Money cents={amount_cents} /> in {count}
          </p>
          <p class="soft">
            the oldest since <Time at={oldest} />
          </p>
        </div>
      ))}
    </section>
  );
}

function columns(): readonly Column<SuspendedMoney>[] {
  return [
    { heading: 'Known since', cell: ({ learned_at }) => <Time at={learned_at} /> },
    {
      heading: 'Payment',
      cell: ({ payment_kind: kind, merchant_id, payment_id: id, ref_no }) => (
        <PaymentLink payment={{ kind, merchant_id, id }} ref_no={ref_no} />
      ),
    },
    {
      heading: 'Amount',
      cell: ({ amount_cents }) => <Money cents={amount_cents} />,
      isNumber: true,
    },
    { heading: 'Receipt', cell: ({ trans_id }) => trans_id ?? 'none' },
    {
      heading: 'Phone or account',
      cell: ({ account }) => (account === null ? 'unknown' : VEILED.account(account)),
    },
    {
      heading: 'Merchant',
      cell: ({ merchant_id }) => <MerchantLink merchant_id={merchant_id} />,
    },
    {
      heading: 'Why it waits',
      cell: (money) => <Why money={money} />,
    },
  ];
}

function Why({ money }: { money: SuspendedMoney }) {
  const { merchant_id, booked, discrepancy, return_id } = money;
  if (booked === 'returning') {
    const path = pathTo('payment', { kind: 'return', merchant_id, id: return_id });
    return (
      <>
        <Badge tone="plain" words="on its way back" />{' '}
        {return_id === null ? null : <a href={path}>by a return</a>}
      </>
    );
  }
  if (!discrepancy) return <Badge tone="bad" words="no open discrepancy: tell the developers" />;
  const { id, kind } = discrepancy;
  return <a href={pathTo('discrepancy', { id })}>{DISCREPANCY_KINDS[kind]}</a>;
}
