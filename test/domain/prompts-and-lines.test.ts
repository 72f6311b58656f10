import { expect } from 'chai';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { previewStatement } from '../../src/domain/reconciliation/preview-statement.ts';
import { importStatement, type StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { insertAttempt } from '../../src/domain/submission/attempts.ts';
import { planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/time.ts';
import { lineOf, newReceipt } from '../support/statements.ts';
import { toldIn } from '../support/told.ts';
import {
  failed,
  newCollection,
  RESOLVING,
  rejection,
  reversalRequest,
  useStore,
} from '../support/world.ts';

/** Gateways list a customer's payment by phone, amount and time alone. */
describe('The line of a statement that names no payment', () => {
  const store = useStore({ fresh: true });
  const { at, day, read, tell, paid } = toldIn(store);
  const FAILURE = failed({ externalRef: null });
  const UNSURE = paid(null, { completedAt: null });

  /** Each test has an amount of its own, because lines are compared by it. */
  let amount_cents = 20_000;
  beforeEach(() => {
    amount_cents += 100;
  });

  async function prompt(): Promise<Collection> {
    const collection = await store.newCollection({ amount_cents });
    await store.transaction((trx) => insertAttempt(trx, collection));
    return collection;
  }

  const nameless = (payment: Parameters<typeof lineOf>[0], more: Partial<StatementLine> = {}) =>
    lineOf(payment, { reference: null, transId: newReceipt(), completedAt: new Date(), ...more });

  const openAbout = async (line: StatementLine) => {
    const [found] = await store.rows<{ candidates: string[] | null }>(
      `SELECT details->'candidates' AS candidates FROM discrepancies
       WHERE kind = 'unknown_movement' AND resolved_at IS NULL AND trans_id = :transId`,
      { transId: line.transId },
    );
    return found;
  };

  describe('after a prompt that the customer has cancelled, and another one', () => {
    it('gives its receipt to the one that was paid, and the reversal goes', async () => {
      const [cancelled, second] = [await prompt(), await prompt()];
      await tell(cancelled, FAILURE, at(9));
      await tell(second, UNSURE, null, 'poll');
      const line = nameless(second);
      await read([line]);
      expect(await store.reread(second)).to.include({ trans_id: line.transId });
      expect(await store.discrepanciesOf(second.id)).to.deep.equal([]);
      const reversal = await createReversal(store.database, reversalRequest(second));
      const claim = await store.workOn(reversal).claim();
      expect(claim!.payment).to.include({ original_trans_id: line.transId });
    });

    it('completes no open prompt of another merchant: the first one may have been paid by hand', async () => {
      const cancelled = await prompt();
      await tell(cancelled, FAILURE, at(9));
      const elsewhere = await newCollection(store.database, await store.newMerchant(), {
        amount_cents,
      });
      await store.transaction((trx) => insertAttempt(trx, elsewhere));
      const line = nameless(elsewhere);
      await read([line]);
      expect(await store.reread(elsewhere)).to.include({ status: 'pending' });
      expect((await openAbout(line))!.candidates).to.have.length(2);
    });

    for (const cause of ['support', 'statement']) {
      it(`completes neither if only ${cause} has failed the first one`, async () => {
        const [first, second] = [await prompt(), await prompt()];
        await tell(first, FAILURE, at(9), cause);
        const line = nameless(second);
        await read([line]);
        expect((await openAbout(line))!.candidates).to.have.length(2);
        expect(await store.reread(second)).to.include({ status: 'pending' });
      });
    }

    it('completes neither if the gateway has called the failed one paid since', async () => {
      const [first, second] = [await prompt(), await prompt()];
      await tell(first, FAILURE, at(8));
      await tell(first, UNSURE, at(9), 'poll');
      const line = nameless(second);
      await read([line]);
      expect((await openAbout(line))!.candidates).to.have.length(2);
    });
  });

  it('gives its receipt to late money that waits for one, and the return goes', async () => {
    const collection = await prompt();
    await tell(collection, FAILURE, at(8));
    await tell(collection, UNSURE, null, 'poll');
    const line = nameless(collection);
    await read([line]);
    expect(await openAbout(line)).to.equal(undefined);
    const [back] = await store.returnsOf();
    expect(back).to.include({ original_trans_id: line.transId });
  });

  for (const kind of ['collection', 'payout'] as const) {
    it(`is a question if it is older than the ${kind} to which a person has given its receipt`, async () => {
      const payment = await store.newPayment(kind);
      await store.makeOverdue(payment);
      const transId = newReceipt();
      await store.resolve(await store.discrepancyOf('overdue', payment), 'completed', transId);
      const yesterday = new Date(payment.created_at.getTime() - 6 * HOUR_MS);
      const line = nameless(payment, { transId, completedAt: yesterday });
      await read([line]);
      expect((await openAbout(line))!.candidates).to.deep.equal([
        `${kind} ${payment.id} of merchant ${payment.merchant_id}`,
      ]);
    });

    it(`proves the receipt of a ${kind} if it has the day alone`, async () => {
      const payment = await store.newPayment(kind);
      await store.makeOverdue(payment);
      const transId = newReceipt();
      await store.resolve(await store.discrepancyOf('overdue', payment), 'completed', transId);
      const midnight = new Date(payment.created_at);
      midnight.setUTCHours(0, 0, 0, 0);
      const line = nameless(payment, { transId, completedAt: midnight });
      expect((await read([line])).lines).to.include({ matched: 1 });
    });

    it(`proves the receipt of a ${kind} if it fits in time`, async () => {
      const payment = await store.newPayment(kind);
      await store.makeOverdue(payment);
      const transId = newReceipt();
      await store.resolve(await store.discrepancyOf('overdue', payment), 'completed', transId);
      const line = nameless(payment, {
        transId,
        completedAt: new Date(payment.created_at.getTime() + MINUTE_MS),
      });
      expect((await read([line])).lines).to.include({ matched: 1 });
    });
  }

  describe('that somebody has dismissed, and booked by hand,', () => {
    /** Two open prompts fit the line. */
    async function dismissed(more: Partial<StatementLine> = {}) {
      const [first] = [await prompt(), await prompt()];
      const line = nameless(first, more);
      await read([line]);
      const { id } = (await store.firstRow<{ id: string }>(
        'SELECT id FROM discrepancies WHERE trans_id = :transId',
        line,
      ))!;
      await store.resolve({ id }, 'dismissed');
      return { first, line };
    }

    const bookedFor = async ({ transId }: StatementLine) => {
      const found = await store.firstRow<{ booked_for: string | null }>(
        `SELECT details->>'booked_for' AS booked_for FROM discrepancies
         WHERE trans_id = :transId AND resolved_at IS NULL`,
        { transId },
      );
      return found?.booked_for;
    };

    it('is a question when a collection completes without a receipt that it may be of', async () => {
      const { first, line } = await dismissed();
      await tell(first, UNSURE, null, 'poll');
      expect(await bookedFor(line)).to.equal(
        `collection ${first.id} of merchant ${first.merchant_id}`,
      );
    });

    it('is a question for another collection after it was answered for the first one', async () => {
      const { first, line } = await dismissed();
      await tell(first, UNSURE, null, 'poll');
      const { id } = (await store.firstRow<{ id: string }>(
        'SELECT id FROM discrepancies WHERE trans_id = :transId',
        line,
      ))!;
      await store.resolve({ id }, 'dismissed');
      const [second] = await store.rows<Collection>(
        "SELECT *, 'collection' AS kind FROM collections WHERE amount_cents = :amount_cents AND id <> :id",
        { amount_cents, id: first.id },
      );
      await tell(second!, UNSURE, null, 'poll');
      expect(await bookedFor(line)).to.include(second!.id);
    });

    it('stays a question for a second collection that has completed meanwhile', async () => {
      const { first, line } = await dismissed();
      await tell(first, UNSURE, null, 'poll');
      const [second] = await store.rows<Collection>(
        "SELECT *, 'collection' AS kind FROM collections WHERE amount_cents = :amount_cents AND id <> :id",
        { amount_cents, id: first.id },
      );
      await tell(second!, UNSURE, null, 'poll');
      await tell(first, paid(newReceipt()), null);
      expect(await bookedFor(line)).to.include(second!.id);
      await tell(second!, paid(newReceipt()), null);
      expect(await bookedFor(line)).to.equal(undefined);
    });

    it('stays a question for the first collection if the second one gets its own receipt', async () => {
      const { first, line } = await dismissed();
      await tell(first, UNSURE, null, 'poll');
      const [second] = await store.rows<Collection>(
        "SELECT *, 'collection' AS kind FROM collections WHERE amount_cents = :amount_cents AND id <> :id",
        { amount_cents, id: first.id },
      );
      await tell(second!, UNSURE, null, 'poll');
      await tell(second!, paid(newReceipt()), null);
      expect(await bookedFor(line)).to.include(first.id);
      await tell(first, paid(newReceipt()), null);
      expect(await bookedFor(line)).to.equal(undefined);
    });

    it('is dismissed again when the collection gets its own receipt', async () => {
      const { first, line } = await dismissed();
      await tell(first, UNSURE, null, 'poll');
      await tell(first, paid(newReceipt()), null);
      expect(await bookedFor(line)).to.equal(undefined);
      await read([line]);
      expect(await bookedFor(line)).to.equal(undefined);
    });

    for (const [what, more] of Object.entries({
      'another amount': { amountCents: 19_999 },
      'another phone': { account: '+254799999999' },
      'another time': { completedAt: new Date(Date.now() - HOUR_MS) },
    })) {
      it(`stays dismissed if it has ${what}`, async () => {
        const { first, line } = await dismissed(more);
        await tell(first, UNSURE, null, 'poll');
        expect(await bookedFor(line)).to.equal(undefined);
      });
    }

    it('stays dismissed when the collection completes with its own receipt', async () => {
      const { first, line } = await dismissed();
      await tell(first, paid(newReceipt()), null);
      expect(await bookedFor(line)).to.equal(undefined);
    });
  });

  describe('that shows no phone', () => {
    const adopt = (line: StatementLine) =>
      planAdoption(
        store.database,
        { merchant_id: store.merchantId, receipts: [line.transId!] },
        RESOLVING,
      );

    for (const isOpen of [true, false]) {
      it(`is not adopted while a collection is ${isOpen ? 'open' : 'complete without a receipt'} that it may be of`, async () => {
        const collection = await prompt();
        if (!isOpen) await tell(collection, UNSURE, null, 'poll');
        const line = nameless(collection, { account: null });
        await read([line]);
        const refusal = await rejection(adopt(line));
        expect(refusal.message).to.include(`it may be that of collection ${collection.id}`);
      });
    }

    it('is adopted though a payment of another gateway would fit', async () => {
      const elsewhere = await store.newCollection({ amount_cents, gateway: 'elsewhere' });
      await store.transaction((trx) => insertAttempt(trx, elsewhere));
      const line = lineOf(elsewhere, {
        reference: null,
        account: null,
        transId: newReceipt(),
        completedAt: new Date(),
      });
      await read([line]);
      expect((await adopt(line)).lines).to.have.length(1);
    });

    it('is adopted if nothing fits its amount and time', async () => {
      const line = nameless(await prompt(), { account: null, amountCents: amount_cents + 1 });
      await read([line]);
      expect((await adopt(line)).lines).to.have.length(1);
    });
  });

  describe('while another one fits as well', () => {
    /** A completed collection without a receipt, and two lines that may be its own. */
    async function twoLines() {
      const collection = await prompt();
      await tell(collection, UNSURE, null, 'poll');
      const lines = [nameless(collection), nameless(collection)];
      await read(lines);
      for (const line of lines) {
        expect(await openAbout(line)).to.not.equal(undefined);
        const [{ id } = { id: '' }] = await store.rows<{ id: string }>(
          'SELECT id FROM discrepancies WHERE trans_id = :transId',
          { transId: line.transId },
        );
        await store.resolve({ id }, 'dismissed');
      }
      await read(lines, undefined, ['collection']);
      const { id } = await store.discrepancyOf('missing_at_gateway', collection);
      return { collection, id, receipt: lines[0]!.transId!, lines };
    }

    it('is given to its completed collection by support, and the reversal goes', async () => {
      const { collection, id, receipt, lines } = await twoLines();
      await store.resolve({ id }, 'completed', receipt);
      expect(await store.reread(collection)).to.include({ trans_id: receipt, status: 'completed' });
      await read(lines, undefined, ['collection']);
      const open = (await casesOf(store.database, collection)).filter(
        ({ resolved_at }) => resolved_at === null,
      );
      expect(open).to.deep.equal([]);
      await store.expectRightBooks();
    });

    it('needs a receipt', async () => {
      const { id } = await twoLines();
      const refusal = await rejection(store.resolve({ id }, 'completed'));
      expect(refusal.message).to.include('Give the receipt of the payment');
    });

    it('gives no receipt of another payment', async () => {
      const { id } = await twoLines();
      const other = await prompt();
      const taken = newReceipt();
      await tell(other, paid(taken), null);
      const refusal = await rejection(store.resolve({ id }, 'completed', taken));
      expect(refusal.message).to.include(`belongs to collection ${other.id}`);
    });
  });

  it('counts as settled in the preview if its comparison completes a collection', async () => {
    const line = nameless(await prompt());
    const period = { from: day(-1), to: day(1) };
    const statement = { gateway: 'simulator', channel: 63902, period };
    const preview = await store.transaction(async (trx) => {
      const import_id = await importStatement(trx, {
        ...statement,
        source: 'f.csv',
        lines: [line],
      });
      const asked = { covers: [], complete_until: null, settling_window_ms: 0 };
      return previewStatement(trx, { ...statement, ...asked, import_id });
    });
    expect(preview).to.include({ settles: 1, unexplained: 0 });
  });

  it('is no news in the preview once somebody has dismissed it', async () => {
    const line = nameless(await prompt(), { account: '+254799999999' });
    const period = { from: day(-1), to: day(1) };
    const statement = { gateway: 'simulator', channel: 63902, period };
    const preview = () =>
      store.transaction(async (trx) => {
        const file = { ...statement, source: 'f.csv', lines: [line] };
        const import_id = await importStatement(trx, file);
        const asked = { covers: [], complete_until: null, settling_window_ms: 0 };
        return previewStatement(trx, { ...statement, ...asked, import_id });
      });
    await read([line], 'f.csv');
    expect(await preview()).to.include({ known: 0, stake_cents: amount_cents });
    const found = await store.firstRow<{ id: string }>(
      'SELECT id FROM discrepancies WHERE trans_id = :transId',
      line,
    );
    await store.resolve(found!, 'dismissed');
    expect(await preview()).to.include({ known: 1, stake_cents: 0 });
  });

  it('gives no second receipt to a payment that has one', async () => {
    const collection = await prompt();
    await tell(collection, paid(newReceipt(), { completedAt: at(9) }), null);
    const newer = await store.newCollection({ amount_cents: 77_777 });
    const transId = newReceipt();
    await tell(newer, paid(transId, { completedAt: new Date() }), null);
    await read([lineOf(newer, { transId, completedAt: new Date() })], undefined, ['collection']);
    const { id } = await store.discrepancyOf('missing_at_gateway', collection);
    const [found] = await casesOf(store.database, collection);
    expect(found).to.include({ id });
    expect(found!.allowed).to.not.include('completed');
  });
});
