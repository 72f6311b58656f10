import { rows } from '../../src/connections/database.ts';
import { passDeadline } from '../support/discrepancies/scene.ts';
import { eventually } from '../support/eventually.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { discrepanciesOf } from '../support/payments.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

describe('A dispatcher', () => {
  let service: TestService;

  before(async () => {
    service = await startTestService({ workers: [] });
  });

  after(() => service.close());

  it('lists an overdue payment whose driver no channel has any more', async () => {
    const { database } = service;
    const merchant = await createTestMerchant(service);
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
