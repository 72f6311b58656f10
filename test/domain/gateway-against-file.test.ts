import { Readable } from 'node:stream';
import { expect } from 'chai';
import { hasRow } from '../../src/connections/database.ts';
import { auditedFor } from '../../src/domain/audit/audit.ts';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { readStatement } from '../../src/domain/reconciliation/statement-file.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { compareReceipt } from '../../src/domain/support/compare-receipt.ts';
import { whyTwo } from '../../src/domain/support/decide-alone.ts';
import { previewDecision } from '../../src/domain/support/decide-discrepancy.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { doubtPayment } from '../../src/domain/support/doubt-payment.ts';
import { receipt as typedReceipt } from '../../src/operations/readers.ts';
import { eventually } from '../support/eventually.ts';
import { SO_FAR } from '../support/so-far.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import {
  AMOUNT_CENTS,
  failed,
  newCollection,
  parserOf,
  RESOLVING,
  rejection,
  succeeded,
  useStore,
} from '../support/world.ts';

const FAILURE = failed({ externalRef: null });
const MINUTE_MS = 60_000;
const BANK_FILE = { columns: {}, kind: undefined, utcOffset: '+03:00', isMobileMoney: true };

describe('The word of the gateway and that of people', () => {
  const store = useStore();
  let receipt: string;

  beforeEach(() => {
    receipt = newReceipt();
  });

  afterEach(() => store.expectRightBooks());

  const tell = (payment: AnyPayment, news: Verdict, cause = 'callback') =>
    store.transaction(async (trx) => {
      const locked = await lockPayment(trx, refOf(payment));
      return settle(trx, locked!, news, { cause, parserOf });
    });
  const paid = (transId: string | null, rest = {}) =>
    succeeded({ transId, externalRef: null, ...rest });
  const statement = (source: string, ...lines: StatementLine[]) =>
    runStatement(store.database, lines, SO_FAR, { covers: [] }, source);
  const file = (...lines: StatementLine[]) => statement('file.csv', ...lines);
  const decide = async (payment: AnyPayment, kind: string, as: string) =>
    store.resolve(await store.discrepancyOf(kind as never, payment), as as never);

  const openOf = async (payment: AnyPayment) =>
    (await casesOf(store.database, refOf(payment))).filter((each) => each.resolved_at === null);
  const questionsOf = async (payment: AnyPayment) =>
    (await openOf(payment)).map(({ kind, allowed }) => `${kind}: ${allowed.join(', ')}`);

  async function doubtAndUndo(payment: AnyPayment) {
    const actor = { actor: 'colleague', action: 'payment.doubt', reason: 'The wrong row' };
    await doubtPayment(auditedFor(store.database, actor), refOf(payment), actor);
    await decide(payment, 'doubted', 'undo');
  }

  it('lets late money go back once, when the gateway tells its receipt after a file has told another one', async () => {
    const collection = await store.newCollection();
    await tell(collection, FAILURE);
    await file(lineOf(collection, { transId: receipt }));
    await decide(collection, 'paid_after_failure', 'returned');
    const own = newReceipt();
    expect(await tell(collection, paid(own))).to.equal('discrepancy');
    expect(await questionsOf(collection)).to.deep.equal(['second_success: same, returned']);
    await decide(collection, 'second_success', 'same');
    const returns = await store.returnsOf();
    expect(returns.filter(({ collection_id: id }) => id === collection.id)).to.have.length(1);
    // Whoever tells of it again.
    for (const cause of ['callback', 'poll']) {
      expect(await tell(collection, paid(own), cause)).to.equal('repeat');
    }
    const again = await statement('gateway', lineOf(collection, { transId: own }));
    expect(again.lines).to.include({ matched: 1 });
    expect(await questionsOf(collection)).to.deep.equal([]);
    expect(await store.booksOf()).to.include({ suspense: AMOUNT_CENTS });
    const other = await store.newCollection();
    expect(await tell(other, paid(own))).to.equal('discrepancy');
  });

  describe('about late money that went back under the receipt of a file', () => {
    let collection: Collection;
    let own: string;

    /** The gateway's own receipt is called the same. */
    beforeEach(async () => {
      collection = await store.newCollection();
      own = newReceipt();
      await tell(collection, FAILURE);
      await file(lineOf(collection, { transId: receipt }));
      await decide(collection, 'paid_after_failure', 'returned');
      await tell(collection, paid(own));
      await decide(collection, 'second_success', 'same');
    });

    it('calls one more receipt the same for each return, and no more', async () => {
      await tell(collection, paid(newReceipt()));
      const [second] = await openOf(collection);
      const error = await rejection(store.resolve(second!, 'same'));
      expect(error.message).to.include('no other money of this amount back');
    });

    it('lets the customer have the money that came when the return failed and the file was wrong', async () => {
      const [planned] = (await store.returnsOf()).filter(
        ({ collection_id: id }) => id === collection.id,
      );
      await tell(planned!, FAILURE, 'poll');
      await decide(planned!, 'return_failed', 'undo');
      expect(await questionsOf(collection)).to.deep.equal(['taken_after_failure: failed']);
      expect(await tell(collection, paid(own), 'poll')).to.equal('late_success');
    });

    it('is possible for another amount, and not while another payment claims the receipt', async () => {
      const other = await store.newCollection();
      await tell(other, FAILURE);
      const [wrong, right] = [newReceipt(), newReceipt()];
      await file(lineOf(other, { transId: wrong, amountCents: 5_000 }));
      await decide(other, 'paid_after_failure', 'returned');
      await tell(other, paid(right, { amountCents: 5_000 }));
      expect(await questionsOf(other)).to.deep.equal(['second_success: same, returned']);
      await tell(await store.newCollection(), paid(right, { amountCents: 5_000 }));
      expect(await questionsOf(other)).to.deep.equal([
        ...['second_success: returned, undo', 'receipt_of_another: dismissed'],
      ]);
    });

    it('is refused if the money went back to another phone', async () => {
      const other = await store.newCollection();
      await tell(other, FAILURE);
      await file(lineOf(other, { transId: newReceipt(), account: '+254722000111' }));
      await decide(other, 'paid_after_failure', 'returned');
      await tell(other, paid(newReceipt()));
      const error = await rejection(decide(other, 'second_success', 'same'));
      expect(error.message).to.include('to this phone: use returned');
    });

    it('asks about the other receipt when the gateway tells that of the file, too', async () => {
      await tell(collection, paid(receipt));
      expect(await tell(collection, paid(own), 'poll')).to.equal('discrepancy');
      expect(await questionsOf(collection)).to.deep.equal(['second_success: returned']);
    });
  });

  it('asks about money that is told again after its collection was undone, though it was called the same', async () => {
    const collection = await byHand(await store.newCollection());
    const own = newReceipt();
    await tell(collection, paid(own));
    await decide(collection, 'second_success', 'same');
    await tell(collection, FAILURE);
    await decide(collection, 'failure_after_success', 'undo');
    await decide(collection, 'undone_money', 'undo');
    expect(await tell(collection, paid(own))).to.equal('discrepancy');
    expect(await questionsOf(collection)).to.deep.equal(['undone_money: returned, undo']);
  });

  async function byHand<P extends AnyPayment>(payment: P, transId = receipt): Promise<P> {
    await store.makeOverdue(payment);
    await store.resolve(await store.discrepancyOf('overdue', payment), 'completed', transId);
    return store.reread(payment);
  }

  const isWaiting = () =>
    hasRow(
      store.database,
      `SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );

  describe('about money that waits', () => {
    it('corrects the amount of a file, and the customer gets back what was paid', async () => {
      const collection = await store.newCollection();
      await tell(collection, FAILURE);
      await file(lineOf(collection, { transId: receipt, amountCents: 50_000 }));
      expect(await tell(collection, paid(receipt))).to.equal('late_success');
      expect(await openOf(collection)).to.deep.equal([]);
      const returns = (await store.returnsOf()).map(({ amount_cents }) => amount_cents);
      expect(returns).to.deep.equal([10_000]);
    });

    it('corrects the amount of a file for an open payment, which is complete then', async () => {
      const collection = await store.newCollection();
      await file(lineOf(collection, { transId: receipt, amountCents: 5_000 }));
      expect(await tell(collection, paid(receipt))).to.equal('completed');
      expect(await store.reread(collection)).to.include({
        amount_cents: 10_000,
        trans_id: receipt,
      });
      expect(await openOf(collection)).to.deep.equal([]);
    });

    it('corrects the phone of a file: nothing goes to a stranger', async () => {
      const collection = await store.newCollection();
      await tell(collection, FAILURE);
      await file(lineOf(collection, { transId: receipt, account: '+254722000000' }));
      await tell(collection, paid(receipt));
      const [back] = await store.returnsOf();
      expect(back).to.include({ account: collection.payfrom, amount_cents: 10_000 });
    });

    for (const names of ['its receipt', 'none'] as const) {
      it(`doubts that money of a file came back, whose success the gateway tells with ${names}`, async () => {
        await store.topUp(100_000, receipt);
        const payout = await store.newPayout();
        await file(lineOf(payout, { transId: receipt, amountCents: 6_000 }));
        await decide(payout, 'other_amount', 'returned');
        await store.refund(payout);
        await tell(payout, paid(names === 'none' ? null : receipt), 'poll');
        expect(await questionsOf(payout)).to.deep.equal(['doubted: undo, dismissed']);
        await decide(payout, 'doubted', 'undo');
        await tell(payout, paid(receipt), 'poll');
        await decide(payout, 'paid_after_refund', 'completed');
        expect(await store.reread(payout)).to.include({ status: 'completed', trans_id: receipt });
        expect(await openOf(payout)).to.deep.equal([]);
      });
    }

    for (const [what, told] of [
      ['amount', { amountCents: 45_000 }],
      ['phone', { account: '+254722000111' }],
    ] as const) {
      it(`proves no other ${what} of a file by a success that names none`, async () => {
        const collection = await store.newCollection();
        await file(lineOf(collection, { transId: null, ...told }));
        await tell(collection, paid(null, { amountCents: null, account: null }), 'poll');
        const [waiting] = await openOf(collection);
        expect(waiting!.is_unproven).to.equal(true);
        await tell(collection, paid(receipt));
        expect(await store.reread(collection)).to.include({
          ...{ status: 'completed', amount_cents: 10_000, trans_id: receipt },
        });
        expect(await openOf(collection)).to.deep.equal([]);
      });
    }

    it('holds a refund up while that is doubted, and only two people let it go', async () => {
      await store.topUp(100_000, receipt);
      const payout = await store.newPayout();
      await file(lineOf(payout, { transId: receipt, amountCents: 6_000 }));
      await decide(payout, 'other_amount', 'returned');
      await tell(payout, paid(receipt), 'poll');
      expect(await store.reread(payout)).to.include({ parked_reason: 'discrepancy: doubted' });
      const { id } = await store.discrepancyOf('doubted', payout);
      const decision = { as: 'dismissed', actor: 'amina', reason: 'back', transId: null } as const;
      const foreseen = await previewDecision(store.database, id, decision, RESOLVING);
      const why = await whyTwo(store.database, foreseen, decision, 10_000_000);
      expect(why).to.include('on the word of a person');
      const refund_cents = payout.amount_cents + payout.fee_cents;
      expect(foreseen, 'what the second person reads').to.include({
        goesOn: 'refund',
        refund_cents,
      });
      await decide(payout, 'doubted', 'dismissed');
      expect(await store.reread(payout)).to.include({ next_step: 'refund', parked_reason: null });
    });

    it('holds a refund up also if a person has doubted before', async () => {
      await store.topUp(100_000, receipt);
      const payout = await store.newPayout();
      await file(lineOf(payout, { transId: receipt, amountCents: 6_000 }));
      await decide(payout, 'other_amount', 'returned');
      const doubt = { actor: 'colleague', action: 'payment.doubt', reason: 'It may have gone' };
      await doubtPayment(auditedFor(store.database, doubt), refOf(payout), doubt);
      expect(await store.reread(payout)).to.include({ next_step: 'refund', parked_reason: null });
      await tell(payout, paid(null), 'poll');
      expect(await store.reread(payout)).to.include({ parked_reason: 'discrepancy: doubted' });
    });

    for (const by of ['the gateway', 'a file'] as const) {
      it(`doubts that other money of a payout came back, which ${by} has completed`, async () => {
        const payout = await store.newPayout();
        const first = newReceipt();
        if (by === 'a file') await file(lineOf(payout, { transId: first }));
        else await tell(payout, paid(first));
        await file(lineOf(payout, { transId: receipt }));
        await decide(payout, 'second_success', 'returned');
        await tell(payout, paid(receipt));
        expect(await questionsOf(payout)).to.deep.equal(['doubted: undo, dismissed']);
        await decide(payout, 'doubted', 'undo');
        expect(await store.reread(payout)).to.include({ status: 'completed' });
        const [asked, ...more] = await questionsOf(payout);
        expect(more).to.deep.equal([]);
        expect(asked).to.match(/^second_success: (same, )?returned, failed, undo$/);
      });
    }

    it('confirms no receipt of a file without naming it: the file can be taken back', async () => {
      const collection = await store.newCollection();
      await file(lineOf(collection, { transId: receipt, amountCents: 5_000 }));
      expect(await tell(collection, paid(null), 'poll')).to.equal('discrepancy');
      const refused = await rejection(decide(collection, 'other_amount', 'returned'));
      expect(refused.message).to.include('in two ways');
      await decide(collection, 'other_amount', 'undo');
      expect(await store.reread(collection)).to.include({ status: 'pending' });
      expect(await store.accountBalance('suspense')).to.equal(0);
    });

    it('is asked for again once the file that it seemed to repeat is taken back', async () => {
      const collection = await store.newCollection();
      await tell(collection, FAILURE);
      await file(lineOf(collection, { transId: receipt, amountCents: 50_000 }));
      await tell(collection, paid(null));
      await decide(collection, 'paid_after_failure', 'undo');
      expect(await store.reread(collection)).to.include({ status: 'failed', next_step: 'poll' });
      expect(await questionsOf(collection)).to.include('taken_after_failure: failed');
    });
  });

  describe('about a return that has failed', () => {
    it('frees the receipt of a wrong file for its owner, and pays nobody', async () => {
      const collection = await store.newCollection();
      const owner = await newCollection(store.database, await store.newMerchant());
      await tell(collection, FAILURE);
      await file(lineOf(collection, { transId: receipt }));
      await decide(collection, 'paid_after_failure', 'returned');
      const [back] = await store.returnsOf();
      await tell(back!, FAILURE);
      expect(await questionsOf(back!)).to.deep.equal(['return_failed: returned, undo']);
      await tell(owner, paid(receipt));
      await decide(back!, 'return_failed', 'undo');
      expect(await store.accountBalance('suspense')).to.equal(0);
      expect(await tell(owner, paid(receipt), 'poll')).to.equal('completed');
      expect(await openOf(owner)).to.deep.equal([]);
    });

    it('is a question if it has gone out after all, and one line holds up no statement', async () => {
      const collection = await store.newCollection();
      await tell(collection, FAILURE);
      await file(lineOf(collection));
      await decide(collection, 'paid_after_failure', 'returned');
      const [back] = await store.returnsOf();
      await tell(back!, FAILURE);
      await decide(back!, 'return_failed', 'undo');
      const other = await store.newPayout();
      await statement('gateway', lineOf(back!), lineOf(other));
      expect(await store.reread(other)).to.include({ status: 'completed' });
      expect(await questionsOf(back!)).to.deep.equal([
        'second_success: completed, returned, failed',
      ]);
      const question = await store.discrepancyOf('second_success', back!);
      expect((await rejection(store.resolve(question, 'completed'))).message).to.include(
        'never paid',
      );
      await store.resolve(question, 'failed');
      expect(await store.accountBalance('losses')).to.equal(-10_000);
      // A doubt of the loss leaves the books without a break.
      await doubtAndUndo(back!);
      expect(await store.accountBalance('losses')).to.equal(0);
    });

    it('does so too where the gateway has told the receipt for two payments', async () => {
      const [collection, owner] = [await store.newCollection(), await store.newCollection()];
      await tell(collection, FAILURE);
      await tell(collection, paid(receipt));
      const [back] = await store.returnsOf();
      await tell(back!, FAILURE);
      expect(await questionsOf(back!)).to.deep.equal(['return_failed: returned']);
      await tell(owner, paid(receipt));
      await decide(back!, 'return_failed', 'undo');
      expect(await store.reread(collection)).to.include({ status: 'failed', next_step: 'poll' });
      expect(await tell(owner, paid(receipt), 'poll')).to.equal('completed');
    });
  });

  describe('about money that support has called lost', () => {
    it('is a question again after a doubt, and the receipt goes to its owner', async () => {
      const [first, owner] = [await store.newPayout(), await store.newPayout()];
      await tell(first, paid(newReceipt()));
      await tell(first, paid(receipt));
      await decide(first, 'second_success', 'failed');
      expect(await store.accountBalance('losses')).to.equal(-10_000);
      await tell(owner, paid(receipt));
      await doubtAndUndo(first);
      expect(await store.accountBalance('losses')).to.equal(0);
      await decide(first, 'second_success', 'undo');
      // The gateway had told it for the owner too, which has it at once.
      expect(await store.reread(owner)).to.include({ status: 'completed', trans_id: receipt });
      expect(await tell(owner, paid(receipt), 'poll')).to.equal('repeat');
      expect(await openOf(owner)).to.deep.equal([]);
      expect(await store.accountBalance('suspense')).to.equal(0);
    });

    it('is no loss any more when the gateway says that it never went', async () => {
      const payout = await store.newPayout();
      await tell(payout, paid(receipt, { account: '+254722000000' }));
      await decide(payout, 'other_account', 'failed');
      await doubtAndUndo(payout);
      expect(await store.accountBalance('losses')).to.equal(0);
      expect(await store.reread(payout)).to.include({ status: 'failed', next_step: 'poll' });
      await tell(payout, FAILURE);
      expect(await openOf(payout)).to.deep.equal([]);
      expect(await store.accountBalance('suspense')).to.equal(0);
    });
  });

  for (const as of ['returned', 'failed'] as const) {
    it(`about money that support has called ${as} is doubted when the gateway tells of it, and asked about again`, async () => {
      const payout = await store.newPayout();
      await file(lineOf(payout, { transId: receipt, account: '+254722000000' }));
      await decide(payout, 'other_account', as);
      await store.refund(payout);
      await tell(payout, paid(receipt));
      expect(await questionsOf(payout)).to.deep.equal(['doubted: undo, dismissed']);
      await decide(payout, 'doubted', 'undo');
      await tell(payout, paid(receipt), 'poll');
      expect(await questionsOf(payout)).to.include(
        'paid_after_refund: completed, returned, failed',
      );
      expect(await store.accountBalance('losses')).to.equal(0);
    });
  }

  for (const told of [{ amountCents: 4_500 }, { account: '+254722000111' }]) {
    const what = Object.keys(told)[0];
    it(`takes the place of the ${what} of a file, though neither has a receipt`, async () => {
      const payout = await store.newPayout();
      await file(lineOf(payout, { transId: null, ...told }));
      const news = { amountCents: payout.amount_cents, account: payout.payto };
      await tell(payout, { ...paid(null), ...news });
      expect(await store.reread(payout)).to.include({
        ...{ status: 'completed', amount_cents: payout.amount_cents },
      });
      expect(await questionsOf(payout)).to.deep.equal([]);
    });
  }

  it('about money that support has called lost is asked again with the completion that is doubted', async () => {
    const payout = await byHand(await store.newPayout(), newReceipt());
    await file(lineOf(payout, { transId: receipt }));
    await decide(payout, 'second_success', 'failed');
    await doubtAndUndo(payout);
    expect(await store.accountBalance('losses')).to.equal(0);
    await tell(payout, paid(receipt), 'poll');
    // The refund waits: the recipient has the money.
    expect(await questionsOf(payout)).to.deep.equal(['second_success: returned, failed']);
    expect(await store.reread(payout)).to.include({ refund_posted_at: null });
  });

  it('is asked for before money is refunded that a statement lacks', async () => {
    const payout = await byHand(await store.newPayout());
    const covers = ['payout'] as const;
    const period = SO_FAR;
    await runStatement(store.database, [], period, { covers });
    await decide(payout, 'missing_at_gateway', 'undo');
    expect(await questionsOf(payout)).to.deep.equal(['taken_after_failure: failed']);
    await tell(payout, paid(newReceipt()));
    expect(await store.reread(payout)).to.include({ status: 'failed', refund_posted_at: null });
  });

  it('about a payout that came back counts, though somebody has dismissed it', async () => {
    const payout = await store.newPayout();
    await tell(payout, paid(receipt));
    await tell(payout, FAILURE);
    await decide(payout, 'failure_after_success', 'dismissed');
    await doubtAndUndo(payout);
    expect(await questionsOf(payout)).to.deep.equal(['undone_money: returned, failed']);
    await decide(payout, 'undone_money', 'returned');
    expect(await store.reread(payout)).to.include({ status: 'failed', next_step: 'refund' });
  });

  describe('about a receipt that was a wrong one', () => {
    it('is asked for before a payout is refunded', async () => {
      const payout = await byHand(await store.newPayout());
      await doubtAndUndo(payout);
      expect(await store.reread(payout)).to.include({ status: 'failed', next_step: 'poll' });
      expect(await questionsOf(payout)).to.deep.equal(['taken_after_failure: failed']);
      await tell(payout, FAILURE);
      expect(await store.reread(payout)).to.include({ next_step: 'refund' });
    });

    it('is asked for before a collection can be reversed again', async () => {
      const reversal = await byHand(await store.newReversal());
      await doubtAndUndo(reversal);
      expect(await questionsOf(reversal)).to.deep.equal(['taken_after_failure: failed']);
    });

    it('finds the claim that was told while the receipt was given up', async () => {
      const [holder, claimant] = [await store.newPayout(), await store.newPayout()];
      await byHand(holder);
      await tell(claimant, FAILURE);
      let commit = () => {};
      const committed = new Promise<void>((resolve) => {
        commit = resolve;
      });
      let isTold = false;
      const telling = store.transaction(async (trx) => {
        const locked = await lockPayment(trx, refOf(claimant));
        await settle(trx, locked!, paid(receipt), { cause: 'callback', parserOf });
        isTold = true;
        await committed;
      });
      await eventually('the claim is told', async () => isTold);
      let isUndone = false;
      const undoing = doubtAndUndo(holder).then(() => {
        isUndone = true;
      });
      await eventually('the undo waits for it', async () => isUndone || isWaiting());
      commit();
      await Promise.all([telling, undoing]);
      expect(await store.reread(claimant)).to.include({ status: 'failed', next_step: 'poll' });
    });
  });

  describe('in small letters', () => {
    it('is that in capitals, from the gateway, a statement and a person', async () => {
      const [collection, other] = [await store.newCollection(), await store.newCollection()];
      const small = receipt.toLowerCase();
      await tell(collection, paid(small));
      expect(await store.reread(collection)).to.include({ trans_id: receipt });
      const result = await statement('gateway', lineOf(collection, { transId: small }));
      expect(result.lines).to.include({ matched: 1 });
      expect(typedReceipt.read(` ${small} `, 'UTC' as never)).to.equal(receipt);
      await tell(other, paid(small));
      expect(await questionsOf(other)).to.deep.equal(['receipt_of_another: dismissed']);
    });
  });

  describe('in a statement', () => {
    it('that calls a payout reversed is a question, whatever an earlier one said', async () => {
      for (const source of ['file.csv', 'gateway']) {
        const payout = await store.newPayout();
        const line = lineOf(payout, { transId: newReceipt() });
        await tell(payout, paid(line.transId));
        const covers = { covers: ['payout' as const] };
        await runStatement(store.database, [line], SO_FAR, covers, source);
        expect(await openOf(payout)).to.deep.equal([]);
        const reversed = [{ ...line, isUndecided: true as const }];
        await runStatement(store.database, reversed, SO_FAR, covers, source);
        expect(
          (await openOf(payout)).map(({ kind }) => kind),
          source,
        ).to.deep.equal(['missing_at_gateway']);
      }
    });

    it('that a bank calls returned is no payment of a customer', async () => {
      const rows = [
        'Transaction Reference,Transaction Date,Narrative,Debit,Credit',
        'B1,2026-11-20 10:00:00,Payment returned from 254712345678,,100.00',
        'B2,2026-11-20 10:00:00,Payment from 254712345678,,100.00',
      ];
      const { lines } = await readStatement(
        Readable.from([rows.join('\n')]),
        { ...BANK_FILE, isMobileMoney: false },
        rows.length,
      );
      expect(lines.map(({ kind, isUndecided }) => [kind, isUndecided])).to.deep.equal([
        ['reversal', true],
        ['collection', undefined],
      ]);
    });

    it('compared beside another one is judged by what that has left', async () => {
      const payouts: AnyPayment[] = [];
      for (let count = 0; count < 10; count += 1) payouts.push(await store.newPayout());
      const at = (hour: number) =>
        payouts.map((payout) =>
          lineOf(payout, { transId: null, completedAt: new Date(`2026-11-20T${hour}:00:00Z`) }),
        );
      const both = await Promise.all([
        statement('gateway', ...at(10)),
        statement('gateway', ...at(12)),
      ]);
      const settled = both.map(({ lines }) => lines.settled).reduce((sum, each) => sum + each);
      const asked = both.map(({ lines }) => lines.contradicts).reduce((sum, each) => sum + each);
      expect([settled, asked]).to.deep.equal([10, 10]);
    });

    it('with a phone alone proves nothing while two payments may be meant', async () => {
      const payfrom = '+254722000717';
      const mine = await store.newCollection({ payfrom });
      const owner = await store.newMerchant();
      const theirs = await newCollection(store.database, owner, { payfrom });
      for (const each of [mine, theirs]) await store.makeOverdue(each);
      const completedAt = new Date(mine.created_at.getTime() + MINUTE_MS);
      const line = { transId: receipt, reference: null, completedAt };
      await statement('gateway', lineOf(theirs, line));
      for (const each of [mine, theirs]) {
        const isProven = await compareReceipt(store.database, each, receipt, parserOf, 'one@x');
        expect(isProven).to.equal(false);
      }
    });
  });

  for (const kind of ['collection', 'payout'] as const) {
    describe(`about a ${kind} that the gateway has completed without a receipt, and a file with a wrong one:`, () => {
      const make = () => (kind === 'collection' ? store.newCollection() : store.newPayout());
      let payment: AnyPayment;
      let right: string;

      beforeEach(async () => {
        right = newReceipt();
        payment = await make();
        await tell(payment, paid(null), 'poll');
        await file(lineOf(payment, { transId: receipt }));
      });

      const isCompletedUnder = async (transId: string | null) => {
        const now = await store.reread(payment);
        expect(now).to.include({ status: 'completed', trans_id: transId });
        expect(await store.accountBalance('suspense')).to.equal(0);
        expect(await openOf(payment)).to.deep.equal([]);
      };

      it('the right one takes its place (`same`), and nothing has moved twice', async () => {
        await tell(payment, paid(right));
        expect(await questionsOf(payment)).to.deep.equal(
          ['second_success: same, returned'].map((each) =>
            kind === 'payout' ? `${each}, failed` : each,
          ),
        );
        await decide(payment, 'second_success', 'same');
        await isCompletedUnder(right);
        await statement('gateway', lineOf(payment, { transId: right }));
        await isCompletedUnder(right);
      });

      it('the gateway’s own word about it proves it', async () => {
        await statement('gateway', lineOf(payment, { transId: receipt }));
        await tell(payment, paid(right));
        const [question] = await questionsOf(payment);
        expect(question).to.not.include('same');
      });

      it('gives it up to its owner, and stays completed', async () => {
        const owner = await make();
        await tell(owner, paid(receipt));
        await decide(payment, 'receipt_of_another', 'undo');
        const now = await store.reread(payment);
        expect(now).to.include({ status: 'completed', trans_id: null });
        await tell(owner, paid(receipt), 'poll');
        expect(await store.reread(owner)).to.include({ status: 'completed', trans_id: receipt });
        await statement('gateway', lineOf(payment, { transId: right }));
        await isCompletedUnder(right);
      });
    });
  }
});
