import { expect } from 'chai';
import { openDiscrepancy } from '../../src/domain/discrepancies/discrepancy.ts';
import { postJournal } from '../../src/domain/ledger/post-journal.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { REFUND_STEP } from '../../src/domain/payments/schedule.ts';
import { refundPayout } from '../../src/domain/settlement/refund-payout.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import { FAILURE, SUCCESS } from '../support/settle-stories.ts';
import { AMOUNT_CENTS, PAYOUT_FEE_CENTS, parserOf, rejection, useStore } from '../support/world.ts';

const COST_CENTS = AMOUNT_CENTS + PAYOUT_FEE_CENTS;

describe('The refund of a failed payout', () => {
  const store = useStore();
  let payout: Payout;

  beforeEach(async () => {
    payout = await store.newPayout();
    await store.learn(payout, FAILURE);
  });

  afterEach(() => store.expectSoundLedger());

  const current = () => store.reread(payout);

  /** The job of the step that the payout has now, or of another one. */
  const refund = async (stepNo?: number) =>
    refundPayout(store.database, refOf(payout), stepNo ?? (await current()).step_no, { parserOf });

  const eventsOf = () =>
    store.rows<{ type: string; body: string; created_at: Date }>(
      'SELECT type, body, created_at FROM events WHERE payment_id = :id',
      { id: payout.id },
    );

  const books = () => store.payoutBooks();

  async function expectRefunded(): Promise<void> {
    expect(await current()).to.include({ status: 'failed', next_step: null, parked_reason: null });
    expect(await books()).to.deep.equal({
      'wallet:payout': COST_CENTS,
      payouts_in_flight: 0,
      fees: 0,
      gateway_float: 0,
      suspense: 0,
    });
    expect((await eventsOf()).map(({ type }) => type)).to.deep.equal(['transaction.failed']);
  }

  it('puts back amount and fee, and tells the merchant, in one transaction', async () => {
    expect(await eventsOf()).to.deep.equal([]);
    expect(await refund()).to.equal(true);
    await expectRefunded();
    const [event] = await eventsOf();
    expect(JSON.parse(event!.body)).to.deep.include({
      notification: { type: 'payout', event: 'transaction.failed' },
    });
    expect(JSON.parse(event!.body).data).to.include({
      result_code: 1032,
      result_description: 'Cancelled',
      trans_id: '',
    });
    const written = await store.rows<{ xmin: string }>(
      `SELECT xmin FROM journals WHERE source_id = :id AND kind = 'refunded'
       UNION SELECT xmin FROM events WHERE payment_id = :id
       UNION SELECT xmin FROM payouts WHERE id = :id`,
      { id: payout.id },
    );
    expect(written, 'the transactions that wrote them').to.have.length(1);
  });

  it('waits while all is paused, and a success that a restored database learns then takes it away', async () => {
    const ref = refOf(payout);
    const { step_no } = await current();
    expect(
      await refundPayout(store.database, ref, step_no, { parserOf, allPaused: true }),
    ).to.equal(false);
    expect(await current()).to.include({ next_step: 'refund', refund_posted_at: null });
    expect((await current()).next_step_at!.getTime()).to.be.above(Date.now());
    expect(await refundPayout(store.database, ref, step_no, { parserOf })).to.equal(false);
    await store.learn(payout, SUCCESS, 'statement');
    expect(await refund()).to.equal(false);
    expect(await current()).to.include({ status: 'completed', refund_posted_at: null });
  });

  it('waits for a decision when news about another payment has asked about this one', async () => {
    const trans_id = 'SHARED1';
    await store.transaction((trx) =>
      openDiscrepancy(trx, {
        ...{ kind: 'receipt_of_another', payment: refOf(payout), trans_id },
        ...{ amount_cents: AMOUNT_CENTS, details: { told_for: 'another payout' } },
      }),
    );
    expect(await refund()).to.equal(false);
    expect(await current()).to.include({
      ...{ next_step: null, parked_reason: 'discrepancy: receipt_of_another' },
      refund_posted_at: null,
    });
    await store.resolve(await store.discrepancyOf('receipt_of_another', payout), 'dismissed');
    expect(await refund()).to.equal(true);
    await expectRefunded();
  });

  it('shows in the wallet as two lines that follow each other', async () => {
    await refund();
    const lines = await store.rows(
      `SELECT type, amount_cents, entry_no, balance_after_cents, ref_no FROM entries
       WHERE merchant_id = :id AND account = 'wallet:payout' AND amount_cents > 0
         AND type <> 'topup' ORDER BY entry_no`,
      { id: store.merchantId },
    );
    const { ref_no } = payout;
    expect(lines).to.deep.equal([
      {
        type: 'payout_refund',
        amount_cents: AMOUNT_CENTS,
        entry_no: 4,
        balance_after_cents: AMOUNT_CENTS,
        ref_no,
      },
      {
        type: 'fee_refund',
        amount_cents: PAYOUT_FEE_CENTS,
        entry_no: 5,
        balance_after_cents: COST_CENTS,
        ref_no,
      },
    ]);
  });

  it('happens once, however many try at once', async () => {
    const { step_no } = await current();
    const done = await Promise.all(Array.from({ length: 10 }, () => refund(step_no)));
    expect(done.filter((isDone) => isDone)).to.have.length(1);
    expect(await refund()).to.equal(false);
    await expectRefunded();
  });

  it('does nothing when its step is planned once more', async () => {
    await refund();
    await changeStep(store.database, refOf(payout), REFUND_STEP);
    expect(await refund()).to.equal(false);
    expect(await books()).to.include({ 'wallet:payout': COST_CENTS, payouts_in_flight: 0 });
  });

  it('is not done by a job that has been overtaken', async () => {
    const { step_no } = await current();
    expect(await refund(step_no - 1)).to.equal(false);
    expect(await refund(step_no + 1)).to.equal(false);
    await changeStep(store.database, refOf(payout), { park: 'support looks at it' });
    expect(await refund(step_no)).to.equal(false);
    expect(await refund()).to.equal(false);
    expect(await books()).to.include({ 'wallet:payout': 0, payouts_in_flight: COST_CENTS });
  });

  it('does nothing at all when its money cannot be booked', async () => {
    await store.transaction((trx) =>
      postJournal(trx, {
        merchant_id: store.merchantId,
        source_kind: 'payout',
        source_id: payout.id,
        kind: 'refunded',
        lines: [],
      }),
    );
    const before = await current();
    expect((await rejection(refund())).message).to.include('was posted before');
    expect(await current()).to.deep.equal(before);
    expect(await eventsOf()).to.deep.equal([]);
    expect(await books()).to.include({ 'wallet:payout': 0, payouts_in_flight: COST_CENTS });
  });

  it('and a success that come at once exclude each other, every time', async () => {
    store.merchant = await store.newMerchant();
    const payouts = await Promise.all(Array.from({ length: 40 }, () => store.newPayout()));
    await Promise.all(payouts.map((each) => store.learn(each, FAILURE)));
    const outcomes = await Promise.all(
      payouts.map(async (each, index) => {
        const { step_no } = await store.reread(each);
        const settle = () => store.learn(each, SUCCESS);
        const giveBack = () => refundPayout(store.database, refOf(each), step_no, { parserOf });
        // Whoever asks first has some advantage; each of them has it half of the time.
        const both = index % 2 === 0 ? [settle(), giveBack()] : [giveBack(), settle()];
        return (await Promise.all(both)).map(String).sort().join();
      }),
    );
    const refunded = outcomes.filter((outcome) => outcome === 'discrepancy,true').length;
    const completed = outcomes.filter((outcome) => outcome === 'completed,false').length;
    expect(refunded + completed, outcomes.join(' ')).to.equal(payouts.length);
    expect(await books()).to.deep.equal({
      'wallet:payout': refunded * COST_CENTS,
      payouts_in_flight: 0,
      fees: completed * PAYOUT_FEE_CENTS,
      gateway_float: payouts.length * AMOUNT_CENTS,
      suspense: refunded === 0 ? 0 : -refunded * AMOUNT_CENTS,
    });
    const told = (type: string) =>
      store.countOf(
        `events e JOIN payouts p ON p.id = e.payment_id
         WHERE e.merchant_id = :id AND e.type = :type
           AND (p.refund_posted_at IS NOT NULL) = (e.type = 'transaction.failed')`,
        { id: store.merchantId, type },
      );
    expect(await told('transaction.completed')).to.equal(completed);
    expect(await told('transaction.failed')).to.equal(refunded);
  });
});
