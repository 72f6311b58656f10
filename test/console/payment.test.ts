import { expect } from 'chai';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { recordAudit } from '../../src/domain/audit/audit.ts';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleAnswer, ConsoleClient } from '../support/console-client.ts';
import { discrepancyOf, makeOverdue, refund } from '../support/discrepancies/scene.ts';
import { makeEndpoint, OPEN } from '../support/endpoints.ts';
import { failedPayout, failJob, stepRow } from '../support/failed-jobs.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { failed, learn, newCollection, succeeded } from '../support/payments.ts';
import { ACKNOWLEDGED, UNKNOWN, workOn } from '../support/submissions.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const PHONE = '+254712000678';
const HIDDEN = '+2547•••••678';
const REASON = 'The merchant asked';

describe('The payment page of the console', () => {
  let test: TestConsole;
  let merchant: TestMerchant;
  let viewer: ConsoleClient;
  let support: ConsoleClient;
  let email: string;
  let database: TestConsole['service']['database'];

  before(async () => {
    test = await startTestConsole();
    database = test.service.database;
    merchant = await createTestMerchant(test.service);
    viewer = await logIn(test, await newMember(test, 'viewer'));
    const member = await newMember(test, 'support');
    support = await logIn(test, member);
    email = member.email;
    await support.get('/');
  });

  after(async () => {
    await expectSoundLedger(database);
    await test.close();
  });

  const pathOf = ({ kind, merchant_id, id }: AnyPayment) =>
    `/payments/${kind}/${merchant_id}/${id}`;
  const open = (payment: AnyPayment, browser = support) => browser.get(pathOf(payment));
  const lastAudit = async (reads = false) => {
    const [line] = await rows<Record<string, unknown>>(
      database,
      `SELECT actor, action, merchant_id, subject, reason FROM audit_log
       WHERE (reason IS NULL) = :reads ORDER BY id DESC LIMIT 1`,
      { reads },
    );
    return line;
  };
  /** What an action's page says will happen. */
  const previewIn = ({ text }: ConsoleAnswer) =>
    [...text.matchAll(/<li>(.*?)<\/li>/g)].map(([, line]) => line).join(' ');
  const wordsOf = ({ text }: ConsoleAnswer) => text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

  it('tells in one list what happened, and what it waits for', async () => {
    const { payout } = await failedPayout(database, merchant, { payto: PHONE });
    const page = await open(payout, viewer);
    const words = wordsOf(page);
    const order = ['asked for it', 'Booked: payout', 'A job failed for good (submit'];
    const places = order.map((part) => words.indexOf(part));
    expect(places).to.deep.equal([...places].sort((a, b) => a - b));
    expect(Math.min(...places)).to.be.above(0);
    expect(words).to.include('It waits for a person: a job of it has failed for good');
    expect(words).to.include(`The app ${merchant.app_code} (Till) asked for it`);
  });

  it('has the gateway’s answers, callbacks, moves, books and webhooks of a completed payment', async () => {
    const payout = await newPayout(database, merchant);
    const work = workOn(database, payout);
    await work.answer(await work.claim(), ACKNOWLEDGED);
    await learn(database, payout, succeeded());
    const words = wordsOf(await open(payout, viewer));
    for (const part of [
      ...['Attempt 1 was sent', 'The gateway acknowledged it', 'pending → processing'],
      ...['processing → completed', 'KES 100.00 moved', 'gateway_float 100.00'],
      ...['The event', 'It has completed on', 'The receipt of the network is RCPT1'],
    ]) {
      expect(words, part).to.include(part);
    }
  });

  it('names its merchant and its channel, with their numbers', async () => {
    const collection = await newCollection(database, merchant);
    const { merchant_id } = merchant;
    await rows(database, `UPDATE merchants SET name = 'Duka & Sons' WHERE id = :merchant_id`, {
      merchant_id,
    });
    for (const path of [pathOf(collection), `${pathOf(collection)}/live`]) {
      const { text } = await support.get(path);
      expect(text).to.include(`/merchants/${merchant_id}">Duka &amp; Sons (${merchant_id})</a>`);
      expect(text).to.include('M-PESA (63902)');
    }
  });

  it('has the last answer of the gateway to a question, without a phone', async () => {
    const collection = await newCollection(database, merchant, { payfrom: PHONE });
    const work = workOn(database, collection);
    await work.answer(await work.claim(), ACKNOWLEDGED);
    expect((await open(collection)).text).to.not.include('Last asked');
    await work.hear({ outcome: 'noAnswer', reason: `HTTP 503 about ${PHONE}` });
    const page = wordsOf(await open(collection));
    expect(page).to.include('Last asked: no answer: HTTP 503 about').and.not.include(PHONE);
    await work.hear({ outcome: 'pending' });
    expect(wordsOf(await open(collection))).to.include('Last asked: it has not ended yet');
  });

  it('hides personal data until it is revealed, for one view, with a line in the audit log', async () => {
    const { payout } = await failedPayout(database, merchant, { payto: PHONE });
    const page = await open(payout);
    expect([page.text.includes(HIDDEN), page.text.includes(PHONE)]).to.deep.equal([true, false]);
    const revealed = await support.post(`${pathOf(payout)}/reveal`);
    expect([revealed.status, revealed.text.includes(PHONE)]).to.deep.equal([200, true]);
    expect(revealed.text).to.not.include('id="poller"');
    expect(await lastAudit(true)).to.include({ actor: email, action: 'payment.reveal' });
    expect((await open(payout)).text).to.not.include(PHONE);
    expect((await viewer.get(pathOf(payout))).text).to.not.include('Reveal');
    expect((await viewer.post(`${pathOf(payout)}/reveal`)).status).to.equal(403);
  });

  it('hides what the gateway and the staff say of people, until it is revealed', async () => {
    const collection = await newCollection(database, merchant);
    await learn(database, collection, failed({ description: 'Account 01109876543 is closed' }));
    await inTransaction(database, (trx) =>
      recordAudit(trx, {
        ...{ actor: email, action: 'payment.ask', merchant_id: merchant.merchant_id },
        ...{
          subject: `collection ${collection.id}`,
          reason: 'asha@mail.example called',
          details: {},
        },
      }),
    );
    const page = await open(collection);
    expect(page.text).to.include('Account •••••543 is closed').and.include('a••••• called');
    const revealed = await support.post(`${pathOf(collection)}/reveal`);
    expect(revealed.text).to.include('Account 01109876543').and.include('asha@mail.example');
  });

  it('is in the audit log once for each time it is opened, however often it refreshes', async () => {
    const payout = await newPayout(database, merchant);
    const count = async () => {
      const subject = `payout ${payout.id}`;
      const lines = 'SELECT FROM audit_log WHERE subject = :subject AND reason IS NULL';
      return (await rows(database, lines, { subject })).length;
    };
    await open(payout);
    for (let polls = 0; polls < 3; polls++) await support.get(`${pathOf(payout)}/live`);
    expect(await count()).to.equal(1);
    await viewer.get(`${pathOf(payout)}/live`);
    expect(await count()).to.equal(2);
    await open(payout);
    expect(await count()).to.equal(3);
  });

  it('refreshes itself while something can happen, and not afterwards', async () => {
    const payout = await newPayout(database, merchant);
    expect((await open(payout)).text).to.include('hx-trigger="every 2s"');
    await learn(database, payout, succeeded());
    const untold = await support.get(`${pathOf(payout)}/live`);
    expect(untold.text).to.include('completed').and.include('id="poller"');
    await prepareDeliveries(database, 0);
    await rows(
      database,
      `UPDATE webhook_deliveries SET status = 'delivered', delivered_at = now(), next_step = NULL,
         next_step_at = NULL WHERE merchant_id = :merchant_id`,
      merchant,
    );
    const part = await support.get(`${pathOf(payout)}/live`);
    expect(part.text).to.not.include('<html').and.to.not.include('id="poller"');
    expect(part.text).to.include('completed');
  });

  it('is not found under another merchant, kind or spelling', async () => {
    const { id, merchant_id } = await newPayout(database, merchant);
    const wrong = [`payout/${merchant_id + 1}/${id}`, `collection/${merchant_id}/${id}`];
    for (const path of [...wrong, `payout/1x/${id}`, `payout/${merchant_id}/x`]) {
      expect((await support.get(`/payments/${path}`)).status, path).to.equal(404);
    }
  });

  it('replays a failed job after it has said what that does, with a reason and an audit line', async () => {
    const { payout, job } = await failedPayout(database, merchant);
    const path = `${pathOf(payout)}/replay/${job.id}`;
    expect((await open(payout)).text).to.include(path);
    expect((await open(payout, viewer)).text).to.not.include(path);
    expect(previewIn(await support.get(path)))
      .to.include('It is about KES 100.00.')
      .and.include('no attempt has arrived, will send it');
    const bare = await support.post(path, { reason: ' ' });
    expect([bare.status, bare.text.includes('Give a reason')]).to.deep.equal([422, true]);
    expect(await stepRow(database, 'payout', payout.id)).to.include({ next_step: null });
    const done = await support.post(path, { reason: REASON });
    expect([done.status, done.location]).to.deep.equal([303, pathOf(payout)]);
    expect(await stepRow(database, 'payout', payout.id)).to.include({ next_step: 'submit' });
    expect(await lastAudit()).to.deep.equal({
      ...{ actor: email, action: 'jobs.replay', reason: REASON },
      ...{ merchant_id: merchant.merchant_id, subject: `failed job ${job.id}` },
    });
    const again = await support.post(path, { reason: REASON });
    expect([again.status, /replayed it already/.test(again.text)]).to.deep.equal([422, true]);
    expect(wordsOf(await open(payout))).to.include(`${email}: jobs.replay`);
  });

  it('never sends again what may have arrived: it asks', async () => {
    const payout = await newPayout(database, merchant);
    await workOn(database, payout).claim();
    const job = await failJob(database, 'payout', payout.id);
    const path = `${pathOf(payout)}/replay/${job.id}`;
    expect(previewIn(await support.get(path))).to.include('will ask the gateway, not send');
    await support.post(path, { reason: REASON });
    expect(await stepRow(database, 'payout', payout.id)).to.include({ next_step: 'poll' });
  });

  it('asks the gateway at once, and only about what it may know', async () => {
    const payout = await newPayout(database, merchant);
    const path = `${pathOf(payout)}/ask`;
    expect((await open(payout)).text).to.not.include(path);
    const early = await support.post(path, { reason: REASON });
    expect([early.status, /not sent yet/.test(early.text)]).to.deep.equal([422, true]);
    const work = workOn(database, payout);
    await work.answer(await work.claim(), UNKNOWN);
    expect((await open(payout)).text).to.include(path);
    expect(previewIn(await support.get(path))).to.include('nothing is sent again');
    expect((await support.post(path, { reason: REASON })).location).to.equal(pathOf(payout));
  });

  it('resends a webhook that the merchant did not take, once', async () => {
    const collection = await newCollection(database, merchant);
    await learn(database, collection, succeeded());
    await prepareDeliveries(database, 8);
    const [event] = await rows<{ id: string }>(
      database,
      'SELECT id FROM events WHERE payment_id = :id',
      collection,
    );
    await rows(
      database,
      `UPDATE webhook_deliveries SET status = 'exhausted', attempts = 12, next_step = NULL,
         next_step_at = NULL, admitted_at = NULL WHERE event_id = :id`,
      event,
    );
    const path = `${pathOf(collection)}/resend/${event!.id}`;
    const page = await open(collection);
    expect(page.text).to.include(path).and.include(`href="/webhooks/${event!.id}"`);
    expect(wordsOf(page)).to.include('is exhausted after 12 attempts').and.not.include('is held');
    const [{ endpoint }] = (await rows<{ endpoint: string }>(
      database,
      'SELECT endpoint FROM webhook_deliveries WHERE event_id = :id',
      event,
    )) as [{ endpoint: string }];
    await makeEndpoint(database, merchant.merchant_id, endpoint, OPEN);
    expect(wordsOf(await open(collection))).to.include(`Its receiver ${endpoint} is held`);
    await makeEndpoint(database, merchant.merchant_id, endpoint);
    expect(previewIn(await support.get(path))).to.include('as attempt 13');
    expect((await support.post(path, { reason: REASON })).location).to.equal(pathOf(collection));
    const again = await support.get(path);
    expect([again.status, /a second copy would help nobody/.test(again.text)]).to.deep.equal([
      ...[422, true],
    ]);
  });

  it('leads to the page of an open discrepancy, where it is decided', async () => {
    const payout = await makeOverdue({ database, merchant }, await newPayout(database, merchant));
    const { id } = await discrepancyOf({ database, merchant }, 'overdue', payout);
    expect((await open(payout)).text).to.include(`href="/discrepancies/${id}"`);
  });

  it('tells the merchant no more than the API does', async () => {
    const payout = await newPayout(database, merchant);
    await learn(database, payout, failed());
    const summary = async () => /<p id="summary">(.*?)<\/p>/.exec((await open(payout)).text)![1]!;
    expect(await summary())
      .to.include('It is processing')
      .and.to.not.include('Cancelled');
    await refund({ database, merchant }, payout);
    expect(await summary()).to.include('It has failed: Cancelled');
    expect(await summary()).to.include('went back into your payout wallet');
  });
});
