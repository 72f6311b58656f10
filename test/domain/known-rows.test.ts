import { expect } from 'chai';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { DAY_MS } from '../../src/time.ts';
import { rowsBackIn } from '../support/rows-back.ts';
import { newReceipt } from '../support/statements.ts';
import { workOn } from '../support/submissions.ts';
import { failed, useStore } from '../support/world.ts';

const OLD_DAYS = 30;

describe('A row that brings money back, and that a file shows again in another form,', () => {
  const store = useStore({ fresh: true });
  const { at, back, begun, compare, fresh, kinds, open, out, paid, takeBack, tell } =
    rowsBackIn(store);
  let payout: Payout;
  /** To the same phone, of the same amount. */
  let other: Payout;
  let receipt: string;
  let row: string;

  beforeEach(async () => {
    ({ payout, receipt, row } = await fresh());
    other = await begun(payout.payto);
  });

  const namesAsked = async () => (await open())[0]!.candidates!.map((name) => name.split(' ')[1]);

  it('is judged by the account that it was asked about with', async () => {
    // A masked phone fits payouts of fewer days.
    const days = `created_at - interval '${OLD_DAYS} days'`;
    await store.rewrite(`UPDATE payouts SET created_at = ${days} WHERE id = :id`, payout);
    await paid(newReceipt(), new Date(Date.now() - OLD_DAYS * DAY_MS));
    await paid(newReceipt(), at(2), other);
    await tell(other, failed({ externalRef: null }), at(3));
    await takeBack(other);
    await compare(back());
    for (const party of ['', ` ${payout.payto.slice(1, 5)}*****${payout.payto.slice(-3)} - JANE`]) {
      await compare(back({ party }));
      expect(await kinds()).to.deep.equal(['money_back']);
      expect(await namesAsked()).to.have.members([payout.id, other.id]);
    }
  });

  it('is judged by the time that it was asked about with', async () => {
    await paid(newReceipt(), at(1));
    await paid(newReceipt(), at(4), other);
    await compare(back({ moment: at(9) }));
    await compare(back({ moment: new Date(at(2).getTime() - DAY_MS / 3) }));
    expect(await kinds()).to.deep.equal(['money_back']);
    expect(await namesAsked()).to.have.members([payout.id, other.id]);
  });

  it('is asked about at no payout once it is booked by hand', async () => {
    await paid(newReceipt());
    await paid(newReceipt(), at(2), other);
    await compare(back());
    await store.transaction((trx) =>
      bookOperatorEntry(trx, {
        ...{ kind: 'adjustment', wallet: 'payout', against: 'losses', reason: 'Back' },
        ...{ merchant_id: store.merchantId, reference: row, amount_cents: 10_250 },
      }),
    );
    await tell(payout, failed({ externalRef: null }), at(6));
    await takeBack();
    await compare(back({ of: newReceipt() }));
    // Only the other payout fits the first row by now.
    await compare(back());
    expect(await kinds()).to.deep.equal(['money_back', 'money_back']);
  });

  it('counts as the coming back of a payout when it is dismissed, though a retry is on its way', async () => {
    await paid(receipt);
    await tell(payout, failed({ externalRef: null }), at(3));
    await takeBack();
    const work = workOn(store.database, other);
    await work.answer(await work.claim(), { outcome: 'acknowledged', externalRef: null });
    await compare(back());
    expect(await kinds()).to.deep.equal(['money_back']);
    await store.resolve((await open())[0]!, 'dismissed');
    const rowsBack = await store.rows('SELECT row_back FROM movements');
    expect(rowsBack).to.deep.equal([{ row_back: row }]);
  });

  describe('beside the line of a forgotten payout', () => {
    /** The payout is back, without a row. */
    beforeEach(async () => {
      await paid(receipt);
      await tell(payout, failed({ externalRef: null }), at(3));
      await takeBack();
    });

    async function dismissAll(): Promise<void> {
      for (const question of await open()) await store.resolve(question, 'dismissed');
    }

    it('is a question once that line is dismissed, as after an entry by hand', async () => {
      await compare(out(newReceipt(), null));
      await dismissAll();
      await compare(back());
      expect(await kinds()).to.deep.equal(['money_back']);
    });

    it('is not taken for the coming back of another payout when both are dismissed', async () => {
      await compare(out(newReceipt(), null), back());
      await dismissAll();
      await compare(out(receipt, null));
      expect(await kinds()).to.deep.equal(['undone_money']);
    });
  });
});
