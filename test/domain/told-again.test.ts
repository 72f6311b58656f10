import { expect } from 'chai';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { assignRow } from '../../src/domain/support/assign-row.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import type { Resolution } from '../../src/domain/support/resolution.ts';
import { rowsBackIn } from '../support/rows-back.ts';
import { newReceipt } from '../support/statements.ts';
import { workOn } from '../support/submissions.ts';
import { failed, succeeded, useStore } from '../support/world.ts';

const FAILURE = failed({ externalRef: null });
/** Whether the first word, and the second one, have the receipt. Most answers of gateways have none. */
const WORDS = [
  [true, true],
  [true, false],
  [false, true],
  [false, false],
] as const;

describe('A payout that is back, and of which the gateway tells again,', () => {
  const store = useStore({ fresh: true });
  const { at, back, begun, compare, fresh, kinds, open, paid, takeBack, tell } = rowsBackIn(store);
  let payout: Payout;
  let receipt: string;

  beforeEach(async () => {
    ({ payout, receipt } = await fresh());
  });

  /** A payout of the same amount to the same phone, of which nobody knows yet how it ends. */
  async function sent(): Promise<Payout> {
    const other = await begun(payout.payto);
    const work = workOn(store.database, other);
    await work.answer(await work.claim(), { outcome: 'acknowledged', externalRef: null });
    return other;
  }

  /** The money is as old as before. */
  const tellAgain = (transId: string | null) => {
    const { payto: account } = payout;
    const news = succeeded({ transId, externalRef: null, account, completedAt: at(1) });
    return tell(payout, news, new Date());
  };

  async function answer(of: Payout, as: Resolution): Promise<void> {
    const found = (await casesOf(store.database, of)).find(({ resolved_at }) => !resolved_at);
    await store.resolve(found!, as);
  }

  const assign = (of: Payout) =>
    store.transaction(async (trx) => {
      const question = (await open()).find(({ kind }) => kind === 'money_back');
      await assignRow(trx, question!.id, of, 'amina@x.example');
    });

  for (const [first, second] of WORDS) {
    const words = `${first ? 'with' : 'without'} and ${second ? 'with' : 'without'} its receipt`;

    it(`gives a row free that was assigned to it, once its money is lost: ${words}`, async () => {
      const other = await sent();
      await paid(first ? receipt : null);
      await compare(back());
      expect(await kinds()).to.deep.equal(['money_back']);
      await assign(payout);
      await takeBack();
      await tellAgain(second ? receipt : null);
      await paid(newReceipt(), new Date(), other);
      await answer(payout, 'failed');
      expect(await kinds()).to.deep.equal(['money_back']);
    });

    it(`explains one row, though it is called back twice: ${words}`, async () => {
      await paid(first ? receipt : null);
      await tell(payout, FAILURE, at(3));
      await takeBack();
      await compare(back());
      expect(await open()).to.deep.equal([]);
      await tellAgain(second ? receipt : null);
      await answer(payout, 'returned');
      // Its payout is not told yet: nobody knows which row is whose.
      await compare(back(), back({ of: newReceipt() }));
      expect(await kinds()).to.deep.equal(['money_back', 'money_back']);
    });
  }

  it('leaves the row of a payout that is on its way a question', async () => {
    const other = await sent();
    await paid(receipt);
    await tell(payout, FAILURE, at(3));
    await takeBack();
    await compare(back());
    const [question] = await open();
    expect(question).to.include({ kind: 'money_back' });
    expect(question!.candidates).to.have.length(2);
    await paid(newReceipt(), at(2), other);
    await assign(other);
    await takeBack(other);
    expect(await open()).to.deep.equal([]);
    expect((await store.reread(other)).status).to.equal('failed');
  });
});
