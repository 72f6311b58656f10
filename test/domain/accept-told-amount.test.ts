import { expect } from 'chai';
import { NOBODY } from '../../src/domain/access/asker.ts';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { createPayout } from '../../src/domain/payouts/create-payout.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { transfer } from '../../src/domain/wallets/transfer.ts';
import { SO_FAR } from '../support/so-far.ts';
import { lineOf, runStatement } from '../support/statements.ts';
import {
  ACKNOWLEDGED,
  failed,
  newsOf,
  parserOf,
  payoutRequest,
  receiptOf,
  rejection,
  reversalRequest,
  succeeded,
  useStore,
} from '../support/world.ts';

const UNKNOWN_AMOUNT = succeeded({ amountCents: null });

describe('Another amount of a completed payment, once support accepts it', () => {
  const store = useStore();

  afterEach(async () => {
    await store.expectRightBooks();
    expect(await store.accountBalance('suspense')).to.equal(await store.suspenseOwed());
  });

  /** A callback that nobody asked for, heard now. */
  const tell = (payment: AnyPayment, amountCents: number | null, account: string | null = null) =>
    store.transaction(async (trx) => {
      const locked = (await lockPayment(trx, refOf(payment)))!;
      const news: Verdict = newsOf(locked, succeeded({ amountCents, account }));
      return settle(trx, locked, news, { cause: 'callback', heardAt: new Date(), parserOf });
    });

  /** Completed without an amount, and told with another one. */
  async function told<P extends AnyPayment>(payment: P, amountCents: number): Promise<P> {
    await store.hear(payment, UNKNOWN_AMOUNT);
    expect(await tell(payment, amountCents)).to.equal('discrepancy');
    return payment;
  }

  const accept = async (payment: AnyPayment) =>
    store.resolve(await store.discrepancyOf('other_amount', payment), 'accept-amount');

  const undo = async (payment: AnyPayment) => {
    await store.hear(payment, failed({ externalRef: null }));
    return store.resolve(await store.discrepancyOf('failure_after_success', payment), 'undo');
  };

  const bodiesOf = async (payment: AnyPayment) => {
    const events = await store.rows<{ body: string }>(
      'SELECT body FROM events WHERE payment_id = :id ORDER BY change_no',
      { id: payment.id },
    );
    return events.map(({ body }) => JSON.parse(body));
  };

  const journalsOf = async ({ id }: AnyPayment) =>
    (
      await store.rows<{ kind: string }>(
        'SELECT kind FROM journals WHERE source_id = :id ORDER BY id',
        { id },
      )
    ).map(({ kind }) => kind);

  it('is the amount of payment, movement and webhook', async () => {
    const collection = await told(await store.newCollection(), 100);
    await accept(collection);
    const facts = { status: 'completed', amount_cents: 100, commission_cents: 2 };
    expect(await store.reread(collection)).to.include(facts);
    const [first, second, ...more] = await bodiesOf(collection);
    expect(more).to.deep.equal([]);
    expect(second).to.deep.equal({ ...first, data: { ...first.data, amount: '1.00' } });
    const books = { 'wallet:collection': 98, commission: 2, gateway_float: -100 };
    expect(await store.booksOf()).to.deep.equal(books);
    const [entry] = await store.rows(
      `SELECT type, description, amount_cents FROM entries
       WHERE merchant_id = :id AND transaction_id IS NOT NULL ORDER BY entry_no DESC LIMIT 1`,
      { id: store.merchantId },
    );
    expect(entry).to.deep.equal({
      type: 'adjustment',
      description: 'Corrected: Collection, net of commission',
      amount_cents: -9_752,
    });
  });

  it('is accepted with another account too', async () => {
    const collection = await store.newCompletedCollection();
    const stranger = succeeded({ amountCents: 100, account: '+254733999999' });
    await store.hear(collection, stranger);
    const question = await store.discrepancyOf('other_account', collection);
    const [found] = await casesOf(store.database, refOf(collection));
    expect(found!.allowed).to.deep.equal(['accept-amount', 'undo', 'dismissed']);
    await store.resolve(question, 'accept-amount');
    expect(await store.reread(collection)).to.include({ status: 'completed', amount_cents: 100 });
    expect(await store.accountBalance('wallet:collection')).to.equal(98);
    await store.hear(collection, { ...stranger, amountCents: null });
    const [again] = await casesOf(store.database, refOf(collection));
    expect(again!.allowed).to.deep.equal(['undo', 'dismissed']);
  });

  it('stays silent when it is told again, also by a statement', async () => {
    const collection = await told(await store.newCollection(), 100);
    await accept(collection);
    expect(await tell(collection, 100)).to.equal('repeat');
    const line = lineOf(collection, { amountCents: 100, transId: receiptOf(collection) });
    const { lines, missing } = await runStatement(store.database, [line], SO_FAR);
    expect(lines.matched).to.equal(1);
    expect(missing.map(({ payment_id }) => payment_id)).to.not.include(collection.id);
    expect(await store.discrepanciesOf(collection.id)).to.deep.equal(['other_amount (resolved)']);
  });

  it('is a question again whenever the gateway takes it back', async () => {
    const collection = await told(await store.newCollection(), 100);
    for (const [accepted, cents] of [100, 10_000, 100].entries()) {
      await accept(collection);
      expect(await store.reread(collection)).to.include({ amount_cents: cents });
      expect(await bodiesOf(collection)).to.have.length(accepted + 2);
      const other = cents === 100 ? 10_000 : 100;
      expect(await tell(collection, other), `told ${other}`).to.equal('discrepancy');
      expect(await store.discrepanciesOf(collection.id)).to.deep.equal(['other_amount']);
    }
    expect(await journalsOf(collection)).to.deep.equal([
      'completed',
      'corrected',
      'corrected 2',
      'corrected 3',
    ]);
  });

  it('leaves the collection wallet in debt, and takes no payout below the limit', async () => {
    const collection = await store.newCompletedCollection();
    await store.transaction((trx) =>
      transfer(trx, { ...NOBODY, merchant_id: store.merchantId, amount_cents: 9_850, ref_no: 't' }),
    );
    await tell(collection, 100);
    await accept(collection);
    expect(await store.accountBalance('wallet:collection')).to.equal(-9_752);
    const request = payoutRequest(store.merchant, { amount_cents: 9_000 });
    const refused = await rejection(createPayout(store.database, request));
    expect(refused).to.include({ code: 'insufficient_balance', subject: 'collection' });
  });

  for (const kind of ['collection', 'payout', 'reversal'] as const) {
    for (const cents of [300, 5_000, 12_000]) {
      it(`is taken back with the ${kind}, which had ${cents} cents`, async () => {
        const payment = await store.newPayment(kind);
        await store.topUp(2_000, `more-${payment.id}`);
        const before = await store.booksOf();
        await told(payment, cents);
        await accept(payment);
        expect(await store.reread(payment)).to.include({ amount_cents: cents });
        await undo(payment);
        await store.resolve(
          await store.discrepancyOf('undone_money', payment),
          kind === 'collection' ? 'undo' : 'returned',
        );
        if (kind === 'payout') await store.refund(payment);
        const { 'wallet:payout': inWallet = 0, payouts_in_flight: inFlight = 0, ...rest } = before;
        const whole = { ...rest, 'wallet:payout': inWallet + inFlight };
        expect(await store.booksOf()).to.deep.equal(whole);
        expect((await bodiesOf(payment)).at(-1).data.amount).to.equal((cents / 100).toFixed(2));
      });
    }
  }

  for (const [kind, word, cents] of [
    ['collection', 'accept-amount', 5_000],
    ['collection', 'dismissed', 10_000],
    ['payout', 'accept-amount', 5_000],
  ] as const) {
    it(`or not, as ${word} says, comes before the undoing of a ${kind} for another reason`, async () => {
      const payment = await told(await store.newPayment(kind), 5_000);
      const before = await store.booksOf();
      expect((await rejection(undo(payment))).message).to.equal(
        'The gateway has told of the money in two ways: resolve other_amount first',
      );
      expect(await store.booksOf()).to.deep.equal(before);
      await store.resolve(await store.discrepancyOf('other_amount', payment), word);
      await store.resolve(await store.discrepancyOf('failure_after_success', payment), 'undo');
      const waiting = kind === 'collection' ? cents : -cents;
      expect(await store.accountBalance('suspense')).to.equal(waiting);
    });
  }

  it('is a difference too when its money is undone, and may come back', async () => {
    const collection = await store.newCompletedCollection();
    await undo(collection);
    expect(await tell(collection, 5_000)).to.equal('discrepancy');
    const open = (await casesOf(store.database, refOf(collection))).filter(
      ({ resolved_at }) => resolved_at === null,
    );
    expect(open.map(({ kind, amount_cents }) => [kind, amount_cents])).to.have.deep.members([
      ['undone_money', 10_000],
      ['other_amount', 5_000],
    ]);
    await store.resolve(await store.discrepancyOf('other_amount', collection), 'dismissed');
    await store.resolve(await store.discrepancyOf('undone_money', collection), 'undo');
    expect(await store.booksOf()).to.deep.equal({});
  });

  it('is taken back with a payout that support had debited again', async () => {
    const payout = await store.newPayout();
    await store.hear(payout, failed());
    await store.refund(payout);
    await store.hear(payout, succeeded());
    await store.resolve(await store.discrepancyOf('paid_after_refund', payout), 'completed');
    await tell(payout, 5_000);
    await accept(payout);
    expect(await journalsOf(payout)).to.include.members(['redebited', 'amount', 'corrected']);
    await store.expectRightBooks();
    await undo(payout);
    const books = { bank: -10_250, 'wallet:payout': 10_250 };
    const waiting = { gateway_float: 5_000, suspense: -5_000 };
    expect(await store.booksOf()).to.deep.equal({ ...books, ...waiting });
  });

  it('may correct an amount that support has accepted before', async () => {
    const payout = await store.newPayout();
    await store.hear(payout, succeeded({ amountCents: 5_000 }));
    await accept(payout);
    await tell(payout, 6_000);
    await accept(payout);
    const books = { bank: -10_250, 'wallet:payout': 4_000, fees: 250, gateway_float: 6_000 };
    expect(await store.booksOf()).to.deep.equal(books);
    expect(await journalsOf(payout)).to.include.members(['amount', 'amount 2', 'corrected']);
  });

  it('gives the commission of a reversal back as far as the amount goes, in both directions', async () => {
    const reversal = await told(await store.newReversal(), 100);
    await accept(reversal);
    expect(await store.booksOf()).to.deep.equal({
      'wallet:collection': 9_850,
      commission: 50,
      gateway_float: -9_900,
    });
    await tell(reversal, 10_000);
    await accept(reversal);
    expect(await store.booksOf()).to.deep.equal({});
  });

  it('is refused while a reversal of the collection is under way', async () => {
    const collection = await store.newCompletedCollection();
    const reversal = await createReversal(store.database, reversalRequest(collection));
    const work = store.workOn(reversal);
    await work.answer((await work.claim())!, ACKNOWLEDGED);
    await tell(collection, 100);
    const refused = 'A reversal of the collection is open: wait until it has ended';
    expect((await rejection(accept(collection))).message).to.equal(refused);
    await store.hear(reversal, failed());
    await accept(collection);
    expect(await store.accountBalance('wallet:collection')).to.equal(98);
    const again = await createReversal(store.database, {
      ...reversalRequest(collection),
      ref_no: 'again',
    });
    expect(again).to.include({ amount_cents: 100, commission_cents: 2 });
  });

  it('is booked beside a reversal that is done, which keeps its own amount', async () => {
    const collection = await store.newCompletedCollection();
    const reversal = await createReversal(store.database, reversalRequest(collection));
    await store.hear(reversal, succeeded());
    await tell(collection, 10_100);
    await accept(collection);
    expect(await store.reread(reversal)).to.include({ status: 'completed', amount_cents: 10_000 });
    expect(await store.booksOf()).to.deep.equal({
      'wallet:collection': 98,
      commission: 2,
      gateway_float: -100,
    });
  });

  it('is refused for less than the fee, and for more than the payout wallet holds', async () => {
    const little = await told(await store.newPayout(), 249);
    expect((await rejection(accept(little))).message).to.equal(
      'Less has moved than the fee: resolve it as undo',
    );
    const large = await told(await store.newPayout(), 12_000);
    const before = await store.booksOf();
    expect((await rejection(accept(large))).message).to.include('top it up first');
    expect(await store.booksOf()).to.deep.equal(before);
    expect(await bodiesOf(large)).to.have.length(1);
    await store.topUp(2_000, 'more');
    await accept(large);
    expect(await store.reread(large)).to.include({ amount_cents: 12_000 });
  });

  it('is not offered while findings tell several amounts, of which none may be undone', async () => {
    const toldTwice = async () => {
      const collection = await told(await store.newCollection(), 100);
      await tell(collection, 200);
      const [found] = await casesOf(store.database, refOf(collection));
      expect(found!.allowed).to.deep.equal(['undo', 'dismissed']);
      const refusal = await rejection(store.resolve(found!, 'undo'));
      expect(refusal.message).to.include('in several ways (1.00, 2.00)');
      await store.resolve(found!, 'dismissed');
      await tell(collection, 200);
      return collection;
    };
    const accepted = await toldTwice();
    await accept(accepted);
    expect(await store.reread(accepted)).to.include({ amount_cents: 200 });
    await store.expectRightBooks();
    const undone = await toldTwice();
    await store.resolve(await store.discrepancyOf('other_amount', undone), 'undo');
    expect(await store.accountBalance('suspense')).to.equal(200);
  });

  it('is undone by all that was told of it, in whatever order', async () => {
    const { merchant_id } = store.merchant;
    const collection = await store.newCollection();
    await store.hear(collection, UNKNOWN_AMOUNT);
    await tell(collection, null, '+254799000111');
    await tell(collection, 300, '+254799000111');
    await store.resolve(await store.discrepancyOf('other_account', collection), 'undo');
    const [movement] = await store.rows(
      'SELECT amount_cents, account, booked FROM movements WHERE merchant_id = :merchant_id',
      { merchant_id },
    );
    const booked = 'undoing';
    expect(movement).to.deep.equal({ amount_cents: 300, account: '+254799000111', booked });
  });

  it('is booked once when several decide at the same moment', async () => {
    const payout = await told(await store.newPayout(), 5_000);
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => accept(payout)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    expect(await store.accountBalance('wallet:payout')).to.equal(5_000);
  });

  it('or a reversal at the same moment: the other one follows what is booked then', async () => {
    const collection = await store.newCompletedCollection();
    await tell(collection, 100);
    const [accepted, reversal] = await Promise.allSettled([
      accept(collection),
      createReversal(store.database, reversalRequest(collection)),
    ]);
    if (accepted.status === 'rejected') throw accepted.reason;
    if (reversal.status === 'rejected') throw reversal.reason;
    // One that was asked for first waits for the decision, which fails it.
    let { value } = reversal;
    if ((await store.reread(value)).status === 'failed') {
      const request = { ...reversalRequest(collection), ref_no: 'again' };
      value = await createReversal(store.database, request);
    }
    expect(value.amount_cents).to.equal(100);
    await store.hear(value, succeeded({ amountCents: 100, transId: 'BACK' }));
    expect(await store.booksOf()).to.deep.equal({});
  });
});
