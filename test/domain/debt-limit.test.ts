import { expect } from 'chai';
import { NOBODY } from '../../src/domain/access/asker.ts';
import { updateMerchant } from '../../src/domain/merchants/merchant.ts';
import { createPayout, type NewPayout } from '../../src/domain/payouts/create-payout.ts';
import { transfer } from '../../src/domain/wallets/transfer.ts';
import { eventually } from '../support/eventually.ts';
import { waitsForLock } from '../support/locks.ts';
import { payoutRequest, rejection, succeeded, useStore } from '../support/world.ts';

/** The net of the collection that the merchant gives back after it has moved the money away. */
const NET_CENTS = 9_850;
const FREE = { bps: 0, fixedCents: 0 };
const POOR = { name: 'Refusal', code: 'insufficient_balance', subject: 'collection' };

describe('The debt limit of a merchant', () => {
  const store = useStore();

  afterEach(() => store.expectRightBooks());

  const pay = (overrides: Partial<NewPayout> = {}) =>
    createPayout(store.database, payoutRequest(store.merchant, overrides));
  /** Without a fee. The merchant has an amount of its own, because none is booked. */
  const payAll = (overrides: Partial<NewPayout>) => pay({ rate: FREE, ...overrides });
  const moveAway = (amount_cents: number, ref_no: string) =>
    store.transaction((trx) =>
      transfer(trx, { merchant_id: store.merchantId, amount_cents, ref_no, ...NOBODY }),
    );
  const limit = (debt_limit_cents: number) =>
    store.transaction((trx) => updateMerchant(trx, store.merchantId, { debt_limit_cents }));

  /** Collects, moves the money to the payout wallet, and gives the collection back. */
  async function fallIntoDebt(): Promise<void> {
    const reversal = await store.newReversal();
    await moveAway(NET_CENTS, 'away');
    await store.learn(reversal, succeeded({ transId: `R${store.merchantId}` }));
    expect(await store.walletBalance('collection')).to.equal(-NET_CENTS);
  }

  it('lets out what the payout wallet holds beyond the debt, and not a cent more', async () => {
    await store.topUp(50_000, 'bank');
    const known = await payAll({ ref_no: 'before' });
    await fallIntoDebt();
    const payable = (await store.walletBalance('payout'))! - NET_CENTS;
    expect(await rejection(payAll({ amount_cents: payable + 1 }))).to.include(POOR);
    expect(await rejection(moveAway(1, 'rest'))).to.include(POOR);
    expect(await payAll({ amount_cents: payable, ref_no: 'rest' })).to.include({
      status: 'pending',
    });
    expect(await store.walletBalance('payout')).to.equal(NET_CENTS);
    expect(await rejection(payAll({ amount_cents: 1_00, ref_no: 'more' }))).to.include(POOR);
    // The merchant learns of the first one, so it does not send another.
    expect(await rejection(payAll({ ref_no: known.ref_no }))).to.include({
      code: 'duplicate_ref_no',
    });
  });

  it('counts a reversal that is on its way, so that its debt does not come after the money has gone', async () => {
    const reversal = await store.newReversal();
    expect(await payAll({ amount_cents: 100, ref_no: 'none' }).catch(() => 'poor')).to.equal(
      'poor',
    );
    await moveAway(NET_CENTS, 'away');
    expect(await rejection(payAll({ amount_cents: 100, ref_no: 'its own' }))).to.include(POOR);
    await store.topUp(20_000, 'bank');
    expect(await rejection(payAll({ amount_cents: 20_001, ref_no: 'too much' }))).to.include(POOR);
    await payAll({ amount_cents: 20_000, ref_no: 'the rest' });
    await store.learn(reversal, succeeded({ transId: `R${store.merchantId}` }));
    const [collection, payout] = ['collection', 'payout'] as const;
    expect(await store.walletBalance(collection)).to.equal(-NET_CENTS);
    expect(await store.walletBalance(payout)).to.equal(NET_CENTS);
  });

  it('holds for payouts that come at once', async () => {
    await store.topUp(50_000, 'bank');
    await fallIntoDebt();
    const payable = (await store.walletBalance('payout'))! - NET_CENTS;
    // The payout wallet alone would bear more of them.
    const each = NET_CENTS / 2 - 25;
    const asked = Array.from({ length: 16 }, (_, n) =>
      payAll({ amount_cents: each, ref_no: `at-once-${n}` }).then(
        () => 'accepted',
        () => 'refused',
      ),
    );
    const answers = await Promise.all(asked);
    const fitting = Math.floor(payable / each);
    expect(answers.filter((answer) => answer === 'accepted')).to.have.length(fitting);
    expect(await store.walletBalance('payout')).to.be.at.least(NET_CENTS);
  });

  it('counts no money twice that a transfer moves at the moment of the payout', async () => {
    const reversals = [await store.newReversal(), await store.newReversal()];
    await moveAway(NET_CENTS, 'away');
    const { asked } = await store.transaction(async (trx) => {
      const request = { merchant_id: store.merchantId, amount_cents: NET_CENTS, ...NOBODY };
      await transfer(trx, { ...request, ref_no: 'at once' });
      const payout = rejection(payAll({ amount_cents: NET_CENTS, ref_no: 'out' }));
      await eventually('the payout to wait', () => waitsForLock(store.database));
      return { asked: payout };
    });
    expect(await asked).to.include(POOR);
    for (const [at, reversal] of reversals.entries()) {
      await store.learn(reversal, succeeded({ transId: `R${store.merchantId}${at}` }));
    }
  });

  it('is told after a paused channel and a missing wallet, which no collection mends', async () => {
    await fallIntoDebt();
    await store.rows('INSERT INTO paused_channels (code) VALUES (63902)');
    expect(await rejection(pay())).to.include({ code: 'channel_paused' });
    await store.rows('DELETE FROM paused_channels');
    const unknown = { merchant_id: -1 };
    expect(await rejection(pay(unknown))).to.include({ code: 'wallet_missing' });
    expect(await rejection(payAll({ amount_cents: 100 }))).to.include(POOR);
    // A top-up of the payout wallet is what this one lacks.
    const tooMuch = payAll({ amount_cents: NET_CENTS + 1 });
    expect(await rejection(tooMuch)).to.include({ code: POOR.code, subject: 'payout' });
  });

  it('lets payouts go again when collections have settled the debt', async () => {
    await fallIntoDebt();
    const collection = await store.newCollection({ ref_no: 'settles' });
    await store.learn(collection, succeeded({ transId: `S${store.merchantId}` }));
    expect(await store.walletBalance('collection')).to.equal(0);
    expect(await payAll({ amount_cents: NET_CENTS })).to.include({ status: 'pending' });
  });

  it('lets payouts go up to the debt that the operator allows, and not a cent beyond', async () => {
    await fallIntoDebt();
    await limit(4_999);
    expect(await rejection(payAll({ amount_cents: 5_000 }))).to.include(POOR);
    await limit(5_000);
    expect(await payAll({ amount_cents: 5_000 })).to.include({ status: 'pending' });
    expect(await rejection(payAll({ amount_cents: 1 }))).to.include(POOR);
  });
});
