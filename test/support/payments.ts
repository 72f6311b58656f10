import { type Database, firstRow, inTransaction, rows } from '../../src/connections/database.ts';
import { NOBODY } from '../../src/domain/access/asker.ts';
import { createCollection } from '../../src/domain/collections/create-collection.ts';
import type { Failed, ParserOf, Succeeded, Verdict } from '../../src/domain/gateway-results.ts';
import type { Collection, Return } from '../../src/domain/payments/kinds.ts';
import {
  type AnyPayment,
  findPayment,
  lockPayment,
  type PaymentRef,
  refOf,
} from '../../src/domain/payments/payment-store.ts';
import { type Settlement, settle } from '../../src/domain/settlement/settle.ts';
import type { Config } from '../../src/process/config.ts';
import { loadConfig } from '../../src/service/service.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { createTestMerchant, type TestMerchant } from './test-merchant.ts';

export const PAYER = '+254712345678';
export const AMOUNT_CENTS = 10_000;
export const COMMISSION_CENTS = 150;
export const NET_CENTS = AMOUNT_CENTS - COMMISSION_CENTS;

/** A database with a configuration to go with it, for tests that need no process at all. */
export interface TestStore extends TestDatabase {
  config: Config;
  newMerchant(options?: Parameters<typeof createTestMerchant>[1]): Promise<TestMerchant>;
}

/** Makes a store of its own: an empty one, or a copy of one that nobody is connected to. */
export async function createTestStore(template?: string): Promise<TestStore> {
  const testDatabase = await createTestDatabase(template);
  const GATEWAY_CALLBACK_URL = 'http://127.0.0.1:8080';
  const config = loadConfig({ DATABASE_URL: testDatabase.url, GATEWAY_CALLBACK_URL });
  const { database } = testDatabase;
  return {
    ...testDatabase,
    config,
    newMerchant: (options) => createTestMerchant({ database, config }, options),
  };
}

let count = 0;

/** A collection of 100.00 as it was just accepted, its job waiting in the outbox. */
export function newCollection(
  database: Database,
  merchant: { merchant_id: number; app_code: number },
  overrides: {
    callback_url?: string;
    ref_no?: string;
    payfrom?: string;
    gateway?: string;
    amount_cents?: number;
  } = {},
): Promise<Collection> {
  count += 1;
  return createCollection(database, {
    payfrom: PAYER,
    amount_cents: AMOUNT_CENTS,
    ref_no: `ref-${count}`,
    account_number: 'INV-1',
    callback_url: 'http://127.0.0.1:9/hook',
    channel: 63902,
    merchant_id: merchant.merchant_id,
    app_code: merchant.app_code,
    ...NOBODY,
    asked_app: merchant.app_code,
    gateway: 'simulator',
    rate: { bps: 150, fixedCents: 0 },
    deadline_ms: 600_000,
    ...overrides,
  });
}

/** A return as a late success leaves it: its collection failed, then the customer paid. */
export async function newReturn(
  database: Database,
  merchant: { merchant_id: number; app_code: number },
): Promise<Return> {
  const collection = await newCollection(database, merchant);
  await learn(database, collection, failed());
  await learn(database, collection, succeeded({ transId: 'LATE1' }));
  const row = await firstRow<Return>(
    database,
    'SELECT * FROM returns WHERE merchant_id = :merchant_id AND collection_id = :id',
    { merchant_id: collection.merchant_id, id: collection.id },
  );
  return { ...row!, kind: 'return' };
}

/** The gateway's word that what was asked for has happened. */
export function succeeded(overrides: Partial<Succeeded> = {}): Succeeded {
  return {
    outcome: 'succeeded',
    transId: 'RCPT1',
    externalRef: 'GW-1',
    amountCents: AMOUNT_CENTS,
    account: PAYER,
    description: 'Done',
    completedAt: new Date('2026-11-20T10:00:00Z'),
    ...overrides,
  };
}

