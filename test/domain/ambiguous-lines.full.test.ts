import { expect } from 'chai';
import { auditedFor } from '../../src/domain/audit/audit.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { doubtPayment } from '../../src/domain/support/doubt-payment.ts';
import { DAY_MS } from '../../src/time.ts';
import { discrepancyOf, hear, resolve } from '../support/discrepancies/scene.ts';
import { SO_FAR } from '../support/so-far.ts';
import { COMPLETED_AT, lineOf, newReceipt, runStatement } from '../support/statements.ts';
import type { TestMerchant } from '../support/test-merchant.ts';
import { failed, newPayment, succeeded, UNKNOWN, useStore } from '../support/world.ts';

describe('A line of a statement', () => {
  const store = useStore({ fresh: true });

  afterEach(async () => {
    await store.expectSoundLedger();
  });

  const run = (...lines: StatementLine[]) => runStatement(store.database, lines, SO_FAR);

  /** A payment of a merchant of its own. */
  const ofSomebody = async (kind: AnyPayment['kind']) =>
    newPayment(kind, store.database, await store.newMerchant());

  async function completed(kind: AnyPayment['kind'], transId: string) {
    const payment = await ofSomebody(kind);
    await store.learn(payment, succeeded({ transId }));
    return payment;
  }

  const doubt = (payment: AnyPayment) => {
    const by = { actor: 'colleague', action: 'payment.doubt', reason: 'The wrong row' };
    return doubtPayment(auditedFor(store.database, by), refOf(payment), by);
  };

  const nameAll = (external_ref: string) =>
    store.rows('UPDATE payouts SET external_ref = :external_ref', { external_ref });

  const candidates = async () => {
    const found = await store.rows<{ kind: string; candidates: string[] }>(
      "SELECT kind, details->'candidates' AS candidates FROM discrepancies",
    );
    expect(found.map(({ kind }) => kind)).to.deep.equal(['unknown_movement']);
    return found[0]!.candidates;
  };

  const named = ({ kind, id, merchant_id }: AnyPayment) =>
    `${kind} ${id} of merchant ${merchant_id}`;

  it('that fits payments of two merchants settles neither, and names both', async () => {
    const payouts = [await ofSomebody('payout'), await ofSomebody('payout')];
    await nameAll('GW-1');
    const line = lineOf(payouts[0]!, { reference: 'GW-1' });
    for (let time = 1; time <= 2; time += 1) {
      expect((await run(line)).lines).to.include({ contradicts: 1, settled: 0, unknown: 0 });
    }
    for (const payout of payouts) {
      expect(await store.reread(payout)).to.include({ status: 'pending' });
    }
    expect(await candidates()).to.have.members(payouts.map(named));
    expect(await store.countOf('movements')).to.equal(0);
  });

  it('finds its payment by a gateway’s reference that has the form of a UUID', async () => {
    const payout = await ofSomebody('payout');
    const reference = crypto.randomUUID();
    await nameAll(reference);
    expect((await run(lineOf(payout, { reference }))).lines).to.include({ settled: 1, unknown: 0 });
    expect(await store.reread(payout)).to.include({ status: 'completed' });
  });

  it('matches no movement when its receipt is booked with two payments', async () => {
    const receipt = newReceipt();
    const payouts = [await completed('payout', receipt), await completed('payout', newReceipt())];
    await store.rewrite('UPDATE movements SET trans_id = :receipt', { receipt });
    for (const reference of [null, payouts[0]!.reference]) {
      const line = lineOf(payouts[0]!, { reference, transId: receipt });
      expect((await run(line)).lines).to.include({ contradicts: 1, matched: 0 });
    }
    expect(await candidates()).to.have.members(payouts.map(named));
  });

  for (const isReceiptAlone of [false, true]) {
    const by = isReceiptAlone ? 'its receipt alone' : 'reference and receipt';
    it(`settles, and then matches by ${by}, the payment whose receipt was booked with another one until that was undone`, async () => {
      const merchant = await store.newMerchant();
      const scene = { database: store.database, merchant };
      const transId = newReceipt();
      const wrong = await newPayment('collection', store.database, merchant);
      await store.learn(wrong, succeeded({ transId }), 'poll');
      await hear(scene, wrong, failed());
      await resolve(scene, await discrepancyOf(scene, 'failure_after_success'), 'undo');
      await resolve(scene, await discrepancyOf(scene, 'undone_money'), 'undo');
      const right = await ofSomebody('collection');
      const line = lineOf(right, { transId });
      expect((await run(line)).lines).to.include({ settled: 1 });
      expect(await store.reread(right)).to.include({ status: 'completed', trans_id: transId });
      const again = isReceiptAlone ? { ...line, reference: null } : line;
      expect((await run(again)).lines).to.include({ matched: 1 });
    });
  }

  it('of money that came in lists no money that went out under the same receipt', async () => {
    const receipt = newReceipt();
    const collection = await completed('collection', receipt);
    const payout = await completed('payout', receipt);
    const lineIn = lineOf(collection, { reference: null, transId: receipt });
    const lineOut = lineOf(payout, { reference: null, transId: receipt });
    const { missing } = await run(lineIn);
    expect(missing.map(({ payment_id }) => payment_id)).to.deep.equal([payout.id]);
    const both = await run(lineIn, lineOut);
    expect(both).to.deep.include({ missing: [] });
    expect(both.lines).to.include({ matched: 2 });
  });

  it('settles nothing by the receipt of a payment of another kind', async () => {
    const receipt = newReceipt();
    const payout = await completed('payout', receipt);
    const line = lineOf(payout, { kind: 'reversal', reference: null, transId: receipt });
    expect((await run(line)).lines).to.include({ contradicts: 1 });
    expect(await candidates()).to.deep.equal([named(payout)]);
  });

  it('that is twice in a statement is booked once', async () => {
    const payout = await ofSomebody('payout');
    await nameAll('GW-1');
    const line = lineOf(payout);
    const lines = [line, line, { ...line, reference: 'GW-1' }, { ...line, reference: null }];
    expect((await run(...lines)).lines).to.deep.equal({
      ...{ settled: 1, matched: 3, contradicts: 0, unknown: 0 },
    });
    expect(await store.countOf('movements')).to.equal(1);
  });

  it('that names its payment a second time, without receipts and at another time, is a question', async () => {
    const payout = await ofSomebody('payout');
    const line = lineOf(payout, { transId: null });
    const later = { ...line, completedAt: new Date(line.completedAt.getTime() + 60_000) };
    expect((await run(line, later)).lines).to.include({ settled: 1, contradicts: 1, matched: 0 });
    expect(await candidates()).to.have.members([named(payout)]);
    expect(await store.countOf('movements')).to.equal(1);
  });

  it('that names its payment in a later statement, without receipts and at another time, is a question', async () => {
    const payout = await ofSomebody('payout');
    const line = lineOf(payout, { transId: null });
    const later = { ...line, completedAt: new Date(line.completedAt.getTime() + 600_000) };
    expect((await run(line)).lines).to.include({ settled: 1 });
    expect((await run(line)).lines).to.include({ matched: 1 });
    expect((await run(later)).lines).to.include({ contradicts: 1, matched: 0 });
    expect(await candidates()).to.have.members([named(payout)]);
    expect((await run(line, later)).lines).to.include({ matched: 1, contradicts: 1 });
    expect(await store.countOf('movements')).to.equal(1);
  });

  describe('that names its payment at another time, one of both without a receipt,', () => {
    const DAY_LATER = new Date(COMPLETED_AT.getTime() + DAY_MS);

    for (const [what, first, second] of [
      ['the second', newReceipt(), null],
      ['the first', null, newReceipt()],
    ] as const) {
      for (const isOneStatement of [true, false]) {
        const where = isOneStatement ? 'in one statement' : 'in two statements';
        it(`is a question (${what}, ${where}), and a repetition is none`, async () => {
          const payout = await ofSomebody('payout');
          const one = lineOf(payout, { transId: first });
          const other = lineOf(payout, { transId: second, completedAt: DAY_LATER });
          const told = isOneStatement
            ? await run(one, other)
            : (await run(one)) && (await run(other));
          expect(told.lines).to.include({ contradicts: 1, matched: 0 });
          expect((await run(one, other)).lines).to.include({ matched: 1, contradicts: 1 });
          expect(await candidates()).to.have.members([named(payout)]);
          expect(await store.countOf('movements')).to.equal(1);
        });
      }
    }

    it('is a question though another statement had only the first of two, a minute before', async () => {
      const payout = await ofSomebody('payout');
      const first = lineOf(payout, { transId: null });
      const second = { ...first, completedAt: new Date(COMPLETED_AT.getTime() + 60_000) };
      await run(first);
      expect((await run(first, second)).lines).to.include({ matched: 1, contradicts: 1 });
      expect((await run(first, second)).lines).to.include({ matched: 1, contradicts: 1 });
    });

    it('is a question by whatever name of the payment', async () => {
      const payout = await ofSomebody('payout');
      await nameAll('GW-9');
      for (const reference of ['GW-9', payout.reference.toUpperCase()]) {
        const first = lineOf(payout, { transId: null });
        const second = { ...first, reference, completedAt: DAY_LATER };
        expect((await run(first, second)).lines, reference).to.include({ contradicts: 1 });
      }
    });

    it('is none after the undo of what a wrong file had told: the gateway’s line is heard', async () => {
      const payout = await ofSomebody('payout');
      const wrong = lineOf(payout, { transId: null });
      await runStatement(store.database, [wrong], SO_FAR, { covers: [] }, 'file.csv');
      const scene = { database: store.database, merchant: { merchant_id: payout.merchant_id } };
      await doubt(payout);
      await resolve(scene as never, await discrepancyOf(scene as never, 'doubted'), 'undo');
      const { lines } = await run(lineOf(payout, { completedAt: DAY_LATER }));
      expect(lines).to.include({ unknown: 0 });
      expect(await store.reread(payout)).to.include({
        parked_reason: 'discrepancy: second_success',
      });
    });

    it('is a question also when a callback had told the receipt', async () => {
      const payout = await completed('payout', newReceipt());
      const bare = lineOf(payout, { transId: null });
      expect((await run(bare)).lines).to.include({ matched: 1 });
      const later = { ...bare, completedAt: DAY_LATER };
      expect((await run(later)).lines).to.include({ contradicts: 1 });
    });
  });

  it('lists a movement without receipt that it names by the gateway’s reference', async () => {
    const payout = await ofSomebody('payout');
    await store.learn(payout, succeeded({ transId: null, externalRef: 'GW-2' }));
    const { lines, missing } = await run(lineOf(payout, { reference: 'GW-2', transId: null }));
    expect(lines).to.include({ matched: 1 });
    expect(missing).to.deep.equal([]);
  });

  describe('with neither a reference nor a known receipt', () => {
    const JUST_NOW = new Date();
    const bare = (payment: AnyPayment) =>
      lineOf(payment, { reference: null, transId: newReceipt(), completedAt: JUST_NOW });
    const today = { from: day(JUST_NOW), to: day(JUST_NOW) };
    const runToday = (...lines: StatementLine[]) => runStatement(store.database, lines, today);

    /** Its request went out, and no answer came. */
    async function unanswered(merchant?: TestMerchant) {
      const collection = await newPayment(
        'collection',
        store.database,
        merchant ?? (await store.newMerchant()),
      );
      const work = store.workOn(collection);
      await work.answer(await work.claim(), UNKNOWN);
      return collection;
    }

    it('settles the only collection of its phone and amount at that time', async () => {
      const collection = await unanswered();
      const line = bare(collection);
      expect((await runToday(line)).lines).to.include({ settled: 1, unknown: 0 });
      expect(await store.reread(collection)).to.include({
        status: 'completed',
        trans_id: line.transId,
      });
      expect((await runToday(line)).lines).to.include({ matched: 1 });
    });

    it('gives its receipt to one that was completed without', async () => {
      const collection = await unanswered();
      await store.learn(collection, succeeded({ transId: null, completedAt: null }));
      const line = bare(collection);
      expect((await runToday(line)).lines).to.include({ matched: 1 });
      expect(await store.reread(collection)).to.include({ trans_id: line.transId });
    });

    it('settles one whose other receipt was taken back, since a file had told it wrongly', async () => {
      const merchant = await store.newMerchant();
      const collection = await unanswered(merchant);
      const wrong = lineOf(collection, { account: '+254700999888', completedAt: JUST_NOW });
      await runStatement(store.database, [wrong], today, { covers: [] }, 'file.csv');
      const scene = { database: store.database, merchant };
      await resolve(scene, await discrepancyOf(scene, 'other_account'), 'undo');
      const line = bare(collection);
      expect((await runToday(line)).lines).to.include({ settled: 1 });
      expect(await store.reread(collection)).to.include({ trans_id: line.transId });
    });

    it('finds it by the shown digits of a phone, also the completed one that lacks its receipt', async () => {
      const [open, done] = [await unanswered(), await unanswered()];
      await store.learn(done, succeeded({ transId: null, completedAt: null }));
      await store.rewrite("UPDATE collections SET payfrom = '+254700111222' WHERE id = :id", done);
      await store.rewrite("UPDATE movements SET account = '+254700111222'");
      const lines = [
        { ...bare(open), account: '+2547*****678' },
        { ...bare(done), account: '+2547*****222' },
        { ...bare(done), account: '+2547*****223' },
      ];
      const found = await runToday(...lines);
      expect(found.lines).to.include({ settled: 1, matched: 1, unknown: 1, contradicts: 0 });
      expect(found.missing).to.deep.equal([]);
      expect(await store.reread(done)).to.include({ trans_id: lines[1]!.transId });
      expect(await store.reread(open)).to.include({ trans_id: lines[0]!.transId });
    });

    it('sends nothing back for a failed one, whose customer may have paid by hand', async () => {
      const collection = await unanswered();
      await store.learn(collection, failed({ externalRef: null }));
      expect((await runToday(bare(collection))).lines).to.include({ contradicts: 1, settled: 0 });
      expect(await candidates()).to.have.members([named(collection)]);
      expect(await store.countOf('returns')).to.equal(0);
    });

    it('settles none of two that it may be about, and names both', async () => {
      const collections = [await unanswered(), await unanswered()];
      expect((await runToday(bare(collections[0]!))).lines).to.include({ contradicts: 1 });
      expect(await candidates()).to.have.members(collections.map(named));
    });

    it('settles nothing with another amount, another phone, at another time, or never sent', async () => {
      const line = bare(await unanswered());
      const hourAgo = new Date(JUST_NOW.getTime() - 3_600_000);
      const unsent = await ofSomebody('collection');
      await store.rewrite(
        "UPDATE collections SET payfrom = '+254700111222' WHERE id = :id",
        unsent,
      );
      const others = [
        { ...line, amountCents: line.amountCents + 100, transId: newReceipt() },
        { ...line, account: '+254700999888', transId: newReceipt() },
        { ...line, completedAt: hourAgo, transId: newReceipt() },
        { ...bare(unsent), account: '+254700111222' },
      ];
      const { lines } = await runStatement(store.database, others, {
        ...today,
        from: day(hourAgo),
      });
      expect(lines).to.include({ settled: 0, unknown: 4 });
    });
  });
});

function day(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}
