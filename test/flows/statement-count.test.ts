import { expect } from 'chai';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { type Database, openDatabase, rows } from '../../src/connections/database.ts';
import { makeEndpoint } from '../support/endpoints.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { expectRightBooks } from '../support/ledger-check.ts';
import { generalPlanOf, planOf } from '../support/plans.ts';
import { STAGES, type Stage, takeThrough } from '../support/step-runner.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const PAYMENTS_COUNT = 20;
const WALLET_CENTS = 100_000_000;
const MOST_OF_A_PAYMENT = 14;

/** Statements of a stage: for each payment, and for a batch of the dispatcher. */
const ONCE: Readonly<Record<Stage, { each: number; batch: number }>> = {
  // The token, and the payment with its first job.
  accept: { each: 2, batch: 0 },
  // Three batches: each lease removes what the one before has added.
  dispatch: { each: 0, batch: 3 },
  // The claim, the acknowledgement, and the stored callback.
  'submit and call back': { each: 3, batch: 0 },
  // The callback, the payment, and all that completes it.
  settle: { each: 3, batch: 0 },
  // A look. Then BEGIN, a lock, the events, the deliveries, COMMIT.
  'number and admit': { each: 0, batch: 6 },
  // The event with its secret, and the attempt.
  deliver: { each: 2, batch: 0 },
};

for (const kind of ['collection', 'payout'] as const) {
  describe(`The statements of a ${kind} from its request to its webhook`, () => {
    let service: TestService;
    let watching: Database;
    let shop: FakeMerchant;
    let merchant: TestMerchant;

    before(async () => {
      service = await startTestService({ workers: [] });
      watching = openDatabase(service.config.databaseUrl, 1);
      shop = await startFakeMerchant();
      merchant = await createTestMerchant(service);
      await topUpPayoutWallet(watching, merchant.merchant_id, WALLET_CENTS, 'opening');
      // The first answers of a receiver are recorded with more statements.
      await makeEndpoint(watching, merchant.merchant_id, new URL(shop.url).origin);
    });

    after(async () => {
      await shop?.close();
      await watching?.destroy();
      await service?.close();
    });

    const take = (count: number) =>
      takeThrough(service, watching, { kind, count, callbackUrl: shop.url }, merchant);

    // The prompt shows the merchant's name, which is read once a minute.
    const isCollected = kind === 'collection';
    const NAMING = 'submit and call back';

    it('are counted, so that none comes back unseen', async () => {
      const statements = await take(PAYMENTS_COUNT);
      const counts = STAGES.map((stage) => [stage, statements[stage].length]);
      const wanted = STAGES.map((stage) => [
        stage,
        ONCE[stage].each * PAYMENTS_COUNT +
          ONCE[stage].batch +
          (stage === NAMING && isCollected ? 1 : 0),
      ]);
      expect(counts).to.deep.equal(wanted);
      const sum = Object.values(statements).flat().length;
      expect(sum / PAYMENTS_COUNT).to.be.at.most(MOST_OF_A_PAYMENT);
      expect(shop.received).to.have.length(PAYMENTS_COUNT);
      await expectRightBooks(watching);
    });

    it('read no index of waiting rows, whether the planner has seen none or many', async () => {
      const statements = await take(1);
      const hot = STAGES.filter((stage) => ONCE[stage].each > 0).flatMap(
        (stage) => statements[stage],
      );
      // So few rows would be read without any index.
      await rows(watching, 'SET enable_seqscan = off');
      const plans = async () =>
        Promise.all(
          hot.flatMap((statement) => [
            planOf(watching, statement),
            generalPlanOf(watching, statement),
          ]),
        );
      await rows(service.owner, 'ANALYZE');
      expectKeys(await plans());
      for (let number = 1; number <= PAYMENTS_COUNT; number += 1) await take(1);
      await rows(service.owner, 'ANALYZE');
      expectKeys(await plans());
    });
  });
}

/** Indexes of rows that wait. Their statistics are of another moment, so the hot path avoids them. */
const OF_WAITING = /_(open|due|due_questions|parked|waiting|admitted|undelivered)\b/;

function expectKeys(plans: string[]): void {
  for (const plan of plans)
    expect(plan)
      .to.match(/Scan|Insert/)
      .and.not.match(OF_WAITING);
}
