import { expect } from 'chai';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import type { StepKind } from '../../src/jobs/job-types.ts';
import { failJob, replay, stepRow } from '../support/failed-jobs.ts';
import { useStore } from '../support/world.ts';

describe('Replaying a failed job at once', () => {
  const store = useStore({ merchant: 'all' });

  const ROWS: Readonly<Record<string, () => Promise<[StepKind, string]>>> = {
    payout: async () => ['payout', (await store.newPayout()).id],
    callback: async () => {
      const of = refOf(await store.newCollection());
      return ['callback', await store.keepCallback('simulator', of, '{}')];
    },
    webhook: async () => {
      const id = await store.newEvent();
      await prepareDeliveries(store.database, 0);
      return ['webhook', id];
    },
  };
  for (const [what, make] of Object.entries(ROWS)) {
    it(`ten times takes one step of a ${what}`, async () => {
      const [kind, id] = await make();
      const job = await failJob(store.database, kind, id);
      const { step_no } = await stepRow(store.database, kind, id);
      const replays = await Promise.all(
        Array.from({ length: 10 }, () => replay(store.database, job)),
      );
      const refusals = replays.map(({ refusal }) => refusal);
      expect(refusals.sort()).to.deep.equal([...Array(9).fill('replayed'), undefined]);
      expect(await stepRow(store.database, kind, id)).to.include({ step_no: step_no + 1 });
      // A webhook gets its job when the dispatcher admits it.
      expect(await store.outboxOf(id)).to.have.length(kind === 'webhook' ? 0 : 1);
    });
  }
});
