import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { PaymentStatus } from './payment.ts';

/** What a list of payments of every kind shows of each. */
export interface PaymentSummary {
  kind: GatewayPaymentKind;
  merchant_id: number;
  id: string;
  /** A return is our own doing: no merchant has given it a reference. */
  ref_no: string | null;
  status: PaymentStatus;
  amount_cents: number;
  account: string;
  created_at: Date;
  deadline_at: Date;
  parked_reason: string | null;
  overdue: boolean;
}

export const PAYMENT_KINDS = ['collection', 'payout', 'reversal', 'return'] as const;

const OWN_COLUMNS: Readonly<Record<GatewayPaymentKind, { account: string; refNo: string }>> = {
  collection: { account: 't.payfrom', refNo: 't.ref_no' },
  payout: { account: 't.payto', refNo: 't.ref_no' },
  reversal: { account: 't.account', refNo: 't.ref_no' },
  return: { account: 't.account', refNo: 'CAST(NULL AS text)' },
};

/** SQL, of a row of payments that goes by this name: past its deadline, and still open. */
export function isOverdue(row: string): string {
  return `(${row}.status IN ('pending', 'processing') AND ${row}.deadline_at < now())`;
}

/** SQL: all that a payment is read with. */
export function paymentColumns(row: string): string {
  return `${row}.*, ${isOverdue(row)} AS overdue`;
}

/** SELECT … FROM the payments of a kind, which go by the name `t`; a WHERE or a JOIN follows. */
export function selectSummaries(kind: GatewayPaymentKind): string {
  const { account, refNo } = OWN_COLUMNS[kind];
  return `SELECT '${kind}' AS kind, t.merchant_id, t.id, ${refNo} AS ref_no, t.status,
      t.amount_cents, ${account} AS account, t.created_at, t.deadline_at, t.parked_reason,
      ${isOverdue('t')} AS overdue
    FROM ${STEP_TABLES[kind].table} t`;
}
