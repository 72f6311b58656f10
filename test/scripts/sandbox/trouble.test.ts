import { expect } from 'chai';
import { topUpPayoutWallet } from '../../../scripts/sandbox/top-up.ts';
import { makeTroubledPayments } from '../../../scripts/sandbox/trouble/payments.ts';
import { rows } from '../../../src/connections/database.ts';
import { PROCESS_TYPES } from '../../../src/workers/start-workers.ts';
import { createTestMerchant } from '../../support/test-merchant.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

const WALLET_CENTS = 50_000_000;

describe('The trouble of the sandbox', () => {
  let service: TestService;

  before(async () => {
    // The slowest refund there is: it never comes.
    const workers = PROCESS_TYPES.filter((type) => type !== 'refunds');
    const env = { CHANNELS: '63903=simulator', WEBHOOK_ALLOW_PRIVATE: 'true' };
    service = await startTestService({ workers, env });
  });

  after(() => service?.close());

  it('is made without the payout that completes, because its money came before its refund', async () => {
    const { baseUrl, database } = service;
    const merchant = await createTestMerchant(service);
    await topUpPayoutWallet(database, merchant.merchant_id, WALLET_CENTS, 'opening');
    await makeTroubledPayments(baseUrl, service, merchant);
    const found = await rows(
      database,
      `SELECT d.kind, p.ref_no FROM discrepancies d LEFT JOIN payouts p ON p.id = d.payment_id
       WHERE d.merchant_id = :merchant_id ORDER BY d.kind`,
      merchant,
    );
    expect(found).to.deep.equal([
      { kind: 'other_amount', ref_no: null },
      { kind: 'overdue', ref_no: 'shida-overdue' },
    ]);
  });
});
