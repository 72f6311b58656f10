import { expect } from 'chai';
import { type Database, rows } from '../../src/connections/database.ts';
import { openOverdue } from '../../src/domain/discrepancies/discrepancy.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { discrepancyOf, passDeadline, resolve } from '../support/discrepancies/scene.ts';
import { newPayment, newPayout, PAYMENT_KINDS } from '../support/payment-kinds.ts';
import {
  createTestStore,
  discrepanciesOf,
  learn,
  newCollection,
  succeeded,
  type TestStore,
} from '../support/payments.ts';
import { workOn } from '../support/submissions.ts';
import type { TestMerchant } from '../support/test-merchant.ts';

describe('A payment that is past its deadline', () => {
  let store: TestStore;
  let database: Database;
  let merchant: TestMerchant;

  before(async () => {
    store = await createTestStore();
    database = store.database;
  });

  after(() => store.drop());

  beforeEach(async () => {
    merchant = await store.newMerchant();
  });

  const overdue = async <P extends AnyPayment>(payment: P) => {
    await passDeadline({ database, merchant }, payment);
    return payment;
  };

  for (const kind of PAYMENT_KINDS) {
    it(`is on the support list without any job, for a ${kind}`, async () => {
      const payment = await overdue(await newPayment(kind, database, merchant));
      expect(await openOverdue(database)).to.equal(1);
      expect(await discrepanciesOf(database, payment.id)).to.deep.equal(['overdue']);
      const { details, ...found } = await discrepancyOf({ database, merchant }, 'overdue');
      expect(found).to.include({ payment_kind: kind, amount_cents: payment.amount_cents });
      const { deadline_at } = await workOn(database, payment).current();
      expect(new Date(details.deadline_at as string)).to.deep.equal(deadline_at);
    });
  }

  it('is there once, however many dispatchers look at once', async () => {
    const payment = await overdue(await newPayout(database, merchant));
    await Promise.all(Array.from({ length: 5 }, () => openOverdue(database)));
    expect(await openOverdue(database)).to.equal(0);
    expect(await discrepanciesOf(database, payment.id)).to.deep.equal(['overdue']);
  });

  it('is not there again when somebody has resolved it', async () => {
    const payment = await overdue(await newPayout(database, merchant));
    await openOverdue(database);
    await rows(database, 'UPDATE discrepancies SET resolved_at = now() WHERE payment_id = :id', {
      id: payment.id,
    });
    expect(await openOverdue(database)).to.equal(0);
    expect(await discrepanciesOf(database, payment.id)).to.deep.equal(['overdue (resolved)']);
  });

  it('is not there twice: first another question about it is decided', async () => {
    const collection = await overdue(await newCollection(database, merchant));
    await learn(database, collection, succeeded({ account: '+254733999999' }));
    expect(await openOverdue(database)).to.equal(0);
    await rows(database, 'UPDATE discrepancies SET resolved_at = now() WHERE payment_id = :id', {
      id: collection.id,
    });
    expect(await openOverdue(database)).to.equal(1);
  });

  it('is there as never taken, and no more as overdue, when it cannot be sent any more', async () => {
    const collection = await overdue(await newCollection(database, merchant));
    await openOverdue(database);
    await workOn(database, collection).claim();
    expect(await openOverdue(database)).to.equal(0);
    expect(await discrepanciesOf(database, collection.id)).to.deep.equal([
      'overdue (resolved)',
      'never_taken',
    ]);
    const scene = { database, merchant };
    await resolve(scene, await discrepancyOf(scene, 'never_taken'), 'failed');
  });

  it('is not there when it has ended, or when its deadline is still to come', async () => {
    await learn(database, await overdue(await newPayout(database, merchant)), succeeded());
    await newPayout(database, merchant);
    expect(await openOverdue(database)).to.equal(0);
  });

  it('is not waited for while somebody works on it, and comes next time', async () => {
    const payment = await overdue(await newPayout(database, merchant));
    await database.transaction(async (trx) => {
      await lockPayment(trx, refOf(payment));
      expect(await openOverdue(database)).to.equal(0);
    });
    expect(await openOverdue(database)).to.equal(1);
  });

  it('is one of a batch, and the others follow', async () => {
    for (let count = 0; count < 3; count += 1) await overdue(await newPayout(database, merchant));
    const batch = 2;
    expect(await openOverdue(database, batch)).to.equal(2);
    expect(await openOverdue(database, batch)).to.equal(1);
    expect(await openOverdue(database, batch)).to.equal(0);
  });
});
