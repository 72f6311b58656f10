import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { openOverdue } from '../../src/domain/discrepancies/overdue.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { recordCallbackBase } from '../../src/service/callback-base.ts';
import { darajaEnvironment, SHORTCODE, startDaraja } from '../support/daraja-under-test.ts';
import { rewrite } from '../support/database.ts';
import { newCollection } from '../support/payments.ts';
import { newReceipt } from '../support/statements.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import {
  type DoorCase,
  type Doors,
  expectRefusedAtBothDoors,
  expectSameAtBothDoors,
  openDoors,
} from './doors.ts';

describe('A question about a receipt at both doors', () => {
  let daraja: Awaited<ReturnType<typeof startDaraja>>;
  let doors: Doors;

  before(async () => {
    daraja = await startDaraja();
    doors = await openDoors(darajaEnvironment(daraja.url));
    await recordCallbackBase(database(), daraja.url);
  });
  after(async () => {
    await doors.close();
    await daraja.close();
  });

  const database = () => doors.test.testDatabase.database;

  const asked: DoorCase<Awaited<ReturnType<typeof newCollection>>> = {
    name: 'payment.ask-receipt',
    make: async () => {
      const merchant = await createTestMerchant(doors.test.service);
      return newCollection(database(), merchant, { gateway: `daraja-${SHORTCODE}` });
    },
    role: 'support',
    command: ({ id }) => ['payment', 'ask-receipt', id, '--trans-id', 'SJK3ABCDE1'],
    page: ({ kind, merchant_id, id }) => `/payments/${kind}/${merchant_id}/${id}/ask-receipt`,
    form: () => ({ trans_id: 'SJK3ABCDE1' }),
    effect: async ({ id }) =>
      rows(database(), 'SELECT status, trans_id FROM collections WHERE id = :id', { id }),
    names: ({ merchant_id }) => ({ MERCHANT: String(merchant_id) }),
  };

  it('goes out once, with one line in the audit log', async () => {
    await expectSameAtBothDoors(doors, asked);
    const counts = await (await fetch(`${daraja.url}/counts`)).json();
    expect(counts).to.include({ '/mpesa/transactionstatus/v1/query': 2 });
  });

  it('refuses a lower role, and a question without a reason', () =>
    expectRefusedAtBothDoors(doors, asked));

  it('is advised before support completes a payment with a receipt that nothing proves', async () => {
    const collection = await asked.make();
    const past = `UPDATE collections SET deadline_at = now() - interval '1 minute' WHERE id = :id`;
    await rewrite(database(), past, collection);
    await openOverdue(database());
    const [overdue] = await casesOf(database(), refOf(collection));
    const { id } = overdue!;
    const browser = await doors.browserOf(doors.support);
    const { text } = await browser.get(`/discrepancies/${id}`);
    expect(text).to.include('Ask the gateway about the receipt');
    const form = await browser.get(`${asked.page(collection)}?trans_id=SJK3ABCDE1`);
    expect(form.text).to.include('value="SJK3ABCDE1"');
    const as = ['--as', 'completed', '--trans-id', newReceipt()];
    const answer = await doors.run(['discrepancy', 'resolve', id, ...as, '--json'], doors.support);
    expect(answer.stdout).to.include('payment ask-receipt');
  });
});
