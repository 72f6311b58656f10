import { expect } from 'chai';
import type { Collection, Return } from '../../src/domain/payments/kinds.ts';
import { expectOutcome } from '../support/settle-outcomes.ts';
import { FAILURE, STORIES, SUCCESS, WITHOUT_RECEIPT } from '../support/settle-stories.ts';
import { failed, receiptOf, useStore } from '../support/world.ts';

describe('News of a collection', () => {
  const store = useStore();

  afterEach(() => store.expectRightBooks());

  const eventsOf = (collection: Collection) =>
    store.rows<{ type: string; body: string }>(
      'SELECT type, body FROM events WHERE payment_id = :id',
      { id: collection.id },
    );

  const returnsOf = (collection: Collection) =>
    store.rows<Return>('SELECT * FROM returns WHERE collection_id = :id', {
      id: collection.id,
    });

  it('of success is told to the merchant in these words', async () => {
    const collection = await store.newCollection();
    await store.learn(collection, SUCCESS);
    const [event] = await eventsOf(collection);
    expect(JSON.parse(event!.body)).to.deep.equal({
      notification: { type: 'collection', event: 'transaction.completed' },
      data: {
        id: collection.id,
        result_code: 0,
        result_description: 'Done',
        amount: '100.00',
        ref_no: collection.ref_no,
        beneficiary: { account: '+254712345678', kyc: null },
        transaction_date: '2026-11-20T10:00:00.000Z',
        external_ref: 'GW-1',
        trans_id: receiptOf(collection),
      },
    });
  });

  it('of a failure tells the merchant the reason, and leaves empty what does not exist', async () => {
    const collection = await store.newCollection();
    await store.learn(collection, failed({ externalRef: null }));
    const [event] = await eventsOf(collection);
    expect(JSON.parse(event!.body)).to.deep.equal({
      notification: { type: 'collection', event: 'transaction.failed' },
      data: {
        id: collection.id,
        result_code: 1032,
        result_description: 'Cancelled',
        amount: '100.00',
        ref_no: collection.ref_no,
        beneficiary: { account: '+254712345678', kyc: null },
        transaction_date: collection.created_at.toISOString(),
        external_ref: '',
        trans_id: '',
      },
    });
  });

  it('that brings the receipt of a late success gives it to the return, too', async () => {
    const collection = await store.newCollection();
    await store.learn(collection, FAILURE);
    await store.learn(collection, WITHOUT_RECEIPT);
    const returnedReceipt = async () => (await returnsOf(collection))[0]!.original_trans_id;
    expect(await returnedReceipt()).to.equal(null);
    await store.learn(collection, SUCCESS);
    expect(await returnedReceipt()).to.equal(receiptOf(collection));
  });

  it('of a late success that comes many times at once leads to one return', async () => {
    const collection = await store.newCollection();
    await store.learn(collection, FAILURE);
    await Promise.all(Array.from({ length: 10 }, () => store.learn(collection, SUCCESS)));
    const [, , , outcome] = STORIES.collection['failure, then success']!;
    await expectOutcome(store, collection, outcome);
  });
});
