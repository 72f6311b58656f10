import { expect } from 'chai';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { findStoredCallback, storeCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import {
  createTestStore,
  failed,
  newCollection,
  reread,
  succeeded,
  type TestStore,
} from '../support/payments.ts';

/** The gateway's protocol in this file: a verdict as JSON. */
const parse = (body: string) => ({ reference: null, verdict: JSON.parse(body) as Verdict });

describe('A stored callback', () => {
  let store: TestStore;

  before(async () => {
    store = await createTestStore();
  });

  after(() => store.drop());

  it('is applied after an older one of its payment, though its job runs first', async () => {
    const { database } = store;
    const merchant = await store.newMerchant();
    const collection = await newCollection(database, merchant);
    const { merchant_id } = merchant;
    const ids: string[] = [];
    for (const verdict of [failed(), succeeded({ completedAt: null })]) {
      const body = JSON.stringify(verdict);
      ids.push(await storeCallback(database, 'simulator', refOf(collection), body));
    }
    const newer = await findStoredCallback(database, merchant_id, ids[1]!);
    // The merchant hears of the failure, and the late money goes back to the customer.
    expect(await processCallback(database, newer!, parse)).to.equal('late_success');
    expect(await reread(database, collection)).to.include({ status: 'failed' });
    expect(await findStoredCallback(database, merchant_id, ids[0]!)).to.equal(null);
  });
});
