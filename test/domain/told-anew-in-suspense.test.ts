import { expect } from 'chai';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';

import { receiptOf, succeeded, useStore } from '../support/world.ts';

const STRANGER = '+254799000999';

describe('Money that waits in suspense, and that the gateway tells anew with', () => {
  const store = useStore();

  afterEach(() => store.expectRightBooks());

  const tell = (payment: AnyPayment, more: Partial<ReturnType<typeof succeeded>>) =>
    store.hear(payment, succeeded({ transId: receiptOf(payment), ...more }));

  for (const kind of ['collection', 'payout', 'reversal'] as const) {
    it(`the right amount completes its ${kind} with that amount`, async () => {
      const payment = await store.newPayment(kind);
      const half = payment.amount_cents / 2;
      await tell(payment, { amountCents: half });
      await tell(payment, { amountCents: payment.amount_cents });
      const question = await store.discrepancyOf('other_amount', payment);
      await store.resolve(question, 'accept-amount');
      expect(await store.reread(payment)).to.include({
        ...{ status: 'completed', amount_cents: payment.amount_cents },
      });
      expect(await store.accountBalance('suspense')).to.equal(0);
    });
  }

  it('another amount goes back to the customer with that amount', async () => {
    const collection = await store.newCollection();
    await tell(collection, { amountCents: 6_000 });
    await tell(collection, { amountCents: 7_000 });
    await store.resolve(await store.discrepancyOf('other_amount', collection), 'returned');
    const [back] = await store.returnsOf();
    expect(back).to.include({ amount_cents: 7_000 });
  });

  it('another phone goes back to that phone', async () => {
    const collection = await store.newCollection();
    await tell(collection, { account: '+254711000111' });
    await tell(collection, { account: STRANGER });
    await store.resolve(await store.discrepancyOf('other_account', collection), 'returned');
    const [back] = await store.returnsOf();
    expect(back).to.include({ account: STRANGER });
  });
});
