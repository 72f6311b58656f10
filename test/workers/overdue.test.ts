import { rows } from '../../src/connections/database.ts';
import { passDeadline } from '../support/discrepancies/scene.ts';
import { startTestService } from '../support/test-service.ts';
import { discrepanciesOf, eventually, newPayout, useService } from '../support/world.ts';

describe('A dispatcher', () => {
  const service = useService({ merchant: 'none' });

  it('lists an overdue payment whose driver no channel has any more', async () => {
    const { database } = service;
    const merchant = await service.newMerchant();
    const payout = await newPayout(database, merchant, { gateway: 'gone' });
    await passDeadline({ database, merchant }, payout);
    await rows(database, 'DELETE FROM outbox');
    const dispatcher = await startTestService({ workers: ['dispatcher'], beside: service });
    try {
      await eventually('the payment to be listed', async () =>
        (await discrepanciesOf(database, payout.id)).includes('overdue'),
      );
    } finally {
      await dispatcher.close();
    }
  });
});
