import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Transaction } from '../../src/connections/database.ts';
import { auditedFor } from '../../src/domain/audit/audit.ts';
import { hearBalances, latestProofs } from '../../src/domain/gateway-accounts/balances.ts';
import { bookOwnMove } from '../../src/domain/gateway-accounts/own-moves.ts';
import type { Account } from '../../src/domain/ledger/post-journal.ts';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { reportUnknownPayment } from '../../src/domain/settlement/unknown-payments.ts';
import { adoptAsAsked, planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { askedDecision, resolveAsAsked } from '../../src/domain/support/asked-decision.ts';
import { previewDecision } from '../../src/domain/support/decide-discrepancy.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { doubtPayment } from '../../src/domain/support/doubt-payment.ts';
import {
  bookOperatorEntry,
  type OperatorEntry,
} from '../../src/domain/wallets/operator-entries.ts';
import { MINUTE_MS } from '../../src/time.ts';
import { eventually } from '../support/eventually.ts';
import { waitsForLock } from '../support/locks.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import {
  failed,
  PAYOUT_FEE_CENTS,
  parserOf,
  RESOLVING,
  rejection,
  succeeded,
  useStore,
} from '../support/world.ts';

const CENTS = 10_000;
const STRANGER = '+254733000222';

describe('Books that two admins correct, because no decision about a discrepancy fits', () => {
  const store = useStore();
  let gateway = '';

  beforeEach(async () => {
    gateway = `gateway-${store.merchantId}`;
    await store.topUp(100_000, 'top-up');
  });

  afterEach(() => store.expectRightBooks());

  /** A statement of today lists money of a payment, which it does not name. @returns the line */
  const list = async (payment: AnyPayment, more: Partial<StatementLine> = {}) => {
    const line = lineOf(payment, {
      ...{ transId: newReceipt(), reference: null, account: null, ...more },
    });
    const day = new Date().toISOString().slice(0, 10);
    await runStatement(store.database, [line], { from: day, to: day });
    return line;
  };

  const tell = (payment: AnyPayment, news: ReturnType<typeof succeeded | typeof failed>) =>
    store.transaction(async (trx) => {
      const locked = await lockPayment(trx, refOf(payment));
      return settle(trx, locked!, news, { cause: 'callback', heardAt: null, parserOf });
    });
  const paid = (transId: string | null) =>
    succeeded({ transId, externalRef: null, account: null, amountCents: null });
  const decide = async (kind: string, as: string, payment: AnyPayment, transId?: string) =>
    store.resolve(await store.discrepancyOf(kind as never, payment), as as never, transId);
  const move = (from_account: string, to_account: string, amount_cents: number) =>
    store.transaction((trx) =>
      bookOwnMove(trx, { reference: newReceipt(), from_account, to_account, amount_cents }),
    );
  const adjust = (wallet: 'collection' | 'payout', amount_cents: number, reference: string) =>
    store.transaction((trx) =>
      bookOperatorEntry(trx, {
        ...{ kind: 'adjustment', wallet, amount_cents, reference, against: 'losses' },
        ...{ merchant_id: store.merchantId, reason: 'Ticket 4711' },
      }),
    );
  /** A callback tells of a payment that a restored database has forgotten. */
  const tellUnknown = (
    { gateway: told_by }: AnyPayment,
    reference: string | null,
    news: ReturnType<typeof succeeded>,
  ) => {
    const of = { gateway: told_by, merchant_id: store.merchantId, payment_kind: 'collection' };
    const callback = { ...of, id: randomUUID(), payment_id: randomUUID() } as never;
    return store.transaction((trx) => reportUnknownPayment(trx, callback, reference, news));
  };
  const decideListed = async (receipt: string, as: 'dismissed') => {
    const [found] = await store.rows<{ id: string }>(
      `SELECT id FROM discrepancies
       WHERE kind = 'unknown_movement' AND trans_id = :receipt AND resolved_at IS NULL`,
      { receipt },
    );
    await store.resolve(found!, as);
  };
  const openOf = async (...payments: AnyPayment[]) => {
    const all = await Promise.all(payments.map((each) => casesOf(store.database, refOf(each))));
    return all.flat().filter(({ resolved_at }) => resolved_at === null);
  };

  /** The difference between the gateway's word and the books, in cents. */
  async function differenceFrom(current_cents: number): Promise<number> {
    const told = { sub_account: 'utility', current_cents, available_cents: current_cents } as const;
    const later = new Date(Date.now() + MINUTE_MS);
    await hearBalances(store.database, gateway, [told], later);
    const proofs = await latestProofs(store.database);
    return proofs.find((each) => each.gateway === gateway)!.difference_cents;
  }

  /** What has come to an account of the operator since then, in cents. */
  async function sumOf(account: Account, since: Date): Promise<number> {
    const [row] = await store.rows<{ cents: number }>(
      `SELECT CAST(coalesce(-sum(amount_cents), 0) AS bigint) AS cents FROM entries
       WHERE account = :account AND created_at >= :since`,
      { account, since },
    );
    return row!.cents;
  }

  it('agree with the gateway again after a reversal that was made in its portal', async () => {
    const collection = await store.newCollection({ gateway, amount_cents: CENTS });
    await tell(collection, paid(newReceipt()));
    const since = new Date();
    expect(await differenceFrom(0)).to.equal(-CENTS);
    const { commission_cents } = (await store.reread(collection)) as Collection;
    await adjust('collection', commission_cents - CENTS, newReceipt());
    await move(`${gateway}/utility`, 'losses', CENTS);
    expect(await differenceFrom(0)).to.equal(0);
    expect(await sumOf('bank', since)).to.equal(0);
    expect(await sumOf('losses', since), 'the commission').to.equal(commission_cents);
  });

  it('have no loss of a payout that a wrong file completed, and no open question', async () => {
    const receipt = newReceipt();
    const wrong = await store.makeOverdue(await store.newPayout({ amount_cents: CENTS }));
    const right = await store.makeOverdue(
      await store.newPayout({ amount_cents: CENTS, payto: STRANGER }),
    );
    const since = new Date();
    const day = since.toISOString().slice(0, 10);
    const line = lineOf(wrong, { transId: receipt, completedAt: since });
    await runStatement(store.database, [line], { from: day, to: day }, {}, 'file.csv');
    await tell(wrong, failed({ externalRef: null }));
    await decide('failure_after_success', 'undo', wrong);
    await store.refund(wrong);
    await decide('undone_money', 'failed', wrong);
    await tell(right, paid(receipt));
    await decide('overdue', 'completed', right);
    await move('losses', `${wrong.gateway}/utility`, CENTS);
    for (const payment of [wrong, right]) await decide('receipt_of_another', 'dismissed', payment);
    expect(await sumOf('gateway_float', since), 'one payout').to.equal(-CENTS);
    expect(await sumOf('losses', since)).to.equal(0);
    expect(await openOf(wrong, right)).to.deep.equal([]);
  });

  it('have the money of a payout that was refunded although the gateway has paid it', async () => {
    const payout = await store.makeOverdue(await store.newPayout({ amount_cents: CENTS }));
    const since = new Date();
    await decide('overdue', 'completed', payout, newReceipt());
    const doubt = { actor: 'mary', action: 'payment.doubt', reason: 'Ticket 4711' };
    await doubtPayment(auditedFor(store.database, doubt), refOf(payout), doubt);
    await decide('doubted', 'undo', payout);
    await decide('taken_after_failure', 'failed', payout);
    await store.refund(payout);
    await tell(payout, paid(newReceipt()));
    await decide('second_success', 'failed', payout);
    await adjust('payout', -(CENTS + PAYOUT_FEE_CENTS), newReceipt());
    expect(await sumOf('gateway_float', since)).to.equal(-CENTS);
    expect(await sumOf('losses', since), 'the fee').to.equal(-PAYOUT_FEE_CENTS);
    expect(await openOf(payout)).to.deep.equal([]);
  });

  it('are not corrected under a receipt that a payment has got meanwhile', async () => {
    const collection = await store.newCollection({ amount_cents: CENTS });
    const receipt = newReceipt();
    await tell(collection, paid(receipt));
    const why = await rejection(adjust('collection', CENTS, receipt.toLowerCase()));
    expect(why.message).to.include(`names the collection ${collection.id}`);
    await adjust('collection', CENTS, `${receipt}-more`);
  });

  it('are a question when a payment gets money that was booked by hand before', async () => {
    const collection = await store.newCollection({ amount_cents: CENTS });
    const receipt = (await list(collection)).transId!;
    await adjust('collection', CENTS, receipt);
    await tell(collection, paid(receipt));
    const asked = await store.rows<{ id: string; booked_for: string }>(
      `SELECT id, details->>'booked_for' AS booked_for FROM discrepancies
       WHERE kind = 'unknown_movement' AND trans_id = :receipt AND resolved_at IS NULL`,
      { receipt },
    );
    expect(asked.map(({ booked_for }) => booked_for)).to.deep.equal([
      `collection ${collection.id} of merchant ${collection.merchant_id}`,
    ]);
  });

  it('are not corrected for a second merchant under one receipt, and money is not adopted for one after the other', async () => {
    const wrong = await store.newMerchant();
    const listed = async () =>
      (await list(await store.newCollection({ amount_cents: CENTS }), { account: STRANGER }))
        .transId!;
    const adoptFor = async ({ merchant_id }: { merchant_id: number }, receipt: string) => {
      const plan = await planAdoption(
        store.database,
        { merchant_id, receipts: [receipt] },
        RESOLVING,
      );
      const by = { requested_by: 'amina', reason: 'lost' };
      await store.transaction((trx) => adoptAsAsked(trx, plan, by, RESOLVING));
    };
    const adjustFor = ({ merchant_id }: { merchant_id: number }, reference: string) =>
      store.transaction((trx) =>
        bookOperatorEntry(trx, {
          ...{ kind: 'adjustment', wallet: 'collection', amount_cents: CENTS, reference },
          ...{ merchant_id, reason: 'Ticket 4711' },
        }),
      );
    const first = await listed();
    await adjustFor(wrong, first);
    const byHand = `booked by hand for merchant ${wrong.merchant_id}`;
    expect((await rejection(adjustFor(store.merchant, first))).message).to.include(byHand);
    expect((await rejection(adoptFor(store.merchant, first))).message).to.include(byHand);
    const second = await listed();
    await adoptFor(wrong, second);
    const { message } = await rejection(adjustFor(store.merchant, second));
    expect(message).to.match(new RegExp(`adoption \\S+ of merchant ${wrong.merchant_id}`));
  });

  it('are not corrected for a second merchant under a receipt whose question was dismissed before', async () => {
    const other = await store.newMerchant();
    const receipt = (await list(await store.newCollection(), { account: STRANGER })).transId!;
    await decideListed(receipt, 'dismissed');
    await adjust('collection', CENTS, receipt.toLowerCase());
    const again = { kind: 'adjustment', wallet: 'collection', reference: receipt } as const;
    const why = await rejection(
      store.transaction((trx) =>
        bookOperatorEntry(trx, {
          ...{ ...again, amount_cents: CENTS },
          ...{ merchant_id: other.merchant_id, reason: 'Ticket 4712' },
        }),
      ),
    );
    expect(why.message).to.include(`booked by hand for merchant ${store.merchantId}`);
  });

  it('are not corrected twice under the reference of a lost payment whose callback had no receipt', async () => {
    const { merchant_id } = await store.newMerchant();
    const collection = await store.newCollection({ amount_cents: CENTS });
    const reference = randomUUID();
    await tellUnknown(collection, reference, paid(null));
    await adjust('collection', CENTS, reference);
    const again = { kind: 'adjustment', wallet: 'collection', amount_cents: CENTS } as const;
    const why = await rejection(
      store.transaction((trx) =>
        bookOperatorEntry(trx, { ...again, reference, merchant_id, reason: 'Ticket 4712' }),
      ),
    );
    expect(why.message).to.include(`booked by hand for merchant ${store.merchantId}`);
  });

  it('wait for a payment that gets the money under its reference, and are asked about', async () => {
    const collection = await store.newCollection({ amount_cents: CENTS });
    await tellUnknown(collection, collection.reference, paid(null));
    const trx = await store.database.transaction();
    await bookOperatorEntry(trx, {
      ...{ kind: 'adjustment', wallet: 'collection', amount_cents: CENTS },
      ...{ reference: collection.reference, merchant_id: store.merchantId, reason: 'Ticket 4711' },
    });
    const told = tell(collection, paid(newReceipt()));
    await eventually('the payment to wait', () => waitsForLock(store.database));
    await trx.commit();
    await told;
    const asked = await store.rows(
      `SELECT FROM discrepancies WHERE details->>'reference' = :reference AND resolved_at IS NULL
         AND details ? 'booked_for'`,
      collection,
    );
    expect(asked).to.have.length(1);
  });

  for (const isListed of [true, false]) {
    it(`are a question when a payment gets money that was booked under its receipt, and ${isListed ? 'listed' : 'told'} under another name`, async () => {
      const collection = await store.newCollection({ amount_cents: CENTS });
      const [receipt, externalRef] = [newReceipt(), `GW-${newReceipt()}`];
      if (isListed) await list(collection, { transId: null, reference: externalRef });
      else await tellUnknown(collection, collection.reference, paid(null));
      await adjust('collection', CENTS, receipt);
      await tell(collection, { ...paid(receipt), externalRef });
      const asked = await store.rows<{ booked_for: string }>(
        `SELECT details->>'booked_for' AS booked_for FROM discrepancies
         WHERE kind IN ('unknown_movement', 'unknown_payment') AND resolved_at IS NULL
           AND details->>'reference' = ANY (:names)`,
        { names: [externalRef, collection.reference] },
      );
      expect(asked).to.deep.equal([
        { booked_for: `collection ${collection.id} of merchant ${collection.merchant_id}` },
      ]);
    });
  }

  it('are not corrected twice for money that is listed once with its receipt and once without', async () => {
    for (const isReceiptFirst of [true, false]) {
      const [receipt, reference] = [newReceipt(), `GW-${newReceipt()}`];
      const collection = await store.newCollection({ amount_cents: CENTS });
      for (const transId of [null, receipt]) {
        await list(collection, { reference, transId, completedAt: new Date() });
      }
      const [first, second] = isReceiptFirst ? [receipt, reference] : [reference, receipt];
      await adjust('collection', CENTS, first);
      const { message } = await rejection(adjust('collection', CENTS, second));
      expect(message).to.include('was booked by hand for merchant');
    }
  });

  it('keep the note of a correction when a callback tells of the lost payment, and ask when that comes again', async () => {
    const collection = await store.newCollection({ amount_cents: CENTS });
    const receipt = newReceipt();
    const line = await list(collection, { transId: receipt, reference: randomUUID() });
    await adjust('collection', CENTS, receipt);
    await tellUnknown(collection, line.reference, paid(receipt));
    await store.rewrite('UPDATE collections SET reference = :reference WHERE id = :id', {
      ...{ reference: line.reference, id: collection.id },
    });
    await tell(await store.reread(collection), paid(receipt));
    const asked = await store.rows(
      `SELECT FROM discrepancies WHERE trans_id = :receipt AND resolved_at IS NULL
         AND details->>'booked_for' IS NOT NULL`,
      { receipt },
    );
    // The line, and the callback.
    expect(asked).to.have.length(2);
  });

  for (const name of ['external_ref', 'reference'] as const) {
    it(`are not corrected under the ${name} of a payment that has money`, async () => {
      const collection = await store.newCollection({ amount_cents: CENTS });
      const externalRef = `GW-${newReceipt()}`;
      const named = name === 'reference' ? collection.reference : externalRef;
      await adjust('collection', CENTS, `${named}-other`.slice(0, 50));
      await tell(collection, succeeded({ transId: newReceipt(), externalRef }));
      const { message } = await rejection(adjust('collection', CENTS, named));
      expect(message).to.include(`names the collection ${collection.id}`);
    });
  }

  it('ask anew about a dismissal that was looked at before a payment got the money', async () => {
    const collection = await store.newCollection({ amount_cents: CENTS });
    const receipt = (await list(collection)).transId!;
    await adjust('collection', CENTS, receipt);
    const [{ id }] = (await store.rows(
      "SELECT id FROM discrepancies WHERE kind = 'unknown_movement' AND trans_id = :receipt",
      { receipt },
    )) as [{ id: string }];
    const decision = { as: 'dismissed', actor: 'amina', reason: 'booked', transId: null } as const;
    const foreseen = await previewDecision(store.database, id, decision, RESOLVING);
    const asked = askedDecision(foreseen.before, 'dismissed', null, foreseen);
    await tell(collection, paid(receipt));
    const approved = store.transaction((trx) =>
      resolveAsAsked(
        trx,
        asked,
        { requested_by: 'amina', approved_by: 'baraka', reason: 'booked' },
        RESOLVING,
      ),
    );
    expect((await rejection(approved)).message).to.include('has changed since');
  });

  for (const first of ['the correction', 'the payment'] as const) {
    it(`are not corrected beside a payment that gets the money at the same moment, after ${first}`, async () => {
      const collection = await store.newCollection({ amount_cents: CENTS });
      const receipt = (await list(collection)).transId!;
      const correct = (trx: Transaction): Promise<unknown> =>
        bookOperatorEntry(trx, {
          ...{ kind: 'adjustment', wallet: 'collection', amount_cents: CENTS, reference: receipt },
          ...{ merchant_id: store.merchantId, reason: 'Ticket 4711' },
        });
      const pay = async (trx: Transaction): Promise<unknown> => {
        const locked = await lockPayment(trx, refOf(collection));
        return settle(trx, locked!, paid(receipt), { cause: 'callback', heardAt: null, parserOf });
      };
      const [one, other] = first === 'the payment' ? [pay, correct] : [correct, pay];
      let second: Promise<unknown> = Promise.resolve();
      await store.transaction(async (trx) => {
        await one(trx);
        second = store.transaction(other).catch((error: Error) => error);
        await eventually('the other one waits', () => waitsForLock(store.database));
      });
      const outcome = await second;
      const asked = await store.rows(
        'SELECT id FROM discrepancies WHERE trans_id = :receipt AND resolved_at IS NULL',
        { receipt },
      );
      if (first === 'the payment') expect(String(outcome)).to.include('names the collection');
      else {
        expect(outcome).to.equal('completed');
        expect(asked).to.have.length(1);
      }
    });
  }

  it('take an adjustment against the bank for no repetition of one against the losses', async () => {
    const entry: OperatorEntry = {
      ...{ kind: 'adjustment', wallet: 'payout', amount_cents: -100, reference: newReceipt() },
      ...{ merchant_id: store.merchantId, reason: 'Ticket 4711' },
    };
    await store.transaction((trx) => bookOperatorEntry(trx, { ...entry, against: 'losses' }));
    const again = store.transaction((trx) => bookOperatorEntry(trx, entry));
    expect((await rejection(again)).message).to.match(/is taken: .*, against losses$/);
  });
});
