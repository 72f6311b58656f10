import { expect } from 'chai';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { reconcile } from '../../src/domain/reconciliation/reconcile.ts';
import { importStatement, momentsOf } from '../../src/domain/reconciliation/statement.ts';
import { createSimulatorGateway } from '../../src/gateways/simulator-driver/simulator-gateway.ts';
import { request } from './api-client.ts';
import { endsOf, type Order, originalOf } from './chaos-mix.ts';
import type { ChaosWorld } from './chaos-world.ts';
import { eventually } from './eventually.ts';
import { expectRightBooks } from './ledger-check.ts';
import { SETTLING_WINDOW_MS } from './stack-environment.ts';

const CHANNEL = 63902;
const DAY_MS = 86_400_000;
const GATEWAY_TIMEOUT_MS = 5_000;
/** A killed submission that never arrived is ruled out only after the longest call could have ended. */
const ALL_FINAL_WITHIN_MS = 180_000;

/**
 * Waits until everything has come to rest, and fails unless it is right: every order ended
 * as it must, with one event and one movement of money; gateway, books and webhooks agree.
 */
export async function expectRightEnd(world: ChaosWorld, orders: readonly Order[]): Promise<void> {
  await eventually(
    'every payment to end as it must',
    () => isAllEnded(world, orders),
    ALL_FINAL_WITHIN_MS,
  );
  await expectEnds(world, orders);
  await expectOneEventEach(world, orders);
  await expectOneMovementEach(world);
  await expectNoFailedJob(world);
  await expectRightBooks(world.database);
  await expectReconciled(world);
}

async function isAllEnded(world: ChaosWorld, orders: readonly Order[]): Promise<boolean> {
  const { database } = world;
  const ended = await endedPayments(world);
  const wrong = orders.filter((order) => {
    const end = ended.get(order.refNo);
    return !end || !endsOf(order).some(([status]) => status === end.status);
  });
  const moved = (await movements(world)).length;
  const [known] = await rows<{ count: number }>(database, 'SELECT count(*) FROM movements');
  const [open] = await rows<{ count: number }>(
    database,
    `SELECT (SELECT count(*) FROM webhook_deliveries WHERE status <> 'delivered')
       + (SELECT count(*) FROM events WHERE sequence IS NULL)
       + (SELECT count(*) FROM returns WHERE status <> 'completed') AS count`,
  );
  if (wrong.length > 0 || open!.count > 0) return false;
  if (known!.count === moved) return true;
  // A callback that found nobody is not told again, and about what has ended nobody asks: of
  // late news that came in an outage only a statement tells, as operators have one each day.
  await reconcileStatement(world);
  return false;
}

async function expectEnds(world: ChaosWorld, orders: readonly Order[]): Promise<void> {
  const left = await unfinished(world);
  const expected = orders.filter((order) => endsOf(order).some(([, kind]) => kind)).length;
  console.log(`      ${left.length} of at most ${expected} wait for a person, as they should`);
  for (const { refNo, discrepancies, ...payment } of left) {
    const order = orders.find((each) => each.refNo === refNo)!;
    const allowed = endsOf(order).map((end) => JSON.stringify(end));
    const found = JSON.stringify([payment.status, ...discrepancies]);
    expect(allowed, `the end of ${order.kind} ${order.account}`).to.include(found);
  }
  expect(left.length).to.be.at.most(expected);
}

interface Ended {
  refNo: string;
  status: string;
  discrepancies: string[];
}

/** What has come to rest: final, or parked with nothing more to do. */
async function endedPayments({ database }: ChaosWorld): Promise<Map<string, Ended>> {
  const found = await rows<Ended>(
    database,
    `SELECT p.ref_no AS "refNo", p.status, array(
       SELECT d.kind FROM discrepancies d WHERE d.payment_id = p.id AND d.resolved_at IS NULL
     ) AS discrepancies
     FROM (
       SELECT id, ref_no, status, next_step FROM collections
       UNION ALL SELECT id, ref_no, status, next_step FROM payouts
       UNION ALL SELECT id, ref_no, status, next_step FROM reversals
     ) p WHERE p.next_step IS NULL`,
  );
  return new Map(found.map((payment) => [payment.refNo, payment]));
}

