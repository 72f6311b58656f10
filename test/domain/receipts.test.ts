import { expect } from 'chai';
import { type Database, inTransaction } from '../../src/connections/database.ts';
import type { Succeeded } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import {
  discrepancyOf,
  eventsOf,
  hear,
  resolve,
  type Scene,
} from '../support/discrepancies/scene.ts';
import { accountBalance, expectSoundLedger } from '../support/ledger-check.ts';
import { newCompletedCollection, newPayout } from '../support/payment-kinds.ts';
import {
  countOf,
  createTestStore,
  discrepanciesOf,
  newCollection,
  parserOf,
  reread,
  succeeded,
  type TestStore,
} from '../support/payments.ts';
import { ACKNOWLEDGED, SAFE, workOn } from '../support/submissions.ts';

describe('A receipt', () => {
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

  afterEach(() => expectSoundLedger(database));

  /** The gateway's word with exactly this receipt, whoever else has it. */
  function settleWith(payment: AnyPayment, news: Succeeded) {
    return inTransaction(database, async (trx) => {
      const locked = await lockPayment(trx, refOf(payment));
      return settle(trx, locked!, news, { cause: 'callback', parserOf });
    });
  }

  const float = () => accountBalance(database, scene.merchant.merchant_id, 'gateway_float');

  it('belongs to one payment, of whatever merchant, and books nothing for another', async () => {
    const other = await store.newMerchant();
    const first = await newCollection(database, other);
    const second = await newCollection(database, scene.merchant);
    const news = succeeded({ transId: 'SHARED-1' });
    expect(await settleWith(first, news)).to.equal('completed');
    expect(await settleWith(second, news)).to.equal('discrepancy');
    expect(await reread(database, second)).to.include({ status: 'pending', next_step: 'submit' });
    expect(await discrepanciesOf(database, second.id)).to.deep.equal(['receipt_of_another']);
    expect(await eventsOf(scene, second)).to.deep.equal([]);
    expect(await float()).to.equal(0);
    expect(await settleWith(first, news)).to.equal('repeat');
  });

  it('belongs to one payment also when two are told of it at once', async () => {
    const pair = [
      await newCollection(database, scene.merchant),
      await newCollection(database, await store.newMerchant()),
    ];
    const news = succeeded({ transId: 'SHARED-2' });
    const told = await Promise.all(pair.map((payment) => settleWith(payment, news)));
    expect(told.toSorted()).to.deep.equal(['completed', 'discrepancy']);
    expect(await countOf(database, `movements WHERE trans_id = 'SHARED-2'`)).to.equal(1);
  });

  it('of money that came in may be that of money that went out', async () => {
    const news = succeeded({ transId: 'BOTH-WAYS' });
    expect(await settleWith(await newCollection(database, scene.merchant), news)).to.equal(
      'completed',
    );
    expect(await settleWith(await newPayout(database, scene.merchant), news)).to.equal('completed');
  });

  it('of another payment brings no money to suspense, and sends none back', async () => {
    await settleWith(await newCollection(database, scene.merchant), succeeded({ transId: 'S-3' }));
    const floatBefore = await float();
    const stranger = succeeded({ transId: 'S-3', account: '+254733999999' });
    const open = await newCollection(database, scene.merchant);
    expect(await settleWith(open, stranger)).to.equal('discrepancy');
    const failed = await newCollection(database, scene.merchant);
    await hear(scene, failed, { outcome: 'failed', code: 1, description: 'No', externalRef: null });
    expect(await settleWith(failed, succeeded({ transId: 'S-3' }))).to.equal('discrepancy');
    expect(await float()).to.equal(floatBefore);
    const { merchant_id } = scene.merchant;
    expect(
      await countOf(database, 'returns WHERE merchant_id = :id', { id: merchant_id }),
    ).to.equal(0);
  });

  it('that comes after the money is not filled in when it is that of another payment', async () => {
    await settleWith(await newCollection(database, scene.merchant), succeeded({ transId: 'S-4' }));
    const second = await newCollection(database, scene.merchant);
    await settleWith(second, succeeded({ transId: null }));
    expect(await settleWith(second, succeeded({ transId: 'S-4' }))).to.equal('discrepancy');
    expect(await reread(database, second)).to.include({ status: 'completed', trans_id: null });
    expect(await settleWith(second, succeeded({ transId: 'S-4-OWN' }))).to.equal('repeat');
    expect(await reread(database, second)).to.include({ trans_id: 'S-4-OWN' });
  });

  it('is free for its own payment when the one that had it is undone', async () => {
    const wrong = await newCollection(database, scene.merchant);
    await settleWith(wrong, succeeded({ transId: 'S-5' }));
    const right = await newCollection(database, scene.merchant);
    await settleWith(right, succeeded({ transId: 'S-5' }));
    await hear(scene, wrong, { outcome: 'failed', code: 1, description: 'No', externalRef: null });
    const finding = await discrepancyOf(scene, 'failure_after_success', wrong);
    await resolve(scene, finding, 'undo');
    expect(await settleWith(right, succeeded({ transId: 'S-5' }))).to.equal('completed');
  });

  it('of a reversal is claimed as well', async () => {
    const collection = await newCompletedCollection(database, scene.merchant, 'IN-6');
    const news = succeeded({ transId: 'IN-6' });
    expect(await settleWith(collection, news)).to.equal('repeat');
    const payout = await newPayout(database, scene.merchant);
    await settleWith(payout, succeeded({ transId: 'OUT-6' }));
    const second = await newPayout(database, scene.merchant);
    expect(await settleWith(second, succeeded({ transId: 'OUT-6' }))).to.equal('discrepancy');
  });
});

describe('A reference of the gateway that is not the acknowledged one', () => {
  let store: TestStore;

  before(async () => {
    store = await createTestStore();
  });

  after(() => store.drop());

  for (const outcome of ['succeeded', 'failed'] as const) {
    it(`moves nothing when the gateway says ${outcome}, and the questions go on`, async () => {
      const collection = await newCollection(store.database, await store.newMerchant());
      const work = workOn(store.database, collection);
      await work.answer(await work.claim(), ACKNOWLEDGED);
      const news =
        outcome === 'succeeded'
          ? succeeded({ externalRef: 'ANOTHER' })
          : { outcome, code: 1, description: 'No', externalRef: 'ANOTHER' };
      const after = await work.hear(news, SAFE);
      expect(after).to.include({ status: 'processing', next_step: 'poll' });
      expect(await discrepanciesOf(store.database, collection.id)).to.deep.equal(['other_payment']);
      expect(await work.hear(succeeded())).to.include({ status: 'completed' });
    });
  }
});
