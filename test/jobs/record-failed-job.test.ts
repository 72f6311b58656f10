import { expect } from 'chai';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { recordFailedJob } from '../../src/jobs/failed-jobs.ts';
import type { JobData } from '../../src/jobs/job-types.ts';
import { failedJobsOf } from '../support/failed-jobs.ts';
import { useStore } from '../support/world.ts';

describe('A job that has failed for good', () => {
  const store = useStore({ merchant: 'all' });

  /** A collection, and the job that submits it. */
  async function collectionToSend() {
    const collection = await store.newCollection();
    const { merchant_id } = store.merchant;
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
    const before = await store.reread(collection);
    await fail({ ...data, step_no: data.step_no - 1 });
    await fail({ ...data, step_no: data.step_no + 1 });
    await fail({ ...data, merchant_id: data.merchant_id + 1 });
    expect(await store.reread(collection)).to.deep.equal(before);
    expect(await failedJobsOf(store.database, collection.id)).to.deep.equal([]);
  });

  it('no longer counts as an admitted delivery', async () => {
    const id = await store.newEvent();
    await prepareDeliveries(store.database, 1_000);
    const { step_no: stepNo } = await store.deliveryOf(id);
    const { merchant_id } = store.merchant;
    await fail({ kind: 'webhook', step: 'deliver', merchant_id, row_id: id, step_no: stepNo });
    const delivery = await store.deliveryOf(id);
    expect(delivery).to.include({ admitted: false, next_step: null, status: 'pending' });
    expect(delivery).to.have.property('parked_reason', 'job failed: bug');
  });

  it('is recorded even if its error is very long or holds what cannot be stored', async () => {
    const { collection, data } = await collectionToSend();
    const error = new Error(`a\u0000b \uD800 ${'x'.repeat(100_000)}`);
    await recordFailedJob(store.database, 'a-queue', data, error);
    const { parked_reason } = await store.reread(collection);
    expect(parked_reason).to.match(/^job failed: a\uFFFDb \uFFFD x{100,}$/);
    expect(parked_reason!.length).to.be.at.most(2_000);
    expect(await failedJobsOf(store.database, collection.id)).to.have.length(1);
  });

  it('leaves a stored callback stored', async () => {
    const collection = await store.newCollection();
    const id = await store.keepCallback('simulator', refOf(collection), '{}');
    const { merchant_id } = store.merchant;
    await fail({ kind: 'callback', step: 'process', merchant_id, row_id: id, step_no: 1 });
    const [callback] = await store.rows('SELECT * FROM callbacks WHERE id = :id', {
      id,
    });
    expect(callback).to.include({ status: 'stored', parked_reason: 'job failed: bug' });
  });
});
