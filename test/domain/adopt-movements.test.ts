import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Database } from '../../src/connections/database.ts';
import { hearBalances, latestProofs } from '../../src/domain/gateway-accounts/balances.ts';
import { bookCharges } from '../../src/domain/gateway-accounts/charges.ts';
import { tariffsFromText } from '../../src/domain/gateway-accounts/tariffs.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { reportUnknownPayment } from '../../src/domain/settlement/unknown-payments.ts';
import { claimSubmission } from '../../src/domain/submission/claim-submission.ts';
import { adoptAsAsked, planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { previewDecision } from '../../src/domain/support/decide-discrepancy.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { DAY_MS } from '../../src/time.ts';
import { newReceipt, runStatement } from '../support/statements.ts';
import {
  ACKNOWLEDGED,
  AMOUNT_CENTS,
  failed,
  newPayout,
  PAYER,
  POLL_FIRST_MS,
  payoutRequest,
  RESOLVING,
  succeeded,
  useStore,
} from '../support/world.ts';

const DAY = { from: '2026-11-20', to: '2026-11-20' };
const FEE_CENTS = RESOLVING.payoutFeeDefaults.fixedCents;
const BY = { requested_by: 'amina@x.example', reason: 'Restore of 20 November' };

describe('Money that two people adopt', () => {
  const store = useStore();
  let gateway = '';

  /** Each test has a gateway of its own, because the money of all merchants is in one balance. */
  beforeEach(() => {
    gateway = `gateway-${store.merchantId}`;
  });

  const lineOf = (kind: StatementLine['kind'], more: Partial<StatementLine> = {}) => ({
    ...{ kind, reference: randomUUID(), account: PAYER, amountCents: AMOUNT_CENTS },
    ...{ transId: newReceipt(), completedAt: succeeded().completedAt!, ...more },
  });

  const compare = (lines: StatementLine[], source?: string) =>
    runStatement(store.database, lines, DAY, { gateway, covers: [], complete_until: null }, source);

  const reconcile = (...lines: StatementLine[]) => compare(lines);

  async function questionOf({ transId }: StatementLine): Promise<{ id: string }> {
    const [found] = await store.rows<{ id: string }>(
      'SELECT id FROM discrepancies WHERE resolved_at IS NULL AND trans_id = :transId',
      { transId },
    );
    return found!;
  }

  const plan = (...lines: StatementLine[]) =>
    planAdoption(
      store.database,
      { merchant_id: store.merchantId, receipts: lines.map(({ transId }) => transId!) },
      RESOLVING,
    );

  const adopt = async (...lines: StatementLine[]) => {
    const planned = await plan(...lines);
    return store.transaction((trx) => adoptAsAsked(trx, planned, BY, RESOLVING));
  };

  const openFindings = (...lines: StatementLine[]) =>
    store.rows<{ kind: string }>(
      `SELECT kind FROM discrepancies WHERE resolved_at IS NULL AND trans_id = ANY (:receipts)`,
      { receipts: lines.map(({ transId }) => transId) },
    );

  async function expectBalance(cents: number) {
    const told = { sub_account: 'utility', current_cents: cents, available_cents: cents } as const;
    await hearBalances(store.database, gateway, [told], new Date(Date.now() + 60_000));
    const proof = (await latestProofs(store.database)).find((each) => each.gateway === gateway);
    expect(proof).to.include({ ledger_cents: cents, difference_cents: 0, differs_since: null });
  }

  async function rejected(work: Promise<unknown>): Promise<string> {
    return work.then(
      () => 'nothing',
      (error: Error) => error.message,
    );
  }

  /** A payout of a world that is lost, as its gateway lists it. It may be requested again. */
  async function lostPayout() {
    const request = payoutRequest(store.merchant, { gateway });
    const accept = (database: Database) => newPayout(database, store.merchant, request);
    const trx = await store.database.transaction();
    const { reference } = await accept(trx);
    await trx.rollback();
    const line = lineOf('payout', { reference });
    return { line, comeAgain: (): Promise<Payout> => accept(store.database) };
  }

  describe('and that a customer has paid by hand, after the prompt had failed', () => {
    /** A customer cancels the prompt, and pays the same amount into the till a little later. */
    async function paidByHand(failedBy = 'callback') {
      const collection = await store.newCollection({ gateway });
      const work = store.workOn(collection);
      const claim = await claimSubmission(store.database, refOf(collection), collection.step_no, {
        pollFirstMs: POLL_FIRST_MS,
        gateways: [gateway],
      });
      await store.learn(collection, failed({ externalRef: null }), failedBy);
      const line = lineOf('collection', { reference: null, completedAt: new Date() });
      await reconcile(line);
      return { collection, line, takeItLate: () => work.answer(claim, ACKNOWLEDGED) };
    }

    it('is booked, though the failed collection would fit', async () => {
      const { collection, line } = await paidByHand();
      const [found] = await store.rows<{ candidates: string[] }>(
        "SELECT details->'candidates' AS candidates FROM discrepancies WHERE trans_id = :transId",
        line,
      );
      expect(found!.candidates).to.include(
        `collection ${collection.id} of merchant ${collection.merchant_id}`,
      );
      await adopt(line);
      expect(await openFindings(line)).to.deep.equal([]);
      await expectBalance(AMOUNT_CENTS);
    });

    it('is a question when the gateway calls the prompt paid after all, without a receipt', async () => {
      const { collection, line } = await paidByHand();
      await adopt(line);
      const late = { transId: null, externalRef: null, account: null, completedAt: null };
      await store.learn(collection, succeeded(late), 'poll');
      expect(await store.returnsOf()).to.deep.equal([]);
      await store.discrepancyOf('paid_after_failure', collection);
    });

    it('is refused while the gateway is asked about the failed collection again', async () => {
      const { collection, line, takeItLate } = await paidByHand('statement');
      await takeItLate();
      expect(await store.reread(collection)).to.include({ next_step: 'poll' });
      expect(await rejected(adopt(line))).to.include('ask the gateway about it');
    });
  });

  it('is refused for money that may be late money on its way back to a customer', async () => {
    const collection = await store.newCollection({ gateway });
    await store.learn(collection, failed({ externalRef: null }), 'callback');
    await store.learn(
      collection,
      succeeded({ transId: null, externalRef: null, account: null, completedAt: null }),
      'poll',
    );
    expect(await store.returnsOf()).to.have.length(1);
    const line = lineOf('collection', {
      ...{ reference: null, account: null, completedAt: new Date() },
    });
    await reconcile(line);
    const [found] = await store.rows<{ candidates: string[] }>(
      "SELECT details->'candidates' AS candidates FROM discrepancies WHERE trans_id = :transId",
      line,
    );
    expect(found!.candidates).to.deep.equal([
      `collection ${collection.id} of merchant ${collection.merchant_id}`,
    ]);
    const words = 'that waits, or goes back to the customer';
    expect(await rejected(adopt(line))).to.include(words);
    const entry = { kind: 'adjustment', wallet: 'collection', amount_cents: 9_850 } as const;
    const byHand = store.transaction((trx) =>
      bookOperatorEntry(trx, {
        ...{ ...entry, merchant_id: store.merchantId },
        ...{ reference: line.transId!, reason: 'Ticket 4711' },
      }),
    );
    expect(await rejected(byHand)).to.include(words);
  });

  it('has nothing to do with other money under a reference that customers type', async () => {
    const [one, other] = ['+254733000333', '+254733000444'].map((account) =>
      lineOf('collection', { reference: 'RENT', account }),
    ) as [StatementLine, StatementLine];
    await reconcile(one, { ...other, amountCents: 55_500 });
    const { merchant_id } = store.merchant;
    await store.transaction((trx) =>
      bookOperatorEntry(trx, {
        ...{ kind: 'adjustment', wallet: 'collection', amount_cents: 100, merchant_id },
        ...{ reference: one.transId!, reason: 'by hand' },
      }),
    );
    await adopt(other);
    const collection = await store.newCollection({ gateway });
    const transId = newReceipt();
    await store.learn(collection, succeeded({ transId, externalRef: null, account: null }));
    const lines = await reconcile({ ...lineOf('collection'), reference: 'RENT', transId });
    expect(lines.lines).to.include({ matched: 1 });
    expect(await store.discrepanciesOf(collection.id)).to.deep.equal([]);
  });

  it('explains no second receipt of its reference, in a statement or a callback', async () => {
    await store.topUp(50_000, 'second');
    const line = lineOf('payout');
    await reconcile(line);
    await adopt(line);
    const [listed, called] = [newReceipt(), newReceipt()];
    const { lines } = await reconcile(line, { ...line, transId: listed });
    expect(lines).to.include({ matched: 1, unknown: 1 });
    const callback = { gateway, merchant_id: store.merchantId, payment_kind: 'payout' } as const;
    const of = { ...callback, id: randomUUID(), payment_id: randomUUID() } as never;
    for (const transId of [line.transId!, called]) {
      const news = succeeded({ transId });
      await store.transaction((trx) => reportUnknownPayment(trx, of, line.reference, news));
    }
    const kinds = async (transId: string) =>
      (await openFindings({ ...line, transId })).map(({ kind }) => kind);
    expect(await kinds(line.transId!)).to.deep.equal([]);
    expect(await kinds(listed)).to.deep.equal(['unknown_movement']);
    expect(await kinds(called)).to.deep.equal(['unknown_payment']);
  });

  for (const reference of [null, 'ws_CO_26112026', randomUUID()]) {
    for (const order of ['before', 'after']) {
      it(`is one question when its callback (${reference === null ? 'without a reference' : reference.length > 20 ? 'with ours' : 'with its own'}) comes ${order} a line without a reference`, async () => {
        const line = lineOf('collection', { reference: null });
        const lost = { gateway, merchant_id: store.merchantId, payment_kind: 'collection' };
        const callback = { ...lost, id: randomUUID(), payment_id: randomUUID() } as never;
        const news = succeeded({ transId: line.transId, amountCents: AMOUNT_CENTS });
        const hear = () =>
          store.transaction((trx) => reportUnknownPayment(trx, callback, reference, news));
        if (order === 'before') await hear();
        await reconcile({ ...line, account: '+2547*****678' });
        if (order === 'after') await hear();
        expect(await openFindings(line)).to.deep.equal([{ kind: 'unknown_payment' }]);
        await adopt(line);
        await expectBalance(AMOUNT_CENTS);
      });
    }
  }

  it('is two questions when the line shows another phone than its callback', async () => {
    const line = lineOf('collection', { reference: null, account: '+254799999999' });
    const lost = { gateway, merchant_id: store.merchantId, payment_kind: 'collection' };
    const callback = { ...lost, id: randomUUID(), payment_id: randomUUID() } as never;
    const news = succeeded({ transId: line.transId, amountCents: AMOUNT_CENTS, account: PAYER });
    await store.transaction((trx) => reportUnknownPayment(trx, callback, null, news));
    await reconcile(line);
    expect(await openFindings(line)).to.have.length(2);
  });

  it('comes to the wallets as a payment would, and the balance at the gateway agrees to the cent', async () => {
    await store.topUp(50_000, 'before');
    const [collection, payout] = [lineOf('collection'), lineOf('payout', { amountCents: 4_000 })];
    await reconcile(collection, payout);
    const { audit } = await adopt(collection, payout);
    expect(await store.booksOf()).to.deep.equal({
      bank: -50_000,
      gateway_float: -AMOUNT_CENTS + 4_000,
      commission: 150,
      fees: FEE_CENTS,
      'wallet:collection': AMOUNT_CENTS - 150,
      'wallet:payout': 50_000 - 4_000 - FEE_CENTS,
    });
    expect(audit!.details).to.deep.equal({
      adopted: [
        { receipt: collection.transId, kind: 'collection', amount: '100.00', cost: '1.50' },
        { receipt: payout.transId, kind: 'payout', amount: '40.00', cost: '2.50' },
      ],
    });
    const resolved = await store.rows(
      `SELECT DISTINCT resolution, resolved_by, resolved_reason FROM discrepancies
       WHERE gateway = :gateway`,
      { gateway },
    );
    expect(resolved).to.deep.equal([
      { resolution: 'adopted', resolved_by: BY.requested_by, resolved_reason: BY.reason },
    ]);
    await expectBalance(AMOUNT_CENTS - 4_000);
    await store.expectRightBooks();
  });

  it('costs what the tariff says, or the statement that lists it, once, also if its payment comes after all', async () => {
    const tariffs = tariffsFromText(`${gateway} payout 1000=5.40`);
    const charged = async () => {
      await bookCharges(store.database, tariffs);
      const told = { sub_account: 'charges', current_cents: 0, available_cents: 0 } as const;
      await hearBalances(store.database, gateway, [told], new Date(Date.now() + 60_000));
      const proofs = await latestProofs(store.database);
      const proof = proofs.find(
        (each) => each.gateway === gateway && each.sub_account === 'charges',
      );
      return -proof!.ledger_cents;
    };
    const [first, second] = [await lostPayout(), await lostPayout()];
    await store.topUp(3 * (AMOUNT_CENTS + FEE_CENTS), 'before');
    await reconcile(first.line, second.line);
    await adopt(first.line, second.line);
    expect(await charged()).to.equal(2 * 540);
    await compare([{ ...second.line, chargeCents: 900 }], 'portal.csv');
    expect(await charged()).to.equal(540 + 900);
    const payout = await first.comeAgain();
    const news = succeeded({ transId: first.line.transId, externalRef: null });
    await store.learn(payout, news, 'poll');
    await store.resolve(await store.discrepancyOf('receipt_of_another', payout), 'undo');
    expect(await charged()).to.equal(900);
    await store.learn(payout, news, 'poll');
    expect(await charged()).to.equal(540 + 900);
    await store.expectRightBooks();
  });

  it('takes the rates of its merchant', async () => {
    await store.rows(
      `UPDATE merchants SET commission_bps = 300, commission_fixed_cents = 7, payout_fee_bps = 100,
         payout_fee_fixed_cents = 0 WHERE id = :id`,
      { id: store.merchantId },
    );
    await store.topUp(50_000, 'before');
    const lines = [lineOf('collection'), lineOf('payout')];
    await reconcile(...lines);
    expect((await plan(...lines)).lines.map(({ cost_cents }) => cost_cents)).to.deep.equal([
      307, 100,
    ]);
  });

  describe('and that a file has listed under a wrong receipt', () => {
    // Before all payments of the other tests.
    const MOMENT = new Date(Date.now() - DAY_MS / 2);
    const rowOf = (more: Partial<StatementLine> = {}) =>
      lineOf('collection', { reference: null, completedAt: MOMENT, ...more });
    const file = (...lines: StatementLine[]) => compare(lines, 'export.csv');

    it('is not adopted a second time under the receipt of the gateway’s own statement', async () => {
      const wrong = rowOf();
      await file(wrong);
      await adopt(wrong);
      const right = { ...wrong, transId: newReceipt(), account: '+2547*****678' };
      await reconcile(right);
      expect(await rejected(adopt(right))).to.include(
        `it may be the adopted ${wrong.transId}: the same amount, phone and minute`,
      );
      await store.resolve(await questionOf(right), 'dismissed');
      await expectBalance(AMOUNT_CENTS);
    });

    it('is not adopted in one plan with the receipt of the gateway’s own statement', async () => {
      const wrong = rowOf();
      const right = { ...wrong, transId: newReceipt() };
      await file(wrong);
      await reconcile(right);
      const planned = await plan(wrong, right);
      expect(planned.lines.map(({ receipt }) => receipt)).to.deep.equal([right.transId]);
      const [{ why } = { why: '' }] = planned.refused;
      expect(why).to.include(`only a file has told it, and it may be ${right.transId}`);
    });

    it('is not adopted beside the right receipt that was booked by hand, and dismissed', async () => {
      const right = rowOf();
      await reconcile(right);
      await store.resolve(await questionOf(right), 'dismissed');
      const wrong = { ...right, transId: newReceipt() };
      await file(wrong);
      expect(await rejected(adopt(wrong))).to.include(`it may be ${right.transId}`);
      MOMENT.setMinutes(MOMENT.getMinutes() - 2);
    });

    it('may be other money if no account is shown', async () => {
      const told = rowOf({ account: null });
      await reconcile(told);
      const wage = { ...told, transId: newReceipt() };
      await file(wage);
      await adopt(wage);
      expect(await openFindings(wage)).to.deep.equal([]);
      MOMENT.setMinutes(MOMENT.getMinutes() - 2);
    });

    it('is other money if files have told both, or the gateway has', async () => {
      for (const tell of [file, reconcile]) {
        const [first, second] = [rowOf(), rowOf()];
        await tell(first, second);
        for (const line of [first, second]) await adopt(line);
        expect(await openFindings(first, second)).to.deep.equal([]);
        // The next ones are of another minute.
        MOMENT.setMinutes(MOMENT.getMinutes() - 2);
      }
    });

    it('is other money if the gateway lists what was adopted by a file’s word, and another one', async () => {
      const [first, second] = [rowOf(), rowOf()];
      await file(first);
      await adopt(first);
      await reconcile(first, second);
      await adopt(second);
      expect(await openFindings(first, second)).to.deep.equal([]);
    });

    it('is other money if the gateway tells the receipt of the file later', async () => {
      const [first, second] = [rowOf(), rowOf()];
      await file(first);
      await reconcile(first);
      await adopt(first);
      await reconcile(second);
      await adopt(second);
      expect(await openFindings(first, second)).to.deep.equal([]);
    });
  });

  it('is refused while a reversal of it is a question, and adopted once that is dismissed', async () => {
    const paid = lineOf('collection', { reference: null });
    const later = new Date(paid.completedAt.getTime() + 120_000);
    const back = lineOf('reversal', { reference: null, completedAt: later });
    await reconcile(paid, back);
    expect(await rejected(adopt(paid))).to.include(
      `the row ${back.transId} may have given it back`,
    );
    await store.resolve(await questionOf(back), 'dismissed');
    await adopt(paid);
    expect(await openFindings(paid, back)).to.deep.equal([]);
  });

  it('can be adopted for a merchant that was created again, if its callback names the one that is gone', async () => {
    const line = lineOf('collection');
    const lost = { gateway, merchant_id: 999_999, payment_kind: 'collection' };
    const callback = { ...lost, id: randomUUID(), payment_id: randomUUID() } as never;
    const news = succeeded({ transId: line.transId, amountCents: AMOUNT_CENTS });
    await store.transaction((trx) => reportUnknownPayment(trx, callback, line.reference, news));
    await adopt(line);
    expect(await openFindings(line)).to.deep.equal([]);
  });

  it('is refused line by line, with the reason', async () => {
    const good = lineOf('collection');
    const reversal = lineOf('reversal', { amountCents: 4_000 });
    const { line: again, comeAgain } = await lostPayout();
    const owned = lineOf('collection');
    const byHand = lineOf('collection');
    const unheard = lineOf('collection');
    await reconcile(good, reversal, again, owned, byHand);
    const { ref_no } = await comeAgain();
    expect(ref_no).to.be.a('string');
    const other = await store.newCollection({ gateway });
    await store.learn(other, succeeded({ transId: owned.transId, externalRef: null }));
    await store.transaction((trx) =>
      bookOperatorEntry(trx, {
        ...({ kind: 'adjustment', wallet: 'collection' } as const),
        merchant_id: store.merchantId,
        ...{ amount_cents: 9_000, reference: byHand.transId!, reason: 'By hand' },
      }),
    );
    const { lines, refused } = await plan(good, reversal, again, owned, byHand, unheard);
    expect(lines.map(({ receipt }) => receipt)).to.deep.equal([good.transId]);
    const reasons = Object.fromEntries(refused.map(({ receipt, why }) => [receipt, why]));
    expect(reasons[reversal.transId!]).to.equal('it is neither collection nor payout');
    expect(reasons[again.transId!]).to.match(/^it may be that of payout .*: ask the gateway/);
    expect(reasons[owned.transId!]).to.include(`collection ${other.id}`);
    expect(reasons[byHand.transId!]).to.equal('90.00 are booked by hand under it');
    expect(reasons[unheard.transId!]).to.equal('no open unknown movement has it');
    expect(await rejected(plan(unheard))).to.include('None of them can be adopted');
  });

  it('is not adopted twice when it is told with its receipt and without', async () => {
    const whole = lineOf('collection');
    const bare = { ...whole, transId: null };
    await reconcile(bare);
    await reconcile(whole);
    const receipts = [whole.transId!, whole.reference!];
    const { merchantId: merchant_id } = store;
    const both = planAdoption(store.database, { merchant_id, receipts }, RESOLVING);
    expect(await rejected(both)).to.include(
      'once with its receipt and once without: if it is the same money, dismiss one',
    );
    const [finding] = await store.rows<{ id: string }>(
      'SELECT id FROM discrepancies WHERE trans_id = :reference',
      whole,
    );
    await store.resolve(finding!, 'dismissed');
    await adopt(whole);
    expect((await reconcile(whole, bare)).lines).to.include({ matched: 2 });
    await expectBalance(AMOUNT_CENTS);
  });

  it('is not adopted when its reference names a payment of another gateway, or of another kind', async () => {
    const payments = [await store.newCollection(), await store.newPayout({ gateway })];
    const lines = payments.map(({ reference }) => lineOf('collection', { reference }));
    await reconcile(...lines);
    for (const [index, payment] of payments.entries()) {
      expect(await rejected(plan(lines[index]!))).to.include(
        `that of ${payment.kind} ${payment.id}`,
      );
    }
  });

  it('is not adopted when its receipt and amount are booked with another gateway, or in the other direction', async () => {
    const payments = [await store.newCollection(), await store.newPayout({ gateway })];
    const lines = [];
    for (const payment of payments) {
      const line = lineOf('collection', { reference: null });
      await store.learn(payment, succeeded({ transId: line.transId, externalRef: null }));
      await reconcile(line);
      lines.push(line);
    }
    for (const [index, payment] of payments.entries()) {
      expect(await rejected(plan(lines[index]!))).to.include(
        `that of ${payment.kind} ${payment.id}`,
      );
    }
  });

  it('is not adopted when the payout wallet holds too little', async () => {
    await store.topUp(AMOUNT_CENTS, 'too little');
    const line = lineOf('payout');
    await reconcile(line);
    expect(await rejected(adopt(line))).to.equal(
      'The payout wallet holds KES 100.00, and the payouts take KES 102.50: top it up first',
    );
  });

  it('is adopted once, when two merchants are to have it at once', async () => {
    const line = lineOf('collection');
    await reconcile(line);
    const plans = [await plan(line), { ...(await plan(line)) }];
    plans[1]!.merchant_id = (await store.newMerchant()).merchant_id;
    const ends = await Promise.allSettled(
      plans.map((each) => store.transaction((trx) => adoptAsAsked(trx, each, BY, RESOLVING))),
    );
    expect(ends.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected']);
    await expectBalance(AMOUNT_CENTS);
    expect(await rejected(adopt(line))).to.include('no open unknown movement has it');
  });

  it('is not adopted when what was asked for would be something else by now', async () => {
    const line = lineOf('collection');
    await reconcile(line);
    const planned = await plan(line);
    await store.rows('UPDATE merchants SET commission_bps = 500 WHERE id = :id', {
      id: store.merchantId,
    });
    const late = store.transaction((trx) => adoptAsAsked(trx, planned, BY, RESOLVING));
    expect(await rejected(late)).to.include('has changed since');
    expect(await store.walletBalance('collection')).to.equal(0);
  });

  it('cannot be booked by hand under its receipt as well', async () => {
    const line = lineOf('collection');
    await reconcile(line);
    await adopt(line);
    const wallet = { kind: 'adjustment', wallet: 'collection' } as const;
    const about = { merchant_id: store.merchantId, reference: line.transId!, reason: 'Twice' };
    const entry = { ...wallet, ...about };
    const book = (amount_cents: number) =>
      store.transaction((trx) => bookOperatorEntry(trx, { ...entry, amount_cents }));
    expect((await book(AMOUNT_CENTS - 150)).repeated).to.equal(true);
    expect(await rejected(book(AMOUNT_CENTS))).to.include('is taken');
    expect(await store.walletBalance('collection')).to.equal(AMOUNT_CENTS - 150);
  });

  it('is known to later statements and callbacks, unless they tell another amount', async () => {
    const line = lineOf('collection');
    await reconcile(line);
    await adopt(line);
    expect((await reconcile({ ...line, account: null })).lines).to.include({
      matched: 1,
      unknown: 0,
    });
    const tell = (amountCents: number) => {
      const { merchantId: merchant_id, database: _ } = store;
      const callback = { id: randomUUID(), gateway, merchant_id, payment_id: randomUUID() };
      const news = succeeded({ transId: line.transId, amountCents });
      return store.transaction((trx) =>
        reportUnknownPayment(
          trx,
          { ...callback, payment_kind: 'collection' } as never,
          line.reference,
          news,
        ),
      );
    };
    await tell(AMOUNT_CENTS);
    expect(await openFindings(line)).to.deep.equal([]);
    await tell(777);
    expect(await openFindings(line)).to.deep.equal([{ kind: 'unknown_payment' }]);
  });

  it('leaves its receipt to no other payment', async () => {
    const line = lineOf('collection');
    await reconcile(line);
    await adopt(line);
    const other = await store.newCollection({ gateway });
    const news = succeeded({ transId: line.transId, externalRef: null });
    expect(await store.learn(other, news, 'poll')).to.equal('discrepancy');
    await expectBalance(AMOUNT_CENTS);
    const question = await store.discrepancyOf('receipt_of_another', other);
    expect(question.details).to.include({ adopted_for: store.merchantId });
  });

  for (const [how, receiptOf] of [
    ['with its receipt', ({ transId }: StatementLine) => transId],
    ['without a receipt', () => null],
    ['with another receipt', () => newReceipt()],
  ] as const) {
    it(`becomes a question when its payment comes again and the gateway tells of it ${how}`, async () => {
      const { line, comeAgain } = await lostPayout();
      await store.topUp(AMOUNT_CENTS + FEE_CENTS, `before ${how}`);
      await reconcile(line);
      await adopt(line);
      const payout = await comeAgain();
      const news = succeeded({ transId: receiptOf(line), externalRef: null });
      for (let time = 1; time <= 2; time += 1) {
        expect(await store.learn(payout, news, 'poll')).to.equal('discrepancy');
      }
      expect(await store.reread(payout)).to.include({ status: 'pending' });
      await expectBalance(-AMOUNT_CENTS);
      const question = await store.discrepancyOf('receipt_of_another', payout);
      expect(question.details.booked_for).to.match(/^adoption /);
      await store.resolve(question, 'undo');
      await expectBalance(0);
      expect(await store.learn(payout, news, 'poll')).to.equal('completed');
      await expectBalance(-AMOUNT_CENTS);
      // Of two top-ups, one has paid for it.
      expect(await store.walletBalance('payout')).to.equal(AMOUNT_CENTS + FEE_CENTS);
      await store.expectRightBooks();
    });
  }

  /** A payout that was adopted, came again and failed. The gateway then tells of its success. */
  async function paidAfterItsFailure() {
    const { line, comeAgain } = await lostPayout();
    await store.topUp(AMOUNT_CENTS + FEE_CENTS, 'for its adoption');
    await reconcile(line);
    await adopt(line);
    const payout = await comeAgain();
    await store.learn(payout, failed(), 'poll');
    const news = succeeded({ transId: line.transId, externalRef: null });
    expect(await store.learn(payout, news, 'callback')).to.equal('discrepancy');
    return { payout, line, news };
  }

  describe('under the gateway’s own reference, without a receipt,', () => {
    let line: StatementLine;
    let collection: AnyPayment;

    /** The customer has another phone than the line: it may be anybody's. */
    const begin = async (before: () => Promise<unknown> = async () => {}) => {
      const reference = `GW-${newReceipt()}`;
      line = lineOf('collection', { reference, transId: null, account: '+254733000333' });
      collection = await store.newCollection({ gateway, payfrom: '+254733000222' });
      await before();
      await reconcile(line);
      const asked = { merchant_id: store.merchantId, receipts: [line.reference!] };
      const planned = await planAdoption(store.database, asked, RESOLVING);
      await store.transaction((trx) => adoptAsAsked(trx, planned, BY, RESOLVING));
    };
    const paid = (transId: string | null, externalRef: string | null = null) =>
      succeeded({ transId, externalRef, account: null });
    const isAsked = async () =>
      expect(await store.discrepanciesOf(collection.id)).to.deep.equal(['receipt_of_another']);

    it('is a question until somebody decides, also if later news does not name that reference', async () => {
      await begin();
      const receipt = newReceipt();
      await store.learn(collection, paid(receipt, line.reference));
      await store.learn(collection, paid(receipt), 'poll');
      await isAsked();
      expect(await store.reread(collection)).to.include({ status: 'pending' });
    });

    it('is a question when a completed payment learns receipt and reference at once', async () => {
      await begin(() => store.learn(collection, paid(null), 'poll'));
      await store.learn(collection, paid(newReceipt(), line.reference));
      await isAsked();
    });

    for (const amountCents of [AMOUNT_CENTS, 6_000]) {
      it(`is a question when an acknowledgement comes late with that reference, after ${amountCents} cents`, async () => {
        gateway = 'simulator';
        await begin();
        const late = store.workOn(collection);
        const claim = await late.claim();
        await store.learn(collection, { ...paid(newReceipt()), amountCents });
        await late.answer(claim, { outcome: 'acknowledged', externalRef: line.reference });
        const isAsAsked = amountCents === AMOUNT_CENTS;
        expect(await store.discrepanciesOf(collection.id)).to.have.members([
          ...['receipt_of_another', ...(isAsAsked ? [] : ['other_amount'])],
        ]);
      });
    }

    it('is taken back by one answer, and another question about it undoes no payment', async () => {
      await begin();
      const receipt = newReceipt();
      await store.learn(collection, paid(null, line.reference), 'poll');
      await store.learn(collection, paid(receipt, line.reference));
      const cases = () => casesOf(store.database, refOf(collection));
      const [first, second] = await cases();
      expect([first!.kind, second!.kind]).to.deep.equal([
        ...['receipt_of_another', 'receipt_of_another'],
      ]);
      await store.resolve(first!, 'undo');
      await store.learn(collection, paid(receipt, line.reference), 'poll');
      expect(await store.reread(collection)).to.include({ status: 'completed' });
      const open = (await cases()).filter(({ resolved_at }) => resolved_at === null);
      expect(open).to.deep.equal([]);
    });

    it('is over for the question of another payment, which cannot be undone by it', async () => {
      const other = await store.newCollection({ gateway, payfrom: '+254733000555' });
      await begin(() => store.learn(other, paid(null), 'poll'));
      const news = paid(null, line.reference);
      for (const each of [collection, other]) await store.learn(each, news, 'poll');
      await store.resolve(await store.discrepancyOf('receipt_of_another', collection), 'undo');
      const { allowed } = (await casesOf(store.database, refOf(other)))[0]!;
      expect(allowed).to.deep.equal(['dismissed']);
    });

    it('learns no receipt from a file, which proves none', async () => {
      await begin();
      const transId = newReceipt();
      await runStatement(
        store.database,
        [{ ...line, transId }],
        DAY,
        { gateway, covers: [], complete_until: null },
        'file.csv',
      );
      await store.learn(collection, paid(transId));
      expect(await store.reread(collection)).to.include({ status: 'completed' });
    });

    it('is booked by hand under no receipt that it has learned, nor asked about when its callback comes', async () => {
      await begin();
      const transId = newReceipt();
      await reconcile({ ...line, transId });
      const callback = { gateway, merchant_id: store.merchantId, payment_kind: 'collection' };
      const of = { ...callback, id: randomUUID(), payment_id: randomUUID() } as never;
      await store.transaction((trx) => reportUnknownPayment(trx, of, randomUUID(), paid(transId)));
      expect(await openFindings({ ...line, transId })).to.deep.equal([]);
      const entry = { kind: 'adjustment', wallet: 'collection', amount_cents: 100 } as const;
      const byHand = { ...entry, reference: transId, reason: 'x', merchant_id: store.merchantId };
      const refusal = await rejected(store.transaction((trx) => bookOperatorEntry(trx, byHand)));
      expect(refusal).to.include('names the adoption');
    });

    it('learns its receipt from a statement, and is a question when a payment comes with that', async () => {
      await begin();
      const transId = newReceipt();
      expect((await reconcile({ ...line, transId })).lines).to.include({ matched: 1 });
      await store.learn(collection, paid(transId));
      await isAsked();
      await store.resolve(await store.discrepancyOf('receipt_of_another', collection), 'undo');
      await store.learn(collection, paid(transId), 'poll');
      expect(await store.reread(collection)).to.include({ status: 'completed', trans_id: transId });
    });
  });

  for (const how of ['adopted', 'booked by hand'] as const) {
    it(`is a question again when a line joins its reference with a receipt that was ${how} as well`, async () => {
      const [reference, receipt] = [`GW-${newReceipt()}`, newReceipt()];
      const money = { account: '+254733000555', completedAt: new Date() };
      await reconcile(lineOf('collection', { ...money, reference, transId: null }));
      // By another clock. In the same minute nobody could adopt both.
      const completedAt = new Date(Date.now() - 2 * 60_000);
      const other = { ...money, completedAt, reference: null, transId: receipt };
      await reconcile(lineOf('collection', other));
      const adoptName = async (name: string) => {
        const asked = { merchant_id: store.merchantId, receipts: [name] };
        const planned = await planAdoption(store.database, asked, RESOLVING);
        await store.transaction((trx) => adoptAsAsked(trx, planned, BY, RESOLVING));
      };
      await adoptName(reference);
      if (how === 'adopted') await adoptName(receipt);
      else {
        const entry = { kind: 'adjustment', wallet: 'collection', amount_cents: 9_850 } as const;
        await store.transaction((trx) =>
          bookOperatorEntry(trx, {
            ...{ ...entry, merchant_id: store.merchantId },
            ...{ reference: receipt, reason: 'Ticket 4711' },
          }),
        );
        const [found] = await store.rows<{ id: string }>(
          'SELECT id FROM discrepancies WHERE trans_id = :receipt AND resolved_at IS NULL',
          { receipt },
        );
        await store.resolve(found!, 'dismissed');
      }
      const both = lineOf('collection', { ...money, reference, transId: receipt });
      expect((await reconcile(both)).lines).to.include({ unknown: 1 });
      expect(await openFindings({ ...both, reference: null })).to.have.length(1);
    });
  }

  for (const isAcknowledged of [true, false]) {
    const how = isAcknowledged ? 'acknowledged before' : 'told with the success alone';
    it(`becomes a question when its payment comes again under the gateway’s own reference, ${how}`, async () => {
      const external_ref = `GW-${newReceipt()}`;
      await reconcile(lineOf('collection', { reference: external_ref, transId: null }));
      const asked = { merchant_id: store.merchantId, receipts: [external_ref] };
      const planned = await planAdoption(store.database, asked, RESOLVING);
      await store.transaction((trx) => adoptAsAsked(trx, planned, BY, RESOLVING));
      const collection = await store.newCollection({ gateway });
      if (isAcknowledged) {
        await store.rewrite('UPDATE collections SET external_ref = :external_ref WHERE id = :id', {
          ...collection,
          external_ref,
        });
      }
      const news = succeeded({ transId: newReceipt(), externalRef: external_ref });
      await store.learn(collection, news, 'callback');
      expect(await store.discrepanciesOf(collection.id)).to.deep.equal(['receipt_of_another']);
      await expectBalance(AMOUNT_CENTS);
    });
  }

  it('is asked about when it is taken back for a payout that has failed here, and not refunded', async () => {
    const { payout, line, news } = await paidAfterItsFailure();
    await store.resolve(await store.discrepancyOf('receipt_of_another', payout), 'undo');
    expect(await store.reread(payout)).to.include({ status: 'failed', next_step: 'poll' });
    await store.discrepancyOf('taken_after_failure', payout);
    expect(await store.learn(payout, news, 'poll')).to.equal('completed');
    expect(await openFindings(line)).to.deep.equal([]);
    await expectBalance(-AMOUNT_CENTS);
    await store.expectRightBooks();
  });

  it('shows each journal before it is taken back', async () => {
    const { payout } = await paidAfterItsFailure();
    const question = await store.discrepancyOf('receipt_of_another', payout);
    const decision = { as: 'undo', actor: 'tester', reason: 'because', transId: null } as const;
    const { booked } = await previewDecision(store.database, question.id, decision, RESOLVING);
    const all = () =>
      store.rows<{ id: string; entries: unknown[] }>(
        `SELECT j.id, j.source_kind AS source, j.kind, jsonb_agg(jsonb_build_array(e.account, e.amount_cents) ORDER BY e.line) AS entries
       FROM journals j JOIN entries e ON e.merchant_id = j.merchant_id AND e.journal_id = j.id
       GROUP BY j.merchant_id, j.id ORDER BY j.id`,
      );
    const known = new Set((await all()).map(({ id }) => id));
    await store.resolve(question, 'undo');
    const found = (await all()).filter(({ id }) => !known.has(id));
    expect(found).to.have.length(1);
    expect(
      booked.map(({ source, kind, entries }) => ({
        source,
        kind,
        entries: entries.map(({ account, amount }) => [account, Number(amount) * 100]),
      })),
    ).to.deep.equal(found.map(({ id: _, ...journal }) => journal));
    await store.expectRightBooks();
  });

  it('is asked about when it is taken back for a collection that has failed here', async () => {
    const line = lineOf('collection');
    await reconcile(line);
    await adopt(line);
    const collection = await store.newCollection({ gateway });
    await store.learn(collection, failed(), 'poll');
    const news = succeeded({ transId: line.transId, externalRef: null });
    await store.learn(collection, news, 'callback');
    await store.resolve(await store.discrepancyOf('receipt_of_another', collection), 'undo');
    expect(await store.reread(collection)).to.include({ status: 'failed', next_step: 'poll' });
    expect(await store.learn(collection, news, 'poll')).to.equal('late_success');
    await store.expectRightBooks();
  });

  /** Money that was adopted and taken back for a payment, which then failed. */
  async function takenBackInVain() {
    const line = lineOf('collection', { reference: null, account: '+254700000001' });
    await reconcile(line);
    await adopt(line);
    const collection = await store.newCollection({ gateway });
    const news = succeeded({ transId: line.transId, externalRef: null });
    await store.learn(collection, news, 'poll');
    await store.resolve(await store.discrepancyOf('receipt_of_another', collection), 'undo');
    await store.learn(collection, failed(), 'poll');
    return line;
  }

  it('is unknown again once it was taken back, and can be adopted and taken back again', async () => {
    const line = await takenBackInVain();
    expect(await openFindings(line)).to.deep.equal([{ kind: 'unknown_movement' }]);
    await reconcile(line);
    await adopt(line);
    await expectBalance(AMOUNT_CENTS);
    const other = await store.newCollection({ gateway });
    const news = succeeded({ transId: line.transId, externalRef: null });
    await store.learn(other, news, 'poll');
    await store.resolve(await store.discrepancyOf('receipt_of_another', other), 'undo');
    await expectBalance(0);
    expect(await store.learn(other, news, 'poll')).to.equal('completed');
    expect(await openFindings(line), 'explained').to.deep.equal([]);
    await store.expectRightBooks();
  });

  it('is unknown again once it was taken back, also if somebody had dismissed an odd row about it', async () => {
    const line = lineOf('collection', { reference: null, account: '+254700000001' });
    await reconcile(line);
    await adopt(line);
    await reconcile({ ...line, amountCents: AMOUNT_CENTS * 2 });
    const [odd] = await store.rows<{ id: string }>(
      'SELECT id FROM discrepancies WHERE trans_id = :transId AND resolved_at IS NULL',
      line,
    );
    await store.resolve(odd!, 'dismissed');
    const collection = await store.newCollection({ gateway });
    const news = succeeded({ transId: line.transId, externalRef: null });
    await store.learn(collection, news, 'poll');
    await store.resolve(await store.discrepancyOf('receipt_of_another', collection), 'undo');
    await store.learn(collection, failed(), 'poll');
    expect(await openFindings(line)).to.deep.equal([{ kind: 'unknown_movement' }]);
  });

  it('explains one movement: another line of its reference is a question', async () => {
    const DAYS = { from: '2026-11-20', to: '2026-11-25' };
    const again = async (...lines: StatementLine[]) =>
      (await runStatement(store.database, lines, DAYS, { gateway, covers: [] })).lines;
    const line = lineOf('payout', { transId: null });
    await store.topUp(100_000, 'TOPUP');
    await reconcile(line);
    const receipts = [line.reference!];
    const request = { merchant_id: store.merchantId, receipts };
    const planned = await planAdoption(store.database, request, RESOLVING);
    await store.transaction((trx) => adoptAsAsked(trx, planned, BY, RESOLVING));
    const later = { ...line, completedAt: new Date(line.completedAt.getTime() + DAY_MS) };
    expect(await again(line)).to.include({ matched: 1 });
    expect(await again(line, later)).to.include({ matched: 1, unknown: 1 });
    const [one, other] = [newReceipt(), newReceipt()];
    const told = [
      { ...line, transId: one },
      { ...line, transId: other },
    ];
    expect(await again(...told)).to.include({ matched: 1, unknown: 1 });
  });

  it('of a lost payment is a question though a payment of its reference had it until that was undone', async () => {
    const payout = await store.makeOverdue(await store.newPayout());
    const receipt = newReceipt();
    await store.resolve(await store.discrepancyOf('overdue', payout), 'completed', receipt);
    await store.hear(payout, failed({ externalRef: null }));
    await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'undo');
    const id = randomUUID();
    const { merchant_id, reference } = payout;
    const lost = { gateway: 'simulator', merchant_id, payment_kind: 'payout', id, payment_id: id };
    await store.transaction((trx) =>
      reportUnknownPayment(trx, lost as never, reference, succeeded({ transId: receipt })),
    );
    const found = await store.rows('SELECT kind FROM discrepancies WHERE payment_id = :id', { id });
    expect(found).to.deep.equal([{ kind: 'unknown_payment' }]);
  });

  it('can be booked by hand under its receipt once it was taken back', async () => {
    const { transId: reference } = await takenBackInVain();
    const { booked, repeated } = await store.transaction((trx) =>
      bookOperatorEntry(trx, {
        ...({ kind: 'adjustment', wallet: 'collection' } as const),
        merchant_id: store.merchantId,
        ...{ amount_cents: AMOUNT_CENTS - 150, reference: reference!, reason: 'By hand' },
      }),
    );
    expect(repeated).to.equal(false);
    expect(booked.amount_cents).to.equal(AMOUNT_CENTS - 150);
    expect(await store.walletBalance('collection')).to.equal(AMOUNT_CENTS - 150);
  });
});
