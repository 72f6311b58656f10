import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const PHONE = '+254712000678';

describe('The search of the console', () => {
  let test: TestConsole;
  let merchant: TestMerchant;
  let browser: ConsoleClient;
  let email: string;
  let payouts: Payout[];

  before(async () => {
    test = await startTestConsole();
    merchant = await createTestMerchant(test.service);
    const { database } = test.service;
    payouts = [
      await newPayout(database, merchant, { payto: PHONE }),
      await newPayout(database, merchant, { payto: PHONE }),
    ];
    const viewer = await newMember(test, 'viewer');
    browser = await logIn(test, viewer);
    email = viewer.email;
  });

  after(() => test.close());

  const look = (what: string) => browser.get(`/search?${new URLSearchParams({ q: what })}`);
  const pathOf = ({ kind, merchant_id, id }: Payout) => `/payments/${kind}/${merchant_id}/${id}`;

  it('finds all payments of a phone in any usual form, and shows none of its middle', async () => {
    for (const phone of ['0712000678', '0712 000 678', '254712000678', PHONE]) {
      const { status, text } = await look(phone);
      expect(status, phone).to.equal(200);
      for (const payout of payouts) expect(text).to.include(pathOf(payout));
      expect(text).to.include('+2547•••••678');
      expect(text.replace(/value="[^"]*"/g, '')).to.not.include('712000678');
    }
  });

  it('goes to the only payment that has a ref_no, an id or a reference', async () => {
    const [payout] = payouts as [Payout];
    for (const what of [payout.ref_no, payout.id, payout.reference, ` ${payout.ref_no} `]) {
      const { status, location } = await look(what);
      expect([status, location], what).to.deep.equal([303, pathOf(payout)]);
    }
  });

  it('finds a merchant by id or a part of the name, and its newest payments', async () => {
    const { merchant_id } = merchant;
    const [row] = await rows<{ name: string }>(
      test.service.database,
      'SELECT name FROM merchants WHERE id = :merchant_id',
      { merchant_id },
    );
    for (const what of [String(merchant_id), row!.name.toLowerCase()]) {
      const { text } = await look(what);
      expect(text, what).to.include(`/search?merchant=${merchant_id}`);
    }
    const { text } = await browser.get(`/search?merchant=${merchant_id}`);
    for (const payout of payouts) expect(text).to.include(pathOf(payout));
  });

  it('says what to look for when nothing is found, and escapes what was typed', async () => {
    const { status, text } = await look('<script>alert(1)</script>');
    expect([status, text.includes('Nothing is known by')]).to.deep.equal([200, true]);
    expect(text).to.not.include('<script>alert');
    expect((await browser.get('/search')).text).to.include('a webhook-id, or a merchant');
    expect((await look('x'.repeat(201))).status).to.equal(400);
    expect((await browser.get('/search?merchant=1%20OR%201')).status).to.equal(400);
  });

  it('is in the audit log as a read, with the phone masked', async () => {
    await look('0712 000 678');
    const [line] = await rows(
      test.service.database,
      `SELECT actor, action, subject, reason, details FROM audit_log
       WHERE reason IS NULL ORDER BY id DESC LIMIT 1`,
    );
    expect(line).to.deep.equal({
      ...{ actor: email, action: 'payment.search', reason: null },
      subject: 'payment +254******678',
      details: { what: '+254******678', rows: 2 },
    });
  });
});
