import { expect } from 'chai';
import { firstRow, rows } from '../../src/connections/database.ts';
import { refundPayout } from '../../src/domain/settlement/refund-payout.ts';
import { newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { parserOf } from '../support/payments.ts';
import { type Attempt, RandomDeeds } from '../support/random-deeds.ts';
import { seedOfRun } from '../support/seed.ts';

const STEPS_COUNT = Number(process.env.DEEDS ?? 1_000);
const STEPS_PER_MERCHANT = 40;
const STEP_TIMEOUT_MS = 200;

describe('What members of staff can do alone', () => {
  let test: TestConsole;

  before(async () => {
    test = await startTestConsole(undefined, { CHANNELS: '63902=simulator' });
  });

  after(() => test.close());

  /** The wallets of all merchants, and the money with gateways, in cents. */
  async function money(): Promise<{ wallets: number; float: number }> {
    const row = await firstRow<{ wallets: number; float: number }>(
      test.service.database,
      `SELECT (SELECT coalesce(sum(balance_cents), 0)::bigint FROM wallets) AS wallets,
         (SELECT coalesce(-sum(amount_cents), 0)::bigint FROM entries
          WHERE account = 'gateway_float') AS float`,
    );
    return row!;
  }

  /** The refunds worker pays back what a decision has failed. */
  async function refundAll(): Promise<void> {
    const { database } = test.service;
    const due = await rows<{ merchant_id: number; id: string; step_no: number }>(
      database,
      "SELECT merchant_id, id, step_no FROM payouts WHERE next_step = 'refund'",
    );
    for (const { step_no, ...ref } of due) {
      await refundPayout(database, { kind: 'payout', ...ref }, step_no, { parserOf });
    }
  }

  /** Two people stand for a request that is approved, and for a file that another one compares. */
  async function isOfTwo({ operation, member, texts, outcome }: Attempt): Promise<boolean> {
    if (outcome !== 'done') return false;
    const [table, first, id] =
      operation.name === 'approval.approve'
        ? ['approvals', 'requested_by', texts.id]
        : ['statement_imports', 'brought_by', operation.name === 'reconcile.run' && texts.id];
    if (!id) return false;
    const row = await firstRow<{ first: string | null }>(
      test.service.database,
      `SELECT ${first} AS first FROM ${table} WHERE id = :id`,
      { id },
    );
    return row!.first !== null && row!.first !== member.email;
  }

  it('adds to no wallet and takes no money from gateways: support and two admins, at random', async function () {
    this.timeout(60_000 + STEPS_COUNT * STEP_TIMEOUT_MS);
    const seed = seedOfRun();
    console.log(`      TEST_SEED=${seed}`);
    const members = [
      await newMember(test, 'support'),
      await newMember(test, 'admin'),
      await newMember(test, 'admin'),
    ];
    const deeds = new RandomDeeds(test, members, seed);
    await deeds.begin();
    const counts: Record<string, number> = {};
    let ofTwo = 0;
    for (let step = 1; step <= STEPS_COUNT; step += 1) {
      if (step % STEPS_PER_MERCHANT === 0) await deeds.addPayments();
      const before = await money();
      const attempt = await deeds.next();
      await refundAll();
      const after = await money();
      const { operation, member, texts, outcome } = attempt;
      const name = `${operation.name} ${outcome}`;
      counts[name] = (counts[name] ?? 0) + 1;
      if (await isOfTwo(attempt)) {
        ofTwo += 1;
        continue;
      }
      const words = `step ${step}: ${name} by ${member.email} with ${JSON.stringify(texts)}`;
      expect(after.wallets, words).to.be.at.most(before.wallets);
      expect(after.float, words).to.be.at.least(before.float);
    }
    console.log(`      ${JSON.stringify(counts)}`);
    expect(ofTwo, 'decisions by two').to.be.above(0);
    expect(counts['discrepancy.resolve done'], 'decisions by one').to.be.above(0);
    expect(counts['discrepancy.resolve asked'], 'requests').to.be.above(0);
    await expectSoundLedger(test.service.database);
  });
});
