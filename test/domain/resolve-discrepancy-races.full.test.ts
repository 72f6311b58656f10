import { expect } from 'chai';
import { OperatorRefusal } from '../../src/domain/errors.ts';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import type { Resolution } from '../../src/domain/support/resolution.ts';
import {
  discrepancyOf,
  eventsOf,
  resolve,
  type Scene,
  suspenseOwed,
} from '../support/discrepancies/scene.ts';
import { DISCREPANCY_STORIES } from '../support/discrepancies/stories.ts';
import { accountBalance } from '../support/ledger-check.ts';
import { FAILURE, SECOND, SUCCESS } from '../support/settle-stories.ts';
import { useStore } from '../support/world.ts';

describe('A discrepancy that is resolved while the gateway has late news', () => {
  const store = useStore({ merchant: 'none' });
  let scene: Scene;

  afterEach(() => store.expectSoundLedger());

  const RACES: [what: string, as: Resolution, news: Verdict][] = [
    ['another amount for an open collection', 'accept-amount', SECOND],
    ['another amount for an open collection', 'accept-amount', FAILURE],
    ['another amount for an open collection', 'returned', SECOND],
    ['an overdue collection', 'failed', SUCCESS],
    ['an overdue collection', 'completed', SUCCESS],
    ['an overdue payout', 'failed', SUCCESS],
    ['an overdue payout', 'completed', SECOND],
    ['an open payout to a stranger', 'returned', SECOND],
    ['a payout that arrived after its refund', 'completed', SECOND],
    ['a failed reversal whose successor has failed too', 'completed', SECOND],
    ['an open return to a stranger', 'completed', SECOND],
    ['a return that failed', 'returned', SUCCESS],
  ];
  for (const [what, as, news] of RACES) {
    const told = 'transId' in news ? `receipt ${news.transId}` : 'a failure';
    it(`keeps the books right: ${what}, ${as}, ${told}`, async () => {
      const story = DISCREPANCY_STORIES[what]!;
      for (let run = 0; run < 5; run += 1) {
        scene = { database: store.database, merchant: await store.newMerchant() };
        const payment = await story.arrange(scene);
        const discrepancy = await discrepancyOf(scene, story.kind);
        const [decision] = await Promise.allSettled([
          resolve(scene, discrepancy, as),
          store.learn(payment, news),
        ]);
        if (decision.status === 'rejected') {
          expect(decision.reason).to.be.instanceOf(OperatorRefusal);
        }
        expect(
          await accountBalance(store.database, scene.merchant.merchant_id, 'suspense'),
        ).to.equal(await suspenseOwed(scene));
        // What was told as failed may complete. Then the merchant is told again.
        const told = await eventsOf(scene, payment);
        expect(told).to.deep.equal(told.length > 1 ? ['failed', 'completed'] : told);
        const { status, next_step, parked_reason } = await store.reread(payment);
        const left = (await store.discrepanciesOf(payment.id)).filter(
          (kind) => !kind.endsWith(' (resolved)'),
        );
        if (parked_reason) expect(left, 'parked for').not.to.deep.equal([]);
        else if (status === 'pending') expect(next_step).not.to.equal(null);
      }
    });
  }
});
