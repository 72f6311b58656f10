import type { ImportResult } from '../../domain/reconciliation/import-store.ts';
import { Money } from '../shell/money.tsx';
import { PaymentLink } from '../shell/payment-link.tsx';
import { StatusBadges } from '../shell/status.tsx';
import { type Column, Table } from '../shell/table.tsx';
import { Time } from '../shell/time.tsx';
import { VEILED } from '../shell/veil.ts';
import type { LineBreak } from './query.ts';

/** The lines that are no part of the books, each beside our records. */
export function Breaks({ breaks }: { breaks: LineBreak[] }) {
  if (breaks.length === 0) return null;
  return (
    <>
      <h2>In the statement, and not like that in the books</h2>
      <p class="soft">Each is a discrepancy, or belongs to one.</p>
      <Table rows={breaks} columns={BREAKS} caption="Breaks" />
    </>
  );
}

const BREAKS: readonly Column<LineBreak>[] = [
  {
    heading: "The gateway's line",
    cell: ({ line_no, kind, reference, trans_id, account, completed_at, amount_cents }) => (
      <>
        <strong>
          {kind} <Money cents={amount_cents} />
        </strong>
        <br />
        receipt {trans_id ?? 'none'}, reference {reference ?? 'none'}
        {account !== null && `, ${VEILED.account(account)}`}
        <br />
        <Time at={completed_at} /> <span class="soft">line {line_no}</span>
      </>
    ),
  },
  {
    heading: 'Our record',
    cell: ({ payments }) =>
      payments.length === 0
        ? 'No payment has this reference or receipt'
        : payments.map((payment) => (
            <div>
              <PaymentLink payment={payment} ref_no={payment.ref_no} />{' '}
              <Money cents={payment.amount_cents} /> <StatusBadges {...payment} />
              <br />
              merchant {payment.merchant_id}, {VEILED.account(payment.account)},{' '}
              <Time at={payment.created_at} />
            </div>
          )),
  },
];

/** The movements that are booked here and not in the statement. */
export function Missing({ result: { missing, missing_count } }: { result: ImportResult }) {
  if (missing.length === 0) return null;
  return (
    <>
      <h2>In the books, and not in the statement</h2>
      <p class="soft">
        Each is a discrepancy.
        {missing_count > missing.length && ` The first ${missing.length} of ${missing_count}.`}
      </p>
      <Table rows={missing} columns={MISSING} caption="Missing in the statement" />
    </>
  );
}

const MISSING: readonly Column<ImportResult['missing'][number]>[] = [
  { heading: "The gateway's line", cell: () => 'none' },
  {
    heading: 'Our record',
    cell: ({ kind, merchant_id, payment_id: id, trans_id }) => (
      <>
        <PaymentLink payment={{ kind, merchant_id, id }} />
        <br />
        merchant {merchant_id}, receipt {trans_id ?? 'none'}
      </>
    ),
  },
  { heading: 'Amount', cell: ({ amount_cents }) => <Money cents={amount_cents} />, isNumber: true },
];
