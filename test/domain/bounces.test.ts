import fc from 'fast-check';
import { Bounces, type FileForm, type Step } from '../support/bounces.ts';
import { BOUNCES_COUNT } from '../support/matrix.ts';
import { seedOfRun } from '../support/seed.ts';
import { useStore } from '../support/world.ts';

const RUN_TIMEOUT_MS = 2_000;

const who = fc.nat({ max: 9 });
const form: fc.Arbitrary<FileForm> = fc.record({
  names: fc.boolean(),
  phones: fc.constantFrom('whole', 'whole', 'masked', 'none'),
  rows: fc.constantFrom('all', 'all', 'out', 'back'),
});
const simple = fc.constantFrom('move', 'move', 'bounce', 'refuse', 'hear', 'refund', 'answer');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ what: simple, who }) as fc.Arbitrary<Step> },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{
        what: fc.constant('tell' as const),
        who,
        hasReceipt: fc.boolean(),
        isLate: fc.boolean(),
      },
    }),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(who, form)
      .map(([of, file]) => ({ what: 'file' as const, who: of, ...file })),
  },
);

describe('Payouts that come back, told of in whatever order', () => {
  const store = useStore({ merchant: 'none' });

  it(`are paid once, or given back once, in ${BOUNCES_COUNT} histories`, async function () {
    this.timeout(BOUNCES_COUNT * RUN_TIMEOUT_MS);
    const seed = seedOfRun();
    const path = process.env.HISTORIES_PATH;
    console.log(`      TEST_SEED=${seed}`);
    const history = fc.record({
      phones: fc.array(fc.nat({ max: 1 }), { minLength: 1, maxLength: 3 }),
      steps: fc.array(step, { minLength: 3, maxLength: 25, size: 'medium' }),
      form: form.map((file) => ({ ...file, rows: 'all' as const })),
      last: fc.record({ isTold: fc.boolean(), isMoved: fc.boolean() }),
    });
    await fc.assert(
      fc.asyncProperty(history, async ({ phones, steps, form: file, last }) => {
        const bounces = new Bounces(store.database, await store.newMerchant({ token: false }));
        await bounces.send(phones);
        for (const each of steps) await bounces.happen(each);
        await bounces.settleDown(file, last);
        await bounces.expectRight();
        await bounces.growOld();
      }),
      {
        seed,
        numRuns: path ? 1 : BOUNCES_COUNT,
        endOnFailure: !process.env.HISTORIES_SHRINK,
        ...(path && { path }),
      },
    );
  });
});
