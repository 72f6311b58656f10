import { type Database, inTransaction, rows } from '../../src/connections/database.ts';
import { type AnyPayment, accountOf } from '../../src/domain/payments/payment-store.ts';
import {
  type ReconcileOptions,
  type Reconciliation,
  reconcile,
} from '../../src/domain/reconciliation/reconcile.ts';
import {
  FROM_GATEWAY,
  importStatement,
  type Period,
  type StatementLine,
} from '../../src/domain/reconciliation/statement.ts';
import { DAY_MS, MINUTE_MS } from '../../src/time.ts';
import { eventually } from './eventually.ts';
import { newPayment } from './payment-kinds.ts';
import { AMOUNT_CENTS, learn, PAYER, parserOf, succeeded } from './payments.ts';
import { NOT_FOUND } from './submissions.ts';
import type { TestMerchant } from './test-merchant.ts';

const CHANNEL = 63902;
const GATEWAY = 'simulator';
export const COMPLETED_AT = succeeded().completedAt!;
const STATEMENT_KINDS = {
  collection: 'collection',
  payout: 'payout',
  reversal: 'reversal',
  return: 'reversal',
} as const;

let receipts = 0;

/** Receipts sort in the order in which they were made: their numbers have one length. */
export function newReceipt(): string {
  receipts += 1;
  return `RECON${String(receipts).padStart(5, '0')}`;
}

/** What the gateway's statement has about a payment that succeeded as it was asked for. */
export function lineOf(payment: AnyPayment, overrides: Partial<StatementLine> = {}): StatementLine {
  return {
    kind: STATEMENT_KINDS[payment.kind],
    reference: payment.reference,
    account: accountOf(payment),
    amountCents: payment.amount_cents,
    transId: newReceipt(),
    completedAt: COMPLETED_AT,
    ...overrides,
  };
}

/**
 * Imports a statement and reconciles by it. Unless told otherwise it is all of the period's
 * movements until now, by a gateway that knows nothing more of what it is asked about.
 */
export async function runStatement(
  database: Database,
  lines: StatementLine[],
  period: Period,
  overrides: Partial<ReconcileOptions> = {},
  source: string = FROM_GATEWAY,
): Promise<Reconciliation> {
  const claim = {
    gateway: overrides.gateway ?? GATEWAY,
    channel: CHANNEL,
    period,
    covers: overrides.covers ?? (['collection', 'payout', 'reversal'] as const),
    complete_until: overrides.complete_until === undefined ? new Date() : overrides.complete_until,
  };
  const import_id = await inTransaction(database, (trx) =>
    importStatement(trx, { ...claim, source, lines }),
  );
  return reconcile(database, {
    import_id,
    ...claim,
    settling_window_ms: 0,
    answer_window_ms: 0,
    ask: async () => NOT_FOUND,
    parserOf,
    ...overrides,
  });
}

/** Lines of the collections that reversals and returns were made from. */
export async function otherLines(
  database: Database,
  known: StatementLine[],
): Promise<StatementLine[]> {
  const others = await rows<{ reference: string; payfrom: string; trans_id: string }>(
    database,
    `SELECT c.reference, c.payfrom, m.trans_id FROM collections c JOIN movements m
       ON m.merchant_id = c.merchant_id AND m.payment_id = c.id`,
  );
  return others
    .filter(({ reference }) => !known.some((line) => line.reference === reference))
    .map(({ reference, payfrom, trans_id }) => ({
      kind: 'collection',
      reference,
      account: payfrom,
      amountCents: AMOUNT_CENTS,
      transId: trans_id,
      completedAt: COMPLETED_AT,
    }));
}

/**
 * Lines of known payments, of each kind, from long ago and from just now. They prove that their
 * source lists what happens.
 */
export async function linesAround(
  database: Database,
  merchant: TestMerchant,
): Promise<StatementLine[]> {
  const lines: StatementLine[] = [];
  for (const kind of ['collection', 'payout', 'reversal'] as const) {
    for (const completedAt of [new Date('2001-01-01'), new Date(Date.now() - MINUTE_MS)]) {
      const payment = await newPayment(kind, database, merchant);
      const line = lineOf(payment, { completedAt });
      await learn(database, payment, succeeded({ transId: line.transId, account: line.account }));
      lines.push(line);
    }
  }
  return [...lines, ...(await otherLines(database, lines))];
}

/** Has the simulated gateway pay a payout, and waits until its statement lists it. */
export async function payAt({ url }: { url: string }, { reference }: AnyPayment): Promise<void> {
  await fetch(`${url}/payouts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ reference, account: PAYER, amount: '100.00' },
      callback_url: 'http://127.0.0.1:9/',
    }),
  });
  const day = (offset: number) => new Date(Date.now() + offset * DAY_MS).toISOString().slice(0, 10);
  await eventually('the movement', async () => {
    const listed = await fetch(`${url}/statement?from=${day(-1)}&to=${day(1)}`);
    return (await listed.text()).includes(reference);
  });
}
