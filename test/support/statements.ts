import { type Database, inTransaction, rows } from '../../src/connections/database.ts';
import { type AnyPayment, accountOf } from '../../src/domain/payments/payment-store.ts';
import {
  type ReconcileOptions,
  type Reconciliation,
  reconcile,
} from '../../src/domain/reconciliation/reconcile.ts';
import {
  importStatement,
  type Period,
  type StatementLine,
} from '../../src/domain/reconciliation/statement.ts';
import { AMOUNT_CENTS, parserOf, succeeded } from './payments.ts';
import { NOT_FOUND } from './submissions.ts';

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

export function newReceipt(): string {
  receipts += 1;
  return `RECON${receipts}`;
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
): Promise<Reconciliation> {
  const import_id = await inTransaction(database, (trx) =>
    importStatement(trx, { gateway: GATEWAY, channel: CHANNEL, period, source: 'test', lines }),
  );
  return reconcile(database, {
    import_id,
    gateway: GATEWAY,
    channel: CHANNEL,
    period,
    covers: ['collection', 'payout', 'reversal'],
    complete_until: new Date(),
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
