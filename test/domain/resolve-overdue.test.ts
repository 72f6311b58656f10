import { expect } from 'chai';
import { FAILURE, SUCCESS } from '../support/collection-stories.ts';
import {
  booksOf,
  discrepancyOf,
  hear,
  makeOverdue,
  resolve,
  type Scene,
} from '../support/discrepancies/scene.ts';
import { DISCREPANCY_STORIES } from '../support/discrepancies/stories.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import {
  createTestStore,
  learn,
  newCollection,
  rejection,
  reread,
  succeeded,
  type TestStore,
} from '../support/payments.ts';

describe('A discrepancy of an overdue payment', () => {
  let store: TestStore;
  let scene: Scene;

  before(async () => {
    store = await createTestStore();
  });

  after(() => store.drop());

  beforeEach(async () => {
    scene = { database: store.database, merchant: await store.newMerchant() };
  });

  afterEach(() => expectSoundLedger(store.database));

  for (const [news, status] of [
    [SUCCESS, 'completed'],
    [FAILURE, 'failed'],
  ] as const) {
    it(`is superseded when the payment has ${status} after all`, async () => {
      const payment = await DISCREPANCY_STORIES['an overdue payout']!.arrange(scene);
      await hear(scene, payment, news);
      const discrepancy = await discrepancyOf(scene, 'overdue');
      expect(discrepancy).to.include({ resolution: 'superseded', resolved_by: null });
      const { message } = await rejection(resolve(scene, discrepancy, 'failed'));
      expect(message).to.include('is resolved already: superseded');
    });
  }

  it('keeps the receipt that support has learned', async () => {
    const payment = await DISCREPANCY_STORIES['an overdue payout']!.arrange(scene);
    await resolve(scene, await discrepancyOf(scene, 'overdue'), 'completed', 'LEARNED7');
    expect(await reread(store.database, payment)).to.include({ trans_id: 'LEARNED7' });
    // What the gateway says later is the same movement, or another one.
    expect(await learn(store.database, payment, succeeded({ transId: 'LEARNED7' }))).to.equal(
      'repeat',
    );
  });

  it('does not take the receipt of another payment', async () => {
    const { database, merchant } = scene;
    const other = await newCollection(database, await store.newMerchant());
    await learn(database, other, succeeded({ transId: 'THEIRS' }));
    await makeOverdue(scene, await newCollection(database, merchant));
    const overdue = await discrepancyOf(scene, 'overdue');
    const { message } = await rejection(resolve(scene, overdue, 'completed', 'THEIRS'));
    expect(message).to.equal(
      `Receipt THEIRS belongs to collection ${other.id} of merchant ${other.merchant_id}`,
    );
  });

  it('cannot be settled by hand while money of it is undecided', async () => {
    const payment = await DISCREPANCY_STORIES['an overdue collection']!.arrange(scene);
    await hear(scene, payment, succeeded({ amountCents: 5_000 }));
    const before = await booksOf(scene);
    for (const as of ['completed', 'failed'] as const) {
      const discrepancy = await discrepancyOf(scene, 'overdue');
      const { message } = await rejection(resolve(scene, discrepancy, as));
      expect(message).to.include('has another open discrepancy');
    }
    expect(await booksOf(scene)).to.deep.equal(before);
  });
});
