import { expect } from 'chai';
import { newReceipt } from '../support/statements.ts';
import { succeeded, useStore } from '../support/world.ts';

describe('Two receipts that together are the money', () => {
  const store = useStore();

  afterEach(() => store.expectRightBooks());

  for (const kind of ['reversal', 'return'] as const) {
    for (const at of ['other_amount', 'second_success'] as const) {
      it(`of a ${kind} complete it, joined at its ${at}`, async () => {
        const payment = await store.newPayment(kind);
        const [first, second] = [newReceipt(), newReceipt()];
        await store.hear(
          payment,
          succeeded({ transId: first, amountCents: 6_000 }),
          succeeded({ transId: second, amountCents: 4_000 }),
        );
        const question = await store.discrepancyOf(at, payment);
        await store.resolve(question, 'parts', `${first},${second}`);
        expect(await store.reread(payment)).to.include({
          ...{ status: 'completed', amount_cents: 10_000 },
        });
        expect(await store.accountBalance('suspense')).to.equal(0);
        expect(
          await store.rows('SELECT kind FROM discrepancies WHERE resolved_at IS NULL'),
        ).to.deep.equal([]);
      });
    }
  }
});
