import { expect } from 'chai';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { openDiscrepancy } from '../../src/domain/discrepancies/discrepancy.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { FROM_GATEWAY, importStatement } from '../../src/domain/reconciliation/statement.ts';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { discrepancyOf, hear, makeOverdue, type Scene } from '../support/discrepancies/scene.ts';
import { HALF_OF_STRANGER } from '../support/discrepancies/story.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { newCollection, reread } from '../support/payments.ts';
import { SO_FAR } from '../support/so-far.ts';
import { lineOf } from '../support/statements.ts';
import { createTestMerchant } from '../support/test-merchant.ts';

describe('Discrepancies at the console', () => {
  let test: TestConsole;
  let scene: Scene;
  let browser: ConsoleClient;
  let email: string;

  before(async () => {
    test = await startTestConsole();
    const member = await newMember(test, 'support');
    email = member.email;
    browser = await logIn(test, member);
  });

  after(() => test.close());

  beforeEach(async () => {
    const { database } = test.service;
    scene = { database, merchant: await createTestMerchant(test.service) };
  });

  afterEach(() => expectSoundLedger(test.service.database));

  const overdue = async () => {
    const payout = await makeOverdue(scene, await newPayout(scene.database, scene.merchant));
    return { payout, id: (await discrepancyOf(scene, 'overdue')).id };
  };

  it('are listed by kind, merchant, age and state', async () => {
    const { id } = await overdue();
    const merchant = scene.merchant.merchant_id;
    const isListed = async (query: string) =>
      (await browser.get(`/discrepancies?merchant=${merchant}&${query}`)).text.includes(id);
    expect(await isListed('')).to.equal(true);
    expect(await isListed('kind=overdue')).to.equal(true);
    expect(await isListed('kind=never_taken')).to.equal(false);
    expect(await isListed('older=24h')).to.equal(false);
    expect(await isListed('state=resolved')).to.equal(false);
    expect((await browser.get('/discrepancies?merchant=1')).text).to.include(
      'No discrepancy matches',
    );
    const aged = `UPDATE discrepancies SET opened_at = now() - interval '2 days' WHERE id = :id`;
    await rows(scene.database, aged, { id });
    expect(await isListed('older=24h')).to.equal(true);
  });

  it('are listed page by page, none twice and none left out', async () => {
    const payments = [];
    for (let count = 0; count < 60; count++) {
      payments.push(await newCollection(scene.database, scene.merchant));
    }
    for (const payment of payments) {
      await inTransaction(scene.database, (trx) =>
        openDiscrepancy(trx, { kind: 'unclear_result', payment: refOf(payment), details: {} }),
      );
    }
    const seen: string[] = [];
    let path: string | undefined = `/discrepancies?merchant=${scene.merchant.merchant_id}`;
    while (path) {
      const { text } = await browser.get(path);
      seen.push(...[...text.matchAll(/\/discrepancies\/([\da-f-]{36})"/g)].map(([, id]) => id!));
      path = /href="(\/discrepancies\?[^"]*after=[^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect([seen.length, new Set(seen).size]).to.deep.equal([60, 60]);
  });

  it('show what was found, without the data of the customer, and every way out', async () => {
    const payout = await newCollection(scene.database, scene.merchant);
    await hear(scene, payout, HALF_OF_STRANGER);
    const { id } = await discrepancyOf(scene, 'other_account');
    const { text } = await browser.get(`/discrepancies/${id}`);
    expect(text).to.include('money moved from or to another account');
    expect(text).to.include('KES 50.00').and.include('value="accept-amount"');
    expect(text).to.include('value="returned"');
    expect(text)
      .to.match(/\+2547•+999/)
      .and.not.include('254733999999');
    expect(text).to.not.include('254712345678');
    const reads = await rows<{ subject: string }>(
      scene.database,
      `SELECT subject FROM audit_log WHERE actor = :email AND action = 'discrepancy.show'
         AND reason IS NULL AND subject = :subject`,
      { email, subject: `discrepancy ${id}` },
    );
    expect(reads).to.have.length(1);
  });

  it('are decided at once below the limit, with what was foreseen', async () => {
    const { payout, id } = await overdue();
    const before = await reread(scene.database, payout);
    await listed(payout, 'BANK7');
    const preview = await browser.get(`/discrepancies/${id}/decide?as=completed&trans_id=BANK7`);
    expect(preview.text).to.include('The payment goes from pending to completed.');
    expect(preview.text).to.include('Its receipt is BANK7.').and.include('payouts_in_flight');
    expect(await reread(scene.database, payout)).to.deep.equal(before);
    const done = await browser.post(`/discrepancies/${id}/decide`, {
      ...{ as: 'completed', trans_id: 'BANK7', reason: 'The bank has told us' },
    });
    expect([done.status, done.location]).to.deep.equal([303, `/discrepancies/${id}`]);
    const after = await reread(scene.database, payout);
    expect([after.status, after.trans_id]).to.deep.equal(['completed', 'BANK7']);
    expect((await browser.get(`/discrepancies/${id}`)).text).to.include(
      `Resolved as completed by ${email}`,
    );
    const again = await browser.post(`/discrepancies/${id}/decide`, { as: 'failed', reason: 'No' });
    expect([again.status, /not possible/.test(again.text)]).to.deep.equal([422, true]);
  });

  it('need a second person for a receipt that no statement proves', async () => {
    const { payout, id } = await overdue();
    const path = `/discrepancies/${id}/decide`;
    const preview = await browser.get(`${path}?as=completed&trans_id=BANK8`);
    expect(preview.text).to.include('Neither a statement nor the gateway proves the receipt');
    const asked = { as: 'completed', trans_id: 'BANK8', reason: 'As in the portal' };
    expect((await browser.post(path, asked)).location).to.match(/^\/approvals\//);
    expect(await reread(scene.database, payout)).to.include({ status: 'pending' });
  });

  it('need a second person for a completion without a receipt', async () => {
    const { payout, id } = await overdue();
    const path = `/discrepancies/${id}/decide`;
    const preview = await browser.get(`${path}?as=completed`);
    expect(preview.text).to.include('Without a receipt nothing proves that it has completed');
    const asked = { as: 'completed', reason: 'Somebody said so' };
    expect((await browser.post(path, asked)).location).to.match(/^\/approvals\//);
    expect(await reread(scene.database, payout)).to.include({ status: 'pending' });
  });

  /** A statement has the payment, or a part of it, under this receipt. */
  const listed = (
    payment: AnyPayment,
    transId: string,
    { amountCents = payment.amount_cents, brought_by = null as string | null } = {},
  ) =>
    inTransaction(scene.database, (trx) =>
      importStatement(trx, {
        gateway: 'simulator',
        channel: 63902,
        period: SO_FAR,
        source: FROM_GATEWAY,
        lines: [lineOf(payment, { transId, amountCents })],
        brought_by,
      }),
    );

  it('join the receipts of a payout in parts, by one member only if something proves each', async () => {
    const { payout, id } = await overdue();
    const half = { amountCents: payout.amount_cents / 2 };
    await listed(payout, 'PART1', half);
    await listed(payout, 'PART2', { ...half, brought_by: email });
    const path = `/discrepancies/${id}/decide`;
    const fields = { as: 'parts', trans_id: 'PART1, PART2', reason: 'As in the statement' };
    expect((await browser.get(`/discrepancies/${id}`)).text).to.include('Of parts: all receipts');
    const preview = await browser.get(`${path}?as=parts&trans_id=PART1,PART2`);
    expect(preview.text).to.include('The payment goes from pending to completed.');
    expect(preview.text).to.include('Booked: movement suspense').and.include('payout completed');
    expect(preview.text).to.include('Neither a statement nor the gateway proves');
    const request = (await browser.post(path, fields)).location;
    expect(request).to.match(/^\/approvals\//);
    expect(await reread(scene.database, payout)).to.include({ status: 'pending' });
    await browser.post(`${request}/reject`, { reason: 'Wait for the statement' });
    await listed(payout, 'PART2', half);
    const done = await browser.post(path, fields);
    expect([done.status, done.location]).to.deep.equal([303, `/discrepancies/${id}`]);
    const after = await reread(scene.database, payout);
    expect([after.status, after.trans_id]).to.deep.equal(['completed', 'PART1']);
  });

  it('change nothing with a reason too long, an impossible decision, or a wrong receipt', async () => {
    const { payout, id } = await overdue();
    const before = await reread(scene.database, payout);
    const path = `/discrepancies/${id}/decide`;
    await browser.get(`${path}?as=failed`);
    const wrong: [Record<string, string>, RegExp][] = [
      [{ as: 'failed', reason: 'x'.repeat(501) }, /1 to 500/],
      [{ as: 'undo', reason: 'Why not' }, /not possible/],
      [{ as: '<b>', reason: 'Why not' }, /not possible/],
      [{ as: 'failed', trans_id: 'R1', reason: 'Why not' }, /has completed/],
      [{ as: 'completed', trans_id: 'R'.repeat(101), reason: 'Why not' }, /1 to 100 visible/],
    ];
    for (const [fields, words] of wrong) {
      const { status, text } = await browser.post(path, fields);
      expect([status, words.test(text)], JSON.stringify(fields)).to.deep.equal([422, true]);
    }
    expect(await reread(scene.database, payout)).to.deep.equal(before);
  });

  it('are not decided on facts that have changed since the preview', async () => {
    const { payout, id } = await overdue();
    await browser.get(`/discrepancies/${id}/decide?as=failed`);
    const again = `UPDATE discrepancies SET evidence = evidence || evidence WHERE id = :id`;
    await rows(test.testDatabase.owner, again, { id });
    const form = { as: 'failed', reason: 'As I saw it' };
    const late = await browser.post(`/discrepancies/${id}/decide`, form);
    expect([late.status, /has changed since/.test(late.text)]).to.deep.equal([422, true]);
    expect((await reread(scene.database, payout)).status).to.equal('pending');
    // The answer shows the new facts, so its form may be sent.
    const done = await browser.post(`/discrepancies/${id}/decide`, form);
    expect(done.status).to.equal(303);
  });

  it('offer a viewer no decision', async () => {
    const { id } = await overdue();
    const viewer = await logIn(test, await newMember(test, 'viewer'));
    const { text } = await viewer.get(`/discrepancies/${id}`);
    expect(text).to.include('Support decides').and.not.include('See what will happen');
  });

  it('escape what a gateway has said', async () => {
    const payment = await newCollection(scene.database, scene.merchant);
    const details = { description: '<script>alert(1)</script>', account: null };
    await inTransaction(scene.database, (trx) =>
      openDiscrepancy(trx, { kind: 'unclear_result', payment: refOf(payment), details }),
    );
    const { id } = await discrepancyOf(scene, 'unclear_result');
    const { text } = await browser.get(`/discrepancies/${id}`);
    expect(text).to.include('&lt;script>alert').and.not.include('<script>alert');
  });

  it('that are not there say so', async () => {
    const answers = [
      await browser.get('/discrepancies/x'),
      await browser.get('/discrepancies/x/decide'),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([404, 404]);
  });
});
