import { expect } from 'chai';
import type { Database, Transaction } from '../../src/connections/database.ts';
import { updateMerchant } from '../../src/domain/merchants/merchant.ts';
import type { Reversal } from '../../src/domain/payments/kinds.ts';
import { awaitAcceptance } from '../../src/domain/reversals/create-reversal.ts';
import { readPaymentFile } from '../../src/domain/support/payment-file.ts';
import {
  ACKNOWLEDGED,
  eventually,
  NOT_FOUND,
  newCollection,
  succeeded,
  UNKNOWN,
  useStore,
  workOn,
} from '../support/world.ts';

/** The brakes of a merchant, and what takes them off. */
const BRAKES = [
  ['is suspended', { active: false }, { active: true }],
  ['has its payouts held', { payouts_held: true }, { payouts_held: false }],
] as const;

describe('A payout of a merchant that', () => {
  const store = useStore();

  const change = (
    changes: Parameters<typeof updateMerchant>[2],
    trx: Database | Transaction = store.database,
  ) => trx.transaction((inner) => updateMerchant(inner, store.merchantId, changes));

  const waiting = () =>
    store.rows(`SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`);

  /** So many statements of this test wait for a lock. */
  const waitForLocks = (count = 1) =>
    eventually('waits for a lock', async () => (await waiting()).length >= count);

  for (const [name, brake, release] of BRAKES) {
    it(`${name} waits without an attempt, and goes when that has ended`, async () => {
      const work = store.workOn(await store.newPayout());
      await change(brake);
      for (let time = 1; time <= 2; time += 1) expect(await work.claim()).to.equal(null);
      expect(await work.current()).to.include({ status: 'pending', next_step: 'submit' });
      expect(await work.attempts()).to.deep.equal([]);
      await change(release);
      expect(await work.claim()).to.include({ attemptNo: 1 });
    });

    it(`${name} is asked about and settled if it may have been sent`, async () => {
      const [sent, lost, ruledOut] = await Promise.all(
        [ACKNOWLEDGED, UNKNOWN, UNKNOWN].map(async (result) => {
          const work = store.workOn(await store.newPayout());
          await work.answer(await work.claim(), result);
          return work;
        }),
      );
      await change(brake);
      for (const work of [sent!, lost!]) {
        expect(await work.current()).to.include({ next_step: 'poll' });
        expect(await work.hear(succeeded())).to.include({ status: 'completed' });
      }
      for (let asked = 1; asked <= 3; asked += 1) await ruledOut!.hear(NOT_FOUND);
      expect(await ruledOut!.claim()).to.equal(null);
      expect(await ruledOut!.current()).to.include({ status: 'pending', next_step: 'submit' });
    });

    it(`${name} is not claimed while that is being committed`, async () => {
      const work = store.workOn(await store.newPayout());
      const trx = await store.database.transaction();
      await change(brake, trx);
      const claim = work.claim();
      await waitForLocks();
      await trx.commit();
      expect(await claim).to.equal(null);
      expect(await work.attempts()).to.deep.equal([]);
    });

    it(`${name} is known to be under way if its claim came first`, async () => {
      const payout = await store.newPayout();
      const trx = await store.database.transaction();
      expect(await workOn(trx, payout).claim()).to.include({ attemptNo: 1 });
      const braked = change(brake);
      await waitForLocks();
      await trx.commit();
      await braked;
      expect(await store.workOn(payout).results()).to.deep.equal([null]);
    });
  }

  it('is braked in its turn, and not after the claims that come later', async () => {
    const payouts = [await store.newPayout(), await store.newPayout()];
    const [first, second] = payouts;
    const trx = await store.database.transaction();
    expect(await workOn(trx, first!).claim()).to.include({ attemptNo: 1 });
    const braked = change({ payouts_held: true });
    await waitForLocks();
    const later = store.workOn(second!).claim();
    await waitForLocks(2);
    await trx.commit();
    await braked;
    expect(await later).to.equal(null);
  });

  it('is braked while its payments are being accepted', async () => {
    const trx = await store.database.transaction();
    await newCollection(trx as never, store.merchant);
    await change({ payouts_held: true });
    await trx.commit();
  });

  it('has its payouts held is accepted meanwhile, and its other payments go on', async () => {
    await change({ payouts_held: true });
    expect(await store.newPayout()).to.include({ status: 'pending' });
    for (const kind of ['collection', 'return'] as const) {
      const work = store.workOn(await store.newPayment(kind));
      expect(await work.claim(), kind).to.include({ attemptNo: 1 });
    }
  });
});

describe('A reversal of a merchant that', () => {
  const store = useStore();

  const change = (changes: Parameters<typeof updateMerchant>[2]) =>
    store.transaction((trx) => updateMerchant(trx, store.merchantId, changes));

  for (const [name, brake, release] of BRAKES) {
    it(`${name} waits without an attempt, is answered as waiting, and goes when that has ended`, async () => {
      const reversal = (await store.newPayment('reversal')) as Reversal;
      const work = store.workOn(reversal);
      await change(brake);
      for (let time = 1; time <= 2; time += 1) expect(await work.claim()).to.equal(null);
      expect(await work.current()).to.include({ status: 'pending', next_step: 'submit' });
      expect(await work.attempts()).to.deep.equal([]);
      const gone = new AbortController().signal;
      expect(await awaitAcceptance(store.database, reversal, 60_000, gone)).to.include({
        id: reversal.id,
        status: 'pending',
      });
      const file = await readPaymentFile(store.database, reversal);
      expect(file!.hold).to.be.a('string');
      await change(release);
      expect(await work.claim()).to.include({ attemptNo: 1 });
    });
  }

  it('has its payouts held while a reversal is being sent is not answered before the gateway', async () => {
    const reversal = (await store.newPayment('reversal')) as Reversal;
    const work = store.workOn(reversal);
    const claim = await work.claim();
    await change({ payouts_held: true });
    const gone = new AbortController().signal;
    expect(await awaitAcceptance(store.database, reversal, 1, gone)).to.equal(null);
    await work.answer(claim, ACKNOWLEDGED);
    expect(await awaitAcceptance(store.database, reversal, 1, gone)).to.include({
      status: 'processing',
    });
  });
});
