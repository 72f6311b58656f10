import { expect } from 'chai';
import { recordAudit } from '../../src/domain/audit/audit.ts';
import { type AnyPayment, accountOf, refOf } from '../../src/domain/payments/payment-store.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { nameOf } from '../../src/domain/settlement/contrary-news.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { adoptAsAsked, planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { newReceipt } from '../support/statements.ts';
import { ACKNOWLEDGED, workOn } from '../support/submissions.ts';
import { toldIn } from '../support/told.ts';
import { newsOf, RESOLVING, rejection, succeeded, useStore } from '../support/world.ts';

const PHONE = '+254712003001';
const BY = { requested_by: 'amina@x.example', reason: 'Restore' };
const MARK = { actor: 'operator', action: 'restore.mark', reason: 'Restore', subject: 'service' };

describe('Money without a receipt, about which people have decided,', () => {
  const store = useStore({ fresh: true });
  const { at, read } = toldIn(store);

  beforeEach(async () => {
    await store.topUp(1_000_000, 'more');
  });

  /** Customers type words of their own, and banks write references of batches. */
  const line = (kind: StatementLine['kind'], more: Partial<StatementLine> = {}): StatementLine => ({
    ...{ kind, reference: 'RENT', account: PHONE, amountCents: 10_000, transId: null },
    ...{ completedAt: at(9), ...more },
  });
  const inFile = (of: StatementLine) => read([of], `${newReceipt()}.csv`);

  const open = () =>
    store.rows<{ kind: string; trans_id: string; booked_for: string }>(
      `SELECT kind, trans_id, details->>'booked_for' AS booked_for FROM discrepancies
       WHERE resolved_at IS NULL ORDER BY id`,
    );

  async function dismiss(): Promise<void> {
    const [found] = await store.rows<{ id: string }>(
      'SELECT id FROM discrepancies WHERE resolved_at IS NULL',
    );
    await store.resolve(found!, 'dismissed');
  }

  async function adopt(receipt: string): Promise<void> {
    const asked = { merchant_id: store.merchantId, receipts: [receipt] };
    const planned = await planAdoption(store.database, asked, RESOLVING);
    await store.transaction((trx) => adoptAsAsked(trx, planned, BY, RESOLVING));
  }

  const byHand = (reference: string, kind: 'collection' | 'payout') => {
    const entry = { kind: 'adjustment', wallet: kind, against: 'losses', reason: 'Found' } as const;
    const money = { merchant_id: store.merchantId, amount_cents: 9_850, reference };
    return store.transaction((trx) => bookOperatorEntry(trx, { ...entry, ...money }));
  };
  const refused = async (work: Promise<unknown>) => (await rejection(work)).message;

  async function begun(kind: 'collection' | 'payout', phone = PHONE): Promise<AnyPayment> {
    const payment =
      kind === 'payout'
        ? await store.newPayout({ payto: phone })
        : await store.newCollection({ payfrom: phone });
    const work = workOn(store.database, payment);
    await work.answer(await work.claim(), ACKNOWLEDGED);
    return work.current();
  }

  /** Its callback comes, most often with a receipt. */
  async function completed(payment: AnyPayment, transId: string | null = newReceipt()) {
    const id = await store.keepCallback('simulator', refOf(payment), '{}');
    const callback = await findStoredCallback(store.database, payment.merchant_id, id);
    const verdict = newsOf(
      payment,
      succeeded({ transId, account: accountOf(payment), completedAt: at(9) }),
    );
    await processCallback(store.database, callback!, () => () => ({ reference: null, verdict }));
    expect((await store.reread(payment)).status).to.equal('completed');
    return transId;
  }

  for (const kind of ['collection', 'payout'] as const) {
    for (const transId of ['RCPT', null]) {
      it(`is asked about when a ${kind} as it completes, with the receipt ${transId}`, async () => {
        const payment = await begun(kind);
        await inFile(line(kind));
        await dismiss();
        await completed(payment, transId);
        const question = { kind: 'unknown_movement', trans_id: 'RENT' };
        const asked = [{ ...question, booked_for: nameOf(payment) }];
        expect(await open()).to.deep.equal(asked);
        // The line has no receipt. The receipt of the payment says nothing about it.
        await read([line(kind, { transId: 'RCPT', reference: payment.reference })]);
        expect(await open()).to.deep.equal(asked);
        await dismiss();
        await inFile(line(kind));
        expect(await open()).to.deep.equal([]);
      });
    }

    it(`is asked about when a forgotten ${kind} comes again: it is adopted`, async () => {
      await inFile(line(kind, { completedAt: at(-300) }));
      await adopt('RENT');
      await store.transaction((trx) =>
        recordAudit(trx, { ...MARK, merchant_id: null, details: {} }),
      );
      await store.rewrite(`UPDATE audit_log SET happened_at = happened_at - interval '1 minute'`);
      const payment = await begun(kind);
      await completed(payment);
      const [adoption] = await store.rows<{ name: string }>(
        `SELECT 'adoption ' || id || ' of merchant ' || merchant_id AS name FROM adoptions`,
      );
      expect(await open()).to.deep.equal([
        { kind: 'receipt_of_another', trans_id: 'RENT', booked_for: adoption!.name },
      ]);
      await store.resolve(await store.discrepancyOf('receipt_of_another', payment), 'undo');
      expect(await store.countOf('adoptions WHERE taken_back_at IS NULL')).to.equal(0);
      expect((await store.reread(payment)).status).to.equal('completed');
      // Nobody else has the money of the line either.
      const line_of = { kind: 'unknown_movement', trans_id: 'RENT', booked_for: nameOf(payment) };
      expect(await open()).to.deep.equal([line_of]);
      expect(await refused(adopt('RENT'))).to.include('names a payment that may have it');
      expect(await refused(byHand('RENT', kind))).to.include('the payment that its question names');
      await dismiss();
      expect(await open()).to.deep.equal([]);
    });

    it(`is asked about at each forgotten ${kind} that it may be, one by one`, async () => {
      const words = ['RENT', 'FEES'];
      for (const [index, reference] of words.entries()) {
        await inFile(line(kind, { reference, completedAt: at(-300 + index * 100) }));
        await adopt(reference);
      }
      await store.transaction((trx) =>
        recordAudit(trx, { ...MARK, merchant_id: null, details: {} }),
      );
      await store.rewrite(`UPDATE audit_log SET happened_at = happened_at - interval '1 minute'`);
      const payments = [await begun(kind), await begun(kind)];
      for (const payment of payments) await completed(payment);
      for (const [index, payment] of payments.entries()) {
        const mine = await store.rows<{ id: string; trans_id: string }>(
          `SELECT id, trans_id FROM discrepancies WHERE payment_id = :id AND resolved_at IS NULL`,
          payment,
        );
        const own = mine.find(({ trans_id }) => trans_id === words[index])!;
        await store.resolve(own, 'undo');
        for (const other of mine.filter((each) => each !== own)) {
          await store.resolve(other, 'dismissed');
        }
      }
      expect(await store.countOf('adoptions WHERE taken_back_at IS NULL')).to.equal(0);
      for (const question of await open()) expect(question.kind).to.equal('unknown_movement');
    });

    it(`is asked about when a ${kind} completes, if it is booked by hand and not dismissed yet`, async () => {
      await inFile(line(kind, { completedAt: at(12) }));
      await byHand('RENT', kind);
      const payment = await begun(kind);
      await completed(payment);
      expect(await open()).to.deep.equal([
        { kind: 'unknown_movement', trans_id: 'RENT', booked_for: nameOf(payment) },
      ]);
    });

    it(`is asked about when a ${kind} completes, though another line of its word is a question`, async () => {
      const payment = await begun(kind);
      await inFile(line(kind));
      await dismiss();
      await inFile(line(kind, { account: '+254712003009', completedAt: at(8) }));
      await completed(payment);
      expect((await open()).map(({ booked_for }) => booked_for)).to.deep.equal([nameOf(payment)]);
    });

    it(`is of no ${kind} that is as another line of its word`, async () => {
      await inFile(line(kind));
      await adopt('RENT');
      const other = '+254712003009';
      await inFile(line(kind, { account: other }));
      await dismiss();
      await completed(await begun(kind, other));
      expect((await open()).map((question) => question.kind)).to.deep.equal(['unknown_movement']);
    });

    it(`is asked about when a ${kind} gets its receipt, though a file writes that in small letters`, async () => {
      const receipt = newReceipt();
      await inFile(line(kind, { reference: receipt.toLowerCase(), completedAt: at(-180) }));
      await dismiss();
      const payment = await begun(kind);
      await completed(payment, receipt);
      expect((await open()).map(({ booked_for }) => booked_for)).to.deep.equal([nameOf(payment)]);
    });

    it(`is asked about when a ${kind} completes, though its word was a question for days`, async () => {
      await inFile(line(kind, { account: '+254712003009', completedAt: at(-3_000) }));
      await store.rewrite(`UPDATE discrepancies SET opened_at = now() - interval '2 days'`);
      const payment = await begun(kind);
      await inFile(line(kind));
      await dismiss();
      await completed(payment);
      expect((await open()).map(({ booked_for }) => booked_for)).to.deep.equal([nameOf(payment)]);
    });

    it(`is not booked by hand beside a ${kind} that has no receipt either, nor adopted half an hour apart`, async () => {
      const payment = await begun(kind);
      await completed(payment, null);
      await inFile(line(kind));
      expect(await refused(byHand('RENT', kind))).to.include(`the completed ${kind} ${payment.id}`);
      const receipt = newReceipt();
      await store.learn(
        payment,
        succeeded({ transId: receipt, account: PHONE, completedAt: null }),
        'poll',
      );
      await inFile(line(kind, { reference: 'FEES', completedAt: at(25) }));
      expect(await refused(adopt('FEES'))).to.include(`it may be ${receipt}`);
    });

    it(`is not asked about when the ${kind} has another phone or amount, or is later`, async () => {
      await inFile(line(kind, { amountCents: 20_000 }));
      await dismiss();
      await inFile(line(kind, { reference: 'FEES', completedAt: at(-300) }));
      await dismiss();
      await completed(await begun(kind));
      await completed(await begun(kind, '+254712003002'));
      expect(await open()).to.deep.equal([]);
    });
  }

  it('is other money than the payment’s, if it is adopted and has got another receipt', async () => {
    await inFile(line('collection'));
    await adopt('RENT');
    await read([line('collection', { transId: newReceipt() })]);
    await completed(await begun('collection'));
    expect(await open()).to.deep.equal([]);
  });

  for (const kind of ['collection', 'payout'] as const) {
    it(`is not booked by hand while a ${kind} that it may be of is open, nor beside its receipt`, async () => {
      const payment = await begun(kind);
      await inFile(line(kind));
      expect(await refused(byHand('RENT', kind))).to.include(`the open ${kind} ${payment.id}`);
      const receipt = await completed(payment);
      expect(await refused(byHand('RENT', kind))).to.include(`may be the money of ${receipt}`);
    });

    it(`is one ${kind}, though another form writes its word in other letters`, async () => {
      await inFile(line(kind, { reference: 'Rent' }));
      await inFile(line(kind));
      expect(await refused(adopt('RENT'))).to.include('dismiss one of the two');
      await dismiss();
      await adopt('RENT');
    });
  }

  it('is not booked by hand while a return that a file lists as a payout is open', async () => {
    const late = await store.newPayment('return');
    await workOn(store.database, late).claim();
    await inFile(line('payout', { account: accountOf(late) }));
    expect(await refused(byHand('RENT', 'payout'))).to.include(`the open return ${late.id}`);
  });

  it('is compared with the phone that has paid, whichever was asked', async () => {
    const payment = await begun('collection', '+254712003009');
    await inFile(line('collection'));
    await dismiss();
    const told = { transId: newReceipt(), externalRef: null, account: PHONE, completedAt: at(9) };
    await store.learn(payment, succeeded(told));
    expect((await open()).map(({ kind }) => kind)).to.deep.equal([
      'unknown_movement',
      'other_account',
    ]);
  });

  it('is asked about when the amount of a payment is corrected to it: by the phone that has paid', async () => {
    await inFile(line('collection', { amountCents: 12_000 }));
    await dismiss();
    const payment = await begun('collection', '+254712003009');
    const told = { transId: newReceipt(), externalRef: null, account: PHONE, completedAt: at(9) };
    await store.learn(payment, succeeded(told));
    await store.resolve(await store.discrepancyOf('other_account', payment), 'completed');
    expect(await open()).to.deep.equal([]);
    const { reference } = payment;
    await read([line('collection', { amountCents: 12_000, transId: told.transId, reference })]);
    await store.resolve(await store.discrepancyOf('other_amount', payment), 'accept-amount');
    expect(await open()).to.deep.equal([
      { kind: 'unknown_movement', trans_id: 'RENT', booked_for: nameOf(payment) },
    ]);
  });

  for (const kind of ['collection', 'payout'] as const) {
    it(`is not adopted, nor booked by hand under its word, beside a ${kind} of its half hour, if it shows no account`, async () => {
      const receipt = await completed(await begun(kind));
      await inFile(line(kind, { account: null }));
      expect(await refused(adopt('RENT'))).to.include(`it may be ${receipt}`);
      expect(await refused(byHand('RENT', kind))).to.include(receipt);
    });

    it(`is adopted beside a ${kind} of another hour, though it shows no account`, async () => {
      await completed(await begun(kind));
      await inFile(line(kind, { account: null, completedAt: at(120) }));
      await adopt('RENT');
    });
  }

  it('is not booked by hand after its question was dismissed, or in other letters', async () => {
    await inFile(line('collection', { reference: 'Rent' }));
    const receipt = await completed(await begun('collection'));
    for (const reference of ['Rent', 'rENT'])
      expect(await refused(byHand(reference, 'collection'))).to.include(receipt);
    await dismiss();
    expect(await refused(byHand('RENT', 'collection'))).to.include(receipt);
  });
});
