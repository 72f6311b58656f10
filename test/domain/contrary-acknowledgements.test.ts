import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import {
  ACKNOWLEDGED,
  failed,
  NOT_FOUND,
  newsOf,
  parserOf,
  rejection,
  reversalRequest,
  succeeded,
  useStore,
  type Work,
} from '../support/world.ts';

const FAILURE = failed({ externalRef: null });

describe('An acknowledgement that contradicts what is known', () => {
  const store = useStore();

  /** A claim whose attempt the gateway has ruled out since. */
  async function ruledOut(work: Work, table: string) {
    const claim = await work.claim();
    await work.setAttempts(`started_at = now() - interval '5 minutes'`);
    const { id } = await work.current();
    await store.rows(`UPDATE ${table} SET next_step = 'poll' WHERE id = :id`, { id });
    for (let time = 0; time < 3; time += 1) await work.hear(NOT_FOUND);
    return claim;
  }

  it('takes a collection off the support list that waited there because nobody had taken it', async () => {
    const collection = await store.newCollection();
    const work = store.workOn(collection);
    const claim = await ruledOut(work, 'collections');
    await store.neverTake(collection);
    await work.answer(claim, ACKNOWLEDGED);
    expect(await work.current()).to.include({ status: 'processing', next_step: 'poll' });
    expect(await store.discrepanciesOf(collection.id)).to.deep.equal(['never_taken (resolved)']);
  });

  it('asks about a collection that support has failed because nobody had taken it', async () => {
    const collection = await store.newCollection();
    const work = store.workOn(collection);
    const claim = await ruledOut(work, 'collections');
    await store.neverTake(collection);
    await store.resolve(await store.discrepancyOf('never_taken', collection), 'failed');
    await work.answer(claim, ACKNOWLEDGED);
    expect(await work.current()).to.include({ status: 'failed', next_step: 'poll' });
    expect(await store.discrepanciesOf(collection.id)).to.deep.equal([
      'never_taken (resolved)',
      'taken_after_failure',
    ]);
  });

  it('is a finding when the gateway has taken two attempts, under two references', async () => {
    const work = store.workOn(await store.newPayout());
    const first = await ruledOut(work, 'payouts');
    await work.answer(await work.claim(), { outcome: 'acknowledged', externalRef: 'E2' });
    await work.answer(first, { outcome: 'acknowledged', externalRef: 'E1' });
    const payout = await work.current();
    expect(await store.discrepanciesOf(payout.id)).to.deep.equal(['taken_twice']);
    await store.hear(payout, succeeded({ externalRef: 'E1' }));
    await store.hear(payout, succeeded({ externalRef: 'E2', transId: 'RCPT2' }));
    expect(await store.discrepanciesOf(payout.id)).to.deep.equal(['taken_twice', 'second_success']);
  });

  it('counts more than a reference that a failure has named before', async () => {
    const payout = await store.newPayout();
    const work = store.workOn(payout);
    const claim = await work.claim();
    await store.hear(payout, failed({ externalRef: 'OTHERS-1' }));
    await work.answer(claim, { outcome: 'acknowledged', externalRef: 'OWN-1' });
    expect(await work.current()).to.include({ status: 'failed', next_step: 'poll' });
    await store.hear(payout, succeeded({ externalRef: 'OWN-1' }));
    expect(await work.current()).to.include({ status: 'completed' });
  });

  it('keeps a collection from being reversed again while a failed reversal is asked about', async () => {
    const reversal = await store.newReversal();
    const work = store.workOn(reversal);
    const claim = await work.claim();
    await store.learn(reversal, FAILURE, 'statement');
    await work.answer(claim, ACKNOWLEDGED);
    const [collection] = await store.rows<Collection>(
      `SELECT *, 'collection' AS kind FROM collections WHERE id = :collection_id`,
      reversal,
    );
    const again = () => createReversal(store.database, reversalRequest(collection!));
    expect(await rejection(again())).to.include({ code: 'reversal_in_progress' });
    await work.hear(FAILURE);
    expect(await again()).to.include({ status: 'pending' });
  });

  it('keeps a return from being paid from the bank meanwhile', async () => {
    const planned = await store.newReturn();
    const work = store.workOn(planned);
    const claim = await work.claim();
    await work.hear(FAILURE);
    await work.answer(claim, ACKNOWLEDGED);
    const failure = await store.discrepancyOf('return_failed', planned);
    expect((await rejection(store.resolve(failure, 'returned'))).message).to.include(
      'resolve its taken_after_failure first',
    );
    await work.hear(FAILURE);
    expect(await store.resolve(failure, 'returned')).to.include({ resolution: 'returned' });
  });

  it('of another payment’s money puts a refund off until somebody has decided', async () => {
    await store.hear(await store.newPayout(), succeeded({ transId: 'SHARED' }));
    const payout = await store.newPayout();
    await store.hear(payout, FAILURE, succeeded({ transId: 'SHARED' }));
    await store.refund(payout);
    expect(await store.reread(payout)).to.deep.include({
      refund_posted_at: null,
      parked_reason: 'discrepancy: receipt_of_another',
    });
    await store.resolve(await store.discrepancyOf('receipt_of_another', payout), 'dismissed');
    await store.refund(payout);
    expect((await store.reread(payout)).refund_posted_at).to.not.equal(null);
  });

  it('is told after what was told before it, whichever transaction began first', async () => {
    const reversal = await store.newReversal();
    await prepareDeliveries(store.database, 0);
    const slow = await store.database.transaction();
    await rows(slow, 'SELECT 1');
    await store.learn(reversal, FAILURE);
    const locked = (await lockPayment(slow, refOf(reversal)))!;
    await settle(slow, locked, newsOf(reversal, succeeded()), { cause: 'poll', parserOf });
    await slow.commit();
    await prepareDeliveries(store.database, 0);
    const told = await store.rows<{ type: string }>(
      'SELECT type FROM events WHERE payment_id = :id ORDER BY sequence',
      reversal,
    );
    expect(told.map(({ type }) => type)).to.deep.equal([
      'transaction.failed',
      'transaction.completed',
    ]);
  });
});
