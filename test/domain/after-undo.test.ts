import { expect } from 'chai';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import type { Collection, Reversal } from '../../src/domain/payments/kinds.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { listSuspense } from '../../src/domain/support/list-suspense.ts';
import { SO_FAR } from '../support/so-far.ts';
import { lineOf, runStatement } from '../support/statements.ts';
import { failed, parserOf, receiptOf, rejection, succeeded, useStore } from '../support/world.ts';

const FAILURE = failed({ externalRef: null });

describe('A payment that support has undone', () => {
  const store = useStore();

  afterEach(() => store.expectRightBooks());

  /** News as it is told, with receipts as they are. */
  const tell = (payment: AnyPayment, news: Verdict) =>
    store.transaction(async (trx) => {
      const locked = await lockPayment(trx, refOf(payment));
      return settle(trx, locked!, news, { cause: 'callback', parserOf });
    });

  const undo = async (payment: AnyPayment) => {
    await store.hear(payment, FAILURE);
    return store.resolve(await store.discrepancyOf('failure_after_success', payment), 'undo');
  };

  /** Completed by hand without a receipt, and undone. */
  async function undoneByHand<P extends AnyPayment>(payment: P): Promise<P> {
    await store.makeOverdue(payment);
    await store.resolve(await store.discrepancyOf('overdue', payment), 'completed');
    await undo(payment);
    return payment;
  }

  it('keeps money in suspense that comes all the same, for a decision', async () => {
    const collection = await undoneByHand(await store.newCollection());
    expect(await tell(collection, succeeded({ transId: 'REAL-1' }))).to.equal('discrepancy');
    expect(await store.booksOf()).to.deep.equal({ gateway_float: -10_000, suspense: 10_000 });
    await store.resolve(await store.discrepancyOf('second_success', collection), 'returned');
    expect(await store.returnsOf()).to.have.length(1);
  });

  it('is not refunded when a stored callback tells of its success', async () => {
    const payout = await undoneByHand(await store.newPayout());
    const body = JSON.stringify(succeeded({ transId: 'REAL-2' }));
    await store.keepCallback('simulator', refOf(payout), body);
    await store.refund(payout);
    expect(await store.reread(payout)).to.deep.include({
      refund_posted_at: null,
      parked_reason: 'discrepancy: second_success',
    });
    await store.resolve(await store.discrepancyOf('second_success', payout), 'returned');
    await store.refund(payout);
    expect(await store.booksOf()).to.deep.equal({ bank: -10_250, 'wallet:payout': 10_250 });
  });

  it('is asked about again when the gateway repeats the success with its receipt', async () => {
    const payout = await store.newPayout();
    await store.hear(payout, succeeded());
    await undo(payout);
    await store.hear(payout, succeeded());
    await store.refund(payout);
    expect(await store.reread(payout)).to.include({ refund_posted_at: null });
    expect(await store.discrepanciesOf(payout.id)).to.include('undone_money');
  });

  it('waits in a state of its own until its money has come back', async () => {
    const payout = await store.newPayout();
    await store.hear(payout, succeeded());
    await undo(payout);
    const { merchant_id } = store.merchant;
    const [money] = await listSuspense(store.database, {
      merchant_id,
      after: undefined,
      limit: 10,
    });
    expect(money).to.deep.include({ booked: 'undoing', payment_id: payout.id });
    expect(money!.discrepancy).to.include({ kind: 'undone_money' });
  });

  it('is asked about once more when a statement is the first to list money that was said to be back', async () => {
    const payout = await store.newPayout();
    await store.hear(payout, succeeded());
    await undo(payout);
    const line = lineOf(payout, { transId: receiptOf(payout) });
    const run = async () => (await runStatement(store.database, [line], SO_FAR)).lines;
    const isBack = async () =>
      store.resolve(await store.discrepancyOf('undone_money', payout), 'returned');
    await isBack();
    expect(await run(), 'after it was said to be back').to.include({ contradicts: 1 });
    expect(await store.discrepanciesOf(payout.id)).to.include('undone_money');
    await isBack();
    expect(await run(), 'after both were decided').to.include({ contradicts: 0, matched: 1 });
  });

  it('is asked about no more when support has decided with the line before it', async () => {
    const payout = await store.newPayout();
    await store.hear(payout, succeeded());
    await undo(payout);
    const line = lineOf(payout, { transId: receiptOf(payout) });
    const run = async () => (await runStatement(store.database, [line], SO_FAR)).lines;
    expect(await run(), 'while it waits').to.include({ contradicts: 1 });
    await store.resolve(await store.discrepancyOf('undone_money', payout), 'returned');
    expect(await run(), 'after it was said to be back').to.include({ contradicts: 0, matched: 1 });
  });

  it('is not refunded while other money of it is undecided', async () => {
    const payout = await store.newPayout();
    await store.hear(payout, succeeded(), succeeded({ transId: 'RCPT2' }));
    await undo(payout);
    expect(await store.reread(payout)).to.include({ next_step: null });
    await store.resolve(await store.discrepancyOf('second_success', payout), 'failed');
    expect(await store.reread(payout)).to.include({ next_step: 'refund' });
  });

  it('takes no reversal that arrives after its failure', async () => {
    const reversal: Reversal = await store.newReversal();
    await store.hear(reversal, FAILURE);
    const [collection] = await store.rows<Collection>(
      `SELECT *, 'collection' AS kind FROM collections WHERE id = :collection_id`,
      reversal,
    );
    await undo(collection!);
    await store.hear(reversal, succeeded({ transId: 'BACK1' }));
    expect(await store.discrepanciesOf(reversal.id)).to.deep.equal(['second_reversal']);
    const late = await store.discrepancyOf('second_reversal', reversal);
    expect((await rejection(store.resolve(late, 'completed'))).message).to.include('was undone');
    // What came in and what went out both wait in suspense.
    expect(await store.booksOf()).to.deep.equal({});
  });

  it('must be the one that the missing movement has completed', async () => {
    const collection = await store.newCompletedCollection();
    await store.hear(collection, succeeded({ transId: 'RCPT2' }));
    const line = lineOf(collection, { transId: receiptOf(collection) });
    await runStatement(store.database, [line], SO_FAR);
    const found = await casesOf(store.database, refOf(collection));
    const missing = found.find(({ kind }) => kind === 'missing_at_gateway');
    expect(missing).to.deep.include({ trans_id: receiptOf(collection, 'RCPT2') });
    expect(missing!.allowed).to.deep.equal(['dismissed']);
    expect(await store.eventsOf(collection)).to.deep.equal(['completed']);
  });
});
