import { expect } from 'chai';
import { type Database, rows } from '../../src/connections/database.ts';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import {
  discrepancyOf,
  hear,
  neverTake,
  refund,
  resolve,
  type Scene,
} from '../support/discrepancies/scene.ts';
import { newPayout, newReversal, reversalRequest } from '../support/payment-kinds.ts';
import {
  createTestStore,
  discrepanciesOf,
  failed,
  learn,
  newCollection,
  newReturn,
  newsOf,
  parserOf,
  rejection,
  reread,
  succeeded,
  type TestStore,
} from '../support/payments.ts';
import { ACKNOWLEDGED, NOT_FOUND, type Work, workOn } from '../support/submissions.ts';

const FAILURE = failed({ externalRef: null });

describe('An acknowledgement that contradicts what is known', () => {
  let store: TestStore;
  let database: Database;
  let scene: Scene;

  before(async () => {
    store = await createTestStore();
    database = store.database;
  });

  after(() => store.drop());

  beforeEach(async () => {
    scene = { database, merchant: await store.newMerchant() };
  });

  /** A claim whose attempt the gateway has ruled out since. */
  async function ruledOut(work: Work, table: string) {
    const claim = await work.claim();
    await work.setAttempts(`started_at = now() - interval '5 minutes'`);
    const { id } = await work.current();
    await rows(database, `UPDATE ${table} SET next_step = 'poll' WHERE id = :id`, { id });
    for (let time = 0; time < 3; time += 1) await work.hear(NOT_FOUND);
    return claim;
  }

  it('takes a collection off the support list that waited there because nobody had taken it', async () => {
    const collection = await newCollection(database, scene.merchant);
    const work = workOn(database, collection);
    const claim = await ruledOut(work, 'collections');
    await neverTake(scene, collection);
    await work.answer(claim, ACKNOWLEDGED);
    expect(await work.current()).to.include({ status: 'processing', next_step: 'poll' });
    expect(await discrepanciesOf(database, collection.id)).to.deep.equal([
      'never_taken (resolved)',
    ]);
  });

  it('is a finding when the gateway has taken two attempts, under two references', async () => {
    const work = workOn(database, await newPayout(database, scene.merchant));
    const first = await ruledOut(work, 'payouts');
    await work.answer(await work.claim(), { outcome: 'acknowledged', externalRef: 'E2' });
    await work.answer(first, { outcome: 'acknowledged', externalRef: 'E1' });
    const payout = await work.current();
    expect(await discrepanciesOf(database, payout.id)).to.deep.equal(['taken_twice']);
    await hear(scene, payout, succeeded({ externalRef: 'E1' }));
    await hear(scene, payout, succeeded({ externalRef: 'E2', transId: 'RCPT2' }));
    expect(await discrepanciesOf(database, payout.id)).to.deep.equal([
      'taken_twice',
      'second_success',
    ]);
  });

  it('counts more than a reference that a failure has named before', async () => {
    const payout = await newPayout(database, scene.merchant);
    const work = workOn(database, payout);
    const claim = await work.claim();
    await hear(scene, payout, failed({ externalRef: 'OTHERS-1' }));
    await work.answer(claim, { outcome: 'acknowledged', externalRef: 'OWN-1' });
    expect(await work.current()).to.include({ status: 'failed', next_step: 'poll' });
    await hear(scene, payout, succeeded({ externalRef: 'OWN-1' }));
    expect(await work.current()).to.include({ status: 'completed' });
  });

  it('keeps a collection from being reversed again while a failed reversal is asked about', async () => {
    const reversal = await newReversal(database, scene.merchant);
    const work = workOn(database, reversal);
    const claim = await work.claim();
    await learn(database, reversal, FAILURE, 'statement');
    await work.answer(claim, ACKNOWLEDGED);
    const [collection] = await rows<Collection>(
      database,
      `SELECT *, 'collection' AS kind FROM collections WHERE id = :collection_id`,
      reversal,
    );
    const again = () => createReversal(database, reversalRequest(collection!));
    expect(await rejection(again())).to.include({ code: 'reversal_in_progress' });
    await work.hear(FAILURE);
    expect(await again()).to.include({ status: 'pending' });
  });

  it('keeps a return from being paid from the bank meanwhile', async () => {
    const planned = await newReturn(database, scene.merchant);
    const work = workOn(database, planned);
    const claim = await work.claim();
    await work.hear(FAILURE);
    await work.answer(claim, ACKNOWLEDGED);
    const failure = await discrepancyOf(scene, 'return_failed', planned);
    expect((await rejection(resolve(scene, failure, 'returned'))).message).to.include('has taken');
    await work.hear(FAILURE);
    expect(await resolve(scene, failure, 'returned')).to.include({ resolution: 'returned' });
  });

  it('of another payment’s money puts a refund off until somebody has decided', async () => {
    await hear(scene, await newPayout(database, scene.merchant), succeeded({ transId: 'SHARED' }));
    const payout = await newPayout(database, scene.merchant);
    await hear(scene, payout, FAILURE, succeeded({ transId: 'SHARED' }));
    await refund(scene, payout);
    expect(await reread(database, payout)).to.deep.include({
      refund_posted_at: null,
      parked_reason: 'discrepancy: receipt_of_another',
    });
    await resolve(scene, await discrepancyOf(scene, 'receipt_of_another', payout), 'dismissed');
    await refund(scene, payout);
    expect((await reread(database, payout)).refund_posted_at).to.not.equal(null);
  });

  it('is told after what was told before it, whichever transaction began first', async () => {
    const reversal = await newReversal(database, scene.merchant);
    await prepareDeliveries(database, 0);
    const slow = await database.transaction();
    await rows(slow, 'SELECT 1');
    await learn(database, reversal, FAILURE);
    const locked = (await lockPayment(slow, refOf(reversal)))!;
    await settle(slow, locked, newsOf(reversal, succeeded()), { cause: 'poll', parserOf });
    await slow.commit();
    await prepareDeliveries(database, 0);
    const told = await rows<{ type: string }>(
      database,
      'SELECT type FROM events WHERE payment_id = :id ORDER BY sequence',
      reversal,
    );
    expect(told.map(({ type }) => type)).to.deep.equal([
      'transaction.failed',
      'transaction.completed',
    ]);
  });
});
