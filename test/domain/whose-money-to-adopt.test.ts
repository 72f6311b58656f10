import { expect } from 'chai';
import { type AnyPayment, accountOf, refOf } from '../../src/domain/payments/payment-store.ts';
import { claimSubmission } from '../../src/domain/submission/claim-submission.ts';
import { planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { compareReceipt } from '../../src/domain/support/compare-receipt.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { DAY_MS, SECOND_MS } from '../../src/time.ts';
import { lineOf, newReceipt } from '../support/statements.ts';
import { toldIn } from '../support/told.ts';
import {
  failed,
  POLL_FIRST_MS,
  parserOf,
  RESOLVING,
  rejection,
  succeeded,
  useStore,
} from '../support/world.ts';

const FAILURE = failed({ externalRef: null });
/** The answer of a gateway that tells no receipt. */
const PAID = succeeded({
  ...{ transId: null, externalRef: null, account: null },
  ...{ amountCents: null, completedAt: null },
});

describe('Money that names nobody, and that may be of a payment which is here,', () => {
  const store = useStore({ fresh: true });
  const { at, read, tell } = toldIn(store);
  let prompts = 0;

  async function sent<P extends AnyPayment>(payment: P): Promise<P> {
    const options = { pollFirstMs: POLL_FIRST_MS, gateways: ['simulator'] };
    await claimSubmission(store.database, refOf(payment), payment.step_no, options);
    return payment;
  }

  const prompt = async (payfrom?: string) => {
    prompts += 1;
    return sent(await store.newCollection({ ref_no: `p-${prompts}`, ...(payfrom && { payfrom }) }));
  };

  const asked = (receipts: string[]) => ({ merchant_id: store.merchantId, receipts });
  const whyNot = async (...receipts: string[]) =>
    (await rejection(planAdoption(store.database, asked(receipts), RESOLVING))).message;

  /** A payout to a bank, before a long weekend. */
  async function pastItsDeadline() {
    await store.topUp(100_000, 'bank');
    const payout = await sent(await store.newPayout());
    await store.rewrite(
      `UPDATE payouts SET created_at = created_at - interval '4 days',
         deadline_at = created_at - interval '2 days' WHERE id = :id`,
      { id: payout.id },
    );
    return store.reread(payout);
  }

  for (const [when, timeOf] of [
    ['days after its deadline', () => at(1)],
    ['on a day alone', ({ created_at }: AnyPayment) => midnightOf(created_at)],
  ] as const) {
    it(`is not adopted while a payout of its account and amount is open, ${when}`, async () => {
      const payout = await pastItsDeadline();
      const transId = newReceipt();
      const line = lineOf(payout, { reference: null, transId, completedAt: timeOf(payout) });
      await read([line], 'bank.csv');
      expect(await whyNot(transId)).to.include(`it may be that of payout ${payout.id}`);
      const entry = { kind: 'adjustment', wallet: 'payout', amount_cents: -10_250 } as const;
      const book = (reference: string) =>
        store.transaction((trx) =>
          bookOperatorEntry(trx, {
            ...{ ...entry, merchant_id: store.merchantId, against: 'losses' },
            ...{ reference, reason: 'paid at the bank' },
          }),
        );
      const refusal = await rejection(book(transId));
      expect(refusal.message).to.include(`the open payout ${payout.id}`);
      // If it was booked by hand, somebody is asked once the payout completes.
      await book(`${transId}-2`);
      const [question] = await open();
      await store.resolve(question!, 'dismissed');
      await tell(payout, PAID, new Date(), 'poll');
      expect(await open()).to.have.length(1);
    });
  }

  for (const state of ['open', 'completed'] as const) {
    it(`is neither adopted nor booked by hand as a payout, if it may be of an ${state === 'open' ? 'open' : 'ended'} reversal without a receipt`, async () => {
      await store.topUp(100_000, `reversal-${state}`);
      const reversal = await sent(await store.newReversal());
      if (state === 'completed') await tell(reversal, PAID, new Date(), 'poll');
      const transId = newReceipt();
      const listed = { reference: null, transId, completedAt: new Date() };
      await read([{ ...lineOf(reversal, listed), kind: 'payout' }], `${transId}.csv`);
      expect(await whyNot(transId)).to.include(`it may be that of reversal ${reversal.id}`);
      const entry = {
        kind: 'adjustment',
        wallet: 'payout',
        against: 'losses',
        reason: 'Found',
      } as const;
      const money = { merchant_id: store.merchantId, amount_cents: -10_250, reference: transId };
      const booked = store.transaction((trx) => bookOperatorEntry(trx, { ...entry, ...money }));
      expect((await rejection(booked)).message).to.include(`reversal ${reversal.id}`);
    });
  }

  const open = () =>
    store.rows<{ id: string; kind: string }>(
      'SELECT id, kind FROM discrepancies WHERE resolved_at IS NULL ORDER BY opened_at',
    );

  function midnightOf(moment: Date): Date {
    return new Date(Math.floor(moment.getTime() / DAY_MS) * DAY_MS);
  }

  it('is not adopted while one prompt is open, among many that have failed', async () => {
    for (let count = 1; count <= 10; count += 1) {
      await store.learn(await prompt(`+2547220000${count + 10}`), FAILURE, 'callback');
    }
    const collection = await prompt('+254722000099');
    const transId = newReceipt();
    const completedAt = new Date();
    await read([lineOf(collection, { reference: null, account: null, transId, completedAt })]);
    expect(await whyNot(transId)).to.include(`it may be that of collection ${collection.id}`);
  });

  it('is adopted if more of it came than completed payments wait for their receipts, and no sooner', async () => {
    for (let count = 1; count <= 2; count += 1)
      await tell(await prompt(), PAID, new Date(), 'poll');
    const receipts = [newReceipt(), newReceipt()];
    const list = async () => {
      const collection = await prompt();
      await store.learn(collection, FAILURE, 'callback');
      const lines = receipts.map((transId, index) =>
        lineOf(collection, {
          ...{ reference: null, transId },
          completedAt: new Date(Date.now() + index * SECOND_MS),
        }),
      );
      await read(lines);
    };
    await list();
    expect(await whyNot(receipts[0]!)).to.include('it may be that of collection');
    expect(await whyNot(...receipts)).to.include('it may be that of collection');
    receipts.push(newReceipt());
    await list();
    const { lines, refused } = await planAdoption(store.database, asked(receipts), RESOLVING);
    expect([lines.length, refused.length]).to.deep.equal([1, 2]);
  });

  for (const by of ['support', 'a file'] as const) {
    it(`is not adopted beside a payment of which only ${by} has told a receipt`, async () => {
      const isByHand = by === 'support';
      const collection = await (isByHand ? store.newCollection() : prompt());
      const wrong = newReceipt();
      if (isByHand) {
        await store.makeOverdue(collection);
        const question = await store.discrepancyOf('overdue', collection);
        await store.resolve(question, 'completed', wrong);
      } else {
        await read([lineOf(collection, { transId: wrong, completedAt: new Date() })], 'typed.csv');
      }
      const transId = newReceipt();
      await read([lineOf(collection, { reference: null, transId, completedAt: new Date() })]);
      expect(await whyNot(transId)).to.include(`it may be that of collection ${collection.id}`);
    });
  }

  describe('and that went back since', () => {
    /** A statement has listed it. The gateway has failed it then, and support has said that it is back. */
    async function goneBack(payment: AnyPayment): Promise<string> {
      const transId = newReceipt();
      const account = accountOf(payment);
      const paid = succeeded({ transId, externalRef: null, account, completedAt: at(9) });
      await tell(payment, paid, at(9));
      await read([lineOf(payment, { reference: null, transId, completedAt: at(9) })]);
      await tell(payment, FAILURE, at(10));
      for (let count = 1; count <= 2; count += 1) {
        const found = (await casesOf(store.database, payment)).find((each) => !each.resolved_at);
        const isPayout = found?.kind === 'undone_money' && payment.kind === 'payout';
        if (found) await store.resolve(found, isPayout ? 'returned' : 'undo');
      }
      return transId;
    }

    for (const kind of ['collection', 'payout'] as const) {
      it(`is of no other ${kind}, by a line, a person or an adoption`, async () => {
        const payment = await store.newPayment(kind);
        const transId = await goneBack(payment);
        const other = await store.makeOverdue(await store.newPayment(kind));
        await read([lineOf(payment, { reference: null, transId, completedAt: at(9) })]);
        expect(await store.reread(other)).to.include({ status: 'pending' });
        expect(await whyNot(transId)).to.be.a('string');
        const refusal = await rejection(compareReceipt(store.database, other, transId, parserOf));
        expect(refusal.message).to.include(
          `named the receipt ${transId} for ${kind} ${payment.id}`,
        );
      });
    }

    for (const kind of ['collection', 'payout'] as const) {
      it(`is not adopted as that of nobody, if the gateway has told no receipt of the ${kind}`, async () => {
        const payment = await sent(await store.newPayment(kind));
        await tell(payment, PAID, new Date(), 'poll');
        const transId = newReceipt();
        const line = lineOf(payment, { reference: null, transId, completedAt: new Date() });
        await tell(payment, FAILURE, new Date(Date.now() + SECOND_MS));
        for (let count = 1; count <= 2; count += 1) {
          const found = (await casesOf(store.database, payment)).find((each) => !each.resolved_at);
          const isPayout = found?.kind === 'undone_money' && kind === 'payout';
          if (found) await store.resolve(found, isPayout ? 'returned' : 'undo');
        }
        if (kind === 'payout') await store.refund(payment);
        await read([line]);
        expect(await whyNot(transId)).to.include(`it may be that of ${kind} ${payment.id}`);
      });
    }

    it('is not adopted, if its receipt was told while support had not decided yet', async () => {
      const collection = await prompt();
      await tell(collection, PAID, at(8), 'poll');
      await tell(collection, FAILURE, at(9));
      await store.resolve(await store.discrepancyOf('failure_after_success', collection), 'undo');
      const transId = newReceipt();
      await read([lineOf(collection, { transId, completedAt: new Date() })]);
      await store.resolve(await store.discrepancyOf('undone_money', collection), 'undo');
      await read([lineOf(collection, { reference: null, transId, completedAt: new Date() })]);
      expect(await whyNot(transId)).to.be.a('string');
    });

    it('is not sent to the customer again by a line that lists it, and is asked about once', async () => {
      const collection = await prompt();
      await tell(collection, FAILURE, at(6));
      const transId = newReceipt();
      const account = accountOf(collection);
      await tell(collection, succeeded({ transId, externalRef: null, account }), at(4));
      await store.resolve(await store.discrepancyOf('paid_after_failure', collection), 'undo');
      await tell(collection, FAILURE, new Date(), 'poll');
      const list = () =>
        read([lineOf(collection, { reference: null, transId, completedAt: new Date() })]);
      await list();
      expect(await store.returnsOf()).to.deep.equal([]);
      await store.resolve(await store.discrepancyOf('paid_after_failure', collection), 'undo');
      await tell(collection, FAILURE, new Date(), 'poll');
      await list();
      expect(await store.returnsOf()).to.deep.equal([]);
      expect(await open()).to.deep.equal([]);
    });

    for (const [what, transId] of [
      ['with its receipt', newReceipt()],
      ['without a receipt', null],
    ] as const) {
      it(`is not sent to the customer again by an answer, if it was told ${what}`, async () => {
        const collection = await prompt();
        await tell(collection, FAILURE, at(6));
        const told = { ...PAID, transId, account: transId && accountOf(collection) };
        await tell(collection, told, at(4));
        await store.resolve(await store.discrepancyOf('paid_after_failure', collection), 'undo');
        expect(await open()).to.deep.equal([]);
        await tell(collection, PAID, new Date(), 'poll');
        expect(await store.returnsOf()).to.deep.equal([]);
        expect((await open()).map(({ kind }) => kind)).to.deep.equal(['paid_after_failure']);
      });
    }

    it('is not in the way of a second payment by hand, if its own line is listed too', async () => {
      const collection = await prompt();
      await tell(collection, PAID, at(8), 'poll');
      await tell(collection, FAILURE, at(9));
      for (const kind of ['failure_after_success', 'undone_money'] as const) {
        await store.resolve(await store.discrepancyOf(kind, collection), 'undo');
      }
      const receipts = [newReceipt(), newReceipt()];
      await read(
        receipts.map((transId, index) =>
          lineOf(collection, {
            ...{ reference: null, transId },
            completedAt: new Date(Date.now() + index * SECOND_MS),
          }),
        ),
      );
      const { lines, refused } = await planAdoption(store.database, asked(receipts), RESOLVING);
      expect([lines.length, refused.length]).to.deep.equal([1, 1]);
    });
  });
});
