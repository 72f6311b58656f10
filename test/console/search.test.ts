import { expect } from 'chai';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { MAX_LOOK_UPS_PER_MINUTE } from '../../src/domain/audit/audit.ts';
import { openUnknown } from '../../src/domain/discrepancies/unknown-movement.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { lastAudit } from '../support/console-text.ts';
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

  it('finds what a statement has listed under a receipt that no payment here explains', async () => {
    const line = { reference: null, account: null, kind: 'collection', amount_cents: 10_000 };
    const listed = { ...line, trans_id: 'QK7LISTED1', completed_at: new Date() };
    const { database } = test.service;
    const told = { gateway: 'simulator', by: 'file' } as const;
    await inTransaction(database, (trx) => openUnknown(trx, told, listed));
    const { text } = await look('qk7listed1');
    expect(text).to.include('No payment here explains it').and.to.include('unknown_movement');
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
      `SELECT actor, action, subject, reason, details - 'phone_hash' AS details FROM audit_log
       WHERE reason IS NULL ORDER BY id DESC LIMIT 1`,
    );
    expect(line).to.deep.equal({
      ...{ actor: email, action: 'payment.search', reason: null },
      subject: 'payment +254******678',
      details: { what: '+254******678', rows: 2 },
    });
  });

  it('keeps a hash of a phone, so that searches for one phone can be found', async () => {
    const member = await logIn(test, await newMember(test, 'support'));
    const hashes: unknown[] = [];
    for (const q of ['0799 123 456', '+254799123456', '0799123457', 'inv-1']) {
      await member.get(`/search?q=${encodeURIComponent(q)}`);
      const { details } = await lastAudit(test.service.database, true);
      expect(JSON.stringify(details)).to.not.include('99123');
      hashes.push(details.phone_hash);
    }
    expect(hashes[0])
      .to.match(/^[0-9a-f]{64}$/)
      .and.equal(hashes[1]);
    expect(hashes[2])
      .to.match(/^[0-9a-f]{64}$/)
      .and.not.equal(hashes[0]);
    expect(hashes[3]).to.equal(undefined);
  });

  it('stops a member who looks up more than 100 things within a minute, with an event', async () => {
    const [hasty, calm] = [await newMember(test, 'support'), await newMember(test, 'support')];
    const member = await logIn(test, hasty);
    for (let count = 0; count < MAX_LOOK_UPS_PER_MINUTE; count += 1) {
      expect((await member.get(`/search?q=inv-${count}`)).status).to.equal(200);
    }
    const stopped = await member.get('/search?q=one-more');
    expect(stopped.status).to.equal(403);
    expect(stopped.text).to.include('wait a minute');
    const [event] = await rows<{ detail: object }>(
      test.service.database,
      "SELECT detail FROM security_events WHERE kind = 'staff_refused' AND staff = :email",
      hasty,
    );
    expect(event!.detail).to.include({ why: 'look-ups', action: 'payment.search' });
    const other = await logIn(test, calm);
    expect((await other.get('/search?q=one-more')).status).to.equal(200);
  });
});
