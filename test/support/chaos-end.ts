import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { isOpen, type PaymentStatus } from '../../src/domain/payments/payment.ts';
import type { PaymentRef } from '../../src/domain/payments/payment-store.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { movementsAt } from './chaos-gateways.ts';
import { findLost, findRuledOut, type Lost, passDeadlines } from './chaos-lost.ts';
import { endsOf, mayBeLost, type Order, originalOf } from './chaos-mix.ts';
import { reconcileAll } from './chaos-reconcile.ts';
import type { ChaosWorld } from './chaos-world.ts';
import { eventually } from './eventually.ts';
import { expectRightBooks } from './ledger-check.ts';
import { storyOf } from './story-of.ts';

/**
 * A killed submission that never arrived is ruled out only after the longest call could have ended.
 * If the next one does not arrive either, that takes as long again, with a minute between questions.
 */
const ALL_FINAL_WITHIN_MS = 420_000;

/**
 * Waits until everything has come to rest, and fails unless it is right: every order ended
 * as it must, with one event and one movement of money; gateway, books and webhooks agree.
 */
export async function expectRightEnd(world: ChaosWorld, orders: readonly Order[]): Promise<void> {
  let left: string[] = [];
  const isEnded = async () => {
    left = await notEnded(world, orders);
    return left.length === 0;
  };
  await eventually('every payment to end as it must', isEnded, ALL_FINAL_WITHIN_MS).catch(
    async (error) => {
      const accounts = (await findLost(world.database)).map(({ account }) => account);
      const stories = await storiesOf(world, accounts);
      throw new Error(`${error.message}: ${left.join(', ')}\n${stories}`);
    },
  );
  await expectEnds(world, orders);
  await expectOneEventEach(world, orders);
  await expectOneMovementEach(world);
  await expectNoFailedJob(world);
  await expectRightBooks(world.database);
  await expectReconciled(world);
}

/** Says what has not come to rest. */
async function notEnded(world: ChaosWorld, orders: readonly Order[]): Promise<string[]> {
  const { database } = world;
  const ended = await endedPayments(world);
  const lost = await findLost(database);
  const isOver = (order: Order) => {
    if (lost.some(({ refNo }) => refNo === order.refNo)) return mayBeLost(order);
    const end = ended.get(order.refNo);
    return allowedEnds(order).some(([status]) => status === end?.status);
  };
  const open = orders.filter((order) => !isOver(order));
  if (open.length > 0) return open.map(({ refNo, account }) => `${refNo} ${account}`);
  const [untold] = await rows<{ count: number; returns: number }>(
    database,
    `SELECT (SELECT count(*) FROM webhook_deliveries WHERE status <> 'delivered')
       + (SELECT count(*) FROM events WHERE sequence IS NULL) AS count,
       (SELECT count(*) FROM returns WHERE status <> 'completed') AS returns`,
  );
  if (untold!.count > 0) return [`${untold!.count} events`];
  const lostReturns = lost.filter(({ kind }) => kind === 'return').length;
  if (untold!.returns > lostReturns) return [`${untold!.returns} returns`];
  const prompts = lost.filter(({ kind }) => kind === 'collection').length;
  const moved = (await movements(world)).filter((line) => !isOfLost(line, lost)).length;
  const [known] = await rows<{ count: number }>(database, 'SELECT count(*) FROM movements');
  if (known!.count === moved && prompts === 0) return [];
  // A callback that found nobody is not told again, and about what has ended nobody asks: of
  // late news that came in an outage only a statement tells, as operators have one each day.
  if (prompts > 0) await passDeadlines(database);
  for (const gateway of world.gateways) await reconcileAll(world, gateway);
  return [`${prompts} prompts`, `${moved - known!.count} movements`];
}

/** The ends of an order. A prompt that was lost fails by the statement. */
function allowedEnds(order: Order): ReturnType<typeof endsOf> {
  const isPrompt = order.kind === 'collection' && mayBeLost(order);
  return isPrompt ? [...endsOf(order), ['failed']] : endsOf(order);
}

/** Money that went back without any news: nothing tells of which reversal it is. */
function isOfLost({ kind, account }: StatementLine, lost: readonly Lost[]): boolean {
  return kind === 'reversal' && lost.some((each) => each.account === account);
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
  await expectLost(world, orders);
}

/** Only what Daraja may lose is lost, and of the prompts exactly those that a statement failed. */
async function expectLost({ database }: ChaosWorld, orders: readonly Order[]): Promise<void> {
  const prompts = await findRuledOut(database);
  const lost = await findLost(database);
  const isNamed = ({ account }: Order) => account.endsWith('105');
  const named = orders.filter(
    (each) => each.kind === 'collection' && mayBeLost(each) && isNamed(each),
  );
  const kinds = lost.map(({ kind }) => kind);
  console.log(
    `      ruled out by a statement: ${prompts.length} prompts, ${named.length} of them never taken;`,
    `left for support: ${kinds.length} (${[...new Set(kinds)]})`,
  );
  expect(prompts).to.include.members(named.map(({ refNo }) => refNo));
  const mayLose = new Set(orders.filter(mayBeLost).map(({ refNo }) => refNo));
  expect(prompts.filter((refNo) => !mayLose.has(refNo))).to.deep.equal([]);
  const failed = (await endedPayments({ database })).values();
  const unexpected = [...failed].filter(({ refNo, status }) => {
    const order = orders.find((each) => each.refNo === refNo);
    const isRight = !order || endsOf(order).some(([each]) => each === status);
    return !isRight && !prompts.includes(refNo);
  });
  expect(unexpected, 'ends that nothing explains').to.deep.equal([]);
}

interface Ended {
  refNo: string;
  status: PaymentStatus;
  discrepancies: string[];
}

/** What has come to rest: final, or parked with nothing more to do. */
async function endedPayments({
  database,
}: Pick<ChaosWorld, 'database'>): Promise<Map<string, Ended>> {
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
  // A final payment has its event, whatever discrepancy it has besides.
  const parked = (await unfinished(world)).filter(isOpen).length;
  const lost = (await findLost(database)).filter(({ refNo }) => refNo !== null).length;
  const waiting = parked + lost;
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
  const lost = await findLost(world.database);
  for (const gateway of world.gateways) {
    const results = await reconcileAll(world, gateway);
    expect(results, `statements of ${gateway.gateway.name}`).to.not.equal(null);
    for (const { result, lines } of results!) {
      const unknown = lines.filter((line) => isOfLost(line, lost));
      const accounts = result.contradicting.map(({ account }) => account);
      const stories = await storiesOf(world, accounts);
      expect(result, stories).to.deep.include({ contradicting: [], missing: [], ruledOut: [] });
      expect(result.unknown).to.have.length(unknown.length);
      expect(result.lines).to.deep.include({ matched: lines.length - unknown.length });
    }
  }
}

/** Returns all that is known of the payments with these accounts. */
async function storiesOf(
  { database }: ChaosWorld,
  accounts: readonly (string | null)[],
): Promise<string> {
  const payments = await rows<PaymentRef>(
    database,
    `SELECT 'collection' AS kind, merchant_id, id FROM collections WHERE payfrom = ANY (:accounts)
     UNION ALL SELECT 'payout', merchant_id, id FROM payouts WHERE payto = ANY (:accounts)`,
    { accounts },
  );
  const stories = await Promise.all(payments.map((payment) => storyOf(database, payment)));
  return stories.join('\n');
}

async function movements({ gateways }: ChaosWorld) {
  return (await Promise.all(gateways.map(({ url }) => movementsAt(url)))).flat();
}
