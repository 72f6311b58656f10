import { expect } from 'chai';
import fc from 'fast-check';
import { History, type Nature } from './history.ts';
import {
  expectBalance,
  expectCharges,
  expectDecided,
  expectHeard,
  expectInFlight,
  expectMissing,
  expectMovements,
  expectNoRashRefund,
  expectTold,
  expectToldBalances,
} from './history-checks.ts';
import { reconcileWith } from './history-statements.ts';
import { correctWords, decideAll } from './history-support.ts';
import { expectRightBooks } from './ledger-check.ts';
import type { TestStore } from './payments.ts';
import { type RandomHistory, randomHistory } from './random-history.ts';
import { seedOfRun } from './seed.ts';

/** What one history, and the proof of all books, may take on a busy machine. */
const HISTORY_TIMEOUT_MS = 2_000;
const PROOF_TIMEOUT_MS = 60_000;

/** Declares the test that plays so many random histories. Its error has the seed. */
export function itPlays(count: number, driver: Nature['driver'], storeOf: () => TestStore): void {
  it(`the books are right and nobody is forgotten, in ${count} histories`, async function () {
    this.timeout(PROOF_TIMEOUT_MS + count * HISTORY_TIMEOUT_MS);
    const seed = seedOfRun();
    // Names one history. The error of a run has it.
    const path = process.env.HISTORIES_PATH;
    console.log(`      TEST_SEED=${seed}`);
    const balances = { utility: 0, charges: 0 };
    await fc.assert(
      fc.asyncProperty(randomHistory(driver), async (history) => {
        const { utility, charges } = await play(storeOf(), history);
        balances.utility += utility;
        balances.charges += charges;
      }),
      {
        seed,
        numRuns: path ? 1 : count,
        endOnFailure: !process.env.HISTORIES_SHRINK,
        ...(path && { path }),
      },
    );
    await expectRightBooks(storeOf().database);
    await expectToldBalances(storeOf().database, balances);
  });
}

async function play(
  { database, newMerchant }: TestStore,
  { nature, happenings, names, turn }: RandomHistory,
): Promise<Record<'utility' | 'charges', number>> {
  const merchant = await newMerchant({ token: false });
  const told = new History(database, merchant, nature);
  for (const one of happenings) await told.happen(one);
  await told.settleDown();
  // Daraja has the most to say about reversals, which chance alone makes few of.
  if (nature.driver === 'daraja') await told.giveBack();
  await expectHeard(database, told);
  expect(told.world.sentTwice, 'sent again after they were taken').to.deep.equal([]);
  // A statement under our references tells all. One under the gateway's own names no payment that
  // was never acknowledged.
  if (names === 'its own') {
    await reconcileWith(database, told, told.world.statementNaming(names));
  }
  const result = await reconcileWith(database, told, told.world.statementNaming('ours'));
  expect(result.unknown, 'movements that nobody knows').to.deep.equal([]);
  expectMissing(told, result);
  // A reversal waits for the receipt of its collection, which only the statement may have told.
  await told.settleDown();
  // A wrong word of support stays until somebody takes it back.
  if (told.world.words === 0) await expectMovements(database, told, merchant);
  await expectBalance(database, told, merchant);
  await expectDecided(database, told, merchant);
  await expectTold(database, told);
  await expectInFlight(database, merchant);
  await decideAll(database, told, merchant, turn);
  await correctWords(database, told, merchant, turn);
  await expectMovements(database, told, merchant);
  await expectNoRashRefund(database, merchant);
  await expectTold(database, told);
  await expectRightBooks(database, merchant.merchant_id);
  return {
    utility: await expectBalance(database, told, merchant),
    charges: await expectCharges(database, merchant),
  };
}
