import { expect } from 'chai';
import { auditedFor } from '../../src/domain/audit/audit.ts';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { doubtPayment } from '../../src/domain/support/doubt-payment.ts';
import { SO_FAR } from '../support/so-far.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import {
  failed,
  newPayout,
  parserOf,
  rejection,
  reversalRequest,
  succeeded,
  useStore,
} from '../support/world.ts';

const FAILURE = failed({ externalRef: null });

describe('What somebody has taken back', () => {
  const store = useStore();
  let receipt: string;

  beforeEach(() => {
    receipt = newReceipt();
  });

  afterEach(() => store.expectRightBooks());

  /** News as it is told, with receipts as they are. */
  const tell = (payment: AnyPayment, news: Verdict, cause = 'poll') =>
    store.transaction(async (trx) => {
      const locked = await lockPayment(trx, refOf(payment));
      return settle(trx, locked!, news, { cause, parserOf });
    });

  async function byHand<P extends AnyPayment>(payment: P, transId = receipt): Promise<P> {
    await store.makeOverdue(payment);
    await store.resolve(await store.discrepancyOf('overdue', payment), 'completed', transId);
    return store.reread(payment);
  }

  const openOf = async (payment: AnyPayment) =>
    (await casesOf(store.database, refOf(payment))).filter((each) => each.resolved_at === null);

  it('is no success of the payment: the gateway’s failure then fails it, with its refund', async () => {
    const payout = await store.newPayout();
    const line = lineOf(payout, { amountCents: 5_000 });
    await runStatement(store.database, [line], SO_FAR, { covers: [] }, 'file.csv');
    await store.resolve(await store.discrepancyOf('other_amount', payout), 'undo');
    expect(await tell(payout, FAILURE)).to.equal('failed');
    await store.refund(payout);
    expect((await store.reread(payout)).refund_posted_at).to.be.a('date');
    expect(await store.discrepanciesOf(payout.id)).to.deep.equal(['other_amount (resolved)']);
  });

  /** A failed payout that was paid under a receipt that support has given to another payout. */
  async function claimed() {
    const [holder, paid] = [
      await store.newPayout(),
      await newPayout(store.database, store.merchant),
    ];
    await byHand(holder);
    await tell(paid, FAILURE);
    expect(await tell(paid, succeeded({ transId: receipt }), 'callback')).to.equal('discrepancy');
    expect(await store.reread(paid)).to.include({
      parked_reason: 'discrepancy: receipt_of_another',
    });
    return { holder, paid };
  }

  const expectAsked = async (paid: AnyPayment) => {
    const now = await store.reread(paid);
    expect(now).to.include({ status: 'failed', next_step: 'poll', refund_posted_at: null });
    expect(await store.discrepanciesOf(paid.id)).to.include('taken_after_failure');
  };

  const doubt = async (payment: AnyPayment) => {
    const actor = { actor: 'colleague', action: 'payment.doubt', reason: 'The wrong row' };
    await doubtPayment(auditedFor(store.database, actor), refOf(payment), actor);
  };

  it('is refunded only when nothing else is open about its money', async () => {
    await tell(await store.newPayout(), succeeded({ transId: receipt }), 'callback');
    const payout = await byHand(await newPayout(store.database, store.merchant), newReceipt());
    await tell(payout, succeeded({ transId: receipt }), 'callback');
    await doubt(payout);
    await store.resolve(await store.discrepancyOf('doubted', payout), 'undo');
    const parked_reason = 'discrepancy: receipt_of_another';
    await tell(payout, FAILURE);
    expect(await store.reread(payout)).to.include({ status: 'failed', parked_reason });
    await store.resolve(await store.discrepancyOf('receipt_of_another', payout), 'dismissed');
    expect(await store.reread(payout)).to.include({ next_step: 'refund' });
  });

  it('is not given back at once, after a refund that was taken again, while something is open', async () => {
    await tell(await store.newPayout(), succeeded({ transId: receipt }), 'callback');
    const payout = await newPayout(store.database, store.merchant);
    await tell(payout, FAILURE);
    await store.refund(payout);
    await tell(payout, succeeded({ transId: newReceipt() }), 'callback');
    await store.resolve(await store.discrepancyOf('paid_after_refund', payout), 'completed');
    await tell(payout, succeeded({ transId: receipt }), 'callback');
    await tell(payout, FAILURE);
    const failure = await store.discrepancyOf('failure_after_success', payout);
    const refusal = await rejection(store.resolve(failure, 'undo'));
    expect(refusal.message).to.include('resolve receipt_of_another first');
    await store.resolve(await store.discrepancyOf('receipt_of_another', payout), 'dismissed');
    await store.resolve(failure, 'undo');
    expect((await store.booksOf())['wallet:payout']).to.equal(10_250);
  });

  it('frees its receipt by a doubt: who claims it is asked about again, and not refunded', async () => {
    const { holder, paid } = await claimed();
    await doubt(holder);
    await store.resolve(await store.discrepancyOf('doubted', holder), 'undo');
    await expectAsked(paid);
  });

  it('frees its receipt by `same`: who claims it is asked about again, and not refunded', async () => {
    const { holder, paid } = await claimed();
    await tell(holder, succeeded({ transId: newReceipt() }), 'callback');
    await store.resolve(await store.discrepancyOf('second_success', holder), 'same');
    await expectAsked(paid);
  });

  it('frees its receipt once it has come back: who claims it is asked about again', async () => {
    const [holder, paid] = [
      await store.newPayout(),
      await newPayout(store.database, store.merchant),
    ];
    await tell(holder, succeeded({ transId: receipt }), 'callback');
    await tell(holder, FAILURE);
    await store.resolve(await store.discrepancyOf('failure_after_success', holder), 'undo');
    await tell(paid, FAILURE);
    await tell(paid, succeeded({ transId: receipt }), 'callback');
    await store.resolve(await store.discrepancyOf('undone_money', holder), 'returned');
    await expectAsked(paid);
  });

  it('leaves the books when only support has told of it, also if a file has repeated that', async () => {
    const collection = await byHand(await store.newCollection());
    const line = lineOf(collection, { transId: receipt });
    await runStatement(store.database, [line], SO_FAR, { covers: [] }, 'file.csv');
    await doubt(collection);
    await store.resolve(await store.discrepancyOf('doubted', collection), 'undo');
    expect(await store.booksOf()).to.deep.equal({});
  });

  it('leaves a second receipt to the completed payment that claims it, as money to decide about', async () => {
    const [holder, other] = [
      await store.newPayout(),
      await newPayout(store.database, store.merchant),
    ];
    for (const payout of [holder, other]) {
      await tell(payout, succeeded({ transId: newReceipt() }), 'callback');
      const second = succeeded({ transId: receipt, amountCents: 7_000 });
      expect(await tell(payout, second, 'callback')).to.equal('discrepancy');
    }
    await store.resolve(await store.discrepancyOf('second_success', holder), 'undo');
    expect((await openOf(holder)).map(({ kind }) => kind)).to.deep.equal([]);
    expect((await openOf(other)).map(({ kind }) => kind)).to.deep.equal(['second_success']);
    expect(await store.accountBalance('suspense')).to.equal(-7_000);
  });

  it('is not refunded by the gateway’s failure while it is open whose receipt it has', async () => {
    await byHand(await store.newPayout());
    const paid = await newPayout(store.database, store.merchant);
    expect(await tell(paid, succeeded({ transId: receipt }), 'callback')).to.equal('discrepancy');
    expect(await tell(paid, FAILURE)).to.equal('failed');
    expect(await store.reread(paid)).to.include({
      next_step: null,
      parked_reason: 'discrepancy: receipt_of_another',
    });
    const question = (await openOf(paid)).find(({ kind }) => kind === 'receipt_of_another')!;
    await store.resolve(question, 'dismissed');
    expect(await store.reread(paid)).to.include({ next_step: 'refund' });
  });

  it('is not reversed a second time while the gateway says something about the first', async () => {
    const reversal = await store.newReversal();
    await tell(await store.newReversal(), succeeded({ transId: receipt }), 'callback');
    await byHand(reversal, newReceipt());
    await tell(reversal, succeeded({ transId: receipt }), 'callback');
    await doubt(reversal);
    await store.resolve(await store.discrepancyOf('doubted', reversal), 'undo');
    const again = async () => {
      const { merchant_id, collection_id: id } = reversal;
      const collection = await store.reread({ kind: 'collection', merchant_id, id } as Collection);
      return createReversal(store.database, reversalRequest(collection));
    };
    expect(await rejection(again())).to.include({ code: 'reversal_in_progress' });
    await tell(reversal, FAILURE);
    expect(await rejection(again())).to.include({ code: 'reversal_in_progress' });
    await store.resolve(await store.discrepancyOf('receipt_of_another', reversal), 'dismissed');
    expect(await again()).to.include({ status: 'pending' });
  });

  it('is not paid from the bank while the gateway says that the customer got it', async () => {
    await tell(await store.newReturn(), succeeded({ transId: receipt }), 'callback');
    const payment = await byHand(await store.newReturn(), newReceipt());
    await tell(payment, succeeded({ transId: receipt }), 'callback');
    await doubt(payment);
    await store.resolve(await store.discrepancyOf('doubted', payment), 'undo');
    const unpaid = await store.discrepancyOf('return_failed', payment);
    const refusal = await rejection(store.resolve(unpaid, 'returned'));
    expect(refusal.message).to.include('resolve its receipt_of_another first');
  });

  it('a receipt by hand stays unproven by an answer without one, and gives way to the right one', async () => {
    const payout = await byHand(await store.newPayout());
    await tell(payout, succeeded({ transId: null }));
    await tell(payout, succeeded({ transId: newReceipt() }), 'callback');
    const [question] = await openOf(payout);
    expect(question).to.deep.include({ kind: 'second_success' });
    expect(question!.allowed).to.include('same');
  });

  it('a receipt by hand is the gateway’s own once the gateway has told it', async () => {
    const payout = await byHand(await store.newPayout());
    await tell(payout, succeeded({ transId: null }));
    await tell(payout, succeeded({ transId: receipt }), 'callback');
    await tell(payout, succeeded({ transId: newReceipt() }), 'callback');
    const [question] = await openOf(payout);
    expect(question!.allowed).to.not.include('same');
  });

  it('a collection that was never paid takes its reversal with it, if that was never sent', async () => {
    const collection = await byHand(await store.newCollection());
    const other = await store.newCollection();
    await tell(other, succeeded({ transId: null }));
    await tell(other, succeeded({ transId: receipt }), 'callback');
    const reversal = await createReversal(store.database, reversalRequest(collection));
    const question = (await openOf(collection)).find(({ kind }) => kind === 'receipt_of_another')!;
    await store.resolve(question, 'undo');
    expect(await store.reread(reversal)).to.include({ status: 'failed' });
    expect(await store.reread(collection)).to.include({ status: 'failed' });
  });
});
