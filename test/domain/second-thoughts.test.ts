import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { auditedFor } from '../../src/domain/audit/audit.ts';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { doubtPayment } from '../../src/domain/support/doubt-payment.ts';
import { DAY_MS } from '../../src/time.ts';
import { PAYMENT_KINDS } from '../support/payment-kinds.ts';
import { SO_FAR } from '../support/so-far.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import { failed, newPayout, parserOf, succeeded, UNKNOWN, useStore } from '../support/world.ts';

const FAILURE = failed({ externalRef: null });
const OTHER_ACCOUNT = '+254799000111';

/** The money of these goes out. */
const OUTGOING = ['payout', 'reversal', 'return'] as const;

describe('A word about money that another word contradicts', () => {
  const store = useStore();
  let receipt: string;

  beforeEach(() => {
    receipt = newReceipt();
  });

  afterEach(() => store.expectRightBooks());

  /** News as it is told, with receipts as they are. */
  const tell = (
    payment: AnyPayment,
    news: Verdict,
    { cause = 'callback', heardAt = null as Date | null } = {},
  ) =>
    store.transaction(async (trx) => {
      const locked = await lockPayment(trx, refOf(payment));
      return settle(trx, locked!, news, { cause, heardAt, parserOf });
    });

  const doubtAndUndo = async (payment: AnyPayment) => {
    const actor = { actor: 'colleague', action: 'payment.doubt', reason: 'The wrong row' };
    await doubtPayment(auditedFor(store.database, actor), refOf(payment), actor);
    await store.resolve(await store.discrepancyOf('doubted', payment), 'undo');
  };

  async function byHand<P extends AnyPayment>(payment: P): Promise<P> {
    await store.makeOverdue(payment);
    await store.resolve(await store.discrepancyOf('overdue', payment), 'completed', receipt);
    return store.reread(payment);
  }

  const openOf = async (payment: AnyPayment) =>
    (await casesOf(store.database, refOf(payment)))
      .filter((each) => each.resolved_at === null)
      .map(({ kind }) => kind);

  describe('that its money came back', () => {
    const toAnother = () => succeeded({ transId: receipt, account: OTHER_ACCOUNT });

    for (const kind of OUTGOING) {
      it(`gives way, for a ${kind}, to the gateway’s answer once somebody has doubted it`, async () => {
        const payment = await store.newPayment(kind);
        await tell(payment, toAnother());
        await store.resolve(await store.discrepancyOf('other_account', payment), 'returned');
        await doubtAndUndo(payment);
        expect(await openOf(payment)).to.include('taken_after_failure');
        expect(await tell(payment, toAnother(), { cause: 'poll' })).to.equal('discrepancy');
        expect(await openOf(payment)).to.include('other_account');
      });
    }

    for (const kind of OUTGOING) {
      it(`gives way, for what a completed ${kind} sent besides, once somebody has doubted it`, async () => {
        const payment = await store.newPayment(kind);
        await tell(payment, succeeded({ transId: newReceipt() }));
        await tell(payment, succeeded({ transId: receipt }));
        await store.resolve(await store.discrepancyOf('second_success', payment), 'returned');
        const before = await store.reread(payment);
        await doubtAndUndo(payment);
        expect(await store.reread(payment)).to.deep.equal(before);
        expect(await openOf(payment)).to.deep.equal(['second_success']);
        expect(await tell(payment, succeeded({ transId: receipt }))).to.equal('repeat');
        await store.resolve(await store.discrepancyOf('second_success', payment), 'failed');
        expect(await openOf(payment)).to.deep.equal([]);
      });
    }

    it('holds no refund up any more that was still to come', async () => {
      const payout = await store.newPayout();
      await tell(payout, toAnother());
      await store.resolve(await store.discrepancyOf('other_account', payout), 'returned');
      await doubtAndUndo(payout);
      await tell(payout, toAnother(), { cause: 'poll' });
      expect(await store.reread(payout)).to.include({
        parked_reason: 'discrepancy: other_account',
        refund_posted_at: null,
      });
    });

    it('can be doubted too after a failure that the gateway had told', async () => {
      const payout = await store.newPayout();
      await tell(payout, FAILURE);
      await store.refund(payout);
      await tell(payout, succeeded({ transId: receipt }));
      await store.resolve(await store.discrepancyOf('paid_after_refund', payout), 'returned');
      await doubtAndUndo(payout);
      await tell(payout, succeeded({ transId: receipt }), { cause: 'poll' });
      expect(await openOf(payout)).to.deep.equal(['paid_after_refund']);
    });
  });

  it('that its receipt is in the right place is asked again when the receipt is taken from there', async () => {
    const [holder, paid] = [
      await store.newPayout(),
      await newPayout(store.database, store.merchant),
    ];
    await byHand(holder);
    await tell(paid, FAILURE);
    await store.refund(paid);
    await tell(paid, succeeded({ transId: receipt }));
    await store.resolve(await store.discrepancyOf('receipt_of_another', paid), 'dismissed');
    await store.resolve(await store.discrepancyOf('receipt_of_another', holder), 'undo');
    expect(await openOf(paid)).to.deep.equal(['taken_after_failure']);
    expect(await store.reread(paid)).to.include({ next_step: 'poll' });
  });

  it('that a payment has not the receipt is asked again when the other one has not got it either', async () => {
    const [other, holder] = [
      await store.newPayout(),
      await newPayout(store.database, store.merchant),
    ];
    await tell(other, succeeded({ transId: null }), { cause: 'poll' });
    await tell(holder, succeeded({ transId: receipt }));
    await tell(other, succeeded({ transId: receipt }));
    await store.resolve(await store.discrepancyOf('receipt_of_another', other), 'undo');
    expect(await store.reread(other)).to.include({ next_step: 'refund' });
    await store.resolve(await store.discrepancyOf('receipt_of_another', holder), 'undo');
    expect(await openOf(other)).to.deep.equal(['taken_after_failure']);
    expect(await store.reread(other)).to.include({ next_step: 'poll' });
  });

  it('that somebody has dismissed holds no refund up when it is told again without being a question', async () => {
    await tell(await store.newPayout(), succeeded({ transId: receipt }));
    const payout = await newPayout(store.database, store.merchant);
    await tell(payout, FAILURE);
    const line = lineOf(payout, { transId: receipt });
    const compare = () => runStatement(store.database, [line], SO_FAR, { covers: [] });
    await compare();
    expect(await store.reread(payout)).to.include({
      parked_reason: 'discrepancy: receipt_of_another',
    });
    await store.resolve(await store.discrepancyOf('receipt_of_another', payout), 'dismissed');
    await compare();
    expect(await openOf(payout)).to.deep.equal([]);
    expect(await store.reread(payout)).to.include({ next_step: 'refund', parked_reason: null });
  });

  it('that unknown money is explained is asked again when what explained it is taken back', async () => {
    const collection = await store.newCollection();
    const line = lineOf(collection, { transId: receipt, reference: null, account: null });
    await runStatement(store.database, [line], SO_FAR, { covers: [] });
    const unknown = async () =>
      store.rows<{ id: string; resolution: string | null }>(
        `SELECT id, resolution FROM discrepancies
         WHERE kind = 'unknown_movement' AND trans_id = :receipt`,
        { receipt },
      );
    await store.resolve((await unknown())[0]!, 'dismissed');
    await doubtAndUndo(await byHand(collection));
    expect((await unknown()).map(({ resolution }) => resolution)).to.deep.equal([null]);
  });

  // Also when the day ends during the test.
  const TODAY = { from: day(-1), to: day(1) };

  it('that a line of two payments alike needs nothing done hides neither of them any more', async () => {
    const payments = [await store.newCollection(), await store.newCollection()];
    for (const payment of payments) {
      await store.makeOverdue(payment);
      await store.resolve(await store.discrepancyOf('overdue', payment), 'completed');
    }
    const said = { transId: receipt, reference: null, completedAt: new Date() };
    const line = lineOf(payments[0]!, said);
    const compare = () => runStatement(store.database, [line], TODAY, { covers: ['collection'] });
    expect((await compare()).missing).to.deep.equal([]);
    const [unknown] = await store.rows<{ id: string }>(
      `SELECT id FROM discrepancies WHERE kind = 'unknown_movement' AND trans_id = :receipt`,
      { receipt },
    );
    await store.resolve(unknown!, 'dismissed');
    const { missing } = await compare();
    expect(missing.map(({ payment_id }) => payment_id)).to.have.members(
      payments.map(({ id }) => id),
    );
  });

  describe('that its money did not move', () => {
    async function undone<P extends AnyPayment>(payment: P): Promise<P> {
      await tell(payment, succeeded({ transId: receipt }));
      await tell(payment, FAILURE);
      await store.resolve(await store.discrepancyOf('failure_after_success', payment), 'undo');
      return store.reread(payment);
    }

    /** Its request went out, and no answer came. */
    async function unanswered() {
      const collection = await store.newCollection();
      const work = store.workOn(collection);
      await work.answer(await work.claim(), UNKNOWN);
      return collection;
    }

    it('gives its line without a reference to no other payment of the phone and amount', async () => {
      const wrong = await undone(await unanswered());
      await store.resolve(await store.discrepancyOf('undone_money', wrong), 'undo');
      const other = await unanswered();
      const line = lineOf(other, { transId: receipt, reference: null, completedAt: new Date() });
      const { lines } = await runStatement(store.database, [line], TODAY);
      expect(lines).to.include({ settled: 0, contradicts: 1 });
      expect(await store.reread(other)).to.include({ status: 'pending' });
    });
  });

  describe('of the gateway', () => {
    const [EARLIER, LATER] = [new Date(Date.now() - 60_000), new Date(Date.now() - 1_000)];

    for (const kind of OUTGOING) {
      it(`that a ${kind} succeeded, asked for before it told of the failure, is a question`, async () => {
        const payment = await store.newPayment(kind);
        await tell(payment, FAILURE, { heardAt: LATER });
        const answer = succeeded({ transId: receipt, account: null });
        await tell(payment, answer, { cause: 'poll', heardAt: EARLIER });
        expect(await store.reread(payment)).to.include({ status: 'completed' });
        expect(await openOf(payment)).to.deep.equal(['failure_after_success']);
      });
    }

    for (const kind of PAYMENT_KINDS) {
      it(`that a ${kind} succeeded counts, asked for after a failure that is recorded only then`, async () => {
        const payment = await store.newPayment(kind);
        const body = JSON.stringify(FAILURE);
        const id = await store.keepCallback('simulator', refOf(payment), body);
        await sleep(5);
        const askedAt = new Date();
        await sleep(5);
        const stored = await findStoredCallback(store.database, payment.merchant_id, id);
        await processCallback(store.database, stored!, parserOf);
        expect(await store.reread(payment)).to.include({ status: 'failed' });
        const answer = succeeded({ transId: receipt, account: null });
        await tell(payment, answer, { cause: 'poll', heardAt: askedAt });
        expect(await openOf(payment)).to.deep.equal([]);
        if (kind === 'collection') expect(await store.returnsOf()).to.have.length(1);
      });
    }

    it('that a collection succeeded, asked for before it told of the failure, sends nothing back', async () => {
      const collection = await store.newCollection();
      await tell(collection, FAILURE, { heardAt: LATER });
      const answer = succeeded({ transId: receipt, account: null });
      await tell(collection, answer, { cause: 'poll', heardAt: EARLIER });
      expect(await openOf(collection)).to.deep.equal(['paid_after_failure']);
      expect(await store.returnsOf()).to.have.length(0);
    });

    for (const kind of ['payout', 'reversal'] as const) {
      it(`that a ${kind} came back is a question, though a statement told later of the success before`, async () => {
        const payment = await store.newPayment(kind);
        const completedAt = new Date(Date.now() - 3_600_000);
        const line = lineOf(payment, { transId: receipt, completedAt });
        await runStatement(store.database, [line], SO_FAR, { covers: [] });
        expect(await tell(payment, FAILURE, { heardAt: EARLIER })).to.equal('discrepancy');
        expect(await openOf(payment)).to.deep.equal(['failure_after_success']);
      });
    }
  });
});

function day(offset: number): string {
  return new Date(Date.now() + offset * DAY_MS).toISOString().slice(0, 10);
}
