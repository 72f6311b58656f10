import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { lastAudit, previewIn, wordsOf } from '../support/console-text.ts';
import { makeEndpoint, OPEN } from '../support/endpoints.ts';
import { deliveriesOf, newEvent } from '../support/events.ts';
import { learn, newCollection, succeeded } from '../support/payments.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const SHOP = 'https://shop.example:8443';
const REASON = 'The merchant has mended it';

describe('The webhook pages of the console', () => {
  let test: TestConsole;
  let viewer: ConsoleClient;
  let support: ConsoleClient;
  let merchant: TestMerchant;
  let database: TestConsole['service']['database'];

  before(async () => {
    test = await startTestConsole();
    database = test.service.database;
    support = await logIn(test, await newMember(test, 'support'));
    viewer = await logIn(test, await newMember(test, 'viewer'));
    await Promise.all([support.get('/'), viewer.get('/')]);
  });

  after(() => test.close());

  beforeEach(async () => {
    merchant = await createTestMerchant(test.service);
  });

  const pathOf = (endpoint = SHOP) =>
    `/webhook-endpoints/${merchant.merchant_id}/${encodeURIComponent(endpoint)}`;
  const statuses = async () =>
    (await deliveriesOf(database, merchant.merchant_id)).map(({ status }) => status);

  /** Webhooks that were given up. */
  async function exhaust(count: number): Promise<string[]> {
    await makeEndpoint(database, merchant.merchant_id, SHOP, OPEN);
    const ids = [];
    for (let n = 0; n < count; n += 1)
      ids.push(await newEvent(database, merchant, `${SHOP}/h?k=1`));
    await prepareDeliveries(database, 0);
    await rows(
      database,
      `UPDATE webhook_deliveries SET status = 'exhausted', attempts = 12, next_step = NULL,
         next_step_at = NULL
       WHERE event_id = ANY (CAST(:ids AS uuid[]))`,
      { ids },
    );
    return ids;
  }

  it('list the endpoints, those that do not work first, page by page', async () => {
    const { merchant_id } = merchant;
    await makeEndpoint(database, merchant_id, 'https://well.example');
    await makeEndpoint(database, merchant_id, SHOP, { ...OPEN, last_error: '<i>refused</i>' });
    const path = `/webhook-endpoints?merchant=${merchant_id}`;
    const page = await viewer.get(path);
    const words = wordsOf(page);
    expect(words.indexOf(SHOP)).to.be.above(0).and.below(words.indexOf('https://well.example'));
    expect(page.text).to.include('&lt;i>refused&lt;/i>').and.include(pathOf());
    expect(await lastAudit(database, true)).to.deep.include({
      ...{ action: 'webhooks.endpoints', subject: 'webhooks', merchant_id },
      details: { merchant_id, rows: 2 },
    });
    expect(wordsOf(await viewer.get(`${path}&state=working`))).to.not.include(SHOP);
    expect(wordsOf(await viewer.get(`${path}&state=failing`))).to.include('No endpoint fits');
    for (let n = 0; n < 50; n += 1) {
      await makeEndpoint(database, merchant_id, `https://s${String(n).padStart(2, '0')}.example`);
    }
    const first = await viewer.get(path);
    const next = /href="([^"]+)">Next page/.exec(first.text)![1]!.replaceAll('&amp;', '&');
    const second = wordsOf(await viewer.get(next));
    expect(second).to.include('https://s49.example').and.include('https://well.example');
    expect(second).to.not.include('https://s48.example').and.not.include('Next page');
  });

  it('show why an endpoint is held, and what has not arrived', async () => {
    const [id] = await exhaust(2);
    const page = await viewer.get(`${pathOf()}?status=exhausted`);
    const words = wordsOf(page);
    expect(words).to.include('Five attempts in a row have failed').and.include('Next probe');
    expect(page.text).to.include(`/webhooks/${id}`).and.not.include('/recover"');
    expect(wordsOf(await viewer.get(pathOf()))).to.include(
      'No webhook to this endpoint is pending',
    );
    expect((await viewer.get(pathOf('https://other.example'))).status).to.equal(404);
  });

  it('send again what has not arrived, after they have said how much', async () => {
    await exhaust(3);
    const recover = `${pathOf()}/recover`;
    const { location } = await support.get(recover);
    expect(location).to.match(/\/recover\?since=\d{4}-\d\d-\d\d$/);
    const form = await support.get(location!);
    expect(previewIn(form)).to.include('3 webhooks go out again');
    expect(await statuses()).to.deep.equal(['exhausted', 'exhausted', 'exhausted']);
    const since = /since=(.*)$/.exec(location!)![1]!;
    await support.post(recover, { since, reason: REASON });
    expect(await statuses()).to.deep.equal(['pending', 'pending', 'pending']);
    const line = await lastAudit(database);
    const twice = await support.post(recover, { since, reason: REASON });
    expect([twice.status, /Nothing is left/.test(twice.text)]).to.deep.equal([422, true]);
    expect(await lastAudit(database)).to.deep.equal(line);
  });

  it('refuse a recovery without a first day, and one that is too fast', async () => {
    await exhaust(1);
    const recover = `${pathOf()}/recover`;
    await support.get('/');
    const wrong: Record<string, string>[] = [
      {},
      { since: '2026-01-01', rate: '101' },
      { since: '2026-02-30' },
    ];
    for (const fields of wrong) {
      const { status } = await support.post(recover, { ...fields, reason: REASON });
      expect(status, JSON.stringify(fields)).to.equal(422);
    }
    expect(await statuses()).to.deep.equal(['exhausted']);
  });

  it('hide the phone at the end of a gateway’s reference', async () => {
    const collection = await newCollection(database, merchant);
    const phone = collection.payfrom.slice(-9);
    const externalRef = `ws_CO_30112026093000123${phone}`;
    await learn(database, collection, succeeded({ transId: 'SKL4X1Y2Z3', externalRef }));
    const [event] = await rows<{ id: string }>(
      database,
      'SELECT id FROM events WHERE payment_id = :id',
      collection,
    );
    const { text } = await support.get(`/webhooks/${event!.id}`);
    expect(text).to.include('SKL4X1Y2Z3').and.not.include(phone);
  });

  it('show one webhook with its attempts, and hide whom it is about until that is revealed', async () => {
    const [id] = await exhaust(1);
    await rows(
      database,
      `INSERT INTO webhook_attempts (merchant_id, event_id, attempt_no, response_status, answer,
         duration_ms)
       VALUES (:merchant_id, :id, 1, 500, '<script>no</script> 254712345678', 7)`,
      { merchant_id: merchant.merchant_id, id },
    );
    const { body } = (
      await rows<{ body: string }>(database, 'SELECT body FROM events WHERE id = :id', { id })
    )[0]!;
    const account = JSON.parse(body).data.beneficiary.account as string;
    const page = await support.get(`/webhooks/${id}`);
    expect(page.text).to.not.include(account).and.not.include('?k=1');
    expect(page.text).to.include('(hidden)').and.include('7 ms');
    expect(page.text).to.not.include('script>no');
    expect(wordsOf(page)).to.include('none planned: attempt 12 was the last one of the ladder');
    expect(await lastAudit(database, true)).to.include({
      ...{ action: 'webhooks.show', subject: `webhooks ${id}` },
      merchant_id: merchant.merchant_id,
    });
    const revealed = await support.post(`/webhooks/${id}/reveal`);
    expect(revealed.text).to.include(account);
    expect(revealed.text).to.include('&lt;script>no&lt;/script> 254712345678');
    expect(await lastAudit(database, true)).to.include({ action: 'webhooks.reveal' });
    expect((await viewer.post(`/webhooks/${id}/reveal`)).status).to.equal(403);
    expect((await viewer.get(`/webhooks/${id}`)).text).to.not.include('Reveal');
  });

  it('say how a webhook goes out again, and send no second copy of it', async () => {
    const [id] = await exhaust(1);
    const path = `/webhooks/${id}/resend`;
    expect(previewIn(await support.get(path))).to.include(`It goes to ${SHOP} as attempt 13`);
    expect((await support.post(path, { reason: REASON })).location).to.equal(`/webhooks/${id}`);
    const line = await lastAudit(database);
    const twice = await support.post(path, { reason: 'again' });
    expect([twice.status, /nothing was changed/.test(twice.text)]).to.deep.equal([422, true]);
    expect(await lastAudit(database)).to.deep.equal(line);
  });

  it('probe a held endpoint at once, and say on its page once that they have', async () => {
    await exhaust(1);
    const { merchant_id } = merchant;
    await makeEndpoint(database, merchant_id, SHOP);
    expect((await support.get(pathOf())).text).to.not.include('Probe now');
    const later = new Date(Date.now() + 3_600_000);
    await makeEndpoint(database, merchant_id, SHOP, { ...OPEN, probe_at: later });
    expect((await support.get(pathOf())).text).to.include(`${pathOf()}/probe`);
    const probe = `${pathOf()}/probe`;
    expect(previewIn(await support.get(probe))).to.include(`One webhook goes to ${SHOP} now`);
    const { location } = await support.post(probe, { reason: REASON });
    expect(location).to.equal(pathOf());
    const [endpoint] = await rows<{ probe_at: Date }>(
      database,
      'SELECT probe_at FROM webhook_endpoints WHERE merchant_id = :merchant_id AND endpoint = :endpoint',
      { merchant_id, endpoint: SHOP },
    );
    expect(endpoint!.probe_at).to.be.below(later);
    // Not on another page, and not twice.
    const said = 'Endpoints probed at once: 1.';
    expect(wordsOf(await support.get('/webhook-endpoints'))).to.not.include(said);
    expect(wordsOf(await support.get(pathOf()))).to.include(said);
    expect(wordsOf(await support.get(pathOf()))).to.not.include(said);
    const twice = await support.post(probe, { reason: REASON });
    expect([twice.status, /due now/.test(twice.text)]).to.deep.equal([422, true]);
    await makeEndpoint(database, merchant_id, SHOP);
    expect((await support.get(probe)).text).to.include(`${SHOP} is not held`);
  });

  it('probe a held endpoint at once for a webhook that is due', async () => {
    const [id] = await exhaust(1);
    await makeEndpoint(database, merchant.merchant_id, SHOP, OPEN);
    const path = `/webhooks/${id}/resend`;
    await support.get(path);
    await support.post(path, { reason: REASON });
    const later = `UPDATE webhook_endpoints SET probe_at = now() + interval '1 hour'
      WHERE merchant_id = :merchant_id AND endpoint = :endpoint`;
    const endpoint = { merchant_id: merchant.merchant_id, endpoint: SHOP };
    await rows(database, later, endpoint);
    expect(previewIn(await support.get(path))).to.include('The endpoint is probed at once');
    expect((await support.post(path, { reason: REASON })).status).to.equal(303);
    const due = `SELECT probe_at <= now() AS is_due FROM webhook_endpoints
      WHERE merchant_id = :merchant_id AND endpoint = :endpoint`;
    expect(await rows(database, due, endpoint)).to.deep.equal([{ is_due: true }]);
  });
});
