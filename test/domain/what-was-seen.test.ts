import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { openOverdue } from '../../src/domain/discrepancies/overdue.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { reportUnknownPayment } from '../../src/domain/settlement/unknown-payments.ts';
import { insertAttempt } from '../../src/domain/submission/attempts.ts';
import { planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { askedDecision, resolveAsAsked } from '../../src/domain/support/asked-decision.ts';
import { isProvenBy } from '../../src/domain/support/compare-receipt.ts';
import { findCase } from '../../src/domain/support/discrepancy-cases.ts';
import { toldOf } from '../../src/domain/support/told-receipts.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { HOUR_MS } from '../../src/time.ts';
import { lineOf, linesAround, newReceipt, runStatement } from '../support/statements.ts';
import { toldIn } from '../support/told.ts';
import {
  ACKNOWLEDGED,
  failed,
  NOT_TAKEN,
  parserOf,
  RESOLVING,
  reversalRequest,
  succeeded,
  useStore,
} from '../support/world.ts';

const FAILURE = failed({ externalRef: null });
const ABOVE_LIMIT_CENTS = 90_000_000;
const STRANGER = '+254799000001';

describe('A decision rests on all that was told', () => {
  const store = useStore();
  const { at, day, paid, preview, read, tell, whyTwo } = toldIn(store);
  const openUnder = (receipt: string) =>
    store.rows<{ id: string; kind: string }>(
      'SELECT id, kind FROM discrepancies WHERE trans_id = :receipt AND resolved_at IS NULL',
      { receipt },
    );

  afterEach(() => store.expectRightBooks());

  describe('with its stake', () => {
    it('is about the highest amount under a receipt, whichever came first', async () => {
      const transId = newReceipt();
      const line = (amountCents: number, kind: 'collection' | 'payout') => ({
        ...{ kind, reference: null, account: STRANGER, amountCents, transId, completedAt: at(1) },
      });
      await read([line(1_000, 'collection')], 'file.csv');
      await read([line(ABOVE_LIMIT_CENTS, 'payout')]);
      const { id } = (await openUnder(transId))[0]!;
      expect(await whyTwo(id, 'dismissed')).to.include('900,000.00 is at stake');
    });

    it('is about the highest amount that was told of a payment', async () => {
      const collection = await store.newCollection();
      const receipt = newReceipt();
      for (const amountCents of [null, 10_100, ABOVE_LIMIT_CENTS]) {
        await tell(collection, paid(receipt, { amountCents }), null);
      }
      const { id } = await store.discrepancyOf('other_amount', collection);
      expect(await whyTwo(id, 'dismissed')).to.be.a('string');
    });

    it('takes two while nobody has told the amount, and a line that tells it is a question', async () => {
      const reference = await lose(null);
      const { id } = (await underReference(reference))[0]!;
      expect(await whyTwo(id, 'dismissed')).to.include('Nobody knows how much');
      await read([ofReference(reference, 1, 50_000_000)]);
      const kinds = (await underReference(reference)).map(({ kind }) => kind);
      expect(kinds).to.deep.equal(['unknown_payment', 'unknown_movement']);
    });
  });

  /** A callback tells of a payout that a restored database does not have. */
  async function lose(amountCents: number | null): Promise<string> {
    const reference = randomUUID();
    const callback = {
      ...{ id: randomUUID(), gateway: 'simulator', merchant_id: store.merchantId },
      ...{ payment_kind: 'payout', payment_id: randomUUID() },
    };
    await store.transaction((trx) =>
      reportUnknownPayment(trx, callback as never, reference, paid(null, { amountCents })),
    );
    return reference;
  }
  const underReference = (reference: string) =>
    store.rows<{ id: string; kind: string }>(
      `SELECT id, kind FROM discrepancies
       WHERE details->>'reference' = :reference AND resolved_at IS NULL ORDER BY opened_at`,
      { reference },
    );
  const ofReference = (reference: string, minutes: number, amountCents: number) => ({
    ...{ kind: 'payout' as const, reference, account: STRANGER, amountCents },
    ...{ transId: null, completedAt: at(minutes) },
  });

  it('knows that a payment which is not here was paid twice', async () => {
    const reference = await lose(7_700);
    await read([ofReference(reference, 1, 7_700)]);
    expect(await underReference(reference), 'one payment').to.have.length(1);
    await read([ofReference(reference, 1, 7_700), ofReference(reference, 300, 7_700)]);
    const kinds = (await underReference(reference)).map(({ kind }) => kind);
    expect(kinds).to.deep.equal(['unknown_payment', 'unknown_movement']);
  });

  for (const kind of ['collection', 'payout'] as const) {
    it(`takes the time of a ${kind} from the gateway’s statement, once it has the line of a file`, async () => {
      const payment = await store.newPayment(kind);
      const transId = newReceipt();
      await read([lineOf(payment, { transId, completedAt: at(9) })], 'file.csv');
      await read([lineOf(payment, { transId, completedAt: at(1) })]);
      const [{ completed_at }] = (await store.rows(
        'SELECT completed_at FROM movements WHERE payment_id = :id',
        payment,
      )) as [{ completed_at: Date }];
      expect(completed_at).to.deep.equal(at(1));
      // A failure from between the two times is news.
      expect(await tell(payment, FAILURE, at(5), 'poll')).to.equal('discrepancy');
    });

    it(`is not carried out for a ${kind} of which the gateway has told a success while it waited`, async () => {
      const payment = await store.newPayment(kind);
      const transId = newReceipt();
      await tell(payment, paid(transId), at(2));
      await tell(payment, FAILURE, at(4));
      const { id } = await store.discrepancyOf('failure_after_success', payment);
      const foreseen = await preview(id, 'undo');
      const asked = askedDecision((await findCase(store.database, id))!, 'undo', null, foreseen);
      await tell(payment, paid(transId, { completedAt: new Date() }), null, 'poll');
      const by = { requested_by: 'amina@x.example', approved_by: 'baraka', reason: 'because' };
      const approving = store.transaction((trx) => resolveAsAsked(trx, asked, by, RESOLVING));
      expect(String(await approving.catch((error) => error))).to.include('has changed since');
      expect(await store.reread(payment)).to.include({ status: 'completed' });
    });
  }

  it('is read on when the gateway lists the same money by two clocks', async () => {
    const transId = newReceipt();
    const collection = await store.newCollection();
    await read([lineOf(collection, { reference: null, transId, completedAt: new Date() })]);
    const later = new Date(Date.now() + 1_000);
    const again = await read([lineOf(collection, { transId, completedAt: later })]);
    expect(again.lines.contradicts + again.lines.unknown, 'as one').to.equal(0);
    const payout = await store.newPayout();
    await tell(payout, paid(transId, { completedAt: null }), null, 'support');
    await read([lineOf(payout, { transId: null, completedAt: at(1) })]);
    const named = await read([lineOf(payout, { transId, completedAt: at(1.1) })]);
    expect(named.lines.contradicts + named.lines.unknown, 'as one').to.equal(0);
  });

  it('names the receipt that both people have seen, when money goes back', async () => {
    const collection = await store.newCollection();
    await tell(collection, FAILURE, at(1));
    await tell(collection, paid(null, { amountCents: 500 }), at(2), 'poll');
    const { id } = await store.discrepancyOf('paid_after_failure', collection);
    const foreseen = await preview(id, 'returned');
    const asked = askedDecision((await findCase(store.database, id))!, 'returned', null, foreseen);
    const row = { transId: newReceipt(), amountCents: 500, account: null, completedAt: at(3) };
    await read([lineOf(collection, row)], 'file.csv');
    const by = { requested_by: 'amina@x.example', approved_by: 'baraka', reason: 'because' };
    const approving = store.transaction((trx) => resolveAsAsked(trx, asked, by, RESOLVING));
    expect(String(await approving.catch((error) => error))).to.include('has changed since');
  });

  for (const [kind, of] of [
    ['other_amount', { amountCents: 1_000 }],
    ['other_account', { account: STRANGER }],
  ] as const) {
    it(`comes before a reversal of a collection with a question about ${kind}`, async () => {
      const collection = await store.newCollection();
      const transId = newReceipt();
      await tell(collection, paid(transId), null);
      await read([lineOf(collection, { transId, completedAt: at(1), ...of })]);
      const question = await store.discrepancyOf(kind, collection);
      const now = (await store.reread(collection)) as never;
      const reversal = await createReversal(store.database, reversalRequest(now));
      expect(await store.workOn(reversal).claim(), 'sent').to.equal(null);
      await store.resolve(question, 'dismissed');
      expect(await store.workOn(reversal).claim()).to.not.equal(null);
    });
  }

  it('takes two about the amount of a collection that has been given back', async () => {
    const collection = await store.newCollection();
    const transId = newReceipt();
    await tell(collection, paid(transId), null);
    const now = (await store.reread(collection)) as never;
    const reversal = await createReversal(store.database, reversalRequest(now));
    const work = store.workOn(reversal);
    await work.answer((await work.claim())!, ACKNOWLEDGED);
    await tell(reversal, succeeded({ transId: newReceipt() }), null);
    await read([lineOf(collection, { transId, amountCents: 1_000, completedAt: at(1) })]);
    const { id } = await store.discrepancyOf('other_amount', collection);
    expect(await whyTwo(id, 'accept-amount')).to.include(
      'A reversal has given the collection back',
    );
  });

  for (const kind of ['payout', 'reversal', 'return'] as const) {
    it(`comes before the refund or another reversal, after a large success of a failed ${kind}`, async () => {
      const payment = await store.newPayment(kind);
      const work = store.workOn(payment);
      await work.answer((await work.claim())!, ACKNOWLEDGED);
      await tell(payment, failed(), new Date(), 'poll');
      const told = JSON.stringify({ ...succeeded({ transId: newReceipt() }), mustConfirm: true });
      const callback = await store.keepCallback(payment.gateway, refOf(payment), told);
      const stored = await findStoredCallback(store.database, payment.merchant_id, callback);
      await processCallback(store.database, stored!, parserOf);
      const { id } = await store.discrepancyOf('unconfirmed_success', payment);
      if (kind === 'payout') {
        await store.refund(payment);
        expect(await store.reread(payment)).to.include({ refund_posted_at: null });
      }
      expect(await whyTwo(id, 'dismissed')).to.include('Both a success and a failure');
      await store.resolve({ id } as never, 'dismissed');
      if (kind !== 'payout') return;
      await store.refund(payment);
      expect(await store.reread(payment))
        .to.have.property('refund_posted_at')
        .instanceOf(Date);
    });
  }

  it('takes two where money that was booked by hand stays with a payment, too', async () => {
    const collection = await store.newCollection();
    const transId = newReceipt();
    const line = { kind: 'collection' as const, reference: null, account: STRANGER };
    await read([{ ...line, amountCents: 10_000, transId, completedAt: at(1) }]);
    await store.transaction((trx) =>
      bookOperatorEntry(trx, {
        ...{ kind: 'adjustment', merchant_id: store.merchantId, wallet: 'collection' },
        ...{ amount_cents: 9_850, reference: transId, reason: 'by hand', against: 'losses' },
      }),
    );
    for (const { id } of await openUnder(transId))
      await store.resolve({ id } as never, 'dismissed');
    await tell(collection, paid(transId), null);
    const { id } = (await openUnder(transId))[0]!;
    expect(await whyTwo(id, 'dismissed')).to.include('booked twice');
  });

  it('gives a reversal no receipt by a line that may be of a return, nor a return by one of a reversal', async () => {
    const reversal = await store.newReversal();
    const back = await store.newReturn();
    const transId = newReceipt();
    const line = lineOf(back, { reference: null, transId, completedAt: new Date() });
    await read([{ ...line, amountCents: reversal.amount_cents }]);
    for (const payment of [reversal, back]) {
      const told = await toldOf(store.database, payment, transId, parserOf, null);
      expect(told, payment.kind).to.have.length(1);
      expect(await isProvenBy(store.database, payment, transId, told), payment.kind).to.equal(
        false,
      );
    }
  });

  it('keeps a withheld receipt from a return also when a file names the payment as the gateway does', async () => {
    const collection = await store.newCollection({ amount_cents: 15_001 });
    const externalRef = 'EXT-15001';
    const clear = (transId: string | null) =>
      paid(transId, {
        ...{ externalRef, completedAt: new Date() },
        ...{ account: collection.payfrom, amountCents: collection.amount_cents },
      });
    await tell(collection, failed({ externalRef }), new Date());
    await tell(collection, clear(null), new Date(), 'poll');
    const back = async () => (await store.returnsOf())[0]!;
    const work = store.workOn(await back());
    await work.answer((await work.claim())!, NOT_TAKEN);
    const transId = newReceipt();
    const row = lineOf(collection, { transId, completedAt: new Date() });
    await read([row], 'file.csv');
    expect(await back()).to.include({ original_trans_id: transId });
    await tell(collection, clear(newReceipt()), new Date());
    await read([{ ...row, reference: externalRef }], 'again.csv');
    expect(await work.claim()).to.equal(null);
  });

  it('takes two to let a reversal take more from a merchant than its collection had', async () => {
    const reversal = await store.newReversal();
    const amountCents = 9 * reversal.amount_cents;
    await tell(reversal, paid(newReceipt(), { amountCents }), null);
    const { id } = await store.discrepancyOf('other_amount', reversal);
    expect(await whyTwo(id, 'accept-amount')).to.include('more than it has collected');
  });

  it('takes two to dismiss that money which is back with its customer has bounced', async () => {
    const collection = await store.newCollection();
    await hear(collection, FAILURE);
    await hear(collection, paid(newReceipt()));
    await payBack(collection);
    await hear(collection, FAILURE);
    const { id } = await store.discrepancyOf('failure_after_success', collection);
    expect(await whyTwo(id, 'dismissed')).to.include('Both a success and a failure');
  });

  for (const [what, receipt] of [
    ['with blanks around it', (known: string) => ` ${known}\u200b `],
    ['in small letters', (known: string) => known.toLowerCase()],
  ] as const) {
    it(`knows a receipt ${what}`, async () => {
      const collection = await store.newCollection();
      const transId = newReceipt();
      await tell(collection, paid(transId), null);
      await tell(collection, paid(receipt(transId)), null);
      expect(await store.discrepanciesOf(collection.id)).to.deep.equal([]);
      await tell(await store.newCollection(), paid(' '), null);
      const another = await store.newCollection();
      await tell(another, paid(''), null);
      expect(await store.discrepanciesOf(another.id), 'no receipt is nobody’s').to.deep.equal([]);
    });
  }

  for (const kind of ['collection', 'payout'] as const) {
    it(`adopts no money under a foreign reference that may be of an open ${kind}`, async () => {
      const payment = await store.newPayment(kind);
      const work = store.workOn(payment);
      await work.answer((await work.claim())!, ACKNOWLEDGED);
      const transId = newReceipt();
      const line = lineOf(payment, { reference: 'INV-1', transId, completedAt: new Date() });
      await read([line]);
      const planning = planAdoption(
        store.database,
        { merchant_id: store.merchantId, receipts: [transId] },
        RESOLVING,
      );
      const why = await planning.then(String, (error: Error) => error.message);
      expect(why).to.include(`${kind} ${payment.id}`);
    });
  }

  /** News of a callback of its own, in the order of the test. */
  async function hear(payment: AnyPayment, news: object): Promise<unknown> {
    await setTimeout(2);
    const body = JSON.stringify({ ...news, said: randomUUID() });
    const id = await store.keepCallback(payment.gateway, refOf(payment), body);
    const stored = await findStoredCallback(store.database, payment.merchant_id, id);
    return processCallback(store.database, stored!, parserOf);
  }

  /** Pays the return of a collection's late money. */
  async function payBack(collection: AnyPayment): Promise<void> {
    const back = (await store.returnsOf()).find(
      ({ collection_id, status }) => collection_id === collection.id && status !== 'failed',
    )!;
    const work = store.workOn(back);
    await work.answer((await work.claim())!, ACKNOWLEDGED);
    await hear(back, succeeded({ transId: newReceipt(), externalRef: null }));
  }

  it('sends a waiting reversal to nobody but the phone that has paid', async () => {
    const collection = await store.newCollection();
    await tell(collection, paid(newReceipt()), null, 'support');
    const now = (await store.reread(collection)) as never;
    const reversal = await createReversal(store.database, reversalRequest(now));
    const work = store.workOn(reversal);
    await tell(collection, paid(newReceipt(), { account: STRANGER }), new Date());
    await store.resolve(await store.discrepancyOf('second_success', collection), 'same');
    expect(await work.claim(), 'sent to the phone that was asked').to.equal(null);
    expect(await store.reread(reversal)).to.include({ status: 'failed' });
  });

  it('is not spared by a file that dates money out of the gateway’s statement', async () => {
    const collection = await store.newCollection();
    const transId = newReceipt();
    await tell(collection, paid(transId, { completedAt: null }), null);
    const earlier = new Date(Date.now() - 23 * HOUR_MS);
    await read([lineOf(collection, { transId, completedAt: earlier })], 'file.csv');
    const [movement] = await store.rows(
      'SELECT completed_at FROM movements WHERE payment_id = :id',
      collection,
    );
    expect(movement).to.deep.equal({ completed_at: null });
    await read([lineOf(collection, { transId, completedAt: at(2) })]);
    const [dated] = await store.rows(
      'SELECT completed_at FROM movements WHERE payment_id = :id',
      collection,
    );
    expect(dated).to.deep.equal({ completed_at: at(2) });
  });

  for (const kind of ['payout', 'collection'] as const) {
    for (const cause of ['poll', 'callback', 'statement'] as const) {
      it(`is still due about a second ${kind} when a ${cause} tells the receipt of the first`, async () => {
        const payment = await store.newPayment(kind);
        await tell(payment, paid(null, { completedAt: null }), new Date(), 'poll');
        const first = lineOf(payment, { transId: null, completedAt: at(-200) });
        const second = lineOf(payment, { transId: null, completedAt: at(1) });
        await read([first, second]);
        const kinds = async () => (await underReference(payment.reference)).map(({ kind }) => kind);
        expect(await kinds()).to.deep.equal(['unknown_movement']);
        const transId = newReceipt();
        if (cause === 'statement') await read([{ ...first, transId }]);
        else await tell(payment, paid(transId, { completedAt: null }), new Date(), cause);
        expect(await kinds()).to.deep.equal(['unknown_movement']);
      });
    }
  }

  it('about an amount fails the reversal that waits for it', async () => {
    const collection = await store.newCollection();
    const transId = newReceipt();
    await tell(collection, paid(transId), null);
    await read([lineOf(collection, { transId, amountCents: 9_000, completedAt: at(1) })]);
    const now = (await store.reread(collection)) as never;
    const reversal = await createReversal(store.database, reversalRequest(now));
    expect(await store.workOn(reversal).claim()).to.equal(null);
    await store.resolve(await store.discrepancyOf('other_amount', collection), 'accept-amount');
    expect(await store.reread(reversal)).to.include({ status: 'failed' });
    expect(await store.reread(collection)).to.include({ amount_cents: 9_000 });
  });

  it('is not asked for when an answered callback comes again', async () => {
    const collection = await store.newCollection();
    const unclear = { outcome: 'unclear', code: 4711, description: 'What?', externalRef: null };
    await hear(collection, unclear);
    expect(await store.discrepanciesOf(collection.id)).to.deep.equal(['unclear_result']);
    await tell(collection, paid(newReceipt()), new Date(), 'poll');
    await hear(collection, unclear);
    expect(await store.discrepanciesOf(collection.id)).to.deep.equal(['unclear_result (resolved)']);
  });

  it('stays due about the second payment of one that is not here, also when the first comes', async () => {
    const payout = await store.newPayout();
    const { reference, amount_cents } = payout;
    const told = { ...paid(null, { amountCents: amount_cents }) };
    const callback = {
      ...{ id: randomUUID(), gateway: payout.gateway, merchant_id: store.merchantId },
      ...{ payment_kind: 'payout', payment_id: randomUUID() },
    };
    const other = randomUUID();
    await store.rewrite('UPDATE payouts SET reference = :other WHERE id = :id', {
      other,
      ...payout,
    });
    await store.transaction((trx) => reportUnknownPayment(trx, callback as never, reference, told));
    await read([
      ofReference(reference, 1, amount_cents),
      ofReference(reference, 300, amount_cents),
    ]);
    await store.rewrite('UPDATE payouts SET reference = :reference WHERE id = :id', payout);
    await tell(payout, paid(null), new Date(), 'poll');
    const open = (await underReference(reference)).map(({ kind }) => kind);
    expect(open).to.deep.equal(['unknown_movement']);
  });

  for (const kind of ['collection', 'return'] as const) {
    it(`takes two to dismiss a large success of a failed ${kind}`, async () => {
      const payment = await store.newPayment(kind);
      await tell(payment, failed({ externalRef: null }), new Date(), 'poll');
      await hear(payment, { ...paid(newReceipt()), mustConfirm: true });
      const { id } = await store.discrepancyOf('unconfirmed_success', payment);
      expect(await whyTwo(id, 'dismissed')).to.include('Both a success and a failure');
    });
  }

  it('stays due about a large success when the gateway answers with a failure', async () => {
    const payout = await store.newPayout();
    await hear(payout, { ...paid(newReceipt()), mustConfirm: true });
    await tell(payout, failed({ externalRef: null }), new Date(), 'poll');
    expect(await store.discrepanciesOf(payout.id)).to.deep.equal(['unconfirmed_success']);
    expect(await store.reread(payout)).to.include({ next_step: null });
  });

  it('is made once about a large success that comes to be looked at again', async () => {
    const payout = await store.newPayout();
    const body = JSON.stringify({ ...paid(newReceipt()), mustConfirm: true });
    const id = await store.keepCallback(payout.gateway, refOf(payout), body);
    const look = async () => {
      const stored = await findStoredCallback(store.database, payout.merchant_id, id);
      return processCallback(store.database, stored!, parserOf);
    };
    await look();
    await store.resolve(await store.discrepancyOf('unconfirmed_success', payout), 'failed');
    await look();
    expect(await store.discrepanciesOf(payout.id)).to.deep.equal([
      'unconfirmed_success (resolved)',
    ]);
    expect(await store.reread(payout)).to.include({ status: 'failed', next_step: 'refund' });
  });

  it('is not asked for when a file without receipts has listed a payout the day before', async () => {
    const payout = await store.newPayout();
    await tell(payout, paid(null, { completedAt: null }), new Date(), 'poll');
    await store.rewrite(
      "UPDATE movements SET learned_at = learned_at - interval '1 hour' WHERE payment_id = :id",
      payout,
    );
    await read([lineOf(payout, { transId: null, completedAt: at(-600) })], 'yesterday.csv');
    const around = await linesAround(store.database, store.merchant);
    await read(around, 'today.csv', ['payout']);
    expect(await store.discrepanciesOf(payout.id)).to.deep.equal([]);
  });

  it('is not asked for any more when the gateway lists late what its statement has lacked', async () => {
    const collection = await store.newCollection();
    const transId = newReceipt();
    await tell(collection, paid(transId, { completedAt: at(1) }), null);
    const newer = await store.newCollection({ amount_cents: 777 });
    await tell(newer, paid(newReceipt(), { completedAt: new Date() }), null);
    const { trans_id } = await store.reread(newer);
    const around = [lineOf(newer, { transId: trans_id, completedAt: new Date() })];
    await read(around, undefined, ['collection']);
    const { id } = await store.discrepancyOf('missing_at_gateway', collection);
    const now = (await store.reread(collection)) as never;
    const reversal = await createReversal(store.database, reversalRequest(now));
    expect(await store.workOn(reversal).claim(), 'sent').to.equal(null);
    expect(await whyTwo(id, 'dismissed')).to.include('Money that goes back to the customer waits');
    await read([...around, lineOf(collection, { transId, completedAt: at(1) })]);
    expect(await store.discrepanciesOf(collection.id)).to.deep.equal([
      'missing_at_gateway (resolved)',
    ]);
    expect(await store.workOn(reversal).claim()).to.not.equal(null);
  });

  describe('that nobody has made, though the question was settled once', () => {
    it('is asked for when late money bounces a second time', async () => {
      const collection = await store.newCollection();
      for (const news of [FAILURE, paid(newReceipt()), FAILURE]) await hear(collection, news);
      const [first] = await store.returnsOf();
      await store.resolve(await store.discrepancyOf('return_failed', first!), 'undo');
      const settled = await store.discrepanciesOf(collection.id);
      expect(settled).to.include('failure_after_success (resolved)');
      await hear(collection, paid(newReceipt()));
      await payBack(collection);
      await hear(collection, FAILURE);
      expect(await store.discrepanciesOf(collection.id)).to.include('failure_after_success');
    });

    for (const kind of ['collection', 'payout'] as const) {
      it(`is asked for when other money of an undone ${kind} bounces, too`, async () => {
        const payment = await store.newPayment(kind);
        for (const news of [paid(newReceipt()), FAILURE]) await hear(payment, news);
        await store.resolve(await store.discrepancyOf('failure_after_success', payment), 'undo');
        const undone = await store.discrepancyOf('undone_money', payment);
        await store.resolve(undone, kind === 'payout' ? 'returned' : 'undo');
        await hear(payment, paid(newReceipt()));
        await hear(payment, FAILURE);
        expect(await store.discrepanciesOf(payment.id)).to.include('failure_after_success');
      });
    }

    it('is asked for when a completed collection that a statement lacks loses its receipt again', async () => {
      const amount_cents = 14_100;
      const collection = await store.newCollection({ amount_cents });
      await store.transaction((trx) => insertAttempt(trx, collection));
      await tell(collection, paid(null, { completedAt: null }), new Date(), 'poll');
      const around = await store.newCollection({ amount_cents: 777 });
      await tell(around, paid(newReceipt(), { completedAt: new Date() }), null);
      const known = async () => {
        const { trans_id: transId } = await store.reread(around);
        return lineOf(around, { transId, completedAt: new Date() });
      };
      await setTimeout(20);
      await read([await known()], undefined, ['collection']);
      expect(await store.discrepanciesOf(collection.id)).to.deep.equal(['missing_at_gateway']);
      const transId = newReceipt();
      await read([lineOf(collection, { reference: null, transId, completedAt: new Date() })]);
      const other = await store.newCollection({ amount_cents });
      await tell(other, paid(transId), null);
      await store.resolve(await store.discrepancyOf('receipt_of_another', collection), 'undo');
      await setTimeout(20);
      const line = lineOf(other, { transId, completedAt: new Date() });
      await read([await known(), line], undefined, ['collection']);
      expect(await store.discrepanciesOf(collection.id)).to.include('missing_at_gateway');
    });

    it('is asked for when a payment is overdue again', async () => {
      const collection = await store.newCollection();
      const work = store.workOn(collection);
      const claim = (await work.claim())!;
      await work.answer(claim, NOT_TAKEN);
      await store.passDeadline(collection);
      await openOverdue(store.database);
      await work.claim();
      expect(await store.discrepanciesOf(collection.id)).to.include('never_taken');
      await work.answer(claim, ACKNOWLEDGED);
      const settled = ['overdue (resolved)', 'never_taken (resolved)'];
      expect(await store.discrepanciesOf(collection.id)).to.deep.equal(settled);
      await openOverdue(store.database);
      expect(await store.discrepanciesOf(collection.id)).to.include('overdue');
    });
  });

  describe('when a statement lacks a payout', () => {
    const hourAgo = () => new Date(Date.now() - HOUR_MS);
    const overdue = async (amount_cents: number, payto?: string) => {
      const payout = await store.newPayout({ amount_cents, ...(payto && { payto }) } as never);
      await store.makeOverdue(payout);
      await store.rewrite(
        `UPDATE payouts SET deadline_at = now() - interval '10 minutes',
           created_at = now() - interval '2 hours' WHERE id = :id`,
        payout,
      );
      await store.rewrite(
        "UPDATE attempts SET started_at = now() - interval '2 hours' WHERE payment_id = :id",
        payout,
      );
      return store.reread(payout);
    };
    const isRuledOut = async (payout: AnyPayment, lines: StatementLine[]) => {
      const around = await linesAround(store.database, store.merchant);
      const period = { from: '2001-01-01', to: day(1) };
      const all = [...around, ...lines];
      const { ruledOut } = await runStatement(store.database, all, period, {}, 'file.csv');
      return ruledOut.some(({ id }) => id === payout.id);
    };

    it('fails one of which no statement lists anything', async () => {
      expect(await isRuledOut(await overdue(12_320), [])).to.equal(true);
    });

    it('fails none whose money another statement has listed', async () => {
      const payout = await overdue(12_321);
      const transId = newReceipt();
      await read([lineOf(payout, { reference: null, transId, completedAt: hourAgo() })]);
      expect(await isRuledOut(payout, [])).to.equal(false);
    });

    it('fails none whose money, listed before, only people have given to another payout', async () => {
      const payout = await overdue(12_325);
      const transId = newReceipt();
      await read([lineOf(payout, { reference: null, transId, completedAt: hourAgo() })]);
      const other = await store.newPayout({ amount_cents: 12_325 } as never);
      await tell(other, paid(transId, { completedAt: null }), null, 'support');
      expect(await isRuledOut(payout, [])).to.equal(false);
    });

    it('fails none whose money is the second finding under a receipt', async () => {
      const payout = await overdue(12_326);
      const line = lineOf(payout, {
        ...{ reference: null, transId: newReceipt(), completedAt: hourAgo() },
      });
      await read([{ ...line, amountCents: 5_000 }], 'mine.csv');
      await read([line]);
      expect(await isRuledOut(payout, [])).to.equal(false);
    });

    it('fails none whose money is listed as a reversal', async () => {
      const payout = await overdue(12_322);
      const of = { reference: null, transId: newReceipt(), completedAt: hourAgo() };
      expect(await isRuledOut(payout, [lineOf(payout, { kind: 'reversal', ...of })])).to.equal(
        false,
      );
    });

    for (const account of ['0110223344 - JANE DOE', 'A/C 0110223344 KCB', '01-10-223344', null]) {
      it(`fails none to a bank account that the line calls ${account}`, async () => {
        const payout = await overdue(12_323, '0110223344');
        const of = { reference: null, transId: newReceipt(), completedAt: hourAgo(), account };
        expect(await isRuledOut(payout, [lineOf(payout, of)])).to.equal(false);
      });
    }

    it('fails one to another bank account than a line of the amount has', async () => {
      const payout = await overdue(12_324, '0110223344');
      const of = { reference: null, transId: newReceipt(), completedAt: hourAgo() };
      const line = lineOf(payout, { ...of, account: '01-10-229999' });
      expect(await isRuledOut(payout, [line])).to.equal(true);
    });
  });
});
