import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { auditedFor } from '../../src/domain/audit/audit.ts';
import type { Succeeded, Verdict } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { FROM_GATEWAY, type StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { reportUnknownPayment } from '../../src/domain/settlement/unknown-payments.ts';
import { adoptAsAsked, planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { compareReceipt } from '../../src/domain/support/compare-receipt.ts';
import { whyTwo } from '../../src/domain/support/decide-alone.ts';
import { previewDecision } from '../../src/domain/support/decide-discrepancy.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { doubtPayment } from '../../src/domain/support/doubt-payment.ts';
import { areProvenParts } from '../../src/domain/support/join-parts.ts';
import type { Resolution } from '../../src/domain/support/resolution.ts';
import { DAY_MS, MINUTE_MS } from '../../src/time.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import {
  failed,
  newPayout,
  parserOf,
  RESOLVING,
  rejection,
  succeeded,
  useStore,
} from '../support/world.ts';

const FAILURE = failed({ externalRef: null });
const HIDDEN = '+2547*****678';
const STRANGER = '+254733000222';

describe('News that contradicts a decision', () => {
  const store = useStore();
  let receipt: string;

  beforeEach(async () => {
    receipt = newReceipt();
    await store.topUp(100_000, 'top-up');
  });

  afterEach(() => store.expectRightBooks());

  const paid = (transId: string | null = receipt) =>
    succeeded({ transId, externalRef: null, account: null, amountCents: null });
  const tell = (payment: AnyPayment, news: Verdict, heardAt: Date | null = null) =>
    store.transaction(async (trx) => {
      const locked = await lockPayment(trx, refOf(payment));
      return settle(trx, locked!, news, { cause: 'callback', heardAt, parserOf });
    });
  const dayOf = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
  const statement = (
    lines: StatementLine[],
    source: string = FROM_GATEWAY,
    covers: ('collection' | 'payout')[] = [],
  ) => runStatement(store.database, lines, { from: dayOf(-1), to: dayOf(1) }, { covers }, source);
  const decide = async (kind: string, as: string, payment: AnyPayment, transId?: string) =>
    store.resolve(await store.discrepancyOf(kind as never, payment), as as never, transId);
  const openOf = async (payment: AnyPayment) =>
    (await casesOf(store.database, refOf(payment)))
      .filter(({ resolved_at }) => resolved_at === null)
      .map(({ kind }) => kind);
  const questions = (trans_id = receipt) =>
    store.rows<{ id: string; booked_for: string | null }>(
      `SELECT id, details->>'booked_for' AS booked_for FROM discrepancies
       WHERE kind = 'unknown_movement' AND trans_id = :trans_id AND resolved_at IS NULL`,
      { trans_id },
    );

  /** A line without a reference, whose money somebody has booked by hand or had sent back. */
  async function dismissLine(payment: AnyPayment, like: Partial<StatementLine>) {
    await statement([lineOf(payment, { reference: null, transId: receipt, ...like })]);
    const [found] = await questions();
    await store.resolve(found!, 'dismissed');
  }

  for (const by of ['the gateway', 'support'] as const) {
    it(`asks again about dismissed money that ${by} gives to a payment`, async () => {
      const collection = await store.makeOverdue(await store.newCollection());
      await dismissLine(collection, { account: null });
      if (by === 'the gateway') await tell(collection, paid());
      else await decide('overdue', 'completed', collection, receipt);
      expect(await questions()).to.containSubset([
        { booked_for: `collection ${collection.id} of merchant ${collection.merchant_id}` },
      ]);
      const [again] = await questions();
      await store.resolve(again!, 'dismissed');
      await statement([lineOf(collection, { transId: receipt })]);
      expect(await questions()).to.deep.equal([]);
    });
  }

  it('asks again each time that a payment gets the receipt of dismissed money', async () => {
    const collection = await store.makeOverdue(await store.newCollection());
    await dismissLine(collection, { account: null, amountCents: 5_000 });
    const wrong = lineOf(collection, { transId: receipt, amountCents: 5_000 });
    await statement([wrong], 'file.csv');
    await store.resolve((await questions())[0]!, 'dismissed');
    await decide('other_amount', 'undo', collection);
    await store.resolve((await questions())[0]!, 'dismissed');
    await tell(collection, paid());
    expect(await store.reread(collection)).to.include({ status: 'completed', trans_id: receipt });
    expect((await questions())[0]!.booked_for).to.include(collection.id);
  });

  it('asks about dismissed money once more when another payment gets its receipt', async () => {
    const wrong = await store.makeOverdue(await store.newCollection());
    const right = await store.newCollection({ payfrom: STRANGER });
    await dismissLine(wrong, { account: HIDDEN, amountCents: 1_100 });
    await store.rewrite('UPDATE statement_lines SET amount_cents = :cents, account = NULL', {
      cents: wrong.amount_cents,
    });
    await decide('overdue', 'completed', wrong, receipt);
    await tell(right, paid());
    await decide('receipt_of_another', 'undo', wrong);
    expect(await store.reread(right)).to.include({ status: 'completed', trans_id: receipt });
    const name = `collection ${right.id} of merchant ${right.merchant_id}`;
    expect((await questions()).map(({ booked_for }) => booked_for)).to.deep.equal([name]);
  });

  it('asks once about dismissed money of a line with a strange reference, whatever statement lists it again', async () => {
    const collection = await store.newCollection();
    const line = lineOf(collection, { transId: receipt, reference: 'FT-9', account: null });
    await statement([line]);
    await store.resolve((await questions())[0]!, 'dismissed');
    await tell(collection, paid());
    await store.resolve((await questions())[0]!, 'dismissed');
    await statement([line]);
    expect(await questions()).to.deep.equal([]);
  });

  it('asks about money that was dismissed by reference, whatever receipt its payment has', async () => {
    const collection = await store.newCollection();
    await store.rewrite('UPDATE collections SET reference = gen_random_uuid() WHERE id = :id', {
      id: collection.id,
    });
    const { reference } = await store.reread(collection);
    await store.rewrite('UPDATE collections SET reference = :reference WHERE id = :id', {
      reference: collection.reference,
      id: collection.id,
    });
    const line = { ...lineOf(collection, { transId: receipt }), reference };
    await statement([line]);
    await store.resolve((await questions())[0]!, 'dismissed');
    // The request has come again after a restore, under the reference of before.
    await store.rewrite('UPDATE collections SET reference = :reference WHERE id = :id', {
      reference,
      id: collection.id,
    });
    await tell(await store.reread(collection), paid(null));
    expect(await questions()).to.have.length(1);
  });

  it('sends dismissed money of a failed collection to no customer: a person decides', async () => {
    const collection = await store.newCollection();
    await tell(collection, FAILURE, new Date());
    await dismissLine(collection, { account: null });
    await tell(collection, paid(), new Date());
    expect(await store.returnsOf()).to.deep.equal([]);
    expect(await openOf(collection)).to.deep.equal(['paid_after_failure']);
    expect(await questions()).to.have.length(1);
    await decide('paid_after_failure', 'undo', collection);
    expect(await store.accountBalance('suspense')).to.equal(0);
  });

  for (const account of ['+254712345678', null, HIDDEN]) {
    it(`sends late money back that a line of ${account} has listed before its receipt was told`, async () => {
      const collection = await store.newCollection({ payfrom: '+254712345678' });
      await tell(collection, FAILURE, new Date());
      const line = { reference: null, transId: receipt, completedAt: new Date() };
      await statement([lineOf(collection, { ...line, account })]);
      await tell(collection, paid(), new Date());
      expect(await store.returnsOf()).to.have.length(1);
      expect(await questions()).to.deep.equal([]);
      expect(await openOf(collection)).to.deep.equal([]);
    });
  }

  it('asks nobody about late money that went back: no return goes out after the decision', async () => {
    const collection = await store.newCollection();
    await tell(collection, FAILURE, new Date());
    await dismissLine(collection, { account: null });
    await tell(collection, paid(), new Date());
    await decide('paid_after_failure', 'undo', collection);
    expect(await store.reread(collection)).to.include({ status: 'failed', next_step: null });
    await tell(collection, paid(null), new Date());
    expect(await store.returnsOf()).to.deep.equal([]);
    expect(await openOf(collection)).to.deep.equal(['paid_after_failure']);
  });

  it('asks nobody at each statement about late money that was called back, or booked by hand', async () => {
    const collection = await store.newCollection();
    await tell(collection, FAILURE, new Date());
    await dismissLine(collection, { account: null });
    await tell(collection, paid(), new Date());
    expect((await questions())[0]!.booked_for).to.include(collection.id);
    await decide('paid_after_failure', 'undo', collection);
    expect((await questions()).map(({ booked_for }) => booked_for)).to.deep.equal([null]);
    await store.resolve((await questions())[0]!, 'dismissed');
    for (const completedAt of [new Date(), new Date()]) {
      await statement([lineOf(collection, { transId: receipt, completedAt })]);
      expect(await openOf(collection)).to.deep.equal([]);
    }
    expect(await store.accountBalance('suspense')).to.equal(0);
  });

  it('asks nobody again about late money without a receipt that has gone back, or was adopted', async () => {
    const collection = await store.newCollection();
    await tell(collection, FAILURE, new Date());
    await dismissLine(collection, { account: null, completedAt: new Date() });
    await tell(collection, paid(null), new Date());
    await decide('paid_after_failure', 'undo', collection);
    expect(await store.reread(collection)).to.include({ status: 'failed', next_step: null });
    expect(await openOf(collection)).to.deep.equal([]);
  });

  it('sends late money to nobody that a file had told otherwise before', async () => {
    const collection = await store.newCollection();
    await tell(collection, FAILURE, new Date());
    const like = { reference: null, transId: receipt, account: null, completedAt: new Date() };
    await statement([lineOf(collection, { ...like, amountCents: 6_000 })], 'file.csv');
    await dismissLine(collection, like);
    await tell(collection, paid(null), new Date());
    expect(await store.returnsOf()).to.deep.equal([]);
  });

  for (const [index, account] of [null, HIDDEN, STRANGER].entries()) {
    it(`sends late money without a receipt to nobody while a line of ${account} may be it`, async () => {
      const of = { payfrom: '+254712345678', amount_cents: 7_300 + 100 * index };
      const collection = await store.newCollection(of);
      await tell(collection, FAILURE, new Date());
      await dismissLine(collection, { account, completedAt: new Date() });
      await tell(collection, paid(null), new Date());
      const isOther = account === STRANGER;
      expect(await store.returnsOf()).to.have.length(isOther ? 1 : 0);
      expect(await openOf(collection)).to.deep.equal(isOther ? [] : ['paid_after_failure']);
    });
  }

  it('asks about money dismissed under the gateway’s own reference, which the payment learns later', async () => {
    const payout = await store.newPayout({ payto: '+254712555001' });
    const external_ref = `GW-${receipt}`;
    await statement([lineOf(payout, { transId: null, reference: external_ref })]);
    const unknown = () => questions(external_ref);
    await store.resolve((await unknown())[0]!, 'dismissed');
    await tell(payout, paid());
    expect(await unknown()).to.deep.equal([]);
    await tell(payout, { ...paid(), externalRef: external_ref });
    expect(await unknown()).to.have.length(1);
  });

  it('takes second money out of suspense that somebody had sent back before', async () => {
    const collection = await store.newCollection();
    await tell(collection, paid(newReceipt()));
    await dismissLine(collection, { account: null });
    await tell(collection, paid());
    const [second] = await casesOf(store.database, refOf(collection));
    expect(second).to.deep.include({ kind: 'second_success', allowed: ['returned', 'undo'] });
    const doubt = { actor: 'juma', action: 'payment.doubt', reason: 'Sent back' };
    const doubted = doubtPayment(auditedFor(store.database, doubt), refOf(collection), doubt);
    expect(await rejection(doubted)).to.be.an('error');
    await decide('second_success', 'undo', collection);
    expect(await store.reread(collection)).to.include({ status: 'completed' });
    expect(await store.accountBalance('suspense')).to.equal(0);
  });

  it('keeps the receipt of a stranger in mind while the payment’s own money bounces', async () => {
    const collection = await store.makeOverdue(await store.newCollection());
    await statement([lineOf(collection, { reference: null, account: null, transId: receipt })]);
    await statement([lineOf(collection, { transId: receipt })], 'file.csv');
    expect(await questions()).to.deep.equal([]);
    await tell(collection, paid(null), new Date());
    await tell(collection, FAILURE, new Date(Date.now() + MINUTE_MS));
    await decide('failure_after_success', 'undo', collection);
    await decide('undone_money', 'undo', collection);
    expect(await questions()).to.have.length(1);
  });

  it('asks about money adopted under the gateway’s own reference, which the payment learns later', async () => {
    const payout = await store.newPayout();
    const external_ref = `GW-${receipt}`;
    await statement([lineOf(payout, { transId: null, reference: external_ref })]);
    const of = { merchant_id: store.merchantId, receipts: [external_ref] };
    const planned = await planAdoption(store.database, of, RESOLVING as never);
    const by = { requested_by: 'juma', reason: 'Ticket 4711' };
    await store.transaction((trx) => adoptAsAsked(trx, planned, by, RESOLVING));
    await tell(payout, paid());
    await tell(payout, { ...paid(), externalRef: external_ref });
    expect(await openOf(payout)).to.deep.equal(['receipt_of_another']);
  });

  for (const transId of [null, 'its receipt']) {
    it(`asks about a dismissed payment without a receipt that comes again, told with ${transId}`, async () => {
      const payout = await store.newPayout();
      const { gateway, merchant_id, reference } = payout;
      const id = randomUUID();
      const lost = { id, gateway, merchant_id, payment_kind: 'payout', payment_id: id };
      const news = paid(null) as Succeeded;
      await store.transaction((trx) => reportUnknownPayment(trx, lost as never, reference, news));
      const unknown = () =>
        store.rows<{ id: string }>(
          `SELECT id FROM discrepancies WHERE kind = 'unknown_payment' AND payment_id = :id
             AND resolved_at IS NULL`,
          { id },
        );
      await store.resolve((await unknown())[0]!, 'dismissed');
      await tell(payout, paid(transId && receipt));
      expect(await unknown()).to.have.length(1);
    });

    it(`asks about money dismissed under the gateway’s own reference, told with ${transId}`, async () => {
      const payout = await store.newPayout();
      const external_ref = `GW-${receipt}`;
      await statement([lineOf(payout, { transId: null, reference: external_ref })]);
      const unknown = () => questions(external_ref);
      await store.resolve((await unknown())[0]!, 'dismissed');
      await tell(payout, { ...paid(transId && receipt), externalRef: external_ref });
      expect(await unknown()).to.have.length(1);
    });
  }

  it('lets no person alone join receipts of dismissed money', async () => {
    const payout = await store.makeOverdue(await store.newPayout({ amount_cents: 10_000 }));
    const [first, second] = [newReceipt(), newReceipt()];
    const parts = [
      { transId: first, amountCents: 6_000 },
      { transId: second, amountCents: 4_000 },
    ];
    const lines = parts.map((part) => lineOf(payout, { reference: null, ...part }));
    await statement(lines);
    for (receipt of [first, second]) await store.resolve((await questions())[0]!, 'dismissed');
    const transId = `${first} ${second}`;
    const asked = { transId, parserOf, decider: null };
    expect(await areProvenParts(store.database, payout, asked)).to.equal(false);
    await decide('overdue', 'parts', payout, transId);
    for (receipt of [first, second]) {
      expect((await questions())[0]!.booked_for).to.include(payout.id);
    }
  });

  it('lets no person alone give a payment the receipt of dismissed money', async () => {
    const collection = await store.makeOverdue(await store.newCollection());
    const other = await store.newCollection();
    // The file names the payment, which proves the receipt.
    const proven = () => compareReceipt(store.database, collection, receipt, parserOf);
    await dismissLine(other, { account: STRANGER, amountCents: collection.amount_cents });
    const line = lineOf(collection, { transId: receipt });
    await store.rewrite('UPDATE statement_lines SET reference = :reference, account = :account', {
      reference: collection.reference,
      account: line.account,
    });
    expect(await proven()).to.equal(false);
    await store.rewrite('DELETE FROM discrepancies');
    expect(await proven()).to.equal(true);
  });

  it('adopts no line that may be late money which waits', async () => {
    const collection = await store.newCollection({ amount_cents: 31_200 });
    await tell(collection, FAILURE, new Date());
    const late = { ...paid(null), completedAt: null };
    await tell(collection, late, new Date(Date.now() - MINUTE_MS));
    expect(await openOf(collection)).to.deep.equal(['paid_after_failure']);
    const like = { reference: null, transId: receipt, account: null, completedAt: new Date() };
    await statement([lineOf(collection, like)]);
    const plan = { merchant_id: store.merchantId, receipts: [receipt] };
    const why = await rejection(planAdoption(store.database, plan, RESOLVING));
    expect(why.message).to.include(`the money of collection ${collection.id}`);
  });

  it('asks about each receipt of a lost payment whose callback had none', async () => {
    const lost = { gateway: 'simulator', merchant_id: store.merchantId };
    const of = { ...lost, payment_kind: 'collection', id: randomUUID(), payment_id: randomUUID() };
    const reference = randomUUID();
    const news = { ...paid(null), amountCents: 10_000 };
    await store.transaction((trx) => reportUnknownPayment(trx, of as never, reference, news));
    const collection = await store.newCollection({ payfrom: STRANGER });
    const second = newReceipt();
    await statement([
      lineOf(collection, { reference, transId: receipt, completedAt: new Date() }),
      lineOf(collection, { reference, transId: second }),
    ]);
    expect(await questions()).to.have.length(1);
    expect(await questions(second)).to.have.length(1);
  });

  it('lets a refund go on whose question was answered with another payment', async () => {
    const right = await store.newPayout({ payto: STRANGER });
    const wrong = await store.newPayout();
    await statement([lineOf(wrong, { transId: receipt, completedAt: new Date() })], 'wrong.csv');
    await tell(right, paid(null));
    await tell(right, paid());
    await tell(wrong, FAILURE, new Date());
    await decide('failure_after_success', 'undo', wrong);
    await decide('undone_money', 'returned', wrong);
    expect(await openOf(wrong)).to.deep.equal([]);
    expect(await store.reread(wrong)).to.include({ status: 'failed', next_step: 'refund' });
    expect(await store.reread(right)).to.include({ status: 'completed', trans_id: receipt });
  });

  it('lets no person alone give dismissed money to a payment, or back to a customer', async () => {
    const needsTwo = async (kind: string, as: Resolution, payment: AnyPayment) => {
      const { id } = await store.discrepancyOf(kind as never, payment);
      const decision = { as, actor: 'amina', reason: 'because', transId: null };
      const foreseen = await previewDecision(store.database, id, decision, RESOLVING);
      const why = await whyTwo(store.database, foreseen, decision, 10_000_000);
      expect(why, `${kind} as ${as}`).to.include('Somebody had the money sent back');
    };
    const late = await store.newCollection();
    await tell(late, FAILURE, new Date());
    await dismissLine(late, { account: null });
    await tell(late, paid(), new Date());
    await needsTwo('paid_after_failure', 'returned', late);
    receipt = newReceipt();
    const less = await store.newCollection();
    await dismissLine(less, { account: null, amountCents: 8_000 });
    await tell(less, { ...paid(), amountCents: 8_000 });
    await needsTwo('other_amount', 'accept-amount', less);
    receipt = newReceipt();
    const refunded = await store.newPayout();
    await tell(refunded, FAILURE, new Date());
    await store.refund(refunded);
    await dismissLine(refunded, { account: null });
    await tell(refunded, paid(), new Date());
    await needsTwo('paid_after_refund', 'completed', refunded);
  });

  it('lets no person alone fail a payment of which the gateway has told success and failure', async () => {
    const needsTwo = async (payment: AnyPayment) => {
      const { id } = await store.discrepancyOf('failure_after_success', payment);
      const decision = { as: 'undo', actor: 'amina', reason: 'because', transId: null } as const;
      const foreseen = await previewDecision(store.database, id, decision, RESOLVING);
      return whyTwo(store.database, foreseen, decision, 10_000_000);
    };
    const payout = await store.newPayout();
    await tell(payout, paid());
    await tell(payout, FAILURE, new Date());
    expect(await needsTwo(payout)).to.include('Both a success and a failure');
  });

  it('lets no person alone use money that has bounced, once the failure was dismissed', async () => {
    const collection = await store.newCollection();
    await tell(collection, { ...paid(), amountCents: 8_000 });
    await tell(collection, FAILURE, new Date());
    await decide('failure_after_success', 'dismissed', collection);
    const { id } = await store.discrepancyOf('other_amount', collection);
    for (const as of ['accept-amount', 'returned'] as const) {
      const decision = { as, actor: 'amina', reason: 'because', transId: null };
      const foreseen = await previewDecision(store.database, id, decision, RESOLVING);
      const why = await whyTwo(store.database, foreseen, decision, 10_000_000);
      expect(why, as).to.include('Both a success and a failure');
    }
  });

  describe('lets no person alone believe an amount of which the gateway has told otherwise', () => {
    const alone = async (as: Resolution, kind: string, payment: AnyPayment) => {
      const { id } = await store.discrepancyOf(kind as never, payment);
      const decision = { as, actor: 'amina', reason: 'because', transId: null };
      const foreseen = await previewDecision(store.database, id, decision, RESOLVING);
      return whyTwo(store.database, foreseen, decision, 10_000_000);
    };
    const OTHERWISE = 'The gateway has told otherwise';

    it('under the same receipt, after the payment was completed', async () => {
      const payout = await store.newPayout();
      await tell(payout, paid());
      await tell(payout, { ...paid(), amountCents: 1_000 });
      expect(await alone('accept-amount', 'other_amount', payout)).to.equal(null);
      await tell(payout, { ...paid(), amountCents: 1_000 });
      expect(await alone('accept-amount', 'other_amount', payout)).to.equal(null);
      await tell(payout, paid());
      expect(await alone('accept-amount', 'other_amount', payout)).to.include(OTHERWISE);
    });

    for (const transId of ['its receipt', null]) {
      it(`under ${transId ?? 'no receipt'}, while the money waits`, async () => {
        const payout = await store.newPayout();
        await tell(payout, { ...paid(), amountCents: 1_000 });
        await tell(payout, { ...paid(transId && receipt), amountCents: 10_000 });
        expect(await alone('accept-amount', 'other_amount', payout)).to.include(OTHERWISE);
      });
    }

    it('with another account', async () => {
      const collection = await store.newCollection();
      await tell(collection, { ...paid(null), amountCents: 14_000 });
      await tell(collection, { ...paid(null), amountCents: 1_000, account: STRANGER });
      for (const as of ['accept-amount', 'returned'] as const) {
        expect(await alone(as, 'other_amount', collection), as).to.include(OTHERWISE);
      }
    });
  });

  it('lets no person alone send back what the gateway tells, while the merchant keeps what a file told', async () => {
    const collection = await store.newCollection();
    const wrong = { transId: newReceipt(), completedAt: new Date() };
    await statement([lineOf(collection, wrong)], 'wrong.csv');
    await tell(collection, paid());
    const { id } = await store.discrepancyOf('second_success', collection);
    const decision = { as: 'returned', actor: 'amina', reason: 'because', transId: null } as const;
    const foreseen = await previewDecision(store.database, id, decision, RESOLVING);
    const why = await whyTwo(store.database, foreseen, decision, 10_000_000);
    expect(why).to.include('on the word of a person');
  });

  it('asks when the gateway first tells of late money that a file had told of, and people had called back', async () => {
    const collection = await store.newCollection();
    await tell(collection, FAILURE, new Date());
    await dismissLine(collection, { account: null });
    const line = lineOf(collection, { transId: receipt, completedAt: new Date() });
    await statement([line], 'wrong.csv');
    await decide('paid_after_failure', 'undo', collection);
    await statement([line]);
    expect(await openOf(collection)).to.deep.equal(['paid_after_failure']);
  });

  it('keeps the owner of money that was booked by hand, when other money of it is withdrawn', async () => {
    const collection = await store.newCollection();
    const externalRef = `GW-${receipt}`;
    await statement([lineOf(collection, { transId: null, reference: externalRef })]);
    await store.resolve((await questions(externalRef))[0]!, 'dismissed');
    await tell(collection, { ...paid(), externalRef });
    const owners = async () => (await questions(externalRef)).map(({ booked_for }) => booked_for);
    const before = await owners();
    expect(before[0]).to.include(collection.id);
    const wrong = newReceipt();
    await statement([lineOf(collection, { transId: wrong, completedAt: new Date() })], 'wrong.csv');
    await decide('second_success', 'undo', collection);
    expect(await owners()).to.deep.equal(before);
  });

  it('lets no person alone dismiss that a statement lacks a collection of which only a file has told', async () => {
    const needsTwo = async (collection: AnyPayment) => {
      await store.rewrite("UPDATE movements SET learned_at = learned_at - interval '1 day'");
      await statement([], FROM_GATEWAY, ['collection']);
      const { id } = await store.discrepancyOf('missing_at_gateway', collection);
      const decision = { as: 'dismissed', actor: 'amina', reason: 'ok', transId: null } as const;
      const foreseen = await previewDecision(store.database, id, decision, RESOLVING);
      return whyTwo(store.database, foreseen, decision, 10_000_000);
    };
    const ofFile = await store.newCollection();
    const line = { transId: receipt, completedAt: new Date() };
    await statement([lineOf(ofFile, line)], 'wrong.csv');
    expect(await needsTwo(ofFile)).to.include('on the word of a person');
    const told = await store.newCollection();
    await tell(told, { ...paid(newReceipt()), completedAt: new Date() });
    expect(await needsTwo(told)).to.equal(null);
    await tell(ofFile, FAILURE, new Date());
    const failure = await store.discrepancyOf('failure_after_success', ofFile);
    const decision = { as: 'dismissed', actor: 'amina', reason: 'ok', transId: null } as const;
    const foreseen = await previewDecision(store.database, failure.id, decision, RESOLVING);
    const why = await whyTwo(store.database, foreseen, decision, 10_000_000);
    expect(why).to.include('Both a success and a failure');
  });

  for (const kind of ['other_amount', 'other_account']) {
    it(`gives no part of a payout back while the gateway has told of the rest: ${kind}`, async () => {
      const payout = await store.newPayout({ amount_cents: 10_000 });
      const account = kind === 'other_account' ? STRANGER : null;
      await tell(payout, { ...paid(), amountCents: 1_000, account });
      await tell(payout, { ...paid(newReceipt()), amountCents: 9_000 });
      const why = await rejection(decide(kind, 'accept-amount', payout));
      expect(why.message).to.include('waits too: resolve its second_success first');
      await decide('second_success', 'returned', payout);
      await decide(kind, 'accept-amount', payout);
      expect(await store.reread(payout)).to.include({ status: 'completed', amount_cents: 1_000 });
    });
  }

  it('proves a listed receipt that fits one payment alone', async () => {
    const payout = await store.makeOverdue(await store.newPayout({ amount_cents: 31_100 }));
    const line = { reference: null, transId: receipt, completedAt: new Date() };
    await statement([lineOf(payout, line)]);
    expect(await compareReceipt(store.database, payout, receipt, parserOf)).to.equal(true);
    const older = await store.makeOverdue(await store.newPayout({ amount_cents: 31_100 }));
    await store.rewrite(
      "UPDATE payouts SET created_at = now() - interval '3 days' WHERE id = :id",
      {
        id: older.id,
      },
    );
    expect(await compareReceipt(store.database, payout, receipt, parserOf)).to.equal(false);
  });

  it('asks about a failure that the gateway tells after money of a failed payout', async () => {
    const payout = await store.makeOverdue(await store.newPayout());
    await decide('overdue', 'failed', payout);
    await store.refund(payout);
    await tell(payout, paid(), new Date());
    expect(await tell(payout, FAILURE, new Date(Date.now() + MINUTE_MS))).to.equal('discrepancy');
    const why = await rejection(decide('paid_after_refund', 'completed', payout));
    expect(why.message).to.include('resolve failure_after_success first');
    await decide('paid_after_refund', 'returned', payout);
    await decide('failure_after_success', 'dismissed', payout);
    expect(await openOf(payout)).to.deep.equal([]);
  });

  it('sends no late money back that has bounced', async () => {
    const collection = await store.newCollection();
    await tell(collection, FAILURE, new Date());
    const late = { ...paid(), account: collection.payfrom, amountCents: collection.amount_cents };
    await tell(collection, late, new Date(Date.now() + 1_000));
    const [planned] = await store.returnsOf();
    expect(planned).to.include({ status: 'pending', next_step: 'submit' });
    await tell(collection, FAILURE, new Date(Date.now() + MINUTE_MS));
    const [failedReturn] = await store.returnsOf();
    expect(failedReturn).to.include({ status: 'failed', next_step: null });
    const question = await store.discrepancyOf('return_failed');
    const why = await rejection(store.resolve(question, 'returned'));
    expect(why.message).to.include('resolve failure_after_success first');
    await store.resolve(question, 'undo');
    // The money that the gateway has told of has gone back. Nobody is asked about it.
    expect(await openOf(collection)).to.deep.equal([]);
    expect(await store.accountBalance('gateway_float')).to.equal(0);
  });

  it('pays no customer back whose late money has bounced', async () => {
    const collection = await store.newCollection();
    await tell(collection, FAILURE, new Date());
    const other = { ...paid(), amountCents: 8_000 };
    await tell(collection, other, new Date(Date.now() + 1_000));
    await tell(collection, FAILURE, new Date(Date.now() + MINUTE_MS));
    const why = await rejection(decide('paid_after_failure', 'returned', collection));
    expect(why.message).to.include('resolve failure_after_success first');
    await decide('failure_after_success', 'dismissed', collection);
    await decide('paid_after_failure', 'returned', collection);
    expect(await store.returnsOf()).to.have.length(1);
  });

  it('takes a customer’s money that has bounced out of suspense', async () => {
    const collection = await store.newCollection();
    await tell(collection, { ...paid(), amountCents: 8_000 }, new Date());
    const [question] = await casesOf(store.database, refOf(collection));
    expect(question!.allowed).to.not.include('undo');
    await tell(collection, FAILURE, new Date(Date.now() + MINUTE_MS));
    await decide('other_amount', 'undo', collection);
    expect(await store.accountBalance('suspense')).to.equal(0);
    expect(await openOf(collection)).to.deep.equal(['failure_after_success']);
    await decide('failure_after_success', 'dismissed', collection);
  });

  it('asks about money of a failed collection that bounces after the customer has it back', async () => {
    const collection = await store.newCollection();
    await tell(collection, FAILURE, new Date());
    await tell(collection, paid(), new Date());
    const [back] = await store.returnsOf();
    await tell(back!, paid(newReceipt()));
    await tell(collection, FAILURE, new Date(Date.now() + MINUTE_MS));
    expect(await openOf(collection)).to.deep.equal(['failure_after_success']);
    await decide('failure_after_success', 'dismissed', collection);
    expect(await openOf(collection)).to.deep.equal([]);
  });

  for (const [as, open] of [
    ['failed', ['failure_after_success']],
    ['returned', []],
  ] as const) {
    it(`asks about late money of a payout that bounces after it was called ${as}: ${open.length}`, async () => {
      const payout = await store.newPayout();
      await tell(payout, FAILURE, new Date());
      await store.refund(payout);
      await tell(payout, paid(), new Date());
      await decide('paid_after_refund', as, payout);
      await tell(payout, FAILURE, new Date(Date.now() + MINUTE_MS));
      expect(await openOf(payout)).to.deep.equal(open);
    });
  }

  it('lets a payment be doubted whose money somebody had dismissed', async () => {
    const collection = await store.makeOverdue(await store.newCollection());
    await dismissLine(collection, { account: null });
    await tell(collection, paid());
    const doubt = { actor: 'juma', action: 'payment.doubt', reason: 'Sent back by the gateway' };
    await doubtPayment(auditedFor(store.database, doubt), refOf(collection), doubt);
    await decide('doubted', 'undo', collection);
    expect(await store.reread(collection)).to.include({ status: 'failed' });
    await decide('undone_money', 'undo', collection);
    expect(await openOf(collection)).to.deep.equal([]);
  });

  it('rules no payout out by a statement that has its line with another payout of support', async () => {
    const merchant = await store.newMerchant();
    const of = { amount_cents: 7_700 };
    const [older, own] = [
      await newPayout(store.database, merchant, { payto: '+254733000678', ...of }),
      await store.newPayout({ payto: '+254712345678', ...of }),
    ];
    const [first, last] = [await store.newPayout(), await store.newPayout()];
    for (const each of [older, own]) await store.makeOverdue(each);
    const receipts = [newReceipt(), newReceipt()];
    await tell(first, paid(receipts[0]));
    await tell(last, paid(receipts[1]));
    await store.rewrite(
      `UPDATE payouts SET created_at = now() - interval '3 hours',
         deadline_at = now() - interval '2 hours'`,
    );
    await store.rewrite("UPDATE attempts SET started_at = now() - interval '3 hours'");
    const at = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS);
    const lines = [
      lineOf(first, { transId: receipts[0]!, completedAt: at(300) }),
      lineOf(own, { reference: null, account: HIDDEN, transId: receipt, completedAt: at(170) }),
      lineOf(last, { transId: receipts[1]!, completedAt: at(1) }),
    ];
    const [overdue] = await casesOf(store.database, refOf(older));
    await store.resolve(overdue!, 'completed', receipt);
    const isRuledOut = async () => {
      const { ruledOut } = await statement(lines, FROM_GATEWAY, ['payout']);
      return ruledOut.some(({ id }) => id === own.id);
    };
    expect(await isRuledOut()).to.equal(false);
    // What the gateway has named belongs to nobody else.
    await tell(older, paid());
    expect(await isRuledOut()).to.equal(true);
  });

  it('adopts no line that an open payout may have moved', async () => {
    const payout = await store.makeOverdue(await store.newPayout({ amount_cents: 8_800 }));
    const like = { reference: null, account: HIDDEN, transId: receipt, completedAt: new Date() };
    await statement([lineOf(payout, like)]);
    const adopt = () =>
      planAdoption(
        store.database,
        { merchant_id: store.merchantId, receipts: [receipt] },
        RESOLVING as never,
      );
    expect((await rejection(adopt())).message).to.include(`payout ${payout.id}`);
    await decide('overdue', 'failed', payout);
    expect((await rejection(adopt())).message).to.include(`payout ${payout.id}`);
    await store.refund(payout);
    expect((await adopt()).lines).to.have.length(1);
  });

  for (const kind of ['collection', 'payout'] as const) {
    it(`keeps the own receipt of a ${kind} while another one is given up`, async () => {
      const make = (phone: string) =>
        kind === 'payout'
          ? store.newPayout({ payto: phone })
          : store.newCollection({ payfrom: phone });
      const own = await store.makeOverdue(await make('+254712345678'));
      const other = await store.makeOverdue(await make(STRANGER));
      const [right, wrong] = [newReceipt(), newReceipt()];
      await decide('overdue', 'completed', own, wrong);
      await tell(own, paid(null));
      await tell(own, paid(right));
      await tell(other, paid(wrong));
      await decide('receipt_of_another', 'undo', own);
      await decide('second_success', 'same', own);
      expect(await store.reread(own)).to.include({ status: 'completed', trans_id: right });
      expect(await store.reread(other)).to.include({ status: 'completed', trans_id: wrong });
      expect([...(await openOf(own)), ...(await openOf(other))]).to.deep.equal([]);
    });

    it(`undoes no ${kind} for good while its own receipt waits`, async () => {
      const payment = await store.makeOverdue(await store.newPayment(kind));
      const [right, wrong] = [newReceipt(), newReceipt()];
      await decide('overdue', 'completed', payment, wrong);
      await tell(payment, paid(right));
      const other = await store.newPayment(kind);
      await tell(other, paid(wrong));
      const why = await rejection(decide('receipt_of_another', 'undo', payment));
      expect(why.message).to.include('resolve second_success first');
      await decide('second_success', 'same', payment);
      // The other one has the receipt now, so nobody asks about it any more.
      expect([...(await openOf(payment)), ...(await openOf(other))]).to.deep.equal([]);
      expect(await store.reread(payment)).to.include({ status: 'completed', trans_id: right });
      expect(await store.reread(other)).to.include({ status: 'completed', trans_id: wrong });
    });
  }

  it('knows undone money by the receipt that it gets later', async () => {
    const collection = await store.newCollection();
    await tell(collection, paid(null), new Date());
    await tell(collection, FAILURE, new Date(Date.now() + MINUTE_MS));
    await decide('failure_after_success', 'undo', collection);
    const line = lineOf(collection, { transId: receipt });
    await statement([line]);
    expect(await openOf(collection)).to.deep.equal(['undone_money']);
    await decide('undone_money', 'undo', collection);
    // The statement had listed it before the decision.
    await statement([line]);
    expect(await openOf(collection)).to.deep.equal([]);
    expect(await store.returnsOf()).to.deep.equal([]);
  });

  it('joins parts in the place of a wrong receipt that was taken away', async () => {
    const payout = await store.makeOverdue(await store.newPayout({ amount_cents: 10_000 }));
    const other = await store.makeOverdue(await store.newPayout({ payto: STRANGER }));
    await decide('overdue', 'completed', payout, receipt);
    await tell(payout, paid(null));
    const receipts = [newReceipt(), newReceipt()];
    for (const [at, amountCents] of [6_000, 4_000].entries()) {
      await tell(payout, { ...paid(receipts[at]!), amountCents });
    }
    await tell(other, paid());
    await decide('receipt_of_another', 'undo', payout);
    const open = (await casesOf(store.database, refOf(payout))).find(
      ({ kind, resolved_at }) => kind === 'second_success' && resolved_at === null,
    );
    await store.resolve(open!, 'parts', receipts.join(' '));
    expect(await store.reread(payout)).to.include({ status: 'completed', trans_id: receipts[0]! });
    expect(await store.reread(other)).to.include({ status: 'completed', trans_id: receipt });
    expect([...(await openOf(payout)), ...(await openOf(other))]).to.deep.equal([]);
  });

  it('asks once more about money that a statement named, after the undo of its receipt', async () => {
    const [wrong, own] = [
      await store.makeOverdue(await store.newPayout()),
      await store.makeOverdue(await store.newPayout({ payto: STRANGER })),
    ];
    const line = lineOf(own, { transId: receipt });
    await statement([line]);
    await statement([lineOf(wrong, { transId: receipt })], 'file.csv');
    await decide('receipt_of_another', 'undo', own);
    await statement([line]);
    expect(await openOf(own)).to.deep.equal(['undone_money']);
    await decide('undone_money', 'returned', own);
    await statement([line]);
    expect(await openOf(own)).to.deep.equal([]);
  });
});
