import { type Database, rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { PaymentStatus } from './payment.ts';
import type { PaymentRef } from './payment-store.ts';

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
  undone_at: Date | null;
}

export const PAYMENT_KINDS = ['collection', 'payout', 'reversal', 'return'] as const;

/** The column of each kind that has the phone or bank account on the other side. */
export const ACCOUNT_COLUMNS: Readonly<Record<GatewayPaymentKind, string>> = {
  collection: 'payfrom',
  payout: 'payto',
  reversal: 'account',
  return: 'account',
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
  const ref_no = kind === 'return' ? 'CAST(NULL AS text)' : 't.ref_no';
  return `SELECT '${kind}' AS kind, t.merchant_id, t.id, ${ref_no} AS ref_no, t.status,
      t.amount_cents, t.${ACCOUNT_COLUMNS[kind]} AS account, t.created_at, t.deadline_at,
      t.parked_reason, ${isOverdue('t')} AS overdue, t.undone_at
    FROM ${STEP_TABLES[kind].table} t`;
}

/** Reads the summaries of some payments, in their order. Those that are gone are left out. */
export async function summariesOf(
  database: Database | Transaction,
  refs: readonly PaymentRef[],
): Promise<PaymentSummary[]> {
  const found: PaymentSummary[] = [];
  for (const ref of refs) {
    const select = `${selectSummaries(ref.kind)} WHERE t.merchant_id = :merchant_id AND t.id = :id`;
    found.push(...(await rows<PaymentSummary>(database, select, ref)));
  }
  return found;
}
