import { expect } from 'chai';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { nameOf } from '../../src/domain/settlement/contrary-news.ts';
import { assignRow } from '../../src/domain/support/assign-row.ts';
import { DAY_MS } from '../../src/time.ts';
import { rowsBackIn } from '../support/rows-back.ts';
import { newReceipt } from '../support/statements.ts';
import { failed, succeeded, useStore } from '../support/world.ts';

const STRANGER = '+254722999886';

describe('A row that names nobody, and that fits a payout whose money is back,', () => {
  const store = useStore({ fresh: true });
  const { at, back, begun, compare, fresh, kinds, open, out, paid, takeBack, tell } =
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
});
