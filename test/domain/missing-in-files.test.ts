import { expect } from 'chai';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { lineOf, newReceipt } from '../support/statements.ts';
import { toldIn } from '../support/told.ts';
import { reversalRequest, succeeded, useStore } from '../support/world.ts';

const OPEN = ['missing_at_gateway'];
const ENDED = ['missing_at_gateway (resolved)'];

/** Money that the callback has told of is missing in a statement. Another one lists it. */
describe('Money that a statement lacks', () => {
  const store = useStore({ fresh: true });
  const { at, read, tell } = toldIn(store);

  /** A payment that its callback has completed at a minute, with its line. */
  async function completed(kind: StatementLine['kind'], minute: number) {
    const payment = await store.newPayment(kind);
    const transId = newReceipt();
    const completedAt = at(minute);
    const news = succeeded({ transId, externalRef: null, completedAt });
    await tell(payment, news, at(minute));
    return { payment, line: lineOf(payment, { transId, completedAt }) };
  }

  for (const kind of ['payout', 'collection', 'reversal'] as const) {
    describe(`(${kind})`, () => {
      let missed: Awaited<ReturnType<typeof completed>>;
      let later: StatementLine;
      const found = () => store.discrepanciesOf(missed.payment.id);

      beforeEach(async () => {
        missed = await completed(kind, 1);
        later = (await completed(kind, 3)).line;
      });

      it('is no question any more once a whole file has it, after a partial one', async () => {
        await read([later], 'part.csv', [kind]);
        expect(await found()).to.deep.equal(OPEN);
        await read([missed.line, later], 'whole.csv', [kind]);
        expect(await found()).to.deep.equal(ENDED);
      });

      it('is no question any more once its row is completed, which was pending in a file before', async () => {
        await read([{ ...missed.line, isUndecided: true }, later], 'today.csv', [kind]);
        expect(await found()).to.deep.equal(OPEN);
        await read([missed.line, later], 'tomorrow.csv', [kind]);
        expect(await found()).to.deep.equal(ENDED);
      });

      it('stays a question if the file has it with another amount', async () => {
        await read([later], 'part.csv', [kind]);
        await read([{ ...missed.line, amountCents: 100 }, later], 'whole.csv', [kind]);
        expect(await found()).to.include(OPEN[0]);
      });

      for (const order of ['first', 'later'] as const) {
        it(`stays a question for a file if the gateway’s own statement, compared ${order}, lacks it too`, async () => {
          if (order === 'later') await read([later], 'part.csv', [kind]);
          await read([later], undefined, [kind]);
          if (order === 'first') await read([later], 'part.csv', [kind]);
          await read([missed.line, later], 'whole.csv', [kind]);
          expect(await found()).to.deep.equal(OPEN);
        });
      }

      it('stays dismissed when another file lacks it, and is a question when the gateway’s statement does', async () => {
        await read([later], 'part.csv', [kind]);
        const { id } = await store.discrepancyOf('missing_at_gateway', missed.payment);
        await store.resolve({ id }, 'dismissed');
        await read([later], 'again.csv', [kind]);
        expect(await found()).to.deep.equal(ENDED);
        await read([later], undefined, [kind]);
        expect(await found()).to.deep.equal(OPEN);
      });
    });
  }

  it('is none if its row says that a collection was reversed, which it was', async () => {
    const { payment, line } = await completed('collection', 1);
    const reversal = await createReversal(store.database, reversalRequest(payment as Collection));
    const transId = newReceipt();
    await tell(reversal, succeeded({ transId, externalRef: null, completedAt: at(3) }), at(3));
    const back = lineOf(reversal, { transId, completedAt: at(3) });
    await read([{ ...line, isUndecided: true }, back], 'file.csv', ['collection', 'reversal']);
    expect(await store.discrepanciesOf(payment.id)).to.deep.equal([]);
  });
});
