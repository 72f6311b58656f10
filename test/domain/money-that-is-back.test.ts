import { expect } from 'chai';
import { auditedFor } from '../../src/domain/audit/audit.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { type AnyPayment, accountOf, refOf } from '../../src/domain/payments/payment-store.ts';
import { planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { casesOf, findCase } from '../../src/domain/support/discrepancy-cases.ts';
import { doubtPayment } from '../../src/domain/support/doubt-payment.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { rowsBackIn } from '../support/rows-back.ts';
import { lineOf, newReceipt } from '../support/statements.ts';
import { failed, RESOLVING, rejection, succeeded, useStore } from '../support/world.ts';

const FAILURE = failed({ externalRef: null });

describe('Money that support has called back', () => {
  const store = useStore({ fresh: true });
  const { at, back, begun, compare, fresh, kinds, open, out, paid, read, takeBack, tell, whyTwo } =
    rowsBackIn(store);
  let payout: Payout;
  let receipt: string;

  beforeEach(async () => {
    ({ payout, receipt } = await fresh());
  });

  const dismissRow = async () => {
    const [found] = (await open()).filter(({ kind }) => kind === 'money_back');
    await store.resolve((await findCase(store.database, found!.id))!, 'dismissed');
  };

  const another = (minute: number) => back({ of: newReceipt(), moment: at(minute) });

  const soon = () => new Date(Date.now() + 1_000);

  async function doubtAndUndo(): Promise<void> {
    const actor = { actor: 'juma@x.example', action: 'payment.doubt', reason: 'The wrong row' };
    await doubtPayment(auditedFor(store.database, actor), refOf(payout), actor);
    await store.resolve(await store.discrepancyOf('doubted', payout), 'undo');
  }

  it('is no money besides it that support has called lost', async () => {
    await paid(receipt);
    await paid(newReceipt(), at(2));
    await store.resolve(await store.discrepancyOf('second_success', payout), 'failed');
    await tell(payout, FAILURE, at(4));
    await takeBack();
    await compare(back());
    // Either of the two may have come back. People look, and dismiss the row of the one that is back.
    expect(await kinds()).to.deep.equal(['money_back']);
    await dismissRow();
    await compare(another(6));
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('explains no row while other money of the payout waits', async () => {
    await paid(receipt);
    await tell(payout, FAILURE, at(4));
    await takeBack();
    await paid(newReceipt(), new Date());
    await compare(back({ moment: soon() }));
    expect(await kinds()).to.deep.equal(['second_success', 'money_back']);
  });

  it('is so no more once it has completed the payout after all: its row is asked about at once', async () => {
    await tell(payout, FAILURE, at(1));
    await store.refund(payout);
    await paid(receipt, new Date());
    await store.resolve(await store.discrepancyOf('paid_after_refund', payout), 'returned');
    await compare(back({ moment: soon() }));
    expect(await kinds()).to.deep.equal([]);
    await doubtAndUndo();
    const told = { transId: receipt, externalRef: null, account: payout.payto };
    await tell(payout, succeeded({ ...told, completedAt: at(3) }), new Date(), 'poll');
    await store.resolve(await store.discrepancyOf('paid_after_refund', payout), 'completed');
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('is not what a wrong file has told of the payout: the wage that bounces is asked about', async () => {
    await tell(payout, FAILURE, at(1));
    await store.refund(payout);
    const wage = await begun(payout.payto);
    await compare(out());
    await paid(receipt, new Date(), wage);
    await store.resolve(await store.discrepancyOf('paid_after_refund', payout), 'undo');
    await paid(receipt, new Date(), wage);
    await compare(back({ moment: soon() }));
    expect(await kinds()).to.deep.equal(['failure_after_success']);
  });

  for (const answer of ['returned', 'failed'] as const) {
    it(`answers for the row of a payout that another question has undone, unless it is lost (${answer})`, async () => {
      await paid(receipt);
      await compare(back());
      const told = { transId: receipt, externalRef: null, account: '+254799999999' };
      await tell(payout, succeeded({ ...told, completedAt: at(1) }), new Date());
      await store.resolve(await store.discrepancyOf('other_account', payout), 'undo');
      expect(await kinds()).to.deep.equal(['undone_money']);
      await store.resolve(await store.discrepancyOf('undone_money', payout), answer);
      expect(await kinds()).to.deep.equal(answer === 'failed' ? ['money_back'] : []);
    });
  }

  it('answers for the row, also if the gateway told of it after its payout was doubted', async () => {
    await store.makeOverdue(payout);
    await store.resolve(await store.discrepancyOf('overdue', payout), 'completed', receipt);
    await compare(back({ moment: soon() }));
    await doubtAndUndo();
    await paid(receipt, new Date());
    for (const { kind } of await open()) {
      if (kind === 'second_success') {
        await store.resolve(await store.discrepancyOf(kind, payout), 'returned');
      }
    }
    expect((await kinds()).filter((kind) => kind !== 'taken_after_failure')).to.deep.equal([]);
  });

  it('is not brought back by a row that was dismissed first, and then booked by hand', async () => {
    const other = await begun(payout.payto);
    await paid(receipt);
    await paid(newReceipt(), at(2), other);
    await tell(payout, FAILURE, at(3));
    await takeBack();
    const row = newReceipt();
    await compare(back({ of: row }));
    await dismissRow();
    await store.transaction((trx) =>
      bookOperatorEntry(trx, {
        ...{ kind: 'adjustment', merchant_id: store.merchantId, wallet: 'payout' },
        ...{ amount_cents: 10_000, reference: row, reason: 'The other one came back' },
      }),
    );
    await compare(another(7));
    const [asked] = await open();
    expect(asked!.candidates).to.include(`payout ${payout.id} of merchant ${payout.merchant_id}`);
  });

  it('explains no row of another amount', async () => {
    await paid(receipt);
    await compare(back());
    const told = { transId: receipt, externalRef: null, account: null, amountCents: 9_000 };
    await tell(payout, succeeded({ ...told, completedAt: at(1) }), new Date());
    await store.resolve(await store.discrepancyOf('other_amount', payout), 'undo');
    await store.resolve(await store.discrepancyOf('undone_money', payout), 'returned');
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  for (const order of ['first', 'last'] as const) {
    it(`is brought back by a row that support dismisses ${order}, and by no stranger's row`, async () => {
      await paid(receipt);
      await paid(newReceipt(), at(2));
      await compare(back({ moment: at(4) }));
      if (order === 'first') await dismissRow();
      await store.resolve(await store.discrepancyOf('second_success', payout), 'returned');
      if (order === 'last' && (await kinds()).length > 0) await dismissRow();
      await tell(payout, FAILURE, at(6));
      await takeBack();
      await compare(another(7));
      expect(await kinds()).to.deep.equal([]);
      await compare(another(8));
      expect(await kinds()).to.deep.equal(['money_back', 'money_back']);
    });
  }

  it('asks about the row that was dismissed for it, once support calls it lost', async () => {
    const other = await begun(payout.payto);
    await paid(receipt);
    await paid(newReceipt(), at(2), other);
    await tell(payout, FAILURE, at(3));
    await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'undo');
    await compare(back());
    await dismissRow();
    await store.resolve(await store.discrepancyOf('undone_money', payout), 'failed');
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('explains one row, also if the gateway tells its receipt again afterwards', async () => {
    await paid(receipt);
    await compare(back());
    await takeBack();
    await paid(receipt, new Date());
    const [found] = await open();
    await store.resolve((await findCase(store.database, found!.id))!, 'returned');
    await compare(back({ of: newReceipt(), moment: soon() }));
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('explains one row, if its receipt is told only after it was called back', async () => {
    await paid(null);
    await tell(payout, FAILURE, at(4));
    await takeBack();
    await compare(out(), back());
    const asked = (await open()).find(({ kind }) => kind === 'undone_money');
    await store.resolve((await findCase(store.database, asked!.id))!, 'returned');
    expect(await kinds()).to.deep.equal([]);
    await compare(another(7));
    expect(await kinds()).to.deep.equal(['money_back', 'money_back']);
  });

  it('is lost altogether, if its receipt is told only after it was called back', async () => {
    await paid(null);
    await tell(payout, FAILURE, at(4));
    await takeBack();
    await compare(out());
    const asked = (await open()).find(({ kind }) => kind === 'undone_money');
    await store.resolve((await findCase(store.database, asked!.id))!, 'failed');
    await compare(back());
    const [row] = await open();
    expect(row).to.include({ kind: 'money_back' });
    expect(row!.candidates).to.deep.equal([
      `payout ${payout.id} of merchant ${payout.merchant_id}`,
    ]);
  });

  it('is not brought back by a row that support has dismissed at its payout', async () => {
    await paid(receipt);
    await compare(back());
    await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'dismissed');
    await tell(payout, FAILURE, at(6));
    await takeBack();
    await dismissRow();
    expect(await kinds()).to.deep.equal([]);
    await compare(another(7));
    expect(await kinds(), 'its own row').to.deep.equal([]);
  });

  it('ends the question about a row once all that fits it is back', async () => {
    const other = await begun(payout.payto);
    await paid(receipt);
    await paid(newReceipt(), at(2), other);
    await compare(back());
    for (const each of [other, payout]) {
      await tell(each, FAILURE, at(6));
      await takeBack(each);
    }
    expect(await kinds()).to.deep.equal([]);
  });

  it('is the answer to a row that came while it waited', async () => {
    await paid(receipt);
    const told = { transId: receipt, externalRef: null, account: '+254799999999' };
    await tell(payout, succeeded({ ...told, completedAt: at(1) }), new Date());
    await store.resolve(await store.discrepancyOf('other_account', payout), 'undo');
    await compare(back({ party: '254799999999 - JOE' }));
    expect(await kinds()).to.deep.equal(['undone_money', 'money_back']);
    await store.resolve(await store.discrepancyOf('undone_money', payout), 'returned');
    expect(await kinds()).to.deep.equal([]);
  });

  describe('of a customer', () => {
    const openOf = async (payment: AnyPayment) =>
      (await casesOf(store.database, payment)).filter(({ resolved_at }) => resolved_at === null);

    const openCases = async () => {
      const cases = await Promise.all((await open()).map(({ id }) => findCase(store.database, id)));
      return cases.map((each) => each!);
    };

    const collected = (collection: AnyPayment, moment: Date | null) => {
      const told = { transId: receipt, externalRef: null, account: accountOf(collection) };
      return tell(collection, succeeded({ ...told, completedAt: at(2) }), moment);
    };

    it('is not sent again after a file has listed it', async () => {
      const collection = await store.newCollection();
      await tell(collection, FAILURE, at(6));
      await collected(collection, at(4));
      await store.resolve(await store.discrepancyOf('paid_after_failure', collection), 'undo');
      const line = lineOf(collection, { transId: receipt, completedAt: new Date() });
      await read([line], 'monday.csv');
      for (const each of await openOf(collection)) await store.resolve(each, 'undo');
      await read([line]);
      await collected(collection, new Date());
      expect(await store.returnsOf()).to.deep.equal([]);
    });

    for (const then of ['statement', 'callback', 'poll'] as const) {
      for (const confirms of [true, false]) {
        const teller = confirms ? 'a file and the gateway have' : 'a file has';
        it(`is not sent again by itself if ${teller} told of it: it is asked about (${then})`, async () => {
          const collection = await store.newCollection();
          await tell(collection, FAILURE, at(1));
          const line = lineOf(collection, { transId: receipt, completedAt: new Date() });
          await read([line], 'monday.csv');
          if (confirms) await read([line]);
          await store.resolve(await store.discrepancyOf('paid_after_failure', collection), 'undo');
          const nothing = { account: null, amountCents: null, completedAt: null };
          const paidUp = succeeded({ transId: null, externalRef: null, ...nothing });
          if (then === 'statement') await read([line], 'gateway');
          else if (then === 'callback') await collected(collection, new Date());
          else await tell(collection, paidUp, new Date(), 'poll');
          expect(await store.returnsOf()).to.deep.equal([]);
        });
      }
    }

    for (const teller of ['callback', 'answer', 'statement'] as const) {
      it(`is a question that both answers end, if it had completed its collection and the ${teller} tells of it again`, async () => {
        const collection = await store.newCollection();
        const nothing = { account: null, amountCents: null, completedAt: null };
        const answer = succeeded({ transId: null, externalRef: null, ...nothing });
        await tell(collection, answer, at(3), 'poll');
        await tell(collection, FAILURE, at(4));
        for (const kind of ['failure_after_success', 'undone_money'] as const) {
          await store.resolve(await store.discrepancyOf(kind, collection), 'undo');
        }
        if (teller === 'callback') await collected(collection, new Date());
        if (teller === 'answer') await tell(collection, answer, new Date(), 'poll');
        const line = lineOf(collection, { transId: receipt, completedAt: at(2) });
        if (teller === 'statement') await read([line]);
        const [found] = await openCases();
        expect(found).to.include({ kind: 'undone_money' });
        expect(found!.allowed).to.deep.equal(['returned', 'undo']);
        expect(await whyTwo(found!.id, 'returned')).to.be.a('string');
      });
    }

    it('takes two people to be sent after all, if a file had told a wrong receipt of it', async () => {
      const collection = await store.newCollection();
      const nothing = { account: null, amountCents: null, completedAt: null };
      const answer = succeeded({ transId: null, externalRef: null, ...nothing });
      await tell(collection, FAILURE, at(1));
      const line = lineOf(collection, { transId: newReceipt(), completedAt: new Date() });
      await read([line], 'monday.csv');
      await tell(collection, answer, new Date(), 'poll');
      await store.resolve(await store.discrepancyOf('paid_after_failure', collection), 'undo');
      await collected(collection, new Date());
      expect(await store.returnsOf()).to.deep.equal([]);
      const found = (await openCases()).find(({ kind }) => kind === 'paid_after_failure');
      expect(await whyTwo(found!.id, 'returned')).to.be.a('string');
    });

    it('is asked about when the gateway first lists it, if only support and a file had told of it', async () => {
      const collection = await store.newCollection();
      await store.makeOverdue(collection);
      await store.resolve(await store.discrepancyOf('overdue', collection), 'completed', receipt);
      const line = lineOf(collection, { transId: receipt, completedAt: new Date() });
      await read([line], 'monday.csv');
      await tell(collection, FAILURE, new Date(), 'poll');
      await store.resolve(await store.discrepancyOf('failure_after_success', collection), 'undo');
      await read([line]);
      expect(await openCases()).to.have.length(1);
    });

    it('is asked about once by files that name its collection', async () => {
      const collection = await store.newCollection();
      await tell(collection, FAILURE, at(6));
      await collected(collection, at(4));
      await store.resolve(await store.discrepancyOf('paid_after_failure', collection), 'undo');
      const line = lineOf(collection, { transId: receipt, completedAt: at(2) });
      await read([line], 'monday.csv');
      await store.resolve(await store.discrepancyOf('paid_after_failure', collection), 'undo');
      for (const day of ['tuesday', 'wednesday']) await read([line], `${day}.csv`);
      expect(await openCases()).to.deep.equal([]);
    });

    it('takes two people to be sent after all, if the gateway tells of it again', async () => {
      const collection = await store.newCollection();
      await tell(collection, FAILURE, at(6));
      await collected(collection, at(4));
      await store.resolve(await store.discrepancyOf('paid_after_failure', collection), 'undo');
      await collected(collection, new Date());
      const { id } = await store.discrepancyOf('paid_after_failure', collection);
      expect(await whyTwo(id, 'returned')).to.include('Somebody had the money sent back');
    });

    for (const [what, phone] of [
      ['whose return was not sent', null],
      ['of another phone', '+254712009009'],
    ] as const) {
      for (const answer of ['a failure', 'a success without a receipt'] as const) {
        it(`has bounced, ${what}: after ${answer} it is neither sent nor adopted`, async () => {
          const collection = await store.newCollection();
          await tell(collection, FAILURE, at(6));
          const account = phone ?? accountOf(collection);
          const told = { transId: receipt, externalRef: null, completedAt: new Date() };
          await tell(collection, succeeded({ ...told, account }), null);
          await tell(collection, FAILURE, null);
          for (const kind of ['failure_after_success', 'return_failed', 'other_account']) {
            const found = (await openCases()).find((each) => each.kind === kind);
            const as = kind === 'failure_after_success' ? 'dismissed' : 'undo';
            if (found?.allowed.includes(as)) await store.resolve(found, as);
          }
          expect(await openCases()).to.deep.equal([]);
          const nothing = { account: null, amountCents: null, completedAt: null };
          const paid = succeeded({ transId: null, externalRef: null, ...nothing });
          await tell(collection, answer === 'a failure' ? FAILURE : paid, null, 'poll');
          expect(
            (await store.returnsOf()).filter(({ status }) => status !== 'failed'),
          ).to.deep.equal([]);
          await read([
            lineOf(collection, {
              reference: null,
              transId: receipt,
              account,
              completedAt: new Date(),
            }),
          ]);
          const asked = { merchant_id: store.merchantId, receipts: [receipt] };
          expect((await rejection(planAdoption(store.database, asked, RESOLVING))).message).to.be.a(
            'string',
          );
        });
      }
    }

    for (const [which, source] of [
      ['compared with it', 'monday.csv'],
      ['in a comparison that has stopped', 'sunday.csv'],
    ] as const) {
      it(`is asked about when a statement first lists it, beside a payout's row ${which}`, async () => {
        const collection = await store.newCollection();
        await collected(collection, at(3));
        await tell(collection, FAILURE, at(4));
        for (const kind of ['failure_after_success', 'undone_money'] as const) {
          await store.resolve(await store.discrepancyOf(kind, collection), 'undo');
        }
        const line = lineOf(collection, { reference: null, transId: receipt, completedAt: at(2) });
        const row = {
          ...{ ...line, kind: 'reversal' as const, transId: newReceipt(), completedAt: at(9) },
          ...{ hasComeBack: true as const, isUndecided: true as const },
        };
        await read(source === 'monday.csv' ? [line, row] : [row], source);
        const stopped = 'UPDATE statement_imports SET result = NULL WHERE source = :source';
        await store.rewrite(stopped, { source });
        if (source === 'sunday.csv') await read([line], 'monday.csv');
        expect((await openOf(collection)).map(({ kind }) => kind)).to.deep.equal(['undone_money']);
      });
    }
  });
});
