import { expect } from 'chai';
import { auditedFor } from '../../src/domain/audit/audit.ts';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { FROM_GATEWAY, type StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { claimAtOnce } from '../../src/domain/submission/claim-submission.ts';
import { planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { compareReceipt } from '../../src/domain/support/compare-receipt.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { doubtPayment } from '../../src/domain/support/doubt-payment.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../src/time.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import { toldIn } from '../support/told.ts';
import {
  failed,
  parserOf,
  RESOLVING,
  rejection,
  reversalRequest,
  succeeded,
  useStore,
} from '../support/world.ts';

const PHONE = '+254712000126';
const HIDDEN = '+2547*****126';
const FAILURE = failed({ externalRef: null });

describe('Money that names no payment', () => {
  const store = useStore();
  let collection: Collection;
  /** The receipt of the customer's own payment, and that of a stranger whose phone looks the same. */
  let own: string;
  let other: string;

  let amount_cents = 20_000;
  beforeEach(async () => {
    amount_cents += 100;
    collection = await store.newCollection({ payfrom: PHONE, amount_cents });
    await store.makeOverdue(collection);
    [own, other] = [newReceipt(), newReceipt()];
  });

  afterEach(() => store.expectRightBooks());

  const tell = (payment: AnyPayment, news: Verdict) =>
    store.transaction(async (trx) => {
      const locked = await lockPayment(trx, refOf(payment));
      return settle(trx, locked!, news, { cause: 'callback', parserOf });
    });
  const paid = (transId: string | null) =>
    succeeded({ transId, externalRef: null, account: PHONE, amountCents: amount_cents });
  const like = (transId: string, seconds = 0): StatementLine =>
    lineOf(collection, {
      ...{ reference: null, account: HIDDEN, transId },
      completedAt: new Date(collection.created_at.getTime() + MINUTE_MS + seconds * SECOND_MS),
    });
  const statement = (lines: StatementLine[], source: string = FROM_GATEWAY) => {
    const dayOf = (daysFrom: number) =>
      new Date(Date.now() + daysFrom * DAY_MS).toISOString().slice(0, 10);
    const days = { from: dayOf(-1), to: dayOf(1) };
    return runStatement(store.database, lines, days, { covers: [] }, source);
  };
  const decide = async (kind: string, as: string, payment: AnyPayment = collection) =>
    store.resolve(await store.discrepancyOf(kind as never, payment), as as never);
  const openOf = async () =>
    (await casesOf(store.database, refOf(collection)))
      .filter(({ resolved_at }) => resolved_at === null)
      .map(({ kind, allowed }) => `${kind}: ${allowed.join(', ')}`);
  const unknown = async () =>
    (
      await store.rows<{ trans_id: string }>(
        `SELECT trans_id FROM discrepancies WHERE kind = 'unknown_movement'
           AND resolved_at IS NULL AND trans_id = ANY (:receipts) ORDER BY trans_id`,
        { receipts: [own, other] },
      )
    ).map(({ trans_id }) => trans_id);
  const adoptable = (receipt: string) =>
    planAdoption(
      store.database,
      { merchant_id: store.merchantId, receipts: [receipt] },
      RESOLVING,
    ).then(
      ({ lines }) => lines.length,
      ({ message }: Error) => message,
    );

  async function dismissUnknown(receipt: string) {
    const [found] = await store.rows<{ id: string }>(
      "SELECT id FROM discrepancies WHERE kind = 'unknown_movement' AND trans_id = :receipt",
      { receipt },
    );
    await store.resolve(found!, 'dismissed');
  }

  async function doubtAndUndo() {
    const by = { actor: 'colleague', action: 'payment.doubt', reason: 'A stranger paid' };
    await doubtPayment(auditedFor(store.database, by), refOf(collection), by);
    await decide('doubted', 'undo');
  }

  it('completes the only payment that it fits, which can be doubted', async () => {
    await statement([like(other)]);
    expect(await store.reread(collection)).to.include({ status: 'completed', trans_id: other });
    await doubtAndUndo();
    expect(await openOf()).to.deep.equal(['taken_after_failure: failed']);
    expect(await unknown()).to.deep.equal([other]);
  });

  for (const source of [FROM_GATEWAY, 'file.csv']) {
    it(`stays doubtful however often it is listed, first by ${source}`, async () => {
      await statement([like(other)], source);
      await statement([like(other)]);
      await tell(collection, paid(own));
      expect(await openOf()).to.deep.equal(['second_success: same, returned']);
      await decide('second_success', 'same');
      expect(await store.reread(collection)).to.include({ status: 'completed', trans_id: own });
      expect(await openOf()).to.deep.equal([]);
    });
  }

  it('is the money of nobody once the payment has its own', async () => {
    await statement([like(other)]);
    await tell(collection, paid(own));
    await decide('second_success', 'same');
    expect(await unknown()).to.deep.equal([other]);
    expect(await adoptable(other)).to.equal(1);
    expect((await statement([like(own), like(other)])).lines).to.include({
      matched: 1,
      unknown: 1,
    });
    expect(await unknown()).to.deep.equal([other]);
    expect(await adoptable(other)).to.equal(1);
  });

  it('is proven by news that names the payment', async () => {
    await statement([like(own)]);
    await tell(collection, paid(own));
    await tell(collection, paid(other));
    expect(await openOf()).to.deep.equal(['second_success: returned']);
    const by = { actor: 'colleague', action: 'payment.doubt', reason: 'A stranger paid' };
    const doubt = doubtPayment(auditedFor(store.database, by), refOf(collection), by);
    expect((await rejection(doubt)).message).to.match(/^The gateway itself/);
  });

  it('proves no receipt that support has read for the payment: it may be the wrong row', async () => {
    await store.resolve(await store.discrepancyOf('overdue', collection), 'completed', other);
    await statement([like(other)]);
    await tell(collection, paid(own));
    expect(await openOf()).to.deep.equal(['second_success: same, returned']);
    await decide('second_success', 'same');
    expect(await unknown()).to.deep.equal([other]);
  });

  it('proves no receipt to one person while other money fits', async () => {
    await statement([like(own), like(other, 40)]);
    for (const receipt of [own, other]) {
      expect(await compareReceipt(store.database, collection, receipt, parserOf)).to.equal(false);
    }
    await statement([like(own)]);
    await store.resolve(await store.discrepancyOf('overdue', collection), 'completed', other);
    await statement([like(own), like(other, 40)]);
    await tell(collection, paid(own));
    await decide('second_success', 'same');
    expect(await unknown()).to.deep.equal([other]);
  });

  it('names no payment for a file that does: that one may have the wrong row', async () => {
    await statement([{ ...like(other), reference: collection.reference }], 'file.csv');
    await statement([like(other)]);
    await tell(collection, paid(own));
    expect(await openOf()).to.deep.equal(['second_success: same, returned']);
  });

  for (const dismissed of ['both', 'one']) {
    it(`completes nothing once ${dismissed} of two lines that fit were dismissed`, async () => {
      const lines = [like(own), like(other, 40)];
      await statement(lines);
      for (const receipt of dismissed === 'both' ? [own, other] : [other]) {
        await dismissUnknown(receipt);
      }
      await statement(lines);
      await statement(lines.slice(0, 1));
      expect(await store.reread(collection)).to.include({ status: collection.status });
      expect(await unknown()).to.deep.equal(dismissed === 'both' ? [] : [own]);
    });
  }

  it('is no money of its payment if a file lists it and the gateway says that it failed', async () => {
    await statement([like(other)], 'file.csv');
    await tell(collection, FAILURE);
    await decide('failure_after_success', 'undo');
    expect(await openOf()).to.deep.equal([]);
    expect(await unknown()).to.deep.equal([other]);
    expect(await store.returnsOf()).to.deep.equal([]);
  });

  it('gives no receipt to money of another amount', async () => {
    await tell(collection, { ...paid(null), amountCents: 15_700 });
    await statement([like(other)]);
    expect(await openOf()).to.include('other_amount: accept-amount, returned');
    expect(await openOf()).to.have.length(2);
    expect(await unknown()).to.deep.equal([other]);
  });

  it('leaves a payment completed whose money the gateway has told, when its receipt is doubted', async () => {
    await tell(collection, paid(null));
    await statement([like(other)]);
    await doubtAndUndo();
    expect(await store.reread(collection)).to.include({ status: 'completed', trans_id: null });
    expect(await unknown()).to.deep.equal([other]);
  });

  it('never comes back to the payment from which a decision has taken it', async () => {
    await tell(collection, paid(null));
    await statement([like(other)]);
    await doubtAndUndo();
    await statement([like(other)]);
    expect(await store.reread(collection)).to.include({ status: 'completed', trans_id: null });
    expect(await unknown()).to.deep.equal([other]);
    expect(await adoptable(other)).to.equal(1);
    await statement([like(own, 40), like(other)]);
    expect(await unknown()).to.include(other);
  });

  for (const source of [FROM_GATEWAY, 'file.csv']) {
    it(`comes to no open payment by a decision about another one, listed by ${source}`, async () => {
      const wrong = await store.newCollection({ payfrom: '+254733000999', amount_cents });
      await store.makeOverdue(wrong);
      await store.resolve(await store.discrepancyOf('overdue', wrong), 'completed', other);
      await statement([like(other)], source);
      await decide('receipt_of_another', 'undo', wrong);
      expect(await store.reread(collection)).to.include({ status: collection.status });
    });
  }

  it('is adopted once of two that fit a completed payment, which has one of them', async () => {
    await tell(collection, paid(null));
    await statement([like(own), like(other, 40)]);
    const plan = (receipts: string[]) =>
      planAdoption(store.database, { merchant_id: store.merchantId, receipts }, RESOLVING);
    expect((await plan([own, other])).lines).to.have.length(1);
    await dismissUnknown(other);
    expect(await adoptable(own)).to.match(/may be that of collection/);
  });

  it('holds a reversal up whenever it was listed, and whoever has given the receipt', async () => {
    await store.resolve(await store.discrepancyOf('overdue', collection), 'completed', other);
    const completed = await store.reread(collection);
    const reversal = await createReversal(store.database, reversalRequest(completed));
    await statement([like(own, 40)]);
    expect(await claimAtOnce(store.database, refOf(reversal), 1, ['simulator'])).to.equal(null);
  });

  it('is sent back by no reversal while other money may be the payment’s', async () => {
    await statement([like(other)]);
    const completed = await store.reread(collection);
    const reversal = await createReversal(store.database, reversalRequest(completed));
    await statement([like(own, 40)]);
    expect(await claimAtOnce(store.database, refOf(reversal), 1, ['simulator'])).to.equal(null);
    const [asked] = await store.rows<{ id: string }>(
      'SELECT id FROM discrepancies WHERE trans_id = :own AND resolved_at IS NULL',
      { own },
    );
    const why = await toldIn(store).whyTwo(asked!.id, 'dismissed');
    expect(why).to.include('waits for this, and goes then');
    await dismissUnknown(own);
    const claimed = await claimAtOnce(store.database, refOf(reversal), 1, ['simulator']);
    expect(claimed).to.include({ original_trans_id: other });
  });

  it('gives a receipt to money that has none, which the true one can replace', async () => {
    await tell(collection, paid(null));
    await statement([like(other)]);
    expect(await store.reread(collection)).to.include({ trans_id: other });
    await tell(collection, paid(own));
    expect(await openOf()).to.deep.equal(['second_success: same, returned']);
    await decide('second_success', 'same');
    expect(await store.reread(collection)).to.include({ trans_id: own });
    expect(await unknown()).to.deep.equal([other]);
  });

  it('goes to nobody by the word that its payment failed', async () => {
    await statement([like(other)]);
    await tell(collection, FAILURE);
    expect(await openOf()).to.deep.equal(['failure_after_success: undo, dismissed']);
    await decide('failure_after_success', 'undo');
    expect(await store.reread(collection)).to.include({ status: 'failed', trans_id: null });
    expect(await openOf()).to.deep.equal([]);
    expect(await unknown()).to.deep.equal([other]);
    expect(await store.returnsOf()).to.deep.equal([]);
  });

  for (const isOwnFirst of [true, false]) {
    const which = isOwnFirst ? 'first' : 'last';
    it(`completes nothing if two lines fit, the payment's own ${which}`, async () => {
      const lines = isOwnFirst ? [like(own), like(other, 40)] : [like(other), like(own, 40)];
      expect((await statement(lines)).lines).to.include({ contradicts: 2 });
      expect(await store.reread(collection)).to.include({ status: collection.status });
      expect(await adoptable(other)).to.match(/may be that of collection/);
      await tell(collection, paid(own));
      expect(await openOf()).to.deep.equal([]);
      expect(await unknown()).to.deep.equal([other]);
      expect(await adoptable(other)).to.equal(1);
    });
  }

  it('completes nothing while other money that fits is on the support list', async () => {
    await statement([like(own), like(other, 40)]);
    expect((await statement([like(other, 40)])).lines).to.include({ contradicts: 1 });
    expect(await unknown()).to.deep.equal([own, other]);
  });

  it('may be of a payment whose receipt is as doubtful', async () => {
    await statement([like(other)]);
    expect((await statement([like(own, 40)])).lines).to.include({ contradicts: 1 });
    expect(await unknown()).to.deep.equal([own]);
    await tell(collection, paid(own));
    expect(await unknown()).to.deep.equal([]);
    await decide('second_success', 'same');
    expect(await unknown()).to.deep.equal([other]);
  });

  it('is adopted for nobody while it may be of a payment at another gateway', async () => {
    const lines = [{ ...like(other), account: PHONE }];
    const days = { from: '2026-11-01', to: new Date().toISOString().slice(0, 10) };
    await runStatement(store.database, lines, days, { covers: [], gateway: 'other' }, 'file.csv');
    expect(await adoptable(other)).to.match(/may be that of collection/);
    await tell(collection, paid(own));
    expect(await adoptable(other)).to.equal(1);
  });
});
