import { expect } from 'chai';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { nameOf } from '../../src/domain/settlement/contrary-news.ts';
import { adoptAsAsked, planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { assignRow } from '../../src/domain/support/assign-row.ts';
import { DAY_MS } from '../../src/time.ts';
import { rowsBackIn } from '../support/rows-back.ts';
import { newReceipt } from '../support/statements.ts';
import { ACKNOWLEDGED, workOn } from '../support/submissions.ts';
import { failed, RESOLVING, rejection, succeeded, useStore } from '../support/world.ts';

const STRANGER = '+254722999886';

describe('A row that names nobody, and that fits a payout whose money is back,', () => {
  const store = useStore({ fresh: true });
  const { at, back, begun, compare, fresh, kinds, open, out, paid, read, takeBack, tell } =
    rowsBackIn(store);
  let payout: Payout;
  let receipt: string;
  let row: string;

  /** The gateway's word alone has called the payout back. Its row is taken for the one that has done so. */
  beforeEach(async () => {
    ({ payout, receipt, row } = await fresh());
    await paid(receipt);
    await tell(payout, failed({ externalRef: null }), at(3));
    await takeBack();
    await compare(back());
    expect(await open()).to.deep.equal([]);
  });

  const rowsOf = async (of: Payout) =>
    (
      await store.rows<{ row_back: string | null }>(
        `SELECT DISTINCT row_back FROM movements WHERE payment_id = '${of.id}'`,
      )
    ).map(({ row_back }) => row_back);
  const candidates = async () =>
    (await open()).map(({ kind, candidates: names }) => [kind, ...(names ?? []).sort()]);
  async function adopt(stray: string): Promise<void> {
    const asked = { merchant_id: store.merchantId, receipts: [stray] };
    const planned = await planAdoption(store.database, asked, RESOLVING);
    const by = { requested_by: 'amina@x.example', reason: 'Restore' };
    await store.transaction((trx) => adoptAsAsked(trx, planned, by, RESOLVING));
  }

  async function expectAskedWith(other: Payout): Promise<void> {
    expect(await candidates()).to.deep.equal([
      ['money_back', ...[nameOf(payout), nameOf(other)].sort()],
    ]);
    expect(await rowsOf(payout)).to.deep.equal([null]);
  }

  it('is a question again once a payout is known that it may bring back as well', async () => {
    const other = await begun(payout.payto);
    await paid(newReceipt(), at(2), other);
    await compare(out());
    await expectAskedWith(other);
    await compare(back());
    await expectAskedWith(other);
  });

  it('is a question again once a payout of its phone that had failed was paid late', async () => {
    const other = await begun(payout.payto);
    await tell(other, failed({ externalRef: null }), at(2));
    await store.refund(other);
    await compare(out());
    expect(await kinds()).to.deep.equal([]);
    await paid(newReceipt(), at(2), other);
    await compare(out());
    expect((await candidates()).filter(([kind]) => kind === 'money_back')).to.deep.equal([
      ['money_back', ...[nameOf(payout), nameOf(other)].sort()],
    ]);
  });

  it('is a question again once another payout has gone to its phone in place of its own one', async () => {
    const other = await begun(STRANGER);
    await tell(
      other,
      succeeded({ transId: newReceipt(), externalRef: null, account: payout.payto }),
      at(2),
    );
    await store.resolve(await store.discrepancyOf('other_account', other), 'completed');
    await compare(out());
    expect((await candidates()).filter(([kind]) => kind === 'money_back')).to.deep.equal([
      ['money_back', ...[nameOf(payout), nameOf(other)].sort()],
    ]);
  });

  for (const phone of ['shown', 'hidden']) {
    it(`is a question again once money is listed that no payment explains, its phone ${phone}`, async () => {
      const stray = newReceipt();
      await compare(out(stray, null, phone === 'shown' ? undefined : ''));
      expect(await candidates()).to.deep.include([
        'money_back',
        nameOf(payout),
        `unknown_movement ${stray}`,
      ]);
    });
  }

  it('is a question again when another row fits the same payout, and so is that row', async () => {
    const own = newReceipt();
    await compare(back({ of: own, moment: at(6) }));
    expect(await candidates()).to.deep.equal([
      ['money_back', nameOf(payout)],
      ['money_back', nameOf(payout)],
    ]);
    const question = (
      await store.rows<{ id: string }>(
        `SELECT id FROM discrepancies WHERE trans_id = '${own}' AND resolved_at IS NULL`,
      )
    )[0]!;
    await store.resolve(question, 'dismissed');
    expect(await rowsOf(payout)).to.deep.equal([own]);
    await compare(back());
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('gives the payout to the row that names it', async () => {
    await compare(back({ of: receipt, moment: at(6) }));
    expect(await rowsOf(payout)).to.deep.equal([receipt]);
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('stays answered by who has seen all that it fits', async () => {
    const other = await begun(payout.payto);
    await paid(newReceipt(), at(2), other);
    await compare(out());
    await store.resolve((await open())[0]!, 'dismissed');
    expect(await rowsOf(payout)).to.deep.equal([row]);
    await compare(out(), back());
    expect(await kinds()).to.deep.equal([]);
    const third = await begun(payout.payto);
    await paid(newReceipt(), at(2), third);
    await compare(out());
    expect((await candidates())[0]).to.include(nameOf(third));
    const [question] = await open();
    await store.transaction((trx) => assignRow(trx, question!.id, refOf(third), 'amina@x.example'));
    expect(await store.discrepanciesOf(third.id)).to.deep.equal(['failure_after_success']);
  });

  it('stays explained while only later payouts go to its phone', async () => {
    const later = await begun(payout.payto);
    await paid(newReceipt(), new Date(Date.now() + DAY_MS / 24), later);
    await compare(out(), back());
    expect(await kinds()).to.deep.equal([]);
  });

  it('is a question again once it turns out to name another payment', async () => {
    const other = await begun(payout.payto);
    await tell(other, failed({ externalRef: null }), at(2));
    await store.refund(other);
    await paid(row, at(2), other);
    await compare(back());
    expect((await candidates()).flat()).to.include(nameOf(other));
    expect(await rowsOf(payout)).to.deep.equal([null]);
  });

  it('is a question though it hides digits, if an older payout may have come back', async () => {
    const masked = newReceipt();
    const party = `${payout.payto.slice(1, 5)}*****${payout.payto.slice(-3)} - JANE`;
    const again = await begun(payout.payto);
    await paid(newReceipt(), at(1), again);
    await tell(again, failed({ externalRef: null }), at(3));
    await takeBack(again);
    const old = await begun(payout.payto);
    await store.rewrite(
      `UPDATE payouts SET created_at = created_at - interval '30 days' WHERE id = :id`,
      old,
    );
    await paid(newReceipt(), new Date(Date.now() - 30 * DAY_MS), old);
    await compare(back({ of: masked, party, moment: at(6) }));
    for (const shown of [{ party }, {}]) {
      await compare(back({ of: masked, moment: at(6), ...shown }));
      expect(await rowsOf(again)).to.deep.equal([null]);
      expect((await candidates()).flat()).to.include.members([nameOf(again), nameOf(old)]);
    }
  });

  it('is a question if a payout has moved in parts of its amount', async () => {
    const other = await begun(payout.payto);
    await paid(newReceipt(), at(2), other);
    await store.rewrite('UPDATE movements SET amount_cents = 6000 WHERE payment_id = :id', other);
    await compare(out());
    expect((await candidates()).map(([kind]) => kind)).to.include('money_back');
  });

  it('is one of two questions that `undo` answers: the row may be of another payment still', async () => {
    const second = await begun(payout.payto);
    const own = newReceipt();
    await paid(newReceipt(), at(2), second);
    await compare(back({ of: own, moment: at(3) }));
    await takeBack(second);
    expect(await rowsOf(second)).to.deep.equal([own]);
    const other = await begun(payout.payto);
    await paid(newReceipt(), at(2), other);
    await compare(out());
    expect(await rowsOf(second)).to.deep.equal([null]);
  });

  it('is nobody’s alone if it is adopted as money in, and not adopted if it brings money back', async () => {
    const stray = newReceipt();
    const lineIn = { reference: null, account: payout.payto, amountCents: 10_000 };
    const asIn = { ...lineIn, kind: 'collection' as const, transId: stray, completedAt: at(5) };
    await read([asIn], 'in.csv');
    await adopt(stray);
    await compare(back({ of: stray }));
    const named = (await candidates()).flat().map((name) => name!.split(' ')[0]);
    expect(named).to.include('adoption');
    const asBack = newReceipt();
    await compare(back({ of: asBack, moment: at(7) }));
    await read([{ ...asIn, transId: asBack }], 'in.csv');
    expect((await rejection(adopt(asBack))).message).to.include('money that comes back');
  });

  for (const of of [{ transId: null, reference: 'RTN9' }, {}]) {
    it(`is no money in, though another form says so: ${of.reference ?? 'by its receipt'}`, async () => {
      const collection = await store.newCollection({ payfrom: payout.payto });
      const work = workOn(store.database, collection);
      await work.answer(await work.claim(), ACKNOWLEDGED);
      const asBack = {
        ...{
          kind: 'reversal' as const,
          reference: null,
          account: payout.payto,
          amountCents: 10_000,
        },
        ...{ transId: newReceipt(), completedAt: new Date(), ...of },
      };
      await read([{ ...asBack, isUndecided: true, hasComeBack: true }], 'back.csv');
      await read([{ ...asBack, kind: 'collection' }], 'in.csv');
      expect((await store.reread(collection)).status).to.equal('processing');
      expect((await rejection(adopt(of.reference ?? asBack.transId!))).message).to.include(
        'money that comes back',
      );
    });
  }
});
