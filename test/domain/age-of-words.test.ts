import { expect } from 'chai';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import type { Resolution } from '../../src/domain/support/resolution.ts';
import { lineOf, newReceipt } from '../support/statements.ts';
import { toldIn } from '../support/told.ts';
import { failed, PAYMENT_KINDS, parserOf, succeeded, useStore } from '../support/world.ts';

const FAILURE = failed({ externalRef: null });
const TOLD_BOTH = 'Both a success and a failure of the payment were told.';

describe('The age of what the gateway says', () => {
  const store = useStore();
  const { at, paid, read, tell, whyTwo } = toldIn(store);
  const whyAsked = async (kind: string, as: Resolution, payment: AnyPayment) => {
    const { id } = await store.discrepancyOf(kind as never, payment);
    return whyTwo(id, as);
  };
  /** The failure is recorded now, and was heard at this minute. */
  const failAt = async (payment: AnyPayment, minutes: number) => {
    await tell(payment, FAILURE, at(minutes));
    await store.rewrite('UPDATE payment_history SET happened_at = :at WHERE payment_id = :id', {
      ...payment,
      at: at(minutes),
    });
  };

  for (const kind of PAYMENT_KINDS) {
    it(`lets nobody alone take back a ${kind} that the gateway has completed, because a file lacks it`, async () => {
      const payment = await store.newPayment(kind);
      await tell(payment, paid(newReceipt()), null);
      await store.rewrite(
        `UPDATE movements SET learned_at = learned_at - interval '1 hour',
           completed_at = completed_at - interval '1 hour' WHERE payment_id = :id`,
        payment,
      );
      await read([], 'file.csv', ['collection', 'payout', 'reversal']);
      expect(await whyAsked('missing_at_gateway', 'undo', payment)).to.include('otherwise');
    });

    it(`lets one person take back a ${kind} that only support has completed`, async () => {
      const payment = await store.newPayment(kind);
      await tell(payment, paid(newReceipt()), null, 'support');
      await store.rewrite(
        `UPDATE movements SET learned_at = learned_at - interval '1 hour' WHERE payment_id = :id`,
        payment,
      );
      await read([], 'file.csv', ['collection', 'payout', 'reversal']);
      expect(await whyAsked('missing_at_gateway', 'undo', payment)).to.not.equal(TOLD_BOTH);
    });
  }

  it('is that of its money, for a line that is read after a failure: nobody alone sends it back', async () => {
    const collection = await store.newCollection();
    await failAt(collection, 2);
    await read([lineOf(collection, { completedAt: at(1) })]);
    expect(await whyAsked('paid_after_failure', 'returned', collection)).to.equal(TOLD_BOTH);
    const later = await store.newCollection({ amount_cents: 12_600 });
    await failAt(later, 2);
    await read([lineOf(later, { completedAt: at(3) })]);
    expect(await store.discrepanciesOf(later.id)).to.deep.equal([]);
  });

  it('is not that of the file which an old answer confirms', async () => {
    const collection = await store.newCollection();
    const receipt = newReceipt();
    await failAt(collection, 2);
    await read([lineOf(collection, { transId: receipt, completedAt: at(3) })], 'file.csv');
    await tell(collection, paid(receipt), at(1), 'poll');
    expect(await whyAsked('paid_after_failure', 'returned', collection)).to.equal(TOLD_BOTH);
  });

  for (const transId of [null, newReceipt()]) {
    it(`is that of its money, for a line ${transId ? 'with' : 'without'} a receipt that confirms support`, async () => {
      const collection = await store.newCollection();
      await tell(collection, paid(transId ?? newReceipt()), null, 'support');
      await tell(collection, FAILURE, at(9));
      await read([lineOf(collection, { transId, completedAt: at(1) })]);
      const why = await whyAsked('failure_after_success', 'dismissed', collection);
      expect(why).to.equal(TOLD_BOTH);
    });
  }

  it('makes a question of a payout that a file completes after the gateway has failed it', async () => {
    const payout = await store.newPayout();
    await failAt(payout, 2);
    await read([lineOf(payout, { completedAt: at(9) })], 'file.csv');
    expect(await store.reread(payout)).to.include({ status: 'completed', next_step: null });
    expect(await store.discrepanciesOf(payout.id)).to.deep.equal(['failure_after_success']);
    for (const as of ['dismissed', 'undo'] as const) {
      expect(await whyAsked('failure_after_success', as, payout)).to.equal(TOLD_BOTH);
    }
  });

  it('is that of the first callback, if its success is told once more after a failure', async () => {
    const [wrong, collection] = [await store.newCollection(), await store.newCollection()];
    const receipt = newReceipt();
    await tell(wrong, paid(receipt), null, 'support');
    const send = async (news: object) => {
      const id = await store.keepCallback(
        collection.gateway,
        refOf(collection),
        JSON.stringify(news),
      );
      const callback = await findStoredCallback(store.database, collection.merchant_id, id);
      return processCallback(store.database, callback!, parserOf);
    };
    const { payfrom: account, amount_cents: amountCents } = collection;
    const success = succeeded({ transId: receipt, externalRef: null, account, amountCents });
    await send(success);
    await send(FAILURE);
    await store.resolve(await store.discrepancyOf('receipt_of_another', wrong), 'undo');
    await send(success);
    expect(await store.discrepanciesOf(collection.id)).to.include('paid_after_failure');
    const returned = 'SELECT FROM returns WHERE collection_id = :id';
    expect(await store.rows(returned, collection)).to.deep.equal([]);
  });

  for (const by of ['callback', 'support'] as const) {
    it(`lets no second receipt hide a failure of the first, told by ${by}, that is recorded late`, async () => {
      const collection = await store.newCollection();
      const receipt = newReceipt();
      await tell(collection, paid(receipt), by === 'support' ? null : at(0), by);
      await tell(collection, paid(receipt), at(1), 'poll');
      await tell(collection, paid(newReceipt()), at(3));
      await tell(collection, FAILURE, at(2));
      expect(await store.discrepanciesOf(collection.id)).to.have.members([
        ...['second_success', 'failure_after_success'],
      ]);
    });
  }

  for (const kind of ['collection', 'payout'] as const) {
    it(`takes no proof from a ${kind} of support whose receipt the gateway lists after its money`, async () => {
      const payment = await store.newPayment(kind);
      const receipt = newReceipt();
      await tell(payment, paid(receipt), null, 'support');
      await tell(payment, paid(null), at(2), 'poll');
      // A file proves no more than support, and takes nothing of that away.
      await read([lineOf(payment, { transId: receipt, completedAt: at(1) })], 'file.csv');
      const confirmed = () =>
        store.rows('SELECT confirmed_by FROM movements WHERE payment_id = :id', payment);
      expect(await confirmed()).to.deep.equal([{ confirmed_by: 'poll without receipt' }]);
      await read([lineOf(payment, { transId: receipt, completedAt: at(1) })]);
      expect(await confirmed()).to.deep.equal([{ confirmed_by: 'statement' }]);
    });
  }
});