async function unfinished(world: ChaosWorld): Promise<Ended[]> {
  const ended = [...(await endedPayments(world)).values()];
  return ended.filter(({ discrepancies }) => discrepancies.length > 0);
}

async function expectOneEventEach(world: ChaosWorld, orders: readonly Order[]): Promise<void> {
  const { database, receiver } = world;
  const waiting = (await unfinished(world)).filter(({ status }) => status !== 'failed').length;
  const references = orders.flatMap(referencesOf);
  const events = await rows<{ payment_id: string; sequence: number }>(
    database,
    'SELECT payment_id, sequence FROM events ORDER BY sequence',
  );
  expect(events).to.have.length(references.length - waiting);
  expect(new Set(events.map(({ payment_id }) => payment_id)).size).to.equal(events.length);
  expect(events.map(({ sequence }) => sequence)).to.deep.equal(events.map((_, at) => at + 1));
  for (const refNo of references) {
    const ids = receiver.webhooksFor(refNo).map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size, `webhook-ids for ${refNo}`).to.be.at.most(1);
  }
  const heard = new Set(receiver.received.map(({ payload }) => payload.data.ref_no));
  expect(heard.size, 'payments that the merchant heard of').to.equal(events.length);
}

function referencesOf(order: Order): string[] {
  return order.kind === 'reversal' ? [order.refNo, originalOf(order)] : [order.refNo];
}

async function expectOneMovementEach(world: ChaosWorld): Promise<void> {
  const references = (await movements(world)).map(({ reference }) => reference);
  expect(new Set(references).size, 'movements at the gateway').to.equal(references.length);
}

/** Stores that are away put jobs off; none of them may count as failed for that. */
async function expectNoFailedJob({ database }: ChaosWorld): Promise<void> {
  const failed = await rows(database, 'SELECT queue, kind, step, error FROM failed_jobs');
  expect(failed, 'jobs that failed for good').to.deep.equal([]);
}

async function expectReconciled(world: ChaosWorld): Promise<void> {
  const { result, lines } = await reconcileStatement(world);
  expect(result).to.deep.include({ unknown: [], contradicting: [], missing: [], ruledOut: [] });
  expect(result.lines).to.deep.include({ matched: lines.length });
}

/** Holds all that the gateway lists against the books, which books what is news. */
async function reconcileStatement({ database, simulatorUrl }: ChaosWorld) {
  const gateway = createSimulatorGateway({
    baseUrl: simulatorUrl,
    timeoutMs: GATEWAY_TIMEOUT_MS,
    settlingWindowMs: SETTLING_WINDOW_MS,
  });
  const day = (offsetMs: number) =>
    new Date(Date.now() + offsetMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
  const period = { from: day(-DAY_MS), to: day(DAY_MS) };
  const { start, end } = momentsOf(period);
  const complete_until = new Date();
  const statement = await gateway.statement!(start, end);
  if (statement.outcome !== 'lines') throw new Error(statement.reason);
  const { lines } = statement;
  const settings = { gateway: gateway.name, channel: CHANNEL, period };
  const import_id = await inTransaction(database, (trx) =>
    importStatement(trx, { ...settings, source: 'chaos', lines }),
  );
  const result = await reconcile(database, {
    ...settings,
    import_id,
    covers: ['collection', 'payout', 'reversal'],
    complete_until,
    settling_window_ms: SETTLING_WINDOW_MS,
    parserOf: () => gateway.parseCallback,
    answer_window_ms: gateway.answerWindowMs,
    ask: ({ kind, reference, external_ref }) =>
      gateway.query({
        ...{ kind, reference, externalRef: external_ref },
        ...{ callbackUrl: null, timeoutUrl: null },
      }),
  });
  return { result, lines };
}

async function movements(world: ChaosWorld): Promise<{ reference: string; kind: string }[]> {
  return (await request('GET', `${world.simulatorUrl}/statement`)).body;
}
