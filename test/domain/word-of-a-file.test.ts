import { expect } from 'chai';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';
import { previewStatement } from '../../src/domain/reconciliation/preview-statement.ts';
import { importStatement, type StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { compareReceipt } from '../../src/domain/support/compare-receipt.ts';
import { findCase } from '../../src/domain/support/discrepancy-cases.ts';
import { lineOf, runStatement } from '../support/statements.ts';
import {
  PAYMENT_KINDS,
  parserOf,
  receiptOf,
  rejection,
  succeeded,
  useStore,
} from '../support/world.ts';

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

  it('answers no statement of the gateway that lacks its receipt, however many files have it', async () => {
    const collection = await store.newCollection();
    const line = lineOf(collection);
    await byFile([line]);
    await byFile([line]);
    expect(await store.reread(collection)).to.include({ status: 'completed' });
    const lacks = (source: string) =>
      runStatement(store.database, [], NOVEMBER, { covers: ['collection'] }, source);
    const missingIn = async (source: string) =>
      (await lacks(source)).missing.map(({ payment_id }) => payment_id);
    expect(await missingIn('another.csv'), 'for a file it is an answer').to.not.include(
      collection.id,
    );
    expect(await missingIn('gateway')).to.include(collection.id);
    const question = await found('missing_at_gateway', collection);
    expect(question.allowed).to.include('undo');
    await store.resolve(question, 'undo');
    await byGateway([line]);
    await store.resolve(await store.discrepancyOf('undone_money', collection), 'returned');
  });

  for (const kind of PAYMENT_KINDS) {
    it(`that lacks a ${kind} of which the gateway has told leaves its money in suspense`, async () => {
      const payment = await store.newPayment(kind);
      await store.learn(payment, succeeded());
      await runStatement(store.database, [], NOVEMBER, {}, 'file.csv');
      await store.resolve(await store.discrepancyOf('missing_at_gateway', payment), 'undo');
      expect(await store.reread(payment)).to.include({ status: 'failed' });
      const waits = await found('undone_money', payment);
      expect(waits).to.include({ suspense_cents: payment.amount_cents, resolved_at: null });
    });
  }

  it('moves no payment that support has completed out of the days of the gateway’s statement', async () => {
    const payout = await store.makeOverdue(await store.newPayout());
    const line = lineOf(payout, { completedAt: new Date('2020-01-01T10:00:00Z') });
    await store.resolve(await store.discrepancyOf('overdue', payout), 'completed', line.transId);
    for (let time = 1; time <= 2; time += 1) await byFile([line]);
    const today = new Date().toISOString().slice(0, 10);
    const { missing } = await runStatement(
      store.database,
      [],
      { from: today, to: today },
      { covers: ['payout'] },
    );
    expect(missing.map(({ payment_id }) => payment_id)).to.include(payout.id);
  });

  it('is measured to the end of the file, also behind many undecided rows', async () => {
    const line = lineOf(await store.newPayout());
    const undecided = { ...line, isUndecided: true } as const;
    const lines = [...Array<StatementLine>(25_000).fill(undecided), line];
    const of = { gateway: 'simulator', channel: 63902, period: NOVEMBER };
    const preview = await store.transaction(async (trx) => {
      const import_id = await importStatement(trx, { ...of, source: 'file.csv', lines });
      const scope = { covers: [], complete_until: null, settling_window_ms: 0 };
      return previewStatement(trx, { ...of, ...scope, import_id });
    });
    expect(preview).to.include({ lines: 1, settles: 1, stake_cents: line.amountCents });
  });

  it('proves no receipt to the member who has brought it', async () => {
    const payment = await store.makeOverdue(await store.newCollection());
    const line = lineOf(payment, { reference: null });
    const receipt = line.transId!;
    const statement = { gateway: 'simulator', channel: 63902, period: NOVEMBER, lines: [line] };
    const brought_by = 'one@example.com';
    await store.transaction((trx) =>
      importStatement(trx, { ...statement, source: 'file.csv', brought_by }),
    );
    const isProven = (decider: string | null, of: AnyPayment = payment) =>
      compareReceipt(store.database, of, receipt, parserOf, decider);
    expect(await isProven(brought_by)).to.equal(false);
    expect(await isProven('other@example.com')).to.equal(true);
    expect(await isProven(null)).to.equal(true);
    await store.transaction((trx) => importStatement(trx, { ...statement, source: 'gateway' }));
    expect(await isProven(brought_by), 'by the gateway itself').to.equal(true);
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
