import { expect } from 'chai';
import { type Database, inTransaction, rows } from '../../src/connections/database.ts';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import type { Collection, Reversal } from '../../src/domain/payments/kinds.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { keepCallback } from '../support/callbacks.ts';
import {
  booksOf,
  discrepancyOf,
  eventsOf,
  hear,
  makeOverdue,
  refund,
  resolve,
  returnsOf,
  type Scene,
} from '../support/discrepancies/scene.ts';
import { expectRightBooks } from '../support/ledger-check.ts';
import { newCompletedCollection, newPayout, newReversal } from '../support/payment-kinds.ts';
import {
  createTestStore,
  discrepanciesOf,
  failed,
  newCollection,
  parserOf,
  receiptOf,
  rejection,
  reread,
  succeeded,
  type TestStore,
} from '../support/payments.ts';
import { lineOf, runStatement } from '../support/statements.ts';

const NOVEMBER = { from: '2026-11-01', to: '2026-11-30' };
const FAILURE = failed({ externalRef: null });

describe('A payment that support has undone', () => {
  let store: TestStore;
  let database: Database;
  let scene: Scene;

  before(async () => {
    store = await createTestStore();
    database = store.database;
  });

  after(() => store.drop());

  beforeEach(async () => {
    scene = { database, merchant: await store.newMerchant() };
  });

  afterEach(() => expectRightBooks(database, scene.merchant.merchant_id));

  /** News as it is told, with receipts as they are. */
  const tell = (payment: AnyPayment, news: Verdict) =>
    inTransaction(database, async (trx) => {
      const locked = await lockPayment(trx, refOf(payment));
      return settle(trx, locked!, news, { cause: 'callback', parserOf });
    });

  const undo = async (payment: AnyPayment) => {
    await hear(scene, payment, FAILURE);
    return resolve(scene, await discrepancyOf(scene, 'failure_after_success', payment), 'undo');
  };

  /** Completed by hand without a receipt, and undone. */
  async function undoneByHand<P extends AnyPayment>(payment: P): Promise<P> {
    await makeOverdue(scene, payment);
    await resolve(scene, await discrepancyOf(scene, 'overdue', payment), 'completed');
    await undo(payment);
    return payment;
  }

  it('keeps money in suspense that comes all the same, for a decision', async () => {
    const collection = await undoneByHand(await newCollection(database, scene.merchant));
    expect(await tell(collection, succeeded({ transId: 'REAL-1' }))).to.equal('discrepancy');
    expect(await booksOf(scene)).to.deep.equal({ gateway_float: -10_000, suspense: 10_000 });
    await resolve(scene, await discrepancyOf(scene, 'second_success', collection), 'returned');
    expect(await returnsOf(scene)).to.have.length(1);
  });

  it('is not refunded when a stored callback tells of its success', async () => {
    const payout = await undoneByHand(await newPayout(database, scene.merchant));
    const body = JSON.stringify(succeeded({ transId: 'REAL-2' }));
    await keepCallback(database, 'simulator', refOf(payout), body);
    await refund(scene, payout);
    expect(await reread(database, payout)).to.deep.include({
      refund_posted_at: null,
      parked_reason: 'discrepancy: second_success',
    });
    await resolve(scene, await discrepancyOf(scene, 'second_success', payout), 'returned');
    await refund(scene, payout);
    expect(await booksOf(scene)).to.deep.equal({ bank: -10_250, 'wallet:payout': 10_250 });
  });

  it('is asked about again when the gateway repeats the success with its receipt', async () => {
    const payout = await newPayout(database, scene.merchant);
    await hear(scene, payout, succeeded());
    await undo(payout);
    await hear(scene, payout, succeeded());
    await refund(scene, payout);
    expect(await reread(database, payout)).to.include({ refund_posted_at: null });
    expect(await discrepanciesOf(database, payout.id)).to.include('second_success');
  });

  it('is no news in a statement that lists the money that has come back since', async () => {
    const payout = await newPayout(database, scene.merchant);
    await hear(scene, payout, succeeded());
    await undo(payout);
    const line = lineOf(payout, { transId: receiptOf(payout) });
    const { lines } = await runStatement(database, [line], NOVEMBER);
    expect(lines).to.include({ matched: 1, contradicts: 0 });
    expect(await discrepanciesOf(database, payout.id)).to.not.include('second_success');
  });

  it('is not refunded while other money of it is undecided', async () => {
    const payout = await newPayout(database, scene.merchant);
    await hear(scene, payout, succeeded(), succeeded({ transId: 'RCPT2' }));
    await undo(payout);
    expect(await reread(database, payout)).to.include({ next_step: null });
    await resolve(scene, await discrepancyOf(scene, 'second_success', payout), 'failed');
    expect(await reread(database, payout)).to.include({ next_step: 'refund' });
  });

  it('takes no reversal that arrives after its failure', async () => {
    const reversal: Reversal = await newReversal(database, scene.merchant);
    await hear(scene, reversal, FAILURE);
    const [collection] = await rows<Collection>(
      database,
      `SELECT *, 'collection' AS kind FROM collections WHERE id = :collection_id`,
      reversal,
    );
    await undo(collection!);
    await hear(scene, reversal, succeeded({ transId: 'BACK1' }));
    expect(await discrepanciesOf(database, reversal.id)).to.deep.equal(['second_reversal']);
    const late = await discrepancyOf(scene, 'second_reversal', reversal);
    expect((await rejection(resolve(scene, late, 'completed'))).message).to.include('was undone');
    expect(await booksOf(scene)).to.deep.equal({ gateway_float: 10_000, suspense: -10_000 });
  });

  it('must be the one that the missing movement has completed', async () => {
    const collection = await newCompletedCollection(database, scene.merchant);
    await hear(scene, collection, succeeded({ transId: 'RCPT2' }));
    const line = lineOf(collection, { transId: receiptOf(collection) });
    await runStatement(database, [line], NOVEMBER);
    const found = await casesOf(database, refOf(collection));
    const missing = found.find(({ kind }) => kind === 'missing_at_gateway');
    expect(missing).to.deep.include({ trans_id: receiptOf(collection, 'RCPT2') });
    expect(missing!.allowed).to.deep.equal(['dismissed']);
    expect(await eventsOf(scene, collection)).to.deep.equal(['completed']);
  });
});
