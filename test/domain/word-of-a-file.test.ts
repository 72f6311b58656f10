import { expect } from 'chai';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { findCase } from '../../src/domain/support/discrepancy-cases.ts';
import { lineOf, runStatement } from '../support/statements.ts';
import { PAYMENT_KINDS, receiptOf, rejection, succeeded, useStore } from '../support/world.ts';

const NOVEMBER = { from: '2026-11-01', to: '2026-11-30' };
const STRANGER = '+254722000000';

describe('The word of a file', () => {
  const store = useStore();

  afterEach(() => store.expectRightBooks());

  const read = (source: string) => (lines: StatementLine[]) =>
    runStatement(store.database, lines, NOVEMBER, { covers: [] }, source);
  const byFile = read('file.csv');
  const byGateway = read('gateway');

  const found = async (kind: Parameters<typeof store.discrepancyOf>[0], payment: AnyPayment) =>
    (await findCase(store.database, (await store.discrepancyOf(kind, payment)).id))!;

  for (const kind of PAYMENT_KINDS) {
    for (const [wrong, of] of [
      ['other_amount', { amountCents: 5_000 }],
      ['other_account', { account: STRANGER }],
    ] as const) {
      it(`about an open ${kind} (${wrong}) can be taken back: it is asked about again`, async () => {
        const payment = await store.newPayment(kind);
        const books = await store.booksOf();
        const line = lineOf(payment, of);
        await byFile([line]);
        const question = await found(wrong, payment);
        expect(question.allowed).to.include('undo');
        await store.resolve(question, 'undo');
        expect(await store.reread(payment)).to.include({
          status: payment.status,
          parked_reason: null,
          next_step: 'poll',
        });
        expect(await store.booksOf(), 'as before').to.deep.equal(books);
        // The receipt is free: the gateway itself may tell of it.
        await byGateway([lineOf(payment, { transId: line.transId })]);
        expect(await store.reread(payment)).to.include({
          status: 'completed',
          trans_id: line.transId,
        });
      });
    }

    it(`about a second receipt of a ${kind} can be taken back`, async () => {
      const payment = await store.newPayment(kind);
      await store.learn(payment, succeeded());
      const books = await store.booksOf();
      await byFile([lineOf(payment)]);
      await store.resolve(await store.discrepancyOf('second_success', payment), 'undo');
      expect(await store.booksOf(), 'as before').to.deep.equal(books);
      expect(await store.reread(payment)).to.include({
        status: 'completed',
        trans_id: receiptOf(payment),
      });
    });
  }

  it('about a payout after its refund can be taken back', async () => {
    const payout = await store.newPayout();
    await store.makeOverdue(payout);
    await store.resolve(await store.discrepancyOf('overdue', payout), 'failed');
    await store.refund(payout);
    const books = await store.booksOf();
    await byFile([lineOf(payout)]);
    await store.resolve(await store.discrepancyOf('paid_after_refund', payout), 'undo');
    expect(await store.booksOf(), 'as before').to.deep.equal(books);
  });

  it('cannot be taken back once the gateway has said the same', async () => {
    const payout = await store.newPayout();
    const line = lineOf(payout, { amountCents: 5_000 });
    for (const [tell, isPossible] of [
      [byFile, true],
      [byFile, true],
      [byGateway, false],
      [byFile, false],
    ] as const) {
      await tell([line]);
      const question = await found('other_amount', payout);
      expect(question.allowed.includes('undo')).to.equal(isPossible);
    }
    const refused = await rejection(
      store.resolve(await store.discrepancyOf('other_amount', payout), 'undo'),
    );
    expect(refused.message).to.include('can only be resolved as');
    await store.resolve(await store.discrepancyOf('other_amount', payout), 'accept-amount');
  });
});
