import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { auditedFor } from '../../src/domain/audit/audit.ts';
import { openDiscrepancy } from '../../src/domain/discrepancies/discrepancy.ts';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { compareReceipt } from '../../src/domain/support/compare-receipt.ts';
import { whyTwo } from '../../src/domain/support/decide-alone.ts';
import { previewDecision } from '../../src/domain/support/decide-discrepancy.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { doubtPayment } from '../../src/domain/support/doubt-payment.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/time.ts';
import { SO_FAR } from '../support/so-far.ts';
import { COMPLETED_AT, lineOf, newReceipt, runStatement } from '../support/statements.ts';
import {
  ACKNOWLEDGED,
  failed,
  newCollection,
  newPayout,
  PAYMENT_KINDS,
  parserOf,
  RESOLVING,
  rejection,
  reversalRequest,
  succeeded,
  useStore,
} from '../support/world.ts';

const A_PHONE = '+254722000111';
const B_PHONE = '+254733000222';
const FAILURE = failed({ externalRef: null });

describe('The word of support', () => {
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

  /** Completed by support with a receipt that is that of another payment. */
  async function byHand<P extends AnyPayment>(payment: P, transId = receipt): Promise<P> {
    await store.makeOverdue(payment);
    const overdue = (await openOf(payment)).find((each) => each.kind === 'overdue')!;
    await store.resolve(overdue, 'completed', transId);
    return store.reread(payment);
  }

  const doubt = (payment: AnyPayment) => {
    const actor = { actor: 'colleague', action: 'payment.doubt', reason: 'The wrong row' };
    const audited = auditedFor(store.database, actor, async () => undefined);
    return doubtPayment(audited, refOf(payment), actor);
  };

  const openOf = async (payment: AnyPayment) =>
    (await casesOf(store.database, refOf(payment))).filter((each) => each.resolved_at === null);

  /** The payment that was made, and the one that support took for it, of another merchant. */
  async function pairOf(kind: 'collection' | 'payout') {
    const other = await store.newMerchant();
    if (kind === 'collection') {
      const wrong = await newCollection(store.database, other, { payfrom: A_PHONE });
      return { wrong, right: await store.newCollection({ payfrom: B_PHONE }) };
    }
    await store.topUp(100_000, 'TOPUP');
    const wrong = await newPayout(store.database, other, { payto: A_PHONE });
    return { wrong, right: await store.newPayout({ payto: B_PHONE }) };
  }

  /** A payout is never known by its phone and amount alone. */
  const named = ({ kind, reference }: AnyPayment) => (kind === 'payout' ? { reference } : {});

  for (const kind of ['collection', 'payout'] as const) {
    it(`about a receipt of a ${kind} is a question about both payments`, async () => {
      const { wrong, right } = await pairOf(kind);
      const first = await byHand(wrong);
      expect(await tell(right, succeeded({ transId: receipt, account: null }))).to.equal(
        'discrepancy',
      );
      const [ofWrong] = await openOf(first);
      const [ofRight] = await openOf(right);
      expect(ofWrong).to.deep.include({
        kind: 'receipt_of_another',
        allowed: ['undo', 'dismissed'],
      });
      expect(ofRight).to.deep.include({ kind: 'receipt_of_another', allowed: ['dismissed'] });
      await store.resolve(ofWrong!, 'undo');
      expect(await store.reread(right)).to.include({ status: 'completed', trans_id: receipt });
      expect(await openOf(right)).to.deep.equal([]);
    });

    it(`debits no innocent merchant when a ${kind} completes without its receipt`, async () => {
      const { wrong, right } = await pairOf(kind);
      const work = store.workOn(right);
      await work.answer(await work.claim(), ACKNOWLEDGED);
      const first = await byHand(wrong);
      await tell(right, succeeded({ transId: null, account: null }));
      // As of a till or a portal: the line has no reference of ours.
      const own = { reference: null, transId: receipt, completedAt: new Date() };
      const result = await runStatement(store.database, [lineOf(right, own)], SO_FAR);
      expect(result.lines).to.include({ contradicts: 1 });
      expect(result.missing.map((each) => each.payment_id)).to.not.include(right.id);
      const [ofWrong] = await openOf(first);
      const [ofRight] = await openOf(right);
      expect(ofWrong).to.deep.include({
        kind: 'receipt_of_another',
        allowed: ['undo', 'dismissed'],
      });
      expect(ofRight).to.deep.include({
        kind: 'receipt_of_another',
        allowed: ['undo', 'dismissed'],
      });
      await store.resolve(ofWrong!, 'undo');
      await runStatement(store.database, [{ ...lineOf(right, own), ...named(right) }], SO_FAR);
      expect(await store.reread(right)).to.include({ status: 'completed', trans_id: receipt });
      expect(await openOf(right)).to.deep.equal([]);
    });
  }

  for (const [whose, source, allowed] of [
    ['the gateway', 'gateway', ['returned', 'failed']],
    ['a file', 'file.csv', ['same', 'returned', 'failed']],
  ] as const) {
    it(`that ${whose} has confirmed offers [${allowed}] about a second receipt`, async () => {
      const payout = await byHand(await store.newPayout());
      const line = lineOf(payout, { transId: receipt });
      await runStatement(store.database, [line], SO_FAR, { covers: [] }, source);
      const news = succeeded({ transId: newReceipt(), externalRef: null });
      expect(await tell(payout, news)).to.equal('discrepancy');
      const [second, ...others] = await openOf(payout);
      expect(others).to.deep.equal([]);
      expect(second).to.deep.include({ kind: 'second_success', allowed });
      await store.expectSoundLedger();
    });
  }

  it('about two receipts can be taken back where the money has gone back to its customer', async () => {
    const [wrong, right] = [await store.newCollection(), await store.newCollection()];
    const first = await byHand(wrong);
    await byHand(right, newReceipt());
    const reversal = await createReversal(store.database, reversalRequest(first));
    await store.hear(reversal, succeeded({ transId: newReceipt() }));
    const news = succeeded({ transId: receipt, account: null });
    const tellAnew = () =>
      store.transaction(async (trx) => {
        const locked = await lockPayment(trx, refOf(right));
        return settle(trx, locked!, news, { cause: 'callback', heardAt: new Date(), parserOf });
      });
    expect(await tellAnew()).to.equal('discrepancy');
    const [ofWrong] = await openOf(wrong);
    const [ofRight] = await openOf(right);
    expect(ofRight).to.deep.include({ kind: 'receipt_of_another', allowed: ['undo', 'dismissed'] });
    await store.resolve(ofRight!, 'undo');
    await store.resolve(ofWrong!, 'dismissed');
    expect(await store.reread(right)).to.include({ status: 'failed', trans_id: null });
    // The gateway says the same again. Somebody has decided.
    await tellAnew();
    expect(await openOf(wrong)).to.deep.equal([]);
    expect((await openOf(right)).map(({ kind }) => kind)).to.deep.equal(['taken_after_failure']);
  });

  /** A collection of 100.00 that was reversed, with the receipt of one of 60.00, and the question about it. */
  async function reversedWithReceiptOf(right: AnyPayment) {
    const wrong = await byHand(await store.newCollection());
    const reversal = await createReversal(store.database, reversalRequest(wrong));
    await store.hear(reversal, succeeded({ transId: newReceipt() }));
    await tell(right, succeeded({ transId: receipt, amountCents: right.amount_cents }), 'callback');
    const question = await store.discrepancyOf('receipt_of_another', wrong);
    return { wrong, reversal: await store.reread(reversal), question };
  }

  it('about the receipt of a reversed collection is the operator’s loss, and the receipt goes where it belongs', async () => {
    const right = await store.newCollection({ amount_cents: 6_000 });
    const { wrong, question } = await reversedWithReceiptOf(right);
    await store.resolve(question, 'undo');
    expect(await store.reread(wrong)).to.include({ status: 'completed', trans_id: null });
    expect(await store.eventsOf(wrong)).to.deep.equal(['completed']);
    await tell(right, succeeded({ transId: receipt, amountCents: 6_000 }), 'callback');
    expect(await store.reread(right)).to.include({ status: 'completed', trans_id: receipt });
    for (const payment of [wrong, right]) expect(await openOf(payment)).to.deep.equal([]);
    // 60.00 came in, 100.00 went out.
    expect(await store.booksOf()).to.deep.equal({
      gateway_float: 4_000,
      losses: -10_000,
      commission: 90,
      'wallet:collection': 5_910,
    });
    // What comes of it now is not its own.
    await tell(wrong, FAILURE, 'callback');
    expect(await openOf(wrong)).to.deep.equal([]);
    await tell(wrong, succeeded({ transId: newReceipt() }), 'callback');
    expect((await openOf(wrong)).map((each) => each.kind)).to.deep.equal(['second_success']);
  });

  it('about a reversal that was not made ends the loss of its collection too', async () => {
    const right = await store.newCollection({ amount_cents: 6_000 });
    const { wrong, reversal, question } = await reversedWithReceiptOf(right);
    await store.resolve(question, 'undo');
    await store.hear(reversal, FAILURE);
    await store.resolve(await store.discrepancyOf('failure_after_success', reversal), 'undo');
    for (const payment of [wrong, reversal]) {
      expect(await store.reread(payment)).to.include({ status: 'failed' });
      expect(await store.eventsOf(payment)).to.deep.equal(['completed', 'failed']);
    }
    // What the reversal paid out waits until it has come back.
    const ofRight = { commission: 90, 'wallet:collection': 5_910 };
    expect(await store.booksOf()).to.deep.equal({
      ...{ ...ofRight, gateway_float: 4_000, suspense: -10_000 },
    });
    await store.resolve(await store.discrepancyOf('undone_money', reversal), 'returned');
    expect(await store.booksOf()).to.deep.equal({ ...ofRight, gateway_float: -6_000 });
  });

  it('that the reversed collection was never paid can be taken back when its own money comes', async () => {
    const right = await store.newCollection({ amount_cents: 6_000 });
    const { wrong, question } = await reversedWithReceiptOf(right);
    await store.resolve(question, 'undo');
    const own = newReceipt();
    await tell(wrong, succeeded({ transId: own }), 'callback');
    const late = await store.discrepancyOf('second_success', wrong);
    const two = async (as: 'same' | 'returned') => {
      const decision = { as, actor: 'amina', reason: 'because', transId: null };
      const foreseen = await previewDecision(store.database, late.id, decision, RESOLVING);
      return whyTwo(store.database, foreseen, decision, 10_000_000);
    };
    expect(await two('returned')).to.include('on the word of a person');
    await store.resolve(late, 'same');
    expect(await store.reread(wrong)).to.include({ status: 'completed', trans_id: own });
    expect((await store.booksOf()).losses).to.equal(undefined);
  });

  it('that a collection was never paid waits while its reversal took another amount', async () => {
    const right = await store.newCollection({ amount_cents: 6_000 });
    const { reversal, question } = await reversedWithReceiptOf(right);
    const less = succeeded({ transId: reversal.trans_id, amountCents: 6_000 });
    await tell(reversal, less, 'callback');
    const other = await store.discrepancyOf('other_amount', reversal);
    await store.resolve(other, 'accept-amount');
    const { message } = await rejection(store.resolve(question, 'undo'));
    expect(message).to.include('took another amount');
    await store.resolve(question, 'dismissed');
  });

  it('about a receipt needs a second person where the gateway has told another one', async () => {
    const payout = await byHand(await store.newPayout());
    await tell(payout, succeeded({ transId: newReceipt(), externalRef: null }), 'callback');
    const { id } = await store.discrepancyOf('second_success', payout);
    const decision = { as: 'same', actor: 'amina', reason: 'because', transId: null } as const;
    const foreseen = await previewDecision(store.database, id, decision, RESOLVING);
    expect(await whyTwo(store.database, foreseen, decision, 10_000_000)).to.include(
      'on the word of a person',
    );
    await store.resolve({ id }, 'same');
  });

  it('in a file about a receipt stays unproven by an answer without one, and gives way', async () => {
    const collection = await store.newCollection();
    const line = lineOf(collection, { transId: receipt });
    await runStatement(store.database, [line], SO_FAR, { covers: [] }, 'file.csv');
    await tell(collection, succeeded({ transId: null, externalRef: null }), 'callback');
    const real = newReceipt();
    await tell(collection, succeeded({ transId: real, externalRef: null }), 'callback');
    const question = await store.discrepancyOf('second_success', collection);
    await store.resolve(question, 'same');
    expect(await store.reread(collection)).to.include({ trans_id: real });
  });

  describe('about a receipt, while the gateway tells another one,', () => {
    it('lets no reversal go out, until somebody has decided which is right', async () => {
      const collection = await byHand(await store.newCollection());
      const real = newReceipt();
      await tell(collection, succeeded({ transId: real }), 'callback');
      const reversal = await createReversal(store.database, reversalRequest(collection));
      const work = store.workOn(reversal);
      expect(await work.claim()).to.equal(null);
      await store.resolve(await store.discrepancyOf('second_success', collection), 'same');
      expect((await work.claim())!.payment).to.include({ original_trans_id: real });
    });

    it('is corrected after a reversal has named it and failed, whose late success is a question', async () => {
      const collection = await byHand(await store.newCollection());
      const reversal = await createReversal(store.database, reversalRequest(collection));
      const work = store.workOn(reversal);
      await work.answer(await work.claim(), ACKNOWLEDGED);
      await store.hear(reversal, FAILURE);
      await tell(collection, succeeded({ transId: newReceipt() }), 'callback');
      await store.resolve(await store.discrepancyOf('second_success', collection), 'same');
      await store.hear(reversal, succeeded({ transId: newReceipt() }));
      expect(await store.discrepanciesOf(reversal.id)).to.deep.equal(['second_reversal']);
    });

    it('is not corrected once a reversal has named it: the other money goes back by itself', async () => {
      const collection = await byHand(await store.newCollection());
      const reversal = await createReversal(store.database, reversalRequest(collection));
      const work = store.workOn(reversal);
      await work.answer(await work.claim(), ACKNOWLEDGED);
      await tell(collection, succeeded({ transId: newReceipt() }), 'callback');
      const question = await store.discrepancyOf('second_success', collection);
      const { message } = await rejection(store.resolve(question, 'same'));
      expect(message).to.include(`has named the receipt ${receipt}`);
      await store.resolve(question, 'returned');
      expect(await store.returnsOf()).to.have.length(1);
    });
  });

  it('about a receipt is not proved by a phone with hidden digits that may be another payment’s', async () => {
    await store.topUp(100_000, 'TOPUP');
    const ours = await store.newPayout({ payto: '+254712000126' });
    const line = {
      ...{ reference: null, transId: receipt, account: '+2547*****126' },
      completedAt: new Date(),
    };
    await runStatement(store.database, [lineOf(ours, line)], SO_FAR, { covers: [] });
    const isProven = () => compareReceipt(store.database, ours, receipt, parserOf, 'amina');
    expect(await isProven()).to.equal(true);
    await newPayout(store.database, await store.newMerchant(), { payto: '+254722999126' });
    expect(await isProven()).to.equal(false);
  });

  it('about a receipt is not proved by the phone of money that moved before the payment was asked for', async () => {
    const ours = await store.newCollection();
    const proves = async (daysBefore: number) => {
      const transId = newReceipt();
      const completedAt = new Date(Date.now() - daysBefore * 24 * HOUR_MS);
      const line = lineOf(ours, { reference: null, transId, completedAt });
      await runStatement(store.database, [line], SO_FAR, { covers: [] });
      await store.rows(
        "UPDATE discrepancies SET resolved_at = now(), resolution = 'superseded' WHERE trans_id = :transId",
        { transId },
      );
      return compareReceipt(store.database, ours, transId, parserOf, 'amina');
    };
    expect(await proves(20)).to.equal(false);
    expect(await proves(0)).to.equal(true);
  });

  it('that money which the gateway told never moved needs a second person', async () => {
    const failedOne = await store.newPayout();
    await tell(failedOne, FAILURE);
    await store.refund(failedOne);
    await tell(failedOne, succeeded({ transId: receipt, externalRef: null }), 'callback');
    const claimant = await newPayout(store.database, store.merchant);
    await tell(claimant, succeeded({ transId: null, externalRef: null }));
    await tell(claimant, succeeded({ transId: receipt, externalRef: null }), 'callback');
    const { id } = await store.discrepancyOf('paid_after_refund', failedOne);
    const decision = { as: 'undo', actor: 'amina', reason: 'because', transId: null } as const;
    const foreseen = await previewDecision(store.database, id, decision, RESOLVING);
    expect(await whyTwo(store.database, foreseen, decision, 10_000_000)).to.include(
      'on the word of a person',
    );
  });

  it('about a receipt leaves the payment without one to a question, once a line is said not to be its own', async () => {
    const { wrong, right } = await pairOf('collection');
    const work = store.workOn(right);
    await work.answer(await work.claim(), ACKNOWLEDGED);
    await byHand(wrong);
    await tell(right, succeeded({ transId: null, account: null, completedAt: null }));
    const completedAt = new Date(Date.now() - MINUTE_MS);
    const own = { reference: null, transId: receipt, completedAt };
    const { lines } = await runStatement(store.database, [lineOf(right, own)], SO_FAR);
    expect(lines).to.include({ contradicts: 1 });
    await store.resolve(await store.discrepancyOf('receipt_of_another', right), 'dismissed');
    expect((await openOf(right)).map((each) => each.kind)).to.deep.equal(['missing_at_gateway']);
  });

  it('about a receipt lets the gateway be asked about a failed payout that claims it, once it is taken back', async () => {
    const { wrong, right } = await pairOf('payout');
    const first = await byHand(wrong);
    await tell(right, FAILURE);
    const success = succeeded({ transId: receipt, account: null, externalRef: null });
    expect(await tell(right, success, 'callback')).to.equal('discrepancy');
    const [ofWrong] = await openOf(first);
    await store.resolve(ofWrong!, 'undo');
    expect(await store.reread(right)).to.include({ status: 'failed', next_step: 'poll' });
    // The gateway's word about the failure is not enough while its success is a question.
    await tell(right, FAILURE);
    expect(await store.reread(right)).to.include({
      parked_reason: 'discrepancy: receipt_of_another',
    });
    expect(await tell(right, success)).to.equal('completed');
    expect(await openOf(right)).to.deep.equal([]);
  });

  it('is in doubt too when a line without a phone may be that of either payment', async () => {
    const { wrong, right } = await pairOf('collection');
    const first = await byHand(wrong);
    await tell(right, succeeded({ transId: null, account: null, completedAt: null }));
    const line = lineOf(right, { reference: null, account: null, transId: receipt });
    await runStatement(store.database, [{ ...line, completedAt: new Date() }], SO_FAR);
    for (const payment of [first, right]) {
      const [question] = await openOf(payment);
      expect(question).to.deep.include({ kind: 'receipt_of_another' });
    }
  });

  it('is in doubt when a line names one payment and has the receipt of another', async () => {
    const { wrong, right } = await pairOf('payout');
    const first = await byHand(wrong);
    await runStatement(store.database, [lineOf(right, { transId: receipt })], SO_FAR);
    for (const payment of [first, right]) {
      expect(await store.discrepanciesOf(payment.id)).to.include('receipt_of_another');
    }
  });

  for (const [what, of] of [
    ['amount', { amountCents: 5_000 }],
    ['phone or account', { account: B_PHONE }],
    ['reference', { reference: 'OF-ANOTHER' }],
  ] as const) {
    it(`about a receipt is refused when a statement has it with another ${what}`, async () => {
      const payment = await store.makeOverdue(await store.newCollection({ payfrom: A_PHONE }));
      const line = lineOf(payment, { reference: null, account: null, transId: receipt, ...of });
      await runStatement(store.database, [line], SO_FAR, { covers: [] });
      const overdue = await store.discrepancyOf('overdue', payment);
      const { message } = await rejection(store.resolve(overdue, 'completed', receipt));
      expect(message).to.include(`with another ${what}`);
      expect(await store.reread(payment)).to.include({ status: 'pending', trans_id: null });
    });
  }

  it('about a receipt is refused when the gateway has named it for another payment', async () => {
    const { merchant_id } = await store.newMerchant();
    const lost = { kind: 'payout', merchant_id, id: randomUUID() } as const;
    const told = { gateway: 'simulator', payment: lost, trans_id: receipt, details: {} };
    await store.transaction((trx) => openDiscrepancy(trx, { kind: 'unknown_payment', ...told }));
    const payout = await store.makeOverdue(await store.newPayout());
    const overdue = await store.discrepancyOf('overdue', payout);
    const { message } = await rejection(store.resolve(overdue, 'completed', receipt));
    expect(message).to.include(`for payout ${lost.id}`);
  });

  it('fails no payment whose receipt is in doubt', async () => {
    const { wrong, right } = await pairOf('payout');
    await store.makeOverdue(right);
    await byHand(wrong);
    await tell(right, succeeded({ transId: receipt, account: null }));
    const overdue = await store.discrepancyOf('overdue', right);
    const { message } = await rejection(store.resolve(overdue, 'failed'));
    expect(message).to.include('receipt_of_another');
  });

  for (const kind of PAYMENT_KINDS) {
    it(`that a ${kind} is completed can be taken back`, async () => {
      const payment = await byHand(await store.newPayment(kind));
      await doubt(payment);
      const [question] = await openOf(payment);
      expect(question).to.deep.include({ kind: 'doubted', allowed: ['undo', 'dismissed'] });
      expect((await rejection(doubt(payment))).message).to.include('is doubted already');
      await store.resolve(question!, 'undo');
      expect(await store.reread(payment)).to.include({ status: 'failed', trans_id: null });
    });

    for (const source of ['answer', 'statement'] as const) {
      it(`that a ${kind} is completed and the gateway's ${source} has confirmed leaves its money in suspense`, async () => {
        const payment = await byHand(await store.newPayment(kind));
        if (source === 'answer') {
          await tell(payment, succeeded({ transId: receipt, externalRef: null }));
        } else {
          const line = lineOf(payment, { transId: receipt });
          await runStatement(store.database, [line], SO_FAR, { covers: [] });
        }
        await doubt(payment);
        const question = (await openOf(payment)).find((each) => each.kind === 'doubted');
        await store.resolve(question!, 'undo');
        expect((await openOf(payment)).map((each) => each.kind)).to.include('undone_money');
      });
    }

    it(`that a ${kind} has failed can be taken back: the gateway is asked again`, async () => {
      const payment = await store.newPayment(kind);
      await store.makeOverdue(payment);
      await store.resolve(await store.discrepancyOf('overdue', payment), 'failed');
      await doubt(payment);
      const question = (await openOf(payment)).find((each) => each.kind === 'doubted');
      await store.resolve(question!, 'undo');
      expect(await store.reread(payment)).to.include({ status: 'failed', next_step: 'poll' });
      await tell(payment, FAILURE);
      expect((await openOf(payment)).map((each) => each.kind)).to.deep.equal(
        kind === 'return' ? ['return_failed'] : [],
      );
    });
  }

  for (const [kind, word] of [
    ['collection', 'undo'],
    ['payout', 'returned'],
    ['payout', 'failed'],
  ] as const) {
    it(`about the right receipt of a ${kind} can be taken back, and its money is ${word}`, async () => {
      const payment = await byHand(await store.newPayment(kind), `${receipt}-WRONG`);
      await tell(payment, succeeded({ transId: receipt, externalRef: null }));
      await store.resolve(await store.discrepancyOf('second_success', payment), 'same');
      await tell(payment, FAILURE);
      await store.resolve(await store.discrepancyOf('failure_after_success', payment), 'undo');
      await store.resolve(await store.discrepancyOf('undone_money', payment), word);
      expect(await openOf(payment)).to.deep.equal([]);
    });
  }

  for (const [kind, isByHand, word] of [
    ['collection', true, 'returned'],
    ['collection', false, 'returned'],
    ['payout', true, 'failed'],
  ] as const) {
    const first = isByHand ? 'support' : 'an answer';
    it(`that a ${kind} of another amount than ${first} told is undone leaves what moved in suspense`, async () => {
      const payment = await store.newPayment(kind);
      if (isByHand) await byHand(payment);
      // As the answer to a question about an STK push.
      else await tell(payment, succeeded({ transId: receipt, account: null, amountCents: null }));
      const amountCents = payment.amount_cents + 100;
      const told = { transId: receipt, account: B_PHONE, externalRef: null, amountCents };
      await tell(payment, succeeded(told));
      await store.resolve(await store.discrepancyOf('other_account', payment), 'undo');
      const [undone] = await openOf(payment);
      expect(undone).to.deep.include({ suspense_cents: amountCents, moved_account: B_PHONE });
      await store.resolve(undone!, word);
      expect(await openOf(payment)).to.deep.equal([]);
    });
  }

  it('that money is lost fails a payout, also when another question about it is dismissed later', async () => {
    const payout = await store.newPayout();
    const work = store.workOn(payout);
    await work.answer(await work.claim(), ACKNOWLEDGED);
    await tell(payout, succeeded({ transId: receipt, amountCents: payout.amount_cents + 100 }));
    await tell(payout, succeeded({ transId: `${receipt}-B`, externalRef: 'GW-OTHER' }));
    await store.resolve(await store.discrepancyOf('other_amount', payout), 'failed');
    await store.resolve(await store.discrepancyOf('other_payment', payout), 'dismissed');
    expect(await openOf(payout)).to.deep.equal([]);
    expect(await store.reread(payout)).to.include({ status: 'failed', next_step: 'refund' });
  });

  it('about a return that went to another phone can be taken back', async () => {
    const payment = await store.newPayment('return');
    await tell(payment, succeeded({ transId: receipt, account: B_PHONE, externalRef: null }));
    await store.resolve(await store.discrepancyOf('other_account', payment), 'completed');
    await tell(payment, FAILURE);
    await store.resolve(await store.discrepancyOf('failure_after_success', payment), 'undo');
    await store.resolve(await store.discrepancyOf('undone_money', payment), 'returned');
    await store.resolve(await store.discrepancyOf('return_failed', payment), 'returned');
    expect(await openOf(payment)).to.deep.equal([]);
  });

  it('about a failed payout refunds nothing while its receipt is in question', async () => {
    const { wrong, right } = await pairOf('payout');
    await byHand(wrong);
    await store.makeOverdue(right);
    await store.resolve(await store.discrepancyOf('overdue', right), 'failed');
    await doubt(right);
    const question = (await openOf(right)).find((each) => each.kind === 'doubted');
    await store.resolve(question!, 'undo');
    await tell(right, succeeded({ transId: receipt, externalRef: null }));
    expect(await store.reread(right)).to.include({ next_step: 'poll' });
    await tell(right, FAILURE);
    expect(await store.reread(right)).to.include({
      next_step: null,
      parked_reason: 'discrepancy: receipt_of_another',
    });
  });

  it('comes before a reversal while the gateway takes a collection back', async () => {
    const collection = await store.newCompletedCollection();
    await store.hear(collection, FAILURE);
    const request = reversalRequest(collection);
    const refused = await rejection(createReversal(store.database, request));
    expect(refused).to.include({ code: 'collection_not_completed' });
    await store.resolve(
      await store.discrepancyOf('failure_after_success', collection),
      'dismissed',
    );
    expect(await createReversal(store.database, request)).to.include({ status: 'pending' });
  });

  it('is not needed for a code and a time that no column holds', async () => {
    const payout = await store.newPayout();
    await tell(payout, failed({ code: 99_999_999_999, externalRef: null }));
    expect(await store.reread(payout)).to.include({ result_code: 2_147_483_647 });
    const collection = await store.newCollection();
    const completedAt = new Date(8.64e15);
    await tell(collection, succeeded({ transId: receipt, completedAt }));
    expect(await store.reread(collection)).to.include({ payment_completed_at: null });
  });

  it('alone can be doubted: the word of the gateway cannot', async () => {
    const payout = await store.newPayout();
    await store.hear(payout, succeeded({ completedAt: COMPLETED_AT }));
    const { message } = await rejection(doubt(payout));
    expect(message).to.include('The gateway itself has told how it ended');
  });
});
