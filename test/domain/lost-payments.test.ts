import { expect } from 'chai';
import { rows } from '../../src/database.ts';
import {
  findStoredCallback,
  processCallback,
  storeCallback,
} from '../../src/domain/callbacks/callback.ts';
import { newPayment } from '../support/payment-kinds.ts';
import { createTestStore, succeeded, type TestStore } from '../support/payments.ts';
import { lineOf, runStatement } from '../support/statements.ts';
import type { TestMerchant } from '../support/test-merchant.ts';

/** Of the lines of a statement. */
const DAY = { from: '2026-11-20', to: '2026-11-20' };

describe('Payments that a restored database does not have', () => {
  let store: TestStore;
  let merchant: TestMerchant;

  before(async () => {
    store = await createTestStore();
    merchant = await store.newMerchant();
  });

  after(() => store.drop());

  it('are listed once, with their merchant, when a statement and a callback tell of them', async () => {
    for (const isCallbackFirst of [true, false]) {
      const id = crypto.randomUUID();
      const line = lineOf(await newPayment('payout', store.database, merchant), { reference: id });
      const reconcileDay = () => runStatement(store.database, [line], DAY);
      if (isCallbackFirst) await hearOfLost(id, line.transId);
      expect((await reconcileDay()).lines).to.include({ unknown: 1 });
      if (!isCallbackFirst) await hearOfLost(id, line.transId);
      await reconcileDay();
      const listed = await rows(
        store.database,
        `SELECT kind, merchant_id FROM discrepancies
         WHERE trans_id = :transId AND resolved_at IS NULL`,
        { transId: line.transId },
      );
      expect(listed).to.deep.equal([{ kind: 'unknown_payment', merchant_id: merchant.merchantId }]);
    }
  });

  async function hearOfLost(id: string, transId: string | null): Promise<void> {
    const { database } = store;
    const ref = { kind: 'payout', merchantId: merchant.merchantId, id } as const;
    const callbackId = await storeCallback(database, 'simulator', ref, '{}');
    const callback = await findStoredCallback(database, merchant.merchantId, callbackId);
    const verdict = succeeded({ transId });
    await processCallback(database, callback!, () => ({ reference: id, verdict }));
  }
});
