import { inTransaction, rows } from '../../src/connections/database.ts';
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
    const statement = { lines: await spread(world, lines), covers };
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
 * Returns the lines, with one of each kind as of long ago, and another one as of now: the shop goes on, and a statement
 * rules out only what lies between two of its payments. The two name their payment.
 */
async function spread(
  { database }: Books,
  lines: readonly StatementLine[],
): Promise<StatementLine[]> {
  const known = await rows<Pick<StatementLine, 'transId' | 'reference'>>(
    database,
    `SELECT m.trans_id AS "transId", CAST(c.reference AS text) AS reference
     FROM movements m JOIN collections c ON c.merchant_id = m.merchant_id AND c.id = m.payment_id
     WHERE m.payment_kind = 'collection' AND m.trans_id = ANY (:receipts) ORDER BY m.id LIMIT 2`,
    { receipts: lines.flatMap(({ transId }) => transId ?? []) },
  );
  const times = [new Date(0), new Date(Date.now() - SECOND_MS)];
  const left = { collection: [...times], payout: [...times], reversal: [...times] };
  return lines.map((line) => {
    const own = known.find(({ transId }) => transId === line.transId);
    const completedAt = line.kind !== 'collection' || own ? left[line.kind].shift() : undefined;
    return {
      ...line,
      ...(own && { reference: own.reference }),
      ...(completedAt && { completedAt }),
    };
  });
}
