import { expect } from 'chai';
import { NOBODY } from '../../src/domain/access/asker.ts';
import { updateMerchant } from '../../src/domain/merchants/merchant.ts';
import { createPayout, type NewPayout } from '../../src/domain/payouts/create-payout.ts';
import { transfer } from '../../src/domain/wallets/transfer.ts';
import { payoutRequest, rejection, succeeded, useStore } from '../support/world.ts';

/** The net of the collection that the merchant gives back after it has moved the money away. */
const NET_CENTS = 9_850;
const POOR = { name: 'Refusal', code: 'insufficient_balance', subject: 'collection' };

describe('The debt limit of a merchant', () => {
  const store = useStore();

  afterEach(() => store.expectRightBooks());

  const pay = (overrides: Partial<NewPayout> = {}) =>
    createPayout(store.database, payoutRequest(store.merchant, overrides));
  const moveAway = (amount_cents: number, ref_no: string) =>
    store.transaction((trx) =>
      transfer(trx, { merchant_id: store.merchantId, amount_cents, ref_no, ...NOBODY }),
    );
  const limit = (debt_limit_cents: number) =>
    store.transaction((trx) => updateMerchant(trx, store.merchantId, { debt_limit_cents }));

  /** Collects, moves the money to the payout wallet, and gives the collection back. */
  async function fallIntoDebt(): Promise<void> {
    await store.topUp(50_000, 'bank-1');
    const reversal = await store.newReversal();
    await moveAway(NET_CENTS, 'away');
    await store.learn(reversal, succeeded({ transId: `R${store.merchantId}` }));
    expect(await store.walletBalance('collection')).to.equal(-NET_CENTS);
  }

  it('lets nothing be paid out while the merchant owes anything, at first', async () => {
    await store.topUp(50_000, 'bank-0');
    const known = await pay({ ref_no: 'before' });
    await fallIntoDebt();
    const payable = await store.walletBalance('payout');
    expect(await rejection(pay())).to.include(POOR);
    expect(await rejection(moveAway(1, 'rest'))).to.include(POOR);
    expect(await store.walletBalance('payout')).to.equal(payable);
    // The merchant learns of the first one, so it does not send another.
    expect(await rejection(pay({ ref_no: known.ref_no }))).to.include({ code: 'duplicate_ref_no' });
  });

  it('is told after a paused channel and a missing wallet, which no collection mends', async () => {
    await fallIntoDebt();
    await store.rows('INSERT INTO paused_channels (code) VALUES (63902)');
    expect(await rejection(pay())).to.include({ code: 'channel_paused' });
    await store.rows('DELETE FROM paused_channels');
    const unknown = { merchant_id: -1 };
    expect(await rejection(pay(unknown))).to.include({ code: 'wallet_missing' });
    expect(await rejection(pay())).to.include(POOR);
  });

  it('lets payouts go again when collections have settled the debt', async () => {
    await fallIntoDebt();
    const collection = await store.newCollection({ ref_no: 'settles' });
    await store.learn(collection, succeeded({ transId: `S${store.merchantId}` }));
    expect(await store.walletBalance('collection')).to.equal(0);
    expect(await pay()).to.include({ status: 'pending' });
  });

  it('lets payouts go up to the debt that the operator allows, and not a cent beyond', async () => {
    await fallIntoDebt();
    await limit(NET_CENTS - 1);
    expect(await rejection(pay())).to.include(POOR);
    await limit(NET_CENTS);
    expect(await pay()).to.include({ status: 'pending' });
  });
});
