import { expect } from 'chai';
import { type Database, firstRow } from '../../src/connections/database.ts';
import { pauseChannel, resumeChannel } from '../../src/domain/channels/channel-store.ts';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { createReversal, type NewReversal } from '../../src/domain/reversals/create-reversal.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import {
  AMOUNT_CENTS,
  COMMISSION_CENTS,
  eventually,
  failed,
  NET_CENTS,
  PAYER,
  parserOf,
  receiptOf,
  rejection,
  reversalRequest,
  succeeded,
  useStore,
} from '../support/world.ts';

describe('Accepting a reversal', () => {
  const store = useStore();
  let collection: Collection;

  beforeEach(async () => {
    collection = await store.newCompletedCollection();
  });

  const accept = (overrides: Partial<NewReversal> = {}) =>
    createReversal(store.database, reversalRequest(collection, overrides));

  const reversals = (where = 'true') =>
    store.countOf(`reversals WHERE merchant_id = :id AND ${where}`, {
      id: store.merchantId,
    });

  async function expectRefused(code: string, overrides: Partial<NewReversal> = {}): Promise<void> {
    const before = await reversals();
    expect(await rejection(accept(overrides))).to.include({ name: 'Refusal', code });
    expect(await reversals()).to.equal(before);
  }

  it('records the whole collection, with its history and its job, and moves no money yet', async () => {
    const reversal = await accept({ reason: 'Broken' });
    expect(reversal).to.include({
      kind: 'reversal',
      status: 'pending',
      collection_id: collection.id,
      checkout_ref_no: collection.ref_no,
      original_trans_id: receiptOf(collection),
      account: PAYER,
      amount_cents: AMOUNT_CENTS,
      commission_cents: COMMISSION_CENTS,
      app_code: store.merchant.app_code,
      reason: 'Broken',
      next_step: 'submit',
      step_no: 1,
    });
    expect(await store.historyOf(refOf(reversal))).to.deep.equal([
      { from_status: null, to_status: 'pending', cause: 'api' },
    ]);
    expect(await store.outboxOf(reversal.id)).to.deep.equal([
      {
        queue: 'reversals-simulator',
        kind: 'reversal',
        step: 'submit',
        row_id: reversal.id,
        step_no: 1,
      },
    ]);
    expect(await store.walletBalance('collection')).to.equal(NET_CENTS);
  });

  it('books it on the app that asks, and on the collection’s when none does', async () => {
    const other = await store.newApp();
    expect(await accept({ app_code: other.app_code })).to.include({ app_code: other.app_code });
    collection = await store.newCompletedCollection();
    expect(await accept({ app_code: null })).to.include({ app_code: store.merchant.app_code });
  });

  it('refuses what is not a completed collection of this merchant', async () => {
    await expectRefused('transaction_not_found', { checkout_ref_no: 'nobody-s' });
    const stranger = await store.newMerchant();
    await expectRefused('transaction_not_found', { merchant_id: stranger.merchant_id });
    const open = await store.newCollection();
    await expectRefused('collection_not_completed', { checkout_ref_no: open.ref_no });
    await store.learn(open, failed());
    await expectRefused('collection_not_completed', { checkout_ref_no: open.ref_no });
    // Its money is on the way back by itself.
    await store.learn(open, succeeded());
    await expectRefused('collection_not_completed', { checkout_ref_no: open.ref_no });
  });

  it('refuses a second one while the first is open, and for ever once it is done', async () => {
    const first = await accept();
    await expectRefused('reversal_in_progress');
    await store.learn(first, succeeded());
    await expectRefused('reversal_done');
  });

  it('allows another one after a failure, under a reference of its own', async () => {
    const first = await accept();
    await store.learn(first, failed());
    await expectRefused('duplicate_ref_no', { ref_no: first.ref_no });
    await accept();
    expect(await reversals()).to.equal(2);
  });

  it('allows none while support has to decide about money of an earlier one', async () => {
    const first = await accept();
    await store.learn(first, failed());
    await store.learn(first, succeeded({ transId: 'BACK1', account: '+254722000000' }));
    await expectRefused('reversal_in_progress');
  });

  it('allows none while the money of an earlier one, which was undone, has not come back', async () => {
    const first = await accept();
    await store.learn(first, succeeded());
    await store.hear(first, failed({ externalRef: null }));
    await store.resolve(await store.discrepancyOf('failure_after_success', first), 'undo');
    await expectRefused('reversal_in_progress');
    await store.resolve(await store.discrepancyOf('undone_money', first), 'returned');
    await accept();
    expect(await reversals()).to.equal(2);
  });

  it('waits for news of an earlier one that is being booked, and sees what came of it', async () => {
    const first = await accept();
    await store.learn(first, failed());
    let second: Promise<unknown> = Promise.resolve();
    await store.transaction(async (trx) => {
      const locked = (await lockPayment(trx, refOf(first)))!;
      const news = succeeded({ transId: 'BACK1', amountCents: AMOUNT_CENTS + 100 });
      await settle(trx, locked, news, { cause: 'callback', parserOf });
      second = rejection(accept());
      await eventually('the second one to wait for the collection', () =>
        isWaitedFor(store.database),
      );
    });
    expect(await second).to.include({ code: 'reversal_in_progress' });
    expect(await reversals()).to.equal(1);
  });

  it('pays whoever paid, where that is not the phone that was asked', async () => {
    const payer = '+254733999999';
    await store.rewrite('UPDATE movements SET account = :payer WHERE payment_id = :id', {
      payer,
      id: collection.id,
    });
    expect(await accept()).to.include({ account: payer });
  });

  it('refuses a reference that is taken, of the same merchant only', async () => {
    await accept({ ref_no: 'rev-1' });
    await expectRefused('duplicate_ref_no', { ref_no: 'rev-1' });
    collection = await store.newCompletedCollection();
    await expectRefused('duplicate_ref_no', { ref_no: 'rev-1' });
    store.merchant = await store.newMerchant();
    collection = await store.newCompletedCollection();
    await accept({ ref_no: 'rev-1' });
  });

  it('records nothing on a channel that is paused', async () => {
    await store.transaction((trx) => pauseChannel(trx, collection.channel));
    await expectRefused('channel_paused');
    await store.transaction((trx) => resumeChannel(trx, collection.channel));
    await accept();
  });

  it('takes one of fifty at once, in different words or the same', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => accept()));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).to.have.length(49);
    for (const { reason } of refused) expect(reason).to.include({ code: 'reversal_in_progress' });
    collection = await store.newCompletedCollection();
    const same = await Promise.allSettled(
      Array.from({ length: 20 }, () => accept({ ref_no: 'same' })),
    );
    const repeated = same.filter((outcome) => outcome.status === 'rejected');
    expect(repeated).to.have.length(19);
    for (const { reason } of repeated) expect(reason).to.include({ code: 'duplicate_ref_no' });
    expect(await reversals()).to.equal(2);
  });
});

async function isWaitedFor(database: Database): Promise<boolean> {
  const waiting = await firstRow(
    database,
    `SELECT 1 FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return waiting !== undefined;
}
