import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { openDiscrepancy } from '../../src/domain/discrepancies/discrepancy.ts';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { FROM_GATEWAY, type StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { reportUnknownPayment } from '../../src/domain/settlement/unknown-payments.ts';
import { whyTwo } from '../../src/domain/support/decide-alone.ts';
import { previewDecision } from '../../src/domain/support/decide-discrepancy.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { DAY_MS, SECOND_MS } from '../../src/time.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import {
  failed,
  NOT_TAKEN,
  newPayment,
  parserOf,
  RESOLVING,
  succeeded,
  useStore,
} from '../support/world.ts';

const STRANGER = '+254722000000';
const FAILURE = failed({ externalRef: null });

describe('A wrong row of a file', () => {
  const store = useStore();
  const day = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
  const read = (lines: StatementLine[], source: string = FROM_GATEWAY) =>
    runStatement(store.database, lines, { from: day(-1), to: day(1) }, { covers: [] }, source);
  let told = 0;
  /** What is told later was heard later, however quickly it goes. */
  const next = () => {
    told += 1;
    return new Date(Date.now() + told * SECOND_MS);
  };
  const tell = (payment: AnyPayment, news: Verdict, cause = 'callback') =>
    store.transaction(async (trx) => {
      const locked = await lockPayment(trx, refOf(payment));
      return settle(trx, locked!, news, { cause, heardAt: next(), parserOf });
    });
  const paidBy =
    ({ payfrom, amount_cents }: { payfrom: string; amount_cents: number }) =>
    (transId: string | null, of: object = {}) =>
      succeeded({
        ...{ transId, externalRef: null, completedAt: new Date() },
        ...{ account: payfrom, amountCents: amount_cents, ...of },
      });
  const row = (payment: AnyPayment, of: Partial<StatementLine>) =>
    lineOf(payment, { completedAt: new Date(), ...of });

  afterEach(() => store.expectRightBooks());

  for (const kind of ['collection', 'payout'] as const) {
    for (const [what, of] of [
      ['another phone', { account: STRANGER }],
      ['another amount', { amountCents: 1_000 }],
    ] as const) {
      it(`gives a ${kind} no receipt that the gateway lists with ${what}`, async () => {
        const payment = await store.newPayment(kind);
        const transId = newReceipt();
        await read([row(payment, { transId, reference: null, ...of })]);
        await read([row(payment, { transId, account: null })], 'file.csv');
        expect((await store.reread(payment)).status).to.equal('pending');
        const open = await store.rows(
          'SELECT kind FROM discrepancies WHERE trans_id = :transId AND resolved_at IS NULL',
          { transId },
        );
        expect(open).to.deep.equal([{ kind: 'unknown_movement' }]);
      });
    }
  }

  it('gives a collection no receipt that the gateway has told for another one', async () => {
    const [payment, other] = [await store.newCollection(), await store.newCollection()];
    const trans_id = newReceipt();
    await store.transaction((trx) =>
      openDiscrepancy(trx, {
        ...{ kind: 'unconfirmed_success', payment: refOf(other), trans_id },
        ...{ amount_cents: other.amount_cents, details: { account: null } },
      }),
    );
    await read([row(payment, { transId: trans_id })], 'file.csv');
    expect((await store.reread(payment)).status).to.equal('pending');
  });

  it('gives a collection no receipt that the gateway, when asked, has told of another one', async () => {
    const [right, wrong] = [await store.newCollection(), await store.newCollection()];
    const transId = newReceipt();
    const { amount_cents: amountCents, payfrom: account, reference } = right;
    const told = { amountCents, account, reference, externalRef: null, isOfKind: true };
    const at = { address: 'receipt', askedAt: new Date(), receipt: transId } as const;
    await store.keepCallback(
      right.gateway,
      { ...refOf(right), ...at } as never,
      JSON.stringify({ outcome: 'receipt', transId, told: { ...told, completedAt: new Date() } }),
    );
    await read([row(wrong, { transId })], 'file.csv');
    expect((await store.reread(wrong)).status).to.equal('pending');
    await read([row(right, { transId })], 'file.csv');
    expect((await store.reread(right)).status).to.equal('completed');
  });

  it('is a question about the payment, if the gateway has told the same', async () => {
    for (const of of [{ account: STRANGER }, { amountCents: 1_000 }]) {
      const payment = await store.newCollection();
      const line = row(payment, { reference: null, ...of });
      await read([line]);
      await read([{ ...line, reference: payment.reference }], 'file.csv');
      const kind = 'account' in of ? 'other_account' : 'other_amount';
      expect(await store.discrepanciesOf(payment.id)).to.deep.equal([kind]);
    }
  });

  it('settles a payment that came again after a restore, or whose receipt came to a wrong address', async () => {
    const [again, other] = [await store.newCollection(), await store.newCollection()];
    const [lost, strayed] = [newReceipt(), newReceipt()];
    const callback = {
      ...{ id: randomUUID(), gateway: again.gateway, merchant_id: store.merchantId },
      ...{ payment_kind: 'collection', payment_id: randomUUID() },
    };
    const news = succeeded({ transId: lost, externalRef: null, account: null });
    await store.transaction((trx) =>
      reportUnknownPayment(trx, callback as never, again.reference, news),
    );
    await store.transaction((trx) =>
      openDiscrepancy(trx, {
        ...{ kind: 'other_payment', payment: refOf(other), trans_id: strayed },
        ...{ amount_cents: other.amount_cents, details: {} },
      }),
    );
    const third = await store.newCollection();
    await read([row(again, { transId: lost }), row(third, { transId: strayed })], 'file.csv');
    for (const payment of [again, third]) {
      expect((await store.reread(payment)).status).to.equal('completed');
    }
  });

  it('names no receipt with which one person sends money in suspense back', async () => {
    const collection = await store.newCollection({ amount_cents: 12_700 });
    await tell(collection, FAILURE);
    await tell(collection, paidBy(collection)(null, { amountCents: 500 }), 'poll');
    await read([row(collection, { amountCents: 500 })], 'file.csv');
    const { id } = await store.discrepancyOf('paid_after_failure', collection);
    const decision = {
      as: 'returned',
      actor: 'amina@x.example',
      reason: 'x',
      transId: null,
    } as const;
    const foreseen = await previewDecision(store.database, id, decision, RESOLVING);
    expect(await whyTwo(store.database, foreseen, decision, 10_000_000)).to.not.equal(null);
  });

  it('repeats what a payment has, and is matched', async () => {
    const payment = await newPayment('collection', store.database, store.merchant);
    const transId = newReceipt();
    await tell(payment, succeeded({ transId, externalRef: null }));
    const { lines } = await read([row(payment, { transId, account: null })], 'file.csv');
    expect(lines).to.include({ matched: 1 });
  });

  it('names no receipt with which late money goes back, unless it tells the customer’s phone', async () => {
    // No money of another test is like it.
    const collection = await store.newCollection({ amount_cents: 12_300 });
    const paid = paidBy(collection);
    await tell(collection, FAILURE);
    await tell(collection, paid(null), 'poll');
    const returned = () =>
      store.rows('SELECT original_trans_id FROM returns WHERE collection_id = :id', collection);
    expect(await returned()).to.deep.equal([{ original_trans_id: null }]);
    await read([row(collection, { account: null })], 'file.csv');
    expect(await returned()).to.deep.equal([{ original_trans_id: null }]);
    const transId = newReceipt();
    await tell(collection, paid(transId));
    await store.resolve(await store.discrepancyOf('second_success', collection), 'same');
    expect(await returned()).to.deep.equal([{ original_trans_id: transId }]);
  });

  for (const as of ['same', 'returned'] as const) {
    it(`waits with the customer’s receipt when the gateway tells another one, until that is ${as}`, async () => {
      const collection = await store.newCollection({
        amount_cents: as === 'same' ? 12_400 : 12_500,
      });
      const paid = paidBy(collection);
      await tell(collection, FAILURE);
      await tell(collection, paid(null), 'poll');
      const returned = async () =>
        (
          await store.rows<{ original_trans_id: string | null }>(
            'SELECT original_trans_id FROM returns WHERE collection_id = :id ORDER BY created_at, id',
            collection,
          )
        ).map(({ original_trans_id }) => original_trans_id);
      // A gateway that wants the receipt does not take it before.
      const all = await store.returnsOf();
      const work = store.workOn(all.find((each) => each.collection_id === collection.id)!);
      await work.answer(await work.claim(), NOT_TAKEN);
      const ofFile = row(collection, {});
      await read([ofFile], 'file.csv');
      expect(await returned()).to.deep.equal([ofFile.transId]);
      const transId = newReceipt();
      await tell(collection, paid(transId));
      expect(await work.claim()).to.equal(null);
      await store.resolve(await store.discrepancyOf('second_success', collection), as);
      expect(await returned()).to.have.members(
        as === 'same' ? [transId] : [ofFile.transId, transId],
      );
    });
  }

  it('that money went back for is not hidden by other money that the gateway has told', async () => {
    const collection = await store.newCollection();
    const paid = paidBy(collection);
    await tell(collection, FAILURE);
    await tell(collection, paid(newReceipt()));
    await read([row(collection, {})], 'file.csv');
    await store.resolve(await store.discrepancyOf('second_success', collection), 'returned');
    await tell(collection, paid(newReceipt()));
    const cases = await casesOf(store.database, refOf(collection));
    const question = cases.find(({ resolved_at }) => resolved_at === null)!;
    expect(question).to.include({ kind: 'second_success', has_unsure_receipt: true });
    expect(question.allowed).to.include('same');
    const decision = {
      as: 'returned',
      actor: 'amina@x.example',
      reason: 'x',
      transId: null,
    } as const;
    const foreseen = await previewDecision(store.database, question.id, decision, RESOLVING);
    expect(await whyTwo(store.database, foreseen, decision, 10_000_000)).to.include(
      'word of a person',
    );
  });

  it('books no amount of its own when the gateway has told another account', async () => {
    const collection = await store.newCollection();
    const paid = paidBy(collection);
    const transId = newReceipt();
    await tell(collection, paid(transId));
    await tell(collection, paid(transId, { account: STRANGER }));
    await read([row(collection, { transId, amountCents: 50_000, account: null })], 'file.csv');
    await store.resolve(await store.discrepancyOf('other_account', collection), 'undo');
    const [movement] = await store.rows<object>(
      'SELECT amount_cents, account FROM movements WHERE payment_id = :id',
      collection,
    );
    expect(movement).to.deep.equal({ amount_cents: collection.amount_cents, account: STRANGER });
  });
});
