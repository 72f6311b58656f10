import {
  type Database,
  firstRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { Collection, Payout, Return, Reversal } from './kinds.ts';
import { paymentColumns } from './payment-summary.ts';

/** Names a payment. Every query for one names its merchant too. */
export interface PaymentRef {
  kind: GatewayPaymentKind;
  merchant_id: number;
  id: string;
}

/** The condition for rows of one payment, in every table about payments. */
export const OF_PAYMENT =
  'merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id';

export type AnyPayment = Collection | Payout | Reversal | Return;
/** A payment that a merchant asked for, and hears the end of. */
export type MerchantPayment = Collection | Payout | Reversal;

/** Returns the phone or bank account on the other side. */
export function accountOf(payment: AnyPayment): string {
  if (payment.kind === 'collection') return payment.payfrom;
  return payment.kind === 'payout' ? payment.payto : payment.account;
}

export function refOf({ kind, merchant_id, id }: AnyPayment): PaymentRef {
  return { kind, merchant_id, id };
}

/** Reads a payment. Only `lockPayment` locks it. */
export async function findPayment(
  database: Database | Transaction,
  ref: PaymentRef,
  lock: 'FOR UPDATE' | '' = '',
): Promise<AnyPayment | undefined> {
  return firstRow<AnyPayment>(
    database,
    `SELECT ${paymentColumns(ref.kind, 't')} FROM ${STEP_TABLES[ref.kind].table} t
     WHERE t.merchant_id = :merchant_id AND t.id = :id ${lock}`,
    ref,
  );
}

/**
 * Returns the CTE `locked`: the payment `:merchant_id`, `:id`, or no row while it is locked elsewhere.
 * Skips a locked row, so the statement never works on a stale version. Conditions belong in later
 * CTEs: for a condition on the status the planner might read an index of open payments that it
 * takes for empty.
 */
export function lockedByKey(kind: GatewayPaymentKind): string {
  return `locked AS (
    SELECT * FROM ${STEP_TABLES[kind].table} WHERE merchant_id = :merchant_id AND id = :id
    FOR UPDATE SKIP LOCKED
  )`;
}

/** Runs `work` in a transaction that locks the payment first. The payment may be missing. */
export function withPaymentLocked<Result>(
  database: Database,
  ref: PaymentRef,
  work: (trx: Transaction, payment: AnyPayment | undefined) => Promise<Result>,
): Promise<Result> {
  return inTransaction(database, async (trx) => work(trx, await lockPayment(trx, ref)));
}

/**
 * Reads a payment and locks it until the transaction ends. It must be the transaction's first
 * lock. Locks a reversal's collection before the reversal, so that no other reversal of the
 * collection begins meanwhile.
 */
export async function lockPayment(
  trx: Transaction,
  ref: PaymentRef,
): Promise<AnyPayment | undefined> {
  if (ref.kind === 'reversal') await lockReversedCollection(trx, ref);
  return findPayment(trx, ref, 'FOR UPDATE');
}

async function lockReversedCollection(trx: Transaction, ref: PaymentRef): Promise<void> {
  await rows(
    trx,
    `SELECT 1 FROM collections c
     JOIN reversals r ON r.merchant_id = c.merchant_id AND r.collection_id = c.id
     WHERE r.merchant_id = :merchant_id AND r.id = :id FOR NO KEY UPDATE OF c`,
    ref,
  );
}

/** Fills columns that are empty. Later news adds to what is known and never changes it. */
export async function fillEmpty(
  trx: Transaction,
  payment: AnyPayment,
  values: { trans_id?: string | null; external_ref?: string | null },
): Promise<void> {
  const missing = Object.entries(values).filter(
    ([name, value]) => value && payment[name as keyof typeof values] === null,
  );
  if (missing.length === 0) return;
  await rows(
    trx,
    `UPDATE ${STEP_TABLES[payment.kind].table}
     SET ${missing.map(([name]) => `${name} = :${name}`).join(', ')}
     WHERE merchant_id = :merchant_id AND id = :id`,
    { ...payment, ...Object.fromEntries(missing) },
  );
}