/** The gateway's word that nothing will happen. */
export function failed(overrides: Partial<Failed> = {}): Failed {
  return {
    outcome: 'failed',
    code: 1032,
    description: 'Cancelled',
    externalRef: 'GW-1',
    ...overrides,
  };
}

/** Names of receipts in verdicts of these tests. Each payment has receipts of its own. */
const RECEIPT_NAME = /^(RCPT|BACK|LATE)\d$/;

/** The receipt that a verdict's `RCPT1` stands for, as the service hears it. */
export function receiptOf({ id }: Pick<AnyPayment, 'id'>, name = 'RCPT1'): string {
  return RECEIPT_NAME.test(name) ? `${name}-${id}`.toUpperCase() : name;
}

/** The verdict with the payment's own receipt: no gateway gives two payments the same. */
export function newsOf<V extends Verdict>(payment: Pick<AnyPayment, 'id'>, verdict: V): V {
  const isNamed = verdict.outcome === 'succeeded' && verdict.transId !== null;
  return isNamed ? { ...verdict, transId: receiptOf(payment, verdict.transId!) } : verdict;
}

/** The protocol of these tests: the body of a callback is its news as JSON. */
export const parserOf: ParserOf = () => (body) => {
  const verdict = JSON.parse(body, (name, value) =>
    name === 'completedAt' && value !== null ? new Date(value) : value,
  );
  return { reference: null, verdict };
};

/** Applies a verdict as pollers and callbacks do: locked, in one transaction. */
export function learn(
  database: Database,
  payment: AnyPayment,
  verdict: Verdict,
  cause = 'callback',
): Promise<Settlement> {
  return inTransaction(database, async (trx) => {
    const locked = await lockPayment(trx, refOf(payment));
    return settle(trx, locked!, newsOf(locked!, verdict), { cause, parserOf });
  });
}

/** The payment as it is now. */
export async function reread<P extends AnyPayment>(database: Database, payment: P): Promise<P> {
  return (await findPayment(database, refOf(payment))) as P;
}

export interface HistoryRow {
  from_status: string | null;
  to_status: string;
  cause: string;
}

export function historyOf(database: Database, { merchant_id, id }: PaymentRef) {
  return rows<HistoryRow>(
    database,
    `SELECT from_status, to_status, cause FROM payment_history
     WHERE merchant_id = :merchant_id AND payment_id = :id ORDER BY happened_at`,
    { merchant_id, id },
  );
}

export interface OutboxRow {
  queue: string;
  kind: string;
  step: string;
  row_id: string;
  step_no: number;
}

/** The jobs of one row that wait in the outbox, oldest first. */
export function outboxOf(database: Database, rowId: string): Promise<OutboxRow[]> {
  return rows<OutboxRow>(
    database,
    'SELECT queue, kind, step, row_id, step_no FROM outbox WHERE row_id = :id ORDER BY id',
    { id: rowId },
  );
}

/** The kinds of the discrepancies of one payment, oldest first. */
export async function discrepanciesOf(database: Database, paymentId: string): Promise<string[]> {
  const found = await rows<{ kind: string }>(
    database,
    `SELECT kind || CASE WHEN resolved_at IS NULL THEN '' ELSE ' (resolved)' END AS kind
     FROM discrepancies WHERE payment_id = :id ORDER BY opened_at, id`,
    { id: paymentId },
  );
  return found.map(({ kind }) => kind);
}

/** How many rows a query finds. */
export async function countOf(
  database: Database,
  from: string,
  bindings: Record<string, unknown> = {},
): Promise<number> {
  const row = await firstRow<{ count: number }>(
    database,
    `SELECT count(*) AS count FROM ${from}`,
    bindings,
  );
  return row!.count;
}

/** Fails unless the promise is rejected; gives what it is rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: Error) => ({ error }),
  );
  if ('error' in outcome) return outcome.error;
  throw new Error(`It was not refused, and gave ${JSON.stringify(outcome.value)}`);
}
