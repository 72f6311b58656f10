import { firstRow, inTransaction } from '../../src/connections/database.ts';
import {
  type ReconcileOptions,
  type Reconciliation,
  reconcile,
} from '../../src/domain/reconciliation/reconcile.ts';
import {
  FROM_GATEWAY,
  importStatement,
  momentsOf,
  type StatementLine,
} from '../../src/domain/reconciliation/statement.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../src/time.ts';
import { type ChaosGateway, type Statement, statementsOf } from './chaos-gateways.ts';
import type { ChaosWorld } from './chaos-world.ts';

type Books = Pick<ChaosWorld, 'database'>;

/**
 * Holds all that a gateway lists against the books, which books what is news.
 * @returns null when the gateway does not answer now
 */
export async function reconcileAll(world: Books, gateway: ChaosGateway) {
  const day = (offsetMs: number) =>
    new Date(Date.now() + offsetMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
  // The whole of yesterday may be older than what Daraja keeps.
  const period = { from: day(-HOUR_MS), to: day(DAY_MS) };
  const complete_until = new Date();
  const statements = await statementsOf(world.database, gateway, momentsOf(period));
  if (!statements) return null;
  const results: (Statement & { result: Reconciliation })[] = [];
  for (const { lines, covers } of statements) {
    const statement = { lines: [...lines, ...(await around(world, lines))], covers };
    const options = { period, complete_until };
    const result = await reconcileStatement(world, gateway, statement, options);
    results.push({ ...statement, result });
  }
  return results;
}

async function reconcileStatement(
  { database }: Books,
  { gateway, channel }: ChaosGateway,
  { lines, covers }: Statement,
  { period, complete_until }: Pick<ReconcileOptions, 'period' | 'complete_until'>,
): Promise<Reconciliation> {
  const settings = { gateway: gateway.name, channel, period };
  const import_id = await inTransaction(database, (trx) =>
    importStatement(trx, {
      ...settings,
      source: FROM_GATEWAY,
      lines,
    }),
  );
  return reconcile(database, {
    ...{ ...settings, import_id, covers, complete_until },
    settling_window_ms: gateway.settlingWindowMs,
    parserOf: () => gateway.parseCallback,
    answer_window_ms: gateway.answerWindowMs,
    ask: ({ kind, reference, external_ref }) =>
      gateway.query({
        ...{ kind, reference, externalRef: external_ref },
        ...{ callbackUrl: null, timeoutUrl: null },
      }),
  });
}

/**
 * Returns the first line of each kind again, as of long ago and of now: the shop goes on, and a
 * statement rules out only what lies between two of its payments. They name their payment: of several lines under one
 * receipt, others would be other money.
 */
async function around(
  { database }: Books,
  lines: readonly StatementLine[],
): Promise<StatementLine[]> {
  const known = await firstRow<Pick<StatementLine, 'transId' | 'reference'>>(
    database,
    `SELECT m.trans_id AS "transId", CAST(c.reference AS text) AS reference
     FROM movements m JOIN collections c ON c.merchant_id = m.merchant_id AND c.id = m.payment_id
     WHERE m.payment_kind = 'collection' AND m.trans_id = ANY (:receipts) ORDER BY m.id LIMIT 1`,
    { receipts: lines.flatMap(({ transId }) => transId ?? []) },
  );
  const firsts = (['collection', 'payout', 'reversal'] as const).flatMap((kind) => {
    const ofKind = lines.filter((line) => line.kind === kind);
    const own = ofKind.find(({ transId }) => transId !== null && transId === known?.transId);
    return own ? { ...own, reference: known!.reference } : (ofKind[0] ?? []);
  });
  const times = [new Date(0), new Date(Date.now() - SECOND_MS)];
  return times.flatMap((completedAt) => firsts.map((line) => ({ ...line, completedAt })));
}
