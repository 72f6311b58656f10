import { expect } from 'chai';
import fc from 'fast-check';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { refundPayout } from '../../src/domain/settlement/refund-payout.ts';
import { recordQuery } from '../../src/domain/submission/polling.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import { expectOutcome } from '../support/settle-outcomes.ts';
import {
  FAILURE,
  OTHER_AMOUNT_CENTS,
  SECOND,
  STRANGER,
  SUCCESS,
} from '../support/settle-stories.ts';
import {
  AMOUNT_CENTS,
  asking,
  newsOf,
  PAYOUT_FEE_CENTS,
  parserOf,
  RECORDING,
  receiptOf,
  SAFE,
  succeeded,
  useStore,
} from '../support/world.ts';

const COST_CENTS = AMOUNT_CENTS + PAYOUT_FEE_CENTS;

describe('News of a payout', () => {
  const store = useStore();
  let payout: Payout;

  beforeEach(async () => {
    payout = await store.newPayout();
  });

  afterEach(() => store.expectRightBooks());

  const current = () => store.reread(payout);

  /** The job of the step that the payout has now, or of another one. */
  const refund = async (stepNo?: number) =>
    refundPayout(store.database, refOf(payout), stepNo ?? (await current()).step_no, { parserOf });

  const hear = (news: Verdict | 'refund') =>
    news === 'refund' ? refund() : store.learn(payout, news);

  const eventsOf = () =>
    store.rows<{ type: string; body: string; created_at: Date }>(
      'SELECT type, body, created_at FROM events WHERE payment_id = :id',
      { id: payout.id },
    );

  const books = () => store.payoutBooks();

  it('completes a failed one whose refund stands on the support list', async () => {
    await hear(FAILURE);
    await changeStep(store.database, refOf(payout), { park: 'job failed: whatever' });
    expect(await hear(SUCCESS)).to.equal('completed');
    await expectOutcome(store, payout, { ends: 'completed' });
  });

  it('of success is told to the merchant in these words', async () => {
    await hear(SUCCESS);
    const [event] = await eventsOf();
    expect(JSON.parse(event!.body)).to.deep.equal({
      notification: { type: 'payout', event: 'transaction.completed' },
      data: {
        id: payout.id,
        result_code: 0,
        result_description: 'Done',
        amount: '100.00',
        ref_no: payout.ref_no,
        beneficiary: { account: '+254712345678', kyc: null },
        transaction_date: '2026-11-20T10:00:00.000Z',
        external_ref: 'GW-1',
        trans_id: receiptOf(payout),
      },
    });
  });

  it('of a failure plans the refund, and of a success after it takes the plan back', async () => {
    await hear(FAILURE);
    const failed = await current();
    expect((await store.outboxOf(payout.id)).at(-1)).to.include({
      queue: 'refunds',
      step: 'refund',
      step_no: failed.step_no,
    });
    await hear(SUCCESS);
    expect(await refund(failed.step_no)).to.equal(false);
    expect(await refund()).to.equal(false);
    await expectOutcome(store, payout, { ends: 'completed' });
    expect(await current()).to.include({ result_code: 0, result_description: 'Done' });
    const statuses = (await store.historyOf(refOf(payout))).map((row) => row.to_status);
    expect(statuses).to.deep.equal(['pending', 'failed', 'completed']);
  });

  it('counts once when callbacks and answers bring it at once', async () => {
    const asked = asking(await current());
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        index % 2 === 0
          ? hear(SUCCESS)
          : recordQuery(store.database, asked, newsOf(payout, SUCCESS), SAFE, RECORDING),
      ),
    );
    await expectOutcome(store, payout, { ends: 'completed' });
    expect(await store.historyOf(refOf(payout))).to.have.length(2);
  });

  it('in any order books every receipt once and tells the merchant once', async () => {
    const moments = fc.constantFrom<Verdict | 'refund'>(
      SUCCESS,
      SECOND,
      FAILURE,
      'refund',
      succeeded({ transId: 'RCPT3', amountCents: OTHER_AMOUNT_CENTS }),
      { ...STRANGER, transId: 'RCPT4' },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(moments, { minLength: 1, maxLength: 8 }), async (news) => {
        store.merchant = await store.newMerchant();
        payout = await store.newPayout();
        for (const each of news) await hear(each);
        const paid = new Map(
          news.flatMap((each) =>
            each !== 'refund' && each.outcome === 'succeeded'
              ? [[each.transId, each.amountCents!]]
              : [],
          ),
        );
        const after = await books();
        expect(after.gateway_float).to.equal(
          [...paid.values()].reduce((sum, cents) => sum + cents, 0),
        );
        const { status, refund_posted_at } = await current();
        expect(after['wallet:payout']).to.equal(refund_posted_at ? COST_CENTS : 0);
        expect(after.payouts_in_flight).to.equal(
          refund_posted_at || status === 'completed' ? 0 : COST_CENTS,
        );
        const isOver = refund_posted_at !== null || status === 'completed';
        expect(await eventsOf()).to.have.length(isOver ? 1 : 0);
        await store.expectRightBooks();
      }),
      { numRuns: 25 },
    );
  });
});
