import { expect } from 'chai';
import fc from 'fast-check';
import { type Database, inTransaction, rows } from '../../src/connections/database.ts';
import { reconcile } from '../../src/domain/reconciliation/reconcile.ts';
import { importStatement } from '../../src/domain/reconciliation/statement.ts';
import { CALLS, CRASHES, type Happening, History } from '../support/history.ts';
import { accountBalance, expectRightBooks } from '../support/ledger-check.ts';
import { HISTORIES_COUNT } from '../support/matrix.ts';
import { createTestStore, parserOf, reread, type TestStore } from '../support/payments.ts';

const TEST_TIMEOUT_MS = 240_000;

const who = fc.nat({ max: 9 });
const call = fc.constantFrom(...CALLS);
const rarely = fc.integer({ min: 0, max: 9 }).map((number) => number === 0);

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('initiate' as const),
      kind: fc.constantFrom('collection' as const, 'payout' as const, 'reversal' as const),
      who,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      what: fc.constant('job' as const),
      who,
      stale: rarely,
      call,
      crash: fc.constantFrom(...CRASHES, 'nowhere' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('two jobs' as const), who, call }) },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('success' as const),
      who,
      again: rarely,
      amount: rarely,
    }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('failure' as const), who }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('callback' as const), who }) },
);

const history = fc.record({
  resubmit: fc.constantFrom('safe' as const, 'never' as const),
  happenings: fc.array(happening, { minLength: 5, maxLength: 30 }),
});

describe('Whatever happens to payments, in whatever order', () => {
  let store: TestStore;
  let database: Database;

  before(async () => {
    store = await createTestStore();
    database = store.database;
  });

  after(() => store.drop());

  it(`the books are right and nobody is forgotten, in ${HISTORIES_COUNT} histories`, async function () {
    this.timeout(TEST_TIMEOUT_MS);
    await fc.assert(
      fc.asyncProperty(history, async ({ resubmit, happenings }) => {
        const { merchant_id, app_code } = await store.newMerchant();
        const told = new History(database, { merchant_id, app_code }, resubmit);
        for (const one of happenings) await told.happen(one);
        await told.settleDown();
        expect(told.world.sentTwice, 'sent again after they were taken').to.deep.equal([]);
        await expectReconciled(told, merchant_id);
        await expectDecided(told);
        await expectEvents(merchant_id);
        await expectInFlight(merchant_id);
      }),
      { numRuns: HISTORIES_COUNT, endOnFailure: true },
    );
    await expectRightBooks(database);
  });

  /** What the gateway has moved is what is booked. What nobody told is learned by its statement. */
  async function expectReconciled(told: History, merchant_id: number): Promise<void> {
    const period = { from: told.world.day, to: told.world.day };
    const options = { gateway: 'simulator', channel: 63902, period };
    const import_id = await inTransaction(database, (trx) =>
      importStatement(trx, { ...options, source: 'test', lines: told.world.statement }),
    );
    const result = await reconcile(database, {
      ...options,
      import_id,
      covers: ['collection', 'payout', 'reversal'],
      complete_until: new Date(),
      settling_window_ms: 0,
      answer_window_ms: 0,
      ask: async (payment) => told.world.query(payment),
      parserOf,
    });
    expect(result.unknown, 'movements that nobody knows').to.deep.equal([]);
    expect(result.missing, 'movements that were never made').to.deep.equal([]);
    const moved = told.world.statement.reduce(
      (sum, { kind, amountCents }) => sum + (kind === 'collection' ? -amountCents : amountCents),
      0,
    );
    expect(await accountBalance(database, merchant_id, 'gateway_float')).to.equal(moved);
  }

  /** Final, or waiting for a person because of something that has happened to it. */
  async function expectDecided(told: History): Promise<void> {
    for (const payment of told.payments) {
      const now = await reread(database, payment);
      const isFinal =
        now.status === 'completed' ||
        (now.status === 'failed' && (now.kind !== 'payout' || now.refund_posted_at !== null));
      if (isFinal) continue;
      const neverArrived = !told.world.has(payment) && now.next_step === 'poll';
      const oddities = [...(told.world.oddities.get(payment.reference) ?? [])];
      if (neverArrived) oddities.push('never arrived, may not go again');
      expect(oddities, `${now.kind} is ${now.status}, ${now.parked_reason}`).to.not.deep.equal([]);
      expect(now.parked_reason ?? now.next_step, 'what it waits for').to.be.a('string');
    }
  }

  async function expectEvents(merchant_id: number): Promise<void> {
    const wrong = await rows(
      database,
      `SELECT p.kind, p.id, p.status, count(e.id) AS events FROM (
         SELECT 'collection' AS kind, id, status, status IN ('completed', 'failed') AS ended
         FROM collections WHERE merchant_id = :merchant_id
         UNION ALL
         SELECT 'payout', id, status, status = 'completed' OR refund_posted_at IS NOT NULL
         FROM payouts WHERE merchant_id = :merchant_id
         UNION ALL
         SELECT 'reversal', id, status, status IN ('completed', 'failed')
         FROM reversals WHERE merchant_id = :merchant_id
       ) p LEFT JOIN events e ON e.merchant_id = :merchant_id AND e.payment_id = p.id
       GROUP BY p.kind, p.id, p.status, p.ended
       HAVING count(e.id) <> CASE WHEN p.ended THEN 1 ELSE 0 END`,
      { merchant_id },
    );
    expect(wrong, 'payments without their one event').to.deep.equal([]);
  }

  async function expectInFlight(merchant_id: number): Promise<void> {
    const [open] = await rows<{ sum: number }>(
      database,
      `SELECT coalesce(sum(amount_cents + fee_cents), 0)::bigint AS sum FROM payouts
       WHERE merchant_id = :merchant_id AND status <> 'completed' AND refund_posted_at IS NULL`,
      { merchant_id },
    );
    expect(await accountBalance(database, merchant_id, 'payouts_in_flight')).to.equal(open!.sum);
  }
});
