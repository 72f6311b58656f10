import { expect } from 'chai';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { FROM_GATEWAY, type StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { compareReceipt } from '../../src/domain/support/compare-receipt.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
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
  const questions = () =>
    store.rows<{ id: string; booked_for: string | null }>(
      `SELECT id, details->>'booked_for' AS booked_for FROM discrepancies
       WHERE kind = 'unknown_movement' AND trans_id = :receipt AND resolved_at IS NULL`,
      { receipt },
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
      await dismissLine(collection, { account: STRANGER });
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

  it('proves a listed receipt that fits one payment alone', async () => {
    const payout = await store.makeOverdue(await store.newPayout({ amount_cents: 31_100 }));
    await statement([lineOf(payout, { reference: null, transId: receipt })]);
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
