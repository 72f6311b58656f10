import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { recordFailedJob } from '../../src/jobs/failed-jobs.ts';
import type { JobData } from '../../src/jobs/job-types.ts';
import { keepCallback } from '../support/callbacks.ts';
import { deliveryOf, newEvent } from '../support/events.ts';
import { failedJobsOf } from '../support/failed-jobs.ts';
import { createTestStore, newCollection, reread, type TestStore } from '../support/payments.ts';
import type { TestMerchant } from '../support/test-merchant.ts';

describe('A job that has failed for good', () => {
  let store: TestStore;
  let merchant: TestMerchant;

  before(async () => {
    store = await createTestStore();
    merchant = await store.newMerchant();
  });

  after(() => store.drop());

  /** A collection, and the job that submits it. */
  async function collectionToSend() {
    const collection = await newCollection(store.database, merchant);
    const { merchant_id } = merchant;
    const data: JobData = {
      ...{ kind: 'collection', step: 'submit', merchant_id, row_id: collection.id, step_no: 1 },
    };
    return { collection, data };
  }

  const fail = (data: JobData) =>
    recordFailedJob(store.database, 'a-queue', data, new Error('bug'));

  it('is recorded once, however often it is reported', async () => {
    const { collection, data } = await collectionToSend();
    await Promise.all([fail(data), fail(data), fail(data)]);
    expect(await failedJobsOf(store.database, collection.id)).to.have.length(1);
  });

  it('parks nothing when it is stale', async () => {
    const { collection, data } = await collectionToSend();
    const before = await reread(store.database, collection);
    await fail({ ...data, step_no: data.step_no - 1 });
    await fail({ ...data, step_no: data.step_no + 1 });
    await fail({ ...data, merchant_id: data.merchant_id + 1 });
    expect(await reread(store.database, collection)).to.deep.equal(before);
    expect(await failedJobsOf(store.database, collection.id)).to.deep.equal([]);
  });

  it('no longer counts as an admitted delivery', async () => {
    const id = await newEvent(store.database, merchant);
    await prepareDeliveries(store.database, 1_000);
    const { step_no: stepNo } = await deliveryOf(store.database, id);
    const { merchant_id } = merchant;
    await fail({ kind: 'webhook', step: 'deliver', merchant_id, row_id: id, step_no: stepNo });
    const delivery = await deliveryOf(store.database, id);
    expect(delivery).to.include({ admitted: false, next_step: null, status: 'pending' });
    expect(delivery).to.have.property('parked_reason', 'job failed: bug');
  });

  it('is recorded even if its error is very long or holds what cannot be stored', async () => {
    const { collection, data } = await collectionToSend();
    const error = new Error(`a\u0000b \uD800 ${'x'.repeat(100_000)}`);
    await recordFailedJob(store.database, 'a-queue', data, error);
    const { parked_reason } = await reread(store.database, collection);
    expect(parked_reason).to.match(/^job failed: a\uFFFDb \uFFFD x{100,}$/);
    expect(parked_reason!.length).to.be.at.most(2_000);
    expect(await failedJobsOf(store.database, collection.id)).to.have.length(1);
  });

  it('leaves a stored callback stored', async () => {
    const collection = await newCollection(store.database, merchant);
    const id = await keepCallback(store.database, 'simulator', refOf(collection), '{}');
    const { merchant_id } = merchant;
    await fail({ kind: 'callback', step: 'process', merchant_id, row_id: id, step_no: 1 });
    const [callback] = await rows(store.database, 'SELECT * FROM callbacks WHERE id = :id', {
      id,
    });
    expect(callback).to.include({ status: 'stored', parked_reason: 'job failed: bug' });
  });
});
