import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import {
  type DiscrepancyKind,
  openDiscrepancy,
} from '../../src/domain/discrepancies/discrepancy.ts';
import { openOverdue } from '../../src/domain/discrepancies/overdue.ts';
import type { Succeeded } from '../../src/domain/gateway-results.ts';
import type { Collection, Payout } from '../../src/domain/payments/kinds.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { type Callback, findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { reportUnknownPayment } from '../../src/domain/settlement/unknown-payments.ts';
import { askedDecision, resolveAsAsked } from '../../src/domain/support/asked-decision.ts';
import { findCase } from '../../src/domain/support/discrepancy-cases.ts';
import type { Resolution } from '../../src/domain/support/resolution.ts';
import { previewOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { DAY_MS, HOUR_MS } from '../../src/time.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import { toldIn } from '../support/told.ts';
import {
  ACKNOWLEDGED,
  failed,
  NOT_FOUND,
  NOT_TAKEN,
  parserOf,
  RESOLVING,
  rejection,
  reversalRequest,
  succeeded,
  UNKNOWN,
  useStore,
} from '../support/world.ts';

const FAILURE = failed({ externalRef: null });

describe('Each question is answered by what is about it', () => {
  const store = useStore();
  const { at, day, paid, preview, read, tell, whyTwo } = toldIn(store);

  afterEach(() => store.expectRightBooks());

  /** A new callback comes. @returns what applies it */
  async function keep(payment: AnyPayment, news: object) {
    await setTimeout(2);
    const body = JSON.stringify({ ...news, said: randomUUID() });
    const id = await store.keepCallback(payment.gateway, refOf(payment), body);
    return async () => {
      const stored = await findStoredCallback(store.database, payment.merchant_id, id);
      return processCallback(store.database, stored!, parserOf);
    };
  }
  const open = async ({ id }: AnyPayment) =>
    (await store.discrepanciesOf(id)).filter((kind) => !kind.endsWith('(resolved)'));
  const hear = async (payment: AnyPayment, news: object) => (await keep(payment, news))();

  const callbackOf = ({ gateway, kind }: AnyPayment) => ({
    ...{ id: randomUUID(), gateway, merchant_id: store.merchantId },
    ...{ payment_kind: kind, payment_id: randomUUID() },
  });
  /** The gateway does not know a payment, however often it is asked. */
  async function ruleOut(work: ReturnType<typeof store.workOn>) {
    for (let asked = 1; asked <= 5; asked++) {
      await work.setAttempts(
        "started_at = started_at - interval '1 hour', answered_at = answered_at - interval '1 hour'",
      );
      await work.hear(NOT_FOUND);
    }
  }
  /** One person asks for a decision. @returns what approves it */
  async function ask({ id }: { id: string }, as: Resolution) {
    const foreseen = await preview(id, as);
    const asked = askedDecision((await findCase(store.database, id))!, as, null, foreseen);
    const by = { requested_by: 'amina@x.example', approved_by: 'baraka', reason: 'because' };
    return () => store.transaction((trx) => resolveAsAsked(trx, asked, by, RESOLVING));
  }

  describe('about the receipt of a return', () => {
    /** Late money goes back under a receipt that a file has told; the call of the gateway has no answer. */
    async function sendUnderFilesReceipt(amount_cents: number) {
      const collection = await store.newCollection({ amount_cents });
      await tell(collection, FAILURE, null, 'poll');
      await tell(collection, paid(null), new Date(), 'poll');
      const wrong = newReceipt();
      await read([lineOf(collection, { transId: wrong, completedAt: at(2) })], 'file.csv');
      const all = await store.returnsOf();
      const back = all.find((each) => each.collection_id === collection.id)!;
      const work = store.workOn(back);
      await work.answer((await work.claim())!, UNKNOWN);
      const right = newReceipt();
      await tell(collection, paid(right), null, 'callback');
      const same = async () =>
        store.resolve(await store.discrepancyOf('second_success', collection), 'same');
      const isRuledOut = () => ruleOut(work);
      return { collection, work, wrong, right, same, isRuledOut };
    }

    it('waits before it goes a second time, too', async () => {
      const { work, isRuledOut, collection, wrong } = await sendUnderFilesReceipt(21_100);
      await isRuledOut();
      expect(await work.current()).to.include({ next_step: 'submit' });
      expect(await work.claim()).to.equal(null);
      await store.resolve(await store.discrepancyOf('second_success', collection), 'returned');
      expect((await work.claim())!.payment).to.include({ original_trans_id: wrong });
    });

    it('waits while something about its collection is being recorded', async () => {
      const collection = await store.newCollection({ amount_cents: 21_300 });
      await tell(collection, FAILURE, null, 'poll');
      await tell(collection, paid(newReceipt()), new Date(), 'poll');
      const all = await store.returnsOf();
      const work = store.workOn(all.find((each) => each.collection_id === collection.id)!);
      await store.transaction(async (trx) => {
        await lockPayment(trx, refOf(collection));
        expect(await work.claim()).to.equal(null);
      });
      expect(await work.claim()).to.not.equal(null);
    });

    it('gets the right one before it goes a second time, and none while the first call may have come', async () => {
      const { work, isRuledOut, same, right } = await sendUnderFilesReceipt(21_200);
      expect((await rejection(same())).message).to.include('has named the receipt');
      await isRuledOut();
      await same();
      expect((await work.claim())!.payment).to.include({ original_trans_id: right });
    });
  });

  describe('about money that a statement lacks', () => {
    it('stays when a line lists other money of the payment', async () => {
      const collection = await store.newCollection();
      await hear(collection, paid(newReceipt()));
      const newer = await store.newCollection({ amount_cents: 20_777 });
      await tell(newer, paid(newReceipt(), { completedAt: new Date() }), null);
      const { trans_id: transId } = await store.reread(newer);
      await read([lineOf(newer, { transId, completedAt: new Date() })], undefined, ['collection']);
      expect(await open(collection)).to.include('missing_at_gateway');
      const second = paid(newReceipt(), { completedAt: new Date(), amountCents: 10_000 });
      await hear(collection, second);
      await read([lineOf(collection, { transId: second.transId, completedAt: new Date() })]);
      expect(await open(collection)).to.have.members([...['missing_at_gateway', 'second_success']]);
    });
  });

  describe('about a large success', () => {
    const large = (transId = newReceipt()) => ({ ...paid(transId), mustConfirm: true as const });

    it('is asked again when the gateway tells it anew, after the money was said to be back', async () => {
      const payout = await store.newPayout();
      const success = large();
      await hear(payout, FAILURE);
      await hear(payout, success);
      await read([lineOf(payout, { transId: success.transId, completedAt: new Date() })]);
      await hear(payout, FAILURE);
      await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'undo');
      await store.resolve(await store.discrepancyOf('undone_money', payout), 'returned');
      await hear(payout, success);
      expect(await open(payout)).to.deep.equal(['unconfirmed_success']);
      await store.refund(payout);
      expect(await store.reread(payout)).to.include({ refund_posted_at: null });
    });

    it('is not answered by a decision about another one that nobody has seen', async () => {
      const payout = await store.newPayout();
      await hear(payout, large());
      const { id } = await store.discrepancyOf('unconfirmed_success', payout);
      await keep(payout, large());
      await store.resolve({ id }, 'failed');
      expect(await open(payout)).to.deep.equal(['unconfirmed_success']);
      await store.refund(payout);
      expect(await store.reread(payout)).to.include({ refund_posted_at: null });
      const [unseen] = await store.rows<{ id: string }>(
        'SELECT id FROM discrepancies WHERE payment_id = :id AND resolved_at IS NULL',
        payout,
      );
      await store.resolve(unseen!, 'dismissed');
      await store.refund(payout);
      expect((await store.reread(payout)).refund_posted_at).to.be.a('date');
    });

    it('is not answered so while it waits for the gateway, either', async () => {
      const payout = await store.newPayout();
      const work = store.workOn(payout);
      const claim = (await work.claim())!;
      await hear(payout, large());
      await work.answer(claim, ACKNOWLEDGED);
      const again = await keep(payout, large());
      await again();
      await store.resolve(await store.discrepancyOf('unconfirmed_success', payout), 'failed');
      await store.refund(payout);
      expect(await open(payout)).to.deep.equal(['unconfirmed_success']);
      expect(await store.reread(payout)).to.include({ refund_posted_at: null });
    });

    it('is not answered by a completion under another receipt', async () => {
      const payout = await store.newPayout();
      await hear(payout, FAILURE);
      await hear(payout, large());
      await read([lineOf(payout, { transId: newReceipt(), completedAt: new Date() })]);
      expect(await store.reread(payout)).to.include({ status: 'completed' });
      expect(await open(payout)).to.include('unconfirmed_success');
    });

    it('takes two to dismiss, besides a completion too: the money may have moved twice', async () => {
      const collection = await store.newCollection();
      await tell(collection, paid(newReceipt()), new Date(), 'poll');
      await hear(collection, large());
      const { id } = await store.discrepancyOf('unconfirmed_success', collection);
      expect(await whyTwo(id, 'dismissed')).to.include('a second time');
    });
  });

  it('whether a payment ended in time is answered when it is failed because nothing is to be sent', async () => {
    const collection = await store.newCollection();
    const transId = newReceipt();
    await tell(collection, paid(transId), null);
    await read([lineOf(collection, { transId, amountCents: 9_000, completedAt: at(1) })]);
    const now = (await store.reread(collection)) as Collection;
    const reversal = await createReversal(store.database, reversalRequest(now));
    expect(await store.workOn(reversal).claim()).to.equal(null);
    const late = "UPDATE reversals SET deadline_at = now() - interval '1 minute' WHERE id = :id";
    await store.rewrite(late, reversal);
    await openOverdue(store.database);
    expect(await open(reversal)).to.deep.equal(['overdue']);
    await store.resolve(await store.discrepancyOf('other_amount', collection), 'accept-amount');
    expect(await open(reversal)).to.deep.equal([]);
    const corrected = (await store.reread(collection)) as Collection;
    const again = await createReversal(store.database, reversalRequest(corrected));
    expect(again).to.include({ status: 'pending' });
  });

  describe('about a lost payment', () => {
    const report = (payment: AnyPayment, reference: string | null, news: Succeeded) =>
      store.transaction((trx) =>
        reportUnknownPayment(trx, callbackOf(payment) as Callback, reference, news),
      );

    it('is one under a reference of ours that the payment with its receipt has not', async () => {
      const collection = await store.newCollection();
      const transId = newReceipt();
      await hear(collection, paid(transId));
      const { amount_cents: amountCents } = collection;
      await report(collection, randomUUID(), paid(transId, { amountCents }));
      const found = 'SELECT kind FROM discrepancies WHERE trans_id = :transId';
      expect(await store.rows(found, { transId })).to.deep.equal([{ kind: 'unknown_payment' }]);
    });

    it('is none when its money has come again already, by its receipt', async () => {
      const collection = await store.newCollection();
      const transId = newReceipt();
      await tell(collection, paid(transId), new Date(), 'poll');
      const { amount_cents: amountCents } = collection;
      await report(collection, null, paid(transId, { amountCents }));
      const found = 'SELECT id FROM discrepancies WHERE trans_id = :transId';
      expect(await store.rows(found, { transId })).to.deep.equal([]);
    });

    it('is one, whichever of statement and callback came first', async () => {
      for (const first of ['statement', 'callback']) {
        const { reference, ...payout } = await store.newPayout();
        const other = randomUUID();
        await store.rewrite('UPDATE payouts SET reference = :other WHERE id = :id', {
          ...{ other, id: payout.id },
        });
        const line = {
          ...{ kind: 'payout' as const, reference, account: '+254799000001', transId: null },
          ...{ amountCents: payout.amount_cents, completedAt: at(1) },
        };
        const { amount_cents: amountCents } = payout;
        if (first === 'callback')
          await report(payout as Payout, reference, paid(null, { amountCents }));
        await read([line]);
        if (first !== 'callback')
          await report(payout as Payout, reference, paid(null, { amountCents }));
        const found = `SELECT kind FROM discrepancies
          WHERE details->>'reference' = :reference AND resolved_at IS NULL`;
        expect(await store.rows(found, { reference }), first).to.have.length(1);
      }
    });
  });

  it('about a failure, which waits for a second person, is another one when the gateway fails it again', async () => {
    const collection = await store.newCollection();
    await hear(collection, paid(newReceipt()));
    await hear(collection, FAILURE);
    const question = await store.discrepancyOf('failure_after_success', collection);
    const approve = await ask(question, 'dismissed');
    await hear(collection, FAILURE);
    await rejection(approve());
    expect(await open(collection)).to.deep.equal(['failure_after_success']);
  });

  describe('about a receipt that a reversal or a return would name', () => {
    const STRANGER = '+254799000001';

    /** Asks for a reversal of a collection. @returns whether it goes */
    const goes = async (collection: AnyPayment) => {
      const now = (await store.reread(collection)) as Collection;
      const reversal = await createReversal(store.database, reversalRequest(now));
      return (await store.workOn(reversal).claim()) !== null;
    };
    const returnOf = async ({ id }: AnyPayment) =>
      (await store.returnsOf()).find((each) => each.collection_id === id)!;
    /** Late money goes back under the receipt of a file. */
    async function payLate(amount_cents: number, transId: string) {
      const collection = await store.newCollection({ amount_cents });
      await hear(collection, FAILURE);
      await tell(collection, paid(null), new Date(), 'poll');
      await read([lineOf(collection, { transId, completedAt: new Date() })], 'file.csv');
      return collection;
    }

    for (const mustConfirm of [false, true]) {
      describe(mustConfirm ? 'in a large success' : 'in a small one', () => {
        const told = (transId: string, more: object = {}) => ({
          ...paid(transId, more),
          ...(mustConfirm && { mustConfirm }),
        });

        it('holds it up when the gateway tells another receipt than a file', async () => {
          const collection = await store.newCollection();
          const transId = newReceipt();
          await read([lineOf(collection, { transId, completedAt: at(9) })], 'file.csv');
          await hear(collection, told(newReceipt()));
          expect(await goes(collection)).to.equal(false);
        });

        it('holds it up when the gateway tells the receipt of support for another payment', async () => {
          const collection = await store.newCollection();
          const transId = newReceipt();
          await tell(collection, paid(transId), null, 'support');
          await hear(await store.newCollection(), told(transId));
          expect(await goes(collection)).to.equal(false);
        });

        for (const other of [{ amountCents: 9_000 }, { account: STRANGER }]) {
          it(`holds it up when the gateway tells another ${Object.keys(other)} under it`, async () => {
            const collection = await store.newCollection();
            const transId = newReceipt();
            await hear(collection, paid(transId));
            await hear(collection, told(transId, other));
            expect(await goes(collection)).to.equal(false);
          });
        }

        it('holds a return up when the gateway tells another receipt than a file', async () => {
          const collection = await payLate(mustConfirm ? 22_100 : 22_200, newReceipt());
          await hear(collection, told(newReceipt()));
          expect(await store.workOn(await returnOf(collection)).claim()).to.equal(null);
        });

        it('holds a return up when the gateway tells the receipt of a file for another payment', async () => {
          const transId = newReceipt();
          const collection = await payLate(mustConfirm ? 22_300 : 22_400, transId);
          await hear(await store.newCollection(), told(transId));
          expect(await store.workOn(await returnOf(collection)).claim()).to.equal(null);
        });
      });
    }

    it('holds it up when the gateway tells the receipt of support for a payment that is not here', async () => {
      const collection = await store.newCollection();
      const transId = newReceipt();
      await tell(collection, paid(transId), null, 'support');
      const lost = { ...callbackOf(collection), amountCents: collection.amount_cents };
      const news = paid(transId, { amountCents: lost.amountCents });
      await store.transaction((trx) =>
        reportUnknownPayment(trx, lost as unknown as Callback, randomUUID(), news),
      );
      expect(await goes(collection)).to.equal(false);
    });

    const contradictions = {
      amount: { amountCents: 1_000 },
      phone: { account: STRANGER },
    };
    for (const [what, told] of Object.entries(contradictions)) {
      it(`holds a return up when the gateway’s statement tells another ${what} under it, and takes two to dismiss`, async () => {
        const collection = await store.newCollection({
          amount_cents: what === 'amount' ? 22_500 : 22_600,
        });
        const transId = newReceipt();
        await hear(collection, FAILURE);
        await hear(collection, paid(transId, { completedAt: null }));
        await read([lineOf(collection, { transId, ...told, completedAt: at(11) })]);
        expect(await store.workOn(await returnOf(collection)).claim()).to.equal(null);
        const [kind] = await open(collection);
        const { id } = await store.discrepancyOf(kind as DiscrepancyKind, collection);
        expect(await whyTwo(id, 'dismissed')).to.be.a('string');
        await store.resolve({ id }, 'dismissed');
        expect(await store.workOn(await returnOf(collection)).claim()).to.not.equal(null);
      });
    }

    it('takes two to dismiss that another phone has paid: the reversal would pay this one', async () => {
      const collection = await store.newCollection();
      const transId = newReceipt();
      await hear(collection, paid(transId));
      await read([lineOf(collection, { transId, account: STRANGER, completedAt: at(1) })]);
      const { id } = await store.discrepancyOf('other_account', collection);
      expect(await whyTwo(id, 'dismissed')).to.include('Another phone may have paid');
    });
  });

  describe('about the time of money', () => {
    it('is not the time in a file, though a callback has told of the money since', async () => {
      const collection = await store.newCollection();
      const transId = newReceipt();
      const longAgo = new Date(Date.now() - 3 * DAY_MS);
      await read([lineOf(collection, { transId, completedAt: longAgo })], 'file.csv');
      await hear(collection, paid(transId));
      const newer = await store.newCollection({ amount_cents: 22_777 });
      await tell(newer, paid(newReceipt(), { completedAt: new Date() }), null);
      const { trans_id } = await store.reread(newer);
      const line = lineOf(newer, { transId: trans_id, completedAt: new Date() });
      await read([line], undefined, ['collection']);
      expect(await open(collection)).to.deep.equal(['missing_at_gateway']);
    });

    for (const kind of ['payout', 'collection'] as const) {
      it(`is that of the gateway’s word, when a ${kind} gets a freed receipt after its failure`, async () => {
        const [one, two] = [await store.newPayment(kind), await store.newPayment(kind)];
        const transId = newReceipt();
        await tell(one, paid(transId), null, 'support');
        await hear(two, paid(transId));
        const fail = await keep(two, FAILURE);
        await setTimeout(2);
        await store.resolve(await store.discrepancyOf('receipt_of_another', one), 'undo');
        await fail();
        expect(await open(two)).to.include('failure_after_success');
      });
    }
  });

  describe('holds a payment up', () => {
    const DONE = { outcome: 'unclear', code: 4711, description: 'Done', externalRef: null };
    const stories = {
      'a large success': (payment: AnyPayment) =>
        hear(payment, { ...paid(newReceipt()), mustConfirm: true }),
      'that it was done already': (payment: AnyPayment) =>
        hear(payment, { ...DONE, hasMoved: true }),
    };
    for (const [what, story] of Object.entries(stories)) {
      it(`that the gateway does not know: it is not sent again while a callback has told ${what}`, async () => {
        const payout = await store.newPayout();
        const work = store.workOn(payout);
        await work.answer((await work.claim())!, UNKNOWN);
        await story(payout);
        await ruleOut(work);
        expect(await store.reread(payout)).to.include({ next_step: 'poll' });
      });

      it(`that the gateway has not taken: it is not sent again while a callback has told ${what}`, async () => {
        const payout = await store.newPayout();
        const work = store.workOn(payout);
        await work.answer((await work.claim())!, NOT_TAKEN);
        await story(payout);
        expect(await work.claim()).to.equal(null);
      });

      it(`whose attempt a restored database has forgotten: it is not sent while a callback has told ${what}`, async () => {
        const payout = await store.newPayout();
        await story(payout);
        expect(await store.workOn(payout).claim()).to.equal(null);
        expect(await store.workOn(payout).attempts()).to.deep.equal([]);
      });

      it(`that two people fail: an approval is refused when a callback has told ${what} meanwhile`, async () => {
        const payout = await store.newPayout();
        const work = store.workOn(payout);
        await work.answer((await work.claim())!, ACKNOWLEDGED);
        await store.passDeadline(payout);
        await openOverdue(store.database);
        const approve = await ask(await store.discrepancyOf('overdue', payout), 'failed');
        await story(payout);
        await rejection(approve());
        expect(await store.reread(payout)).to.include({ status: 'processing' });
      });
    }
  });

  describe('about a payment that has failed', () => {
    const DONE = { outcome: 'unclear', code: 4711, description: 'Done', externalRef: null };

    for (const kind of ['payout', 'reversal', 'return', 'collection'] as const) {
      it(`takes two to dismiss that the gateway has called a ${kind} done`, async () => {
        const payment = await store.newPayment(kind);
        const work = store.workOn(payment);
        await work.answer((await work.claim())!, ACKNOWLEDGED);
        await tell(payment, failed(), new Date(), 'poll');
        await hear(payment, { ...DONE, hasMoved: true });
        await store.refund(payment);
        const { id } = await store.discrepancyOf('unclear_result', payment);
        expect(await whyTwo(id, 'dismissed')).to.include('Both a success and a failure');
        if (payment.kind === 'payout') {
          expect(await store.reread(payment)).to.include({ refund_posted_at: null });
        }
      });
    }

    for (const said of ['one', 'another']) {
      it(`goes on when ${said} failure of an attempt comes that the gateway has not acknowledged`, async () => {
        const payout = await store.newPayout();
        const work = store.workOn(payout);
        await work.answer((await work.claim())!, UNKNOWN);
        await ruleOut(work);
        const second = (await work.claim())!;
        const fail = async (words: string) => {
          const body = JSON.stringify({ ...failed({ externalRef: 'E1' }), words });
          const id = await store.keepCallback(payout.gateway, refOf(payout), body);
          const stored = await findStoredCallback(store.database, payout.merchant_id, id);
          await processCallback(store.database, stored!, parserOf);
        };
        await fail('one');
        await work.answer(second, { outcome: 'acknowledged', externalRef: 'E2' });
        expect(await open(payout)).to.deep.equal(['taken_after_failure']);
        await setTimeout(2);
        await fail(said);
        await store.refund(payout);
        expect(await open(payout)).to.deep.equal(['taken_after_failure']);
        expect(await store.reread(payout)).to.include({ refund_posted_at: null });
      });
    }
  });

  describe('about a failure', () => {
    it('stays when other money of the payment is taken out of suspense', async () => {
      const collection = await store.newCollection();
      await hear(collection, FAILURE);
      await hear(collection, paid(newReceipt()));
      const all = await store.returnsOf();
      const back = all.find((each) => each.collection_id === collection.id)!;
      const work = store.workOn(back);
      await work.answer((await work.claim())!, ACKNOWLEDGED);
      await hear(back, succeeded({ transId: newReceipt(), externalRef: null }));
      await hear(collection, FAILURE);
      await read([lineOf(collection, { transId: newReceipt(), completedAt: at(11) })], 'file.csv');
      await store.resolve(await store.discrepancyOf('second_success', collection), 'undo');
      expect(await open(collection)).to.deep.equal(['failure_after_success']);
    });

    it('of a collection is answered at its reversal, too', async () => {
      const collection = await store.newCollection();
      await hear(collection, paid(newReceipt()));
      const now = (await store.reread(collection)) as Collection;
      const reversal = await createReversal(store.database, reversalRequest(now));
      await hear(collection, FAILURE);
      expect(await open(reversal)).to.deep.equal(['failure_after_success']);
      const question = await store.discrepancyOf('failure_after_success', collection);
      await store.resolve(question, 'dismissed');
      expect(await open(reversal)).to.deep.equal([]);
    });
  });

  describe('about an amount', () => {
    it('is answered with the gateway’s, though the row of a file tells another one', async () => {
      const collection = await store.newCollection();
      const transId = newReceipt();
      await hear(collection, paid(transId));
      await read(
        [lineOf(collection, { transId, amountCents: 1_000, completedAt: at(1) })],
        'file.csv',
      );
      await read([lineOf(collection, { transId, amountCents: 9_000, completedAt: at(1) })]);
      await store.resolve(await store.discrepancyOf('other_amount', collection), 'accept-amount');
      expect(await store.reread(collection)).to.include({ amount_cents: 9_000 });
    });

    it('is answered wherever it was told', async () => {
      const collection = await store.newCollection();
      const transId = newReceipt();
      await hear(collection, paid(transId));
      await hear(collection, paid(null, { amountCents: 9_000 }));
      await read([lineOf(collection, { transId, amountCents: 9_000, completedAt: at(1) })]);
      expect(await open(collection)).to.deep.equal(['other_amount', 'other_amount']);
      await store.resolve(await store.discrepancyOf('other_amount', collection), 'accept-amount');
      expect(await open(collection)).to.deep.equal([]);
    });
  });

  describe('is over', () => {
    const large = (transId = newReceipt(), more: object = {}) => ({
      ...paid(transId, more),
      mustConfirm: true as const,
    });
    const goes = async (collection: AnyPayment) => {
      const now = (await store.reread(collection)) as Collection;
      const reversal = await createReversal(store.database, reversalRequest(now));
      return (await store.workOn(reversal).claim()) !== null;
    };
    /** A complete statement of the gateway lists the money of another collection alone. */
    async function listOther(amount_cents: number, period = { from: day(-1), to: day(1) }) {
      const other = await store.newCollection({ amount_cents });
      await tell(other, paid(newReceipt(), { completedAt: new Date() }), null);
      const { trans_id: transId } = await store.reread(other);
      const line = lineOf(other, { transId, completedAt: new Date() });
      await runStatement(store.database, [line], period, { covers: ['collection'] });
    }

    it('when money without a receipt has got one, and is listed under it', async () => {
      const collection = await store.newCollection();
      await hear(collection, paid(null));
      await listOther(20_771);
      expect(await open(collection)).to.deep.equal(['missing_at_gateway']);
      const transId = newReceipt();
      await hear(collection, paid(transId));
      await read([lineOf(collection, { transId, completedAt: new Date() })]);
      expect(await open(collection)).to.deep.equal([]);
    });

    it('when the receipt that a statement lacks was wrong, and the right one is in its place', async () => {
      const collection = await store.newCollection();
      await read([lineOf(collection, { transId: newReceipt(), completedAt: at(1) })], 'file.csv');
      await listOther(20_772);
      expect(await open(collection)).to.deep.equal(['missing_at_gateway']);
      await hear(collection, paid(newReceipt()));
      await store.resolve(await store.discrepancyOf('second_success', collection), 'same');
      expect(await open(collection)).to.deep.equal([]);
    });

    it('when money that a statement lacks is taken out of suspense: a file was wrong', async () => {
      const collection = await store.newCollection();
      await hear(collection, paid(newReceipt()));
      await read([lineOf(collection, { transId: newReceipt(), completedAt: at(1) })], 'file.csv');
      const { trans_id: transId } = await store.reread(collection);
      await listOther(20_774);
      await read([lineOf(collection, { transId, completedAt: new Date() })]);
      expect(await open(collection)).to.have.members(['second_success', 'missing_at_gateway']);
      await store.resolve(await store.discrepancyOf('second_success', collection), 'undo');
      expect(await open(collection)).to.deep.equal([]);
    });

    it('when the gateway’s statement lists a large success of a completed collection', async () => {
      const collection = await store.newCollection();
      const transId = newReceipt();
      const line = lineOf(collection, { transId, completedAt: at(9) });
      await read([line], 'file.csv');
      await hear(collection, large(transId));
      expect(await open(collection)).to.deep.equal(['unconfirmed_success']);
      await read([line]);
      expect(await open(collection)).to.deep.equal([]);
      expect(await goes(collection)).to.equal(true);
    });

    it('when the money of a large second success has gone back', async () => {
      const collection = await store.newCollection();
      await tell(collection, paid(newReceipt()), new Date(), 'poll');
      const transId = newReceipt();
      await hear(collection, large(transId));
      await read([lineOf(collection, { transId, completedAt: new Date() })]);
      await store.resolve(await store.discrepancyOf('second_success', collection), 'returned');
      expect(await open(collection)).to.deep.equal([]);
    });

    for (const how of ['statement', 'poll']) {
      it(`when a ${how} confirms large late money, which goes back then`, async () => {
        const collection = await store.newCollection({
          amount_cents: how === 'poll' ? 41_100 : 41_200,
        });
        await hear(collection, FAILURE);
        const success = paid(newReceipt(), { completedAt: new Date() });
        await hear(collection, { ...success, mustConfirm: true });
        if (how === 'poll') await tell(collection, success, new Date(), 'poll');
        else
          await read([lineOf(collection, { transId: success.transId, completedAt: new Date() })]);
        expect(await open(collection)).to.deep.equal([]);
        const all = await store.returnsOf();
        const back = all.find((each) => each.collection_id === collection.id)!;
        expect(await store.workOn(back).claim()).to.not.equal(null);
      });
    }

    it('only for one of two large successes, when the gateway answers without a receipt', async () => {
      const payout = await store.newPayout();
      await hear(payout, FAILURE);
      await hear(payout, large());
      await hear(payout, large());
      await tell(payout, paid(null), new Date(), 'poll');
      expect(await open(payout)).to.deep.equal(['unconfirmed_success', 'unconfirmed_success']);
    });

    it('when the wrong row of a file is undone, and the money before it has come back', async () => {
      const payout = await store.newPayout();
      await hear(payout, FAILURE);
      await store.refund(payout);
      await hear(payout, paid(newReceipt()));
      await store.resolve(await store.discrepancyOf('paid_after_refund', payout), 'returned');
      await read([lineOf(payout, { transId: newReceipt(), completedAt: at(11) })], 'file.csv');
      await hear(payout, FAILURE);
      await store.resolve(await store.discrepancyOf('second_success', payout), 'undo');
      expect(await open(payout)).to.deep.equal([]);
    });

    it('when the gateway’s statement lists money as it is booked, and only a file has told otherwise', async () => {
      const collection = await store.newCollection();
      const transId = newReceipt();
      await hear(collection, paid(transId));
      const line = lineOf(collection, { transId, completedAt: at(1) });
      await read([{ ...line, amountCents: 1_000 }], 'file.csv');
      expect(await open(collection)).to.deep.equal(['other_amount']);
      await read([line]);
      expect(await open(collection)).to.deep.equal([]);
    });

    it('when people have completed a payment under its receipt, also for the callback that waits', async () => {
      const payout = await store.newPayout();
      const work = store.workOn(payout);
      await work.answer((await work.claim())!, UNKNOWN);
      const transId = newReceipt();
      const look = await keep(payout, large(transId));
      await look();
      const question = await store.discrepancyOf('unconfirmed_success', payout);
      await store.resolve(question, 'completed', transId);
      await look();
      expect(await open(payout)).to.deep.equal([]);
    });

    const DONE = { outcome: 'unclear', code: 4711, description: 'Done', externalRef: null };
    for (const [what, news] of Object.entries({
      done: { ...DONE, hasMoved: true },
      large: large(),
    })) {
      for (const kind of ['payout', 'collection'] as const) {
        it(`when people fail a ${kind} whose money they had sent back before (${what})`, async () => {
          const payment = await store.newPayment(kind);
          const work = store.workOn(payment);
          await work.answer((await work.claim())!, UNKNOWN);
          await hear(payment, paid(newReceipt(), { amountCents: 5_000 }));
          await hear(payment, news);
          await store.resolve(await store.discrepancyOf('other_amount', payment), 'returned');
          const [left] = await open(payment);
          const question = await store.discrepancyOf(left as DiscrepancyKind, payment);
          await store.resolve(question, 'failed');
          await store.refund(payment);
          expect(await store.reread(payment)).to.include({ status: 'failed', parked_reason: null });
          expect(await open(payment)).to.deep.equal([]);
        });
      }
    }

    it('for a second approval, when the first was approved', async () => {
      const collection = await store.newCollection();
      const transId = newReceipt();
      await hear(collection, paid(transId));
      await read([lineOf(collection, { transId, amountCents: 9_000, completedAt: at(1) })]);
      await read([lineOf(collection, { transId, account: '+254799000001', completedAt: at(1) })]);
      const one = await ask(await store.discrepancyOf('other_amount', collection), 'dismissed');
      const two = await ask(await store.discrepancyOf('other_account', collection), 'dismissed');
      await one();
      await two();
      expect(await open(collection)).to.deep.equal([]);
    });

    it('for a reversal, when only another payment’s callback names the receipt of the gateway', async () => {
      const collection = await store.newCollection();
      const transId = newReceipt();
      await hear(collection, paid(transId));
      await hear(await store.newCollection(), large(transId));
      expect(await goes(collection)).to.equal(true);
    });

    it('is not even asked about money of the day that the gateway itself has told', async () => {
      const collection = await store.newCollection();
      const transId = newReceipt();
      const yesterday = new Date(Date.now() - 30 * HOUR_MS);
      await read([lineOf(collection, { transId, completedAt: new Date() })], 'file.csv');
      await hear(collection, paid(transId, { completedAt: yesterday }));
      await listOther(20_773, { from: day(0), to: day(0) });
      expect(await open(collection)).to.deep.equal([]);
    });
  });

  it('keeps money from a wallet by hand under a receipt that it names for a payment', async () => {
    const collection = await store.newCollection();
    const transId = newReceipt();
    await hear(collection, { ...paid(transId), mustConfirm: true });
    const entry = {
      ...({ kind: 'adjustment', wallet: 'collection', against: 'bank' } as const),
      ...{ merchant_id: store.merchantId, amount_cents: 10_000, reference: transId, reason: 'x' },
    };
    const refused = await rejection(previewOperatorEntry(store.database, entry));
    expect(refused.message).to.include(`a question about the collection ${collection.id}`);
  });

  it('asks the gateway about the attempt that it has acknowledged, after the failure of another one', async () => {
    const payout = await store.newPayout();
    const work = store.workOn(payout);
    await work.answer((await work.claim())!, UNKNOWN);
    await ruleOut(work);
    const second = (await work.claim())!;
    await hear(payout, failed({ externalRef: 'E1' }));
    await work.answer(second, { outcome: 'acknowledged', externalRef: 'E2' });
    expect(await store.reread(payout)).to.include({ external_ref: 'E2', next_step: 'poll' });
  });

  it('fails no reversal that the gateway has called done, though its collection is corrected', async () => {
    const collection = await store.newCollection();
    const transId = newReceipt();
    await hear(collection, paid(transId));
    const now = (await store.reread(collection)) as Collection;
    const reversal = await createReversal(store.database, reversalRequest(now));
    const work = store.workOn(reversal);
    await work.answer((await work.claim())!, NOT_TAKEN);
    await hear(reversal, { ...paid(newReceipt()), mustConfirm: true });
    await read([lineOf(collection, { transId, amountCents: 9_000, completedAt: at(1) })]);
    const question = await store.discrepancyOf('other_amount', collection);
    await rejection(store.resolve(question, 'accept-amount'));
    expect(await store.reread(reversal)).to.include({ status: 'pending' });
  });

  it('lets a payment go again of which the gateway has only failed another one', async () => {
    const payout = await store.newPayout();
    const work = store.workOn(payout);
    await work.answer((await work.claim())!, NOT_TAKEN);
    await store.transaction((trx) =>
      openDiscrepancy(trx, {
        ...{ kind: 'other_payment', payment: refOf(payout) },
        details: { outcome: 'failed', external_ref: 'E9', acknowledged_ref: null },
      }),
    );
    expect(await work.claim()).to.not.equal(null);
  });
});
