import { expect } from 'chai';
import { openOverdue } from '../../src/domain/discrepancies/overdue.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { discrepancyOf, passDeadline, resolve } from '../support/discrepancies/scene.ts';
import { PAYMENT_KINDS, succeeded, useStore } from '../support/world.ts';

describe('A payment that is past its deadline', () => {
  const store = useStore();

  const overdue = async <P extends AnyPayment>(payment: P) => {
    await passDeadline({ database: store.database, merchant: store.merchant }, payment);
    return payment;
  };

  for (const kind of PAYMENT_KINDS) {
    it(`is on the support list without any job, for a ${kind}`, async () => {
      const payment = await overdue(await store.newPayment(kind));
      expect(await openOverdue(store.database)).to.equal(1);
      expect(await store.discrepanciesOf(payment.id)).to.deep.equal(['overdue']);
      const { details, ...found } = await discrepancyOf(
        { database: store.database, merchant: store.merchant },
        'overdue',
      );
      expect(found).to.include({ payment_kind: kind, amount_cents: payment.amount_cents });
      const { deadline_at } = await store.workOn(payment).current();
      expect(new Date(details.deadline_at as string)).to.deep.equal(deadline_at);
    });
  }

  it('is there once, however many dispatchers look at once', async () => {
    const payment = await overdue(await store.newPayout());
    await Promise.all(Array.from({ length: 5 }, () => openOverdue(store.database)));
    expect(await openOverdue(store.database)).to.equal(0);
    expect(await store.discrepanciesOf(payment.id)).to.deep.equal(['overdue']);
  });

  it('is not there again when somebody has resolved it', async () => {
    const payment = await overdue(await store.newPayout());
    await openOverdue(store.database);
    await store.rows('UPDATE discrepancies SET resolved_at = now() WHERE payment_id = :id', {
      id: payment.id,
    });
    expect(await openOverdue(store.database)).to.equal(0);
    expect(await store.discrepanciesOf(payment.id)).to.deep.equal(['overdue (resolved)']);
  });

  it('is not there twice: first another question about it is decided', async () => {
    const collection = await overdue(await store.newCollection());
    await store.learn(collection, succeeded({ account: '+254733999999' }));
    expect(await openOverdue(store.database)).to.equal(0);
    await store.rows('UPDATE discrepancies SET resolved_at = now() WHERE payment_id = :id', {
      id: collection.id,
    });
    expect(await openOverdue(store.database)).to.equal(1);
  });

  it('is there as never taken, and no more as overdue, when it cannot be sent any more', async () => {
    const collection = await overdue(await store.newCollection());
    await openOverdue(store.database);
    await store.workOn(collection).claim();
    expect(await openOverdue(store.database)).to.equal(0);
    expect(await store.discrepanciesOf(collection.id)).to.deep.equal([
      'overdue (resolved)',
      'never_taken',
    ]);
    const scene = { database: store.database, merchant: store.merchant };
    await resolve(scene, await discrepancyOf(scene, 'never_taken'), 'failed');
  });

  it('is not there when it has ended, or when its deadline is still to come', async () => {
    await store.learn(await overdue(await store.newPayout()), succeeded());
    await store.newPayout();
    expect(await openOverdue(store.database)).to.equal(0);
  });

  it('is not waited for while somebody works on it, and comes next time', async () => {
    const payment = await overdue(await store.newPayout());
    await store.database.transaction(async (trx) => {
      await lockPayment(trx, refOf(payment));
      expect(await openOverdue(store.database)).to.equal(0);
    });
    expect(await openOverdue(store.database)).to.equal(1);
  });

  it('is one of a batch, and the others follow', async () => {
    for (let count = 0; count < 3; count += 1) await overdue(await store.newPayout());
    const batch = 2;
    expect(await openOverdue(store.database, batch)).to.equal(2);
    expect(await openOverdue(store.database, batch)).to.equal(1);
    expect(await openOverdue(store.database, batch)).to.equal(0);
  });
});
