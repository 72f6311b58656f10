import { expect } from 'chai';
import { DISCREPANCY_STORIES } from '../support/discrepancies/stories.ts';
import { FAILURE, SUCCESS } from '../support/settle-stories.ts';
import { learn, newCollection, rejection, succeeded, useStore } from '../support/world.ts';

describe('A discrepancy of an overdue payment', () => {
  const store = useStore();

  afterEach(() => store.expectSoundLedger());

  for (const [news, status] of [
    [SUCCESS, 'completed'],
    [FAILURE, 'failed'],
  ] as const) {
    it(`is superseded when the payment has ${status} after all`, async () => {
      const payment = await DISCREPANCY_STORIES['an overdue payout']!.arrange(store);
      await store.hear(payment, news);
      const discrepancy = await store.discrepancyOf('overdue');
      expect(discrepancy).to.include({ resolution: 'superseded', resolved_by: null });
      const { message } = await rejection(store.resolve(discrepancy, 'failed'));
      expect(message).to.include('is resolved already: superseded');
    });
  }

  it('keeps the receipt that support has learned', async () => {
    const payment = await DISCREPANCY_STORIES['an overdue payout']!.arrange(store);
    await store.resolve(await store.discrepancyOf('overdue'), 'completed', 'LEARNED7');
    expect(await store.reread(payment)).to.include({ trans_id: 'LEARNED7' });
    // What the gateway says later is the same movement, or another one.
    expect(await store.learn(payment, succeeded({ transId: 'LEARNED7' }))).to.equal('repeat');
  });

  it('does not take the receipt of another payment', async () => {
    const { database, merchant } = store;
    const other = await newCollection(database, await store.newMerchant());
    await learn(database, other, succeeded({ transId: 'THEIRS' }));
    await store.makeOverdue(await newCollection(database, merchant));
    const overdue = await store.discrepancyOf('overdue');
    const { message } = await rejection(store.resolve(overdue, 'completed', 'THEIRS'));
    expect(message).to.equal(
      `Receipt THEIRS belongs to collection ${other.id} of merchant ${other.merchant_id}`,
    );
  });

  it('cannot be settled by hand while money of it is undecided', async () => {
    const payment = await DISCREPANCY_STORIES['an overdue collection']!.arrange(store);
    await store.hear(payment, succeeded({ amountCents: 5_000 }));
    const before = await store.booksOf();
    for (const as of ['completed', 'failed'] as const) {
      const discrepancy = await store.discrepancyOf('overdue');
      const { message } = await rejection(store.resolve(discrepancy, as));
      expect(message).to.include('has another open discrepancy');
    }
    expect(await store.booksOf()).to.deep.equal(before);
  });
});
