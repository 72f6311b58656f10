import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { PaymentStatus } from './payment.ts';

/** A payment of any kind as lists show it. */
export interface PaymentSummary {
  kind: GatewayPaymentKind;
  merchant_id: number;
  id: string;
  /** Null for a return: no merchant asked for it. */
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

const OWN_COLUMNS: Readonly<Record<GatewayPaymentKind, { account: string; ref_no: string }>> = {
  collection: { account: 't.payfrom', ref_no: 't.ref_no' },
  payout: { account: 't.payto', ref_no: 't.ref_no' },
  reversal: { account: 't.account', ref_no: 't.ref_no' },
  return: { account: 't.account', ref_no: 'CAST(NULL AS text)' },
};

/** Returns a condition on a row of payments: still open after its deadline. */
export function isOverdue(row: string): string {
  return `(${row}.status IN ('pending', 'processing') AND ${row}.deadline_at < now())`;
}

/** Returns the columns that a payment is read with. */
export function paymentColumns(kind: GatewayPaymentKind, row: string): string {
  return `${row}.*, ${isOverdue(row)} AS overdue, '${kind}' AS kind`;
}

/** Returns SELECT … FROM the payments of a kind, as `t`. A WHERE or a JOIN follows. */
export function selectSummaries(kind: GatewayPaymentKind): string {
  const { account, ref_no } = OWN_COLUMNS[kind];
  return `SELECT '${kind}' AS kind, t.merchant_id, t.id, ${ref_no} AS ref_no, t.status,
      t.amount_cents, ${account} AS account, t.created_at, t.deadline_at, t.parked_reason,
      ${isOverdue('t')} AS overdue
    FROM ${STEP_TABLES[kind].table} t`;
}
