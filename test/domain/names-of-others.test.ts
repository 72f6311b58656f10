import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { auditedFor } from '../../src/domain/audit/audit.ts';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { FROM_GATEWAY } from '../../src/domain/reconciliation/statement.ts';
import { findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { casesOf, findCase } from '../../src/domain/support/discrepancy-cases.ts';
import { doubtPayment } from '../../src/domain/support/doubt-payment.ts';
import { resolveDiscrepancy } from '../../src/domain/support/resolve-discrepancy.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { DAY_MS } from '../../src/time.ts';
import { eventually } from '../support/eventually.ts';
import { waitsForLock } from '../support/locks.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import { AMOUNT_CENTS, parserOf, RESOLVING, succeeded, useStore } from '../support/world.ts';

/** The reference of somebody else's system. */
const OTHER = 'SHOP-77';

describe('A line of a statement that names somebody else', () => {
  const store = useStore();
  let receipt: string;

  beforeEach(async () => {
    receipt = newReceipt();
    await store.topUp(100_000, 'top-up');
  });

  afterEach(() => store.expectRightBooks());

  const paid = (transId: string) =>
    succeeded({ transId, externalRef: null, account: null, completedAt: null });
  const tell = (payment: AnyPayment, news: Verdict) =>
    store.transaction(async (trx) => {
      const locked = await lockPayment(trx, refOf(payment));
      return settle(trx, locked!, news, { cause: 'callback', parserOf });
    });
  const dayOf = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
  const list = (payment: AnyPayment, like = {}, source: string = FROM_GATEWAY) => {
    const line = lineOf(payment, { reference: OTHER, account: null, transId: receipt, ...like });
    return runStatement(
      store.database,
      [line],
      { from: dayOf(-1), to: dayOf(1) },
      { covers: [] },
      source,
    );
  };
  const decide = async (kind: string, as: string, payment: AnyPayment, transId?: string) =>
    store.resolve(await store.discrepancyOf(kind as never, payment), as as never, transId);
  const unknown = async () =>
    store.rows<{ id: string; booked_for: string | null; candidates: string[] | null }>(
      `SELECT id, details->>'booked_for' AS booked_for, details->'candidates' AS candidates
       FROM discrepancies
       WHERE kind = 'unknown_movement' AND trans_id = :receipt AND resolved_at IS NULL`,
      { receipt },
    );
  /** A payment under another reference is not here, as after a restore. */
  const rename = ({ id }: AnyPayment, to: string) =>
    store.rewrite('UPDATE collections SET reference = CAST(:to AS uuid) WHERE id = :id', {
      to,
      id,
    });
  const dismissUnknown = async () => store.resolve((await unknown())[0]!, 'dismissed');

  for (const kind of ['collection', 'payout'] as const) {
    it(`is a question again after a dismissal, when a callback gives its money to a ${kind}`, async () => {
      const payment = await store.newPayment(kind);
      await list(payment);
      await dismissUnknown();
      const news = JSON.stringify(paid(receipt));
      const id = await store.keepCallback(payment.gateway, refOf(payment), news);
      const callback = await findStoredCallback(store.database, payment.merchant_id, id);
      expect(await processCallback(store.database, callback!, parserOf)).to.equal('completed');
      expect((await unknown()).map(({ booked_for }) => booked_for)).to.deep.equal([
        `${kind} ${payment.id} of merchant ${payment.merchant_id}`,
      ]);
    });
  }

  it('makes news of its money wait for a dismissal at the same moment', async () => {
    const collection = await store.newCollection();
    await list(collection);
    const [found] = await unknown();
    let news: Promise<unknown> = Promise.resolve();
    await store.transaction(async (trx) => {
      const decision = { as: 'dismissed', actor: 'juma', reason: 'ok', transId: null } as const;
      await resolveDiscrepancy(trx, found!.id, decision, RESOLVING);
      news = tell(collection, paid(receipt));
      await eventually('the news waits', () => waitsForLock(store.database));
    });
    expect(await news).to.equal('completed');
    expect(await unknown()).to.have.length(1);
  });

  it('is a question again after a dismissal, when the payment that had its receipt loses it', async () => {
    const collection = await store.makeOverdue(await store.newCollection());
    await list(collection, { reference: collection.reference }, 'file.csv');
    expect(await store.reread(collection)).to.include({ status: 'completed', trans_id: receipt });
    await list(collection);
    await dismissUnknown();
    const doubt = { actor: 'juma', action: 'payment.doubt', reason: 'The wrong row' };
    await doubtPayment(auditedFor(store.database, doubt), refOf(collection), doubt);
    await decide('doubted', 'undo', collection);
    expect(await unknown()).to.have.length(1);
  });

  it('is a question again when the payment comes whose reference it has, booked by hand and taken from a wrong file', async () => {
    const collection = await store.newCollection();
    const { reference } = collection;
    await rename(collection, randomUUID());
    await list(collection, { reference, transId: null });
    receipt = reference;
    await store.transaction((trx) =>
      bookOperatorEntry(trx, {
        kind: 'adjustment',
        merchant_id: store.merchantId,
        wallet: 'collection',
        amount_cents: AMOUNT_CENTS,
        reference,
        reason: 'by hand',
        against: 'losses',
      }),
    );
    await dismissUnknown();
    await rename(collection, reference);
    await list(collection, { reference, transId: newReceipt(), amountCents: 5_000 }, 'file.csv');
    await decide('other_amount', 'undo', collection);
    await dismissUnknown();
    await tell(collection, paid(newReceipt()));
    const name = `collection ${collection.id} of merchant ${collection.merchant_id}`;
    expect((await unknown()).map(({ booked_for }) => booked_for)).to.deep.equal([name]);
  });

  it('keeps our reference, also when it is listed again without that, for the payment that comes', async () => {
    const collection = await store.newCollection();
    const { reference } = collection;
    await rename(collection, randomUUID());
    for (const named of [reference, null]) {
      await list(collection, { reference: named });
      await dismissUnknown();
    }
    await rename(collection, reference);
    await tell(collection, { ...paid(receipt), transId: null });
    const name = `collection ${collection.id} of merchant ${collection.merchant_id}`;
    expect((await unknown()).map(({ booked_for }) => booked_for)).to.deep.equal([name]);
  });

  it('is not booked by hand by the decision about a payment that is named after its receipt', async () => {
    await list(await store.newCollection(), { account: '+254788000111' });
    const payout = await store.newPayout({ ref_no: receipt });
    await tell(payout, { ...paid(newReceipt()), amountCents: 6_000 });
    await decide('other_amount', 'accept-amount', payout);
    const [question] = await unknown();
    expect((await findCase(store.database, question!.id))!.by_hand_for).to.equal(null);
  });

  it('proves no receipt that a person has given: the own one can take its place', async () => {
    const collection = await store.makeOverdue(await store.newCollection());
    await decide('overdue', 'completed', collection, receipt);
    await list(collection);
    const name = `collection ${collection.id} of merchant ${collection.merchant_id}`;
    expect((await unknown()).map(({ candidates }) => candidates)).to.deep.equal([[name]]);
    const own = newReceipt();
    await tell(collection, paid(own));
    await decide('second_success', 'same', collection);
    expect(await store.reread(collection)).to.include({ trans_id: own });
    await dismissUnknown();
    expect(
      (await casesOf(store.database, refOf(collection))).some((each) => !each.resolved_at),
    ).to.equal(false);
  });

  it('repeats a receipt that the gateway has told for a payment', async () => {
    const collection = await store.newCollection();
    await tell(collection, paid(receipt));
    await list(collection);
    expect(await unknown()).to.deep.equal([]);
  });
});
