import { expect } from 'chai';
import { auditedFor } from '../../src/domain/audit/audit.ts';
import { bookCharges } from '../../src/domain/gateway-accounts/charges.ts';
import { tariffsFromText } from '../../src/domain/gateway-accounts/tariffs.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { previewStatement } from '../../src/domain/reconciliation/preview-statement.ts';
import { importStatement, type StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { hasToldSuccess } from '../../src/domain/settlement/overtaken.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { compareReceipt } from '../../src/domain/support/compare-receipt.ts';
import { findCase } from '../../src/domain/support/discrepancy-cases.ts';
import { doubtPayment, refuseDoubt } from '../../src/domain/support/doubt-payment.ts';
import { failedHere } from '../../src/domain/support/resolution.ts';
import { HOUR_MS } from '../../src/time.ts';
import { SO_FAR } from '../support/so-far.ts';
import { lineOf, runStatement } from '../support/statements.ts';
import {
  ACKNOWLEDGED,
  failed,
  PAYMENT_KINDS,
  parserOf,
  receiptOf,
  rejection,
  succeeded,
  useStore,
} from '../support/world.ts';

const STRANGER = '+254722000000';

describe('The word of a file', () => {
  const store = useStore();

  afterEach(() => store.expectRightBooks());

  const read = (source: string) => (lines: StatementLine[]) =>
    runStatement(store.database, lines, SO_FAR, { covers: [] }, source);
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

    it(`without a receipt, about a ${kind} that support has completed, is no word of the gateway`, async () => {
      const payment = await store.newPayment(kind);
      const charges = async () => {
        await bookCharges(store.database, tariffsFromText(`${payment.gateway} ${kind} 1=5.40`));
        return store.rows('SELECT FROM charges WHERE merchant_id = :merchant_id', payment);
      };
      await store.learn(payment, succeeded(), 'support');
      expect(await charges()).to.deep.equal([]);
      await byFile([lineOf(payment, { transId: null })]);
      // The file lists the money, so it has its charge.
      expect(await charges()).to.have.length(1);
      const isTold = () => store.transaction((trx) => hasToldSuccess(trx, refOf(payment)));
      expect(await isTold()).to.equal(false);
      await byGateway([lineOf(payment, { transId: null })]);
      expect(await isTold()).to.equal(true);
      expect(await charges()).to.have.length(1);
    });

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

  /** Support has failed a payment that the gateway has taken. The gateway is asked about it. */
  async function takenAfterFailure(kind: 'payout' | 'return') {
    const payment = await store.newPayment(kind);
    const work = store.workOn(payment);
    const claimed = await work.claim();
    await store.learn(payment, failedHere('Not carried out'), 'support');
    await work.answer(claimed, ACKNOWLEDGED);
    return payment;
  }

  for (const kind of ['payout', 'return'] as const) {
    for (const as of ['undo', 'failed'] as const) {
      it(`that waits for a decision (${as}) ends no asking about a failed ${kind}`, async () => {
        const payment = await takenAfterFailure(kind);
        const line = lineOf(payment, { amountCents: 5_000 });
        for (let time = 1; time <= 2; time += 1) await byFile([line]);
        await store.resolve(await store.discrepancyOf('other_amount', payment), as);
        expect(await store.reread(payment)).to.include({ status: 'failed', next_step: 'poll' });
        const { resolved_at } = await found('taken_after_failure', payment);
        expect(resolved_at).to.equal(null);
      });
    }
  }

  it('holds the refund of a payout that the gateway says has failed, until the decision', async () => {
    const payout = await takenAfterFailure('payout');
    await byFile([lineOf(payout, { amountCents: 5_000 })]);
    await store.learn(payout, failed(), 'poll');
    const parked = { parked_reason: 'discrepancy: other_amount' };
    expect(await store.reread(payout)).to.include(parked);
    await store.resolve(await store.discrepancyOf('other_amount', payout), 'undo');
    expect(await store.reread(payout)).to.include({ next_step: 'refund' });
  });

  it('hides no failure that the gateway told before', async () => {
    const collection = await store.newCollection();
    const body = JSON.stringify(failed({ externalRef: null }));
    const id = await store.keepCallback(collection.gateway, refOf(collection), body);
    await byFile([lineOf(collection)]);
    const callback = await findStoredCallback(store.database, collection.merchant_id, id);
    await processCallback(store.database, callback!, parserOf);
    const { allowed } = await found('failure_after_success', collection);
    expect(allowed).to.include('undo');
  });

  it('that has completed a payout can be doubted, until the gateway says the same', async () => {
    const [wrong, right] = [await store.newPayout(), await store.newPayout()];
    const lines = [wrong, right].map((payout) => lineOf(payout));
    await byFile(lines);
    await byGateway([lines[1]!]);
    await refuseDoubt(store.database, await store.reread(wrong));
    const why = await rejection(refuseDoubt(store.database, await store.reread(right)));
    expect(why.message).to.include('no word to doubt');
    const actor = { actor: 'colleague', action: 'payment.doubt', reason: 'Not in the portal' };
    const audited = auditedFor(store.database, actor, async () => undefined);
    await doubtPayment(audited, refOf(wrong), actor);
    await store.resolve(await store.discrepancyOf('doubted', wrong), 'undo');
    // The money never moved. The gateway is asked before the refund.
    expect(await store.reread(wrong)).to.include({ status: 'failed', next_step: 'poll' });
    await store.resolve(await store.discrepancyOf('taken_after_failure', wrong), 'failed');
    expect(await store.reread(wrong)).to.include({ status: 'failed', next_step: 'refund' });
  });

  it('about an unknown movement leaves it unknown again when it is taken back', async () => {
    const collection = await store.newCollection();
    const of = { reference: null, account: null };
    const line = lineOf(collection, of);
    const isUnknown = () =>
      store.rows(
        `SELECT kind FROM discrepancies WHERE trans_id = :transId AND resolved_at IS NULL
           AND kind = 'unknown_movement'`,
        { transId: line.transId },
      );
    await byGateway([line]);
    await byFile([{ ...line, reference: collection.reference }]);
    expect(await isUnknown(), 'explained').to.have.length(0);
    const actor = { actor: 'juma', action: 'payment.doubt', reason: 'The wrong row' };
    await doubtPayment(auditedFor(store.database, actor), refOf(collection), actor);
    await store.resolve(await store.discrepancyOf('doubted', collection), 'undo');
    expect(await isUnknown()).to.have.length(1);
  });

  it('answers no statement of the gateway that lacks its receipt, however many files have it', async () => {
    const collection = await store.newCollection();
    const line = lineOf(collection);
    await byFile([line]);
    await byFile([line]);
    expect(await store.reread(collection)).to.include({ status: 'completed' });
    const lacks = (source: string) =>
      runStatement(store.database, [], SO_FAR, { covers: ['collection'] }, source);
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
      await runStatement(store.database, [], SO_FAR, {}, 'file.csv');
      await store.resolve(await store.discrepancyOf('missing_at_gateway', payment), 'undo');
      expect(await store.reread(payment)).to.include({ status: 'failed' });
      const waits = await found('undone_money', payment);
      expect(waits).to.include({ suspense_cents: payment.amount_cents, resolved_at: null });
    });
  }

  for (const by of ['support', 'the file'] as const)
    it(`moves no payment that ${by} has completed out of the days of the gateway’s statement`, async () => {
      const payout = await store.makeOverdue(await store.newPayout());
      const line = lineOf(payout, { completedAt: new Date('2020-01-01T10:00:00Z') });
      if (by === 'support') {
        await store.resolve(
          await store.discrepancyOf('overdue', payout),
          'completed',
          line.transId,
        );
      }
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

  /** Stores a file, which nobody compares. */
  const preview = (...lines: StatementLine[]) =>
    store.transaction(async (trx) => {
      const of = { gateway: 'simulator', channel: 63902, period: SO_FAR };
      const source = 'file.csv';
      const import_id = await importStatement(trx, { ...of, source, lines, isDraft: true });
      const scope = { covers: [], complete_until: null, settling_window_ms: 0 };
      return previewStatement(trx, { ...of, ...scope, import_id });
    });

  it('has a stake if it proves what only support has said', async () => {
    const collection = await store.makeOverdue(await store.newCollection());
    const line = lineOf(collection);
    await store.resolve(
      await store.discrepancyOf('overdue', collection),
      'completed',
      line.transId,
    );
    expect(await preview(line)).to.include({ known: 1, stake_cents: line.amountCents });
    await byFile([line]);
    expect(await preview(line)).to.include({ known: 1, stake_cents: 0 });
  });

  it('has a stake if it proves a receipt that only support has given', async () => {
    const collection = await store.newCollection();
    await store.learn(collection, succeeded({ transId: null }), 'poll');
    await runStatement(store.database, [], SO_FAR, { covers: ['collection'] });
    await store.rewrite("UPDATE movements SET learned_at = learned_at - interval '1 day'");
    await runStatement(store.database, [], SO_FAR, { covers: ['collection'] });
    const line = lineOf(collection, { reference: null });
    const question = await store.discrepancyOf('missing_at_gateway', collection);
    await store.resolve(question, 'completed', line.transId);
    expect(await preview(line)).to.include({ stake_cents: line.amountCents });
  });

  it('has a stake if it shows money at another time than the one that people decided about', async () => {
    const line = lineOf(await store.newCollection(), { reference: null, account: STRANGER });
    await byFile([line]);
    const [question] = await store.rows<{ id: string }>(
      'SELECT id FROM discrepancies WHERE trans_id = :transId',
      { transId: line.transId },
    );
    await store.resolve(question!, 'dismissed');
    expect(await preview(line)).to.include({ stake_cents: 0 });
    const later = new Date(line.completedAt.getTime() + 3 * HOUR_MS);
    const stake_cents = line.amountCents;
    expect(await preview({ ...line, completedAt: later })).to.include({ stake_cents });
  });

  it('is no evidence before anybody has agreed to its comparison', async () => {
    const payment = await store.makeOverdue(await store.newCollection());
    const line = lineOf(payment, { reference: null });
    await store.resolve(await store.discrepancyOf('overdue', payment), 'completed', line.transId);
    await preview({ ...line, amountCents: 90_000_000, account: STRANGER });
    const actor = { actor: 'juma', action: 'payment.doubt', reason: 'The wrong row' };
    await doubtPayment(auditedFor(store.database, actor), refOf(payment), actor);
    await store.resolve(await store.discrepancyOf('doubted', payment), 'undo');
    const found = await store.rows(
      "SELECT FROM discrepancies WHERE kind = 'unknown_movement' AND trans_id = :transId",
      { transId: line.transId },
    );
    expect(found).to.have.length(0);
    await store.resolve(await store.discrepancyOf('taken_after_failure', payment), 'failed');
  });

  it('is measured to the end of the file, also behind many undecided rows', async () => {
    const line = lineOf(await store.newPayout());
    const undecided = { ...line, isUndecided: true } as const;
    const lines = [...Array<StatementLine>(25_000).fill(undecided), line];
    expect(await preview(...lines)).to.include({
      lines: 1,
      settles: 1,
      stake_cents: line.amountCents,
    });
  });

  it('proves no receipt to the member who has brought it', async () => {
    const payfrom = '+254722000251';
    const payment = await store.makeOverdue(await store.newCollection({ payfrom }));
    const line = lineOf(payment, { reference: null, completedAt: new Date() });
    const receipt = line.transId!;
    const statement = { gateway: 'simulator', channel: 63902, period: SO_FAR, lines: [line] };
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
