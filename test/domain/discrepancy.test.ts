import { expect } from 'chai';
import { type Database, inTransaction, rows } from '../../src/connections/database.ts';
import { openDiscrepancy } from '../../src/domain/discrepancies/discrepancy.ts';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { resolveDiscrepancy } from '../../src/domain/support/resolve-discrepancy.ts';
import { newCompletedCollection } from '../support/payment-kinds.ts';
import {
  createTestStore,
  failed,
  learn,
  parserOf,
  succeeded,
  type TestStore,
} from '../support/payments.ts';

interface Row {
  id: string;
  amount_cents: number | null;
  resolution: string | null;
  details: Record<string, unknown>;
}

describe('A discrepancy', () => {
  let store: TestStore;
  let database: Database;
  let collection: Collection;

  before(async () => {
    store = await createTestStore();
    database = store.database;
  });

  after(() => store.drop());

  beforeEach(async () => {
    collection = await newCompletedCollection(database, await store.newMerchant());
  });

  const found = () =>
    rows<Row>(database, 'SELECT * FROM discrepancies WHERE payment_id = :id', {
      id: collection.id,
    });

  async function dismiss(): Promise<void> {
    const [row] = await found();
    const decision = { as: 'dismissed', actor: 'asha', reason: 'known', transId: null } as const;
    await inTransaction(database, (trx) =>
      resolveDiscrepancy(trx, row!.id, decision, {
        commissionDefaults: { bps: 0, fixedCents: 0 },
        pollFirstMs: 1_000,
        parserOf,
      }),
    );
  }

  it('is one, however often the same is found', async () => {
    for (let heard = 0; heard < 3; heard += 1) await learn(database, collection, failed());
    expect(await found()).to.have.length(1);
  });

  it('stays resolved when the same is found again', async () => {
    await learn(database, collection, failed());
    await dismiss();
    await learn(database, collection, failed());
    expect(await found()).to.have.length(1);
    expect((await found())[0]).to.include({ resolution: 'dismissed' });
  });

  it('is open again when something else is found, with what was decided before', async () => {
    await learn(database, collection, succeeded({ amountCents: 7_000 }));
    await dismiss();
    await learn(database, collection, succeeded({ amountCents: 8_000 }));
    const [row, ...others] = await found();
    expect(others).to.deep.equal([]);
    expect(row).to.include({ resolution: null, amount_cents: 8_000 });
    expect(row!.details.decided_before).to.deep.include({
      as: 'dismissed',
      by: 'asha',
      amount_cents: 7_000,
    });
    await dismiss();
    await learn(database, collection, succeeded({ amountCents: 8_000 }));
    expect((await found())[0]).to.include({ resolution: 'dismissed' });
  });

  it('of a movement that no payment explains is one too', async () => {
    for (let heard = 0; heard < 2; heard += 1) {
      await inTransaction(database, (trx) =>
        openDiscrepancy(trx, {
          kind: 'unknown_movement',
          payment: null,
          trans_id: `STRANGE-${refOf(collection).id}`,
          amount_cents: 100,
          details: {},
        }),
      );
    }
    const strange = await rows(database, `SELECT 1 FROM discrepancies WHERE trans_id = :id`, {
      id: `STRANGE-${collection.id}`,
    });
    expect(strange).to.have.length(1);
  });
});
