import { expect } from 'chai';
import { type Endpoint, endpoints } from '../../src/api/endpoints/endpoints.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { createTestUser } from '../support/test-merchant.ts';
import {
  type Client,
  expectRefusal,
  reversalBody,
  reversalRequest,
  succeeded,
  useService,
} from '../support/world.ts';

const LISTS = [
  '/collections/checkouts',
  '/collections/checkouts?ref_no=own-1',
  '/collections/list',
  '/collections/list?ref_no=own-1&phone=%2B254712345678&status=completed',
  '/payouts',
  '/payouts?ref_no=own-1&status=0',
  '/payouts/list',
  '/payouts/list?ref_no=own-1&phone=%2B254712345678&status=pending',
  '/reversals',
  '/reversals?ref_no=own-1&checkout_ref_no=own-1&status=0',
  '/wallets/transactions',
  '/wallets/transactions?ref_no=own-1&phone=%2B254712345678',
  '/events',
  '/events?after=0&page_size=1',
  '/webhooks/deliveries',
  '/webhooks/deliveries?ref_no=own-1&status=pending&type=collection&event=transaction.completed',
  '/webhooks/deliveries?endpoint=http://127.0.0.1:9&date_from=2020-01-01',
  '/webhooks/endpoints',
];

/** Where nothing belongs to anybody. */
const COMMON = ['/channels'];
/** What is read by itself, and what the path has for its parameter. */
const DETAILS = [
  '/collections/checkouts/{checkout_id}',
  '/payouts/{payout_id}',
  '/reversals/{ref_no}',
  '/webhooks/deliveries/{id}',
] as const;
const SINGLE = ['/wallets/balance'];
/** A person's own. test/api/own-access.full.test.ts has those of other people. */
const PERSONAL = [
  '/auth/logout',
  '/auth/sessions',
  '/auth/sessions/{id}',
  '/auth/password',
  '/auth/totp',
  '/auth/totp/confirm',
  '/auth/totp/disable',
  '/auth/totp/recovery-codes',
  '/auth/access/release',
];
const WRITES = [
  '/collections/checkouts/initiate',
  '/payouts/initiate',
  '/reversals/initiate',
  '/wallets/transfers',
  '/webhooks/deliveries/{id}/resend',
  '/webhooks/recover',
];
/** What sends an example, and has nothing of anybody's but the app's signature. */
const TEST = '/webhooks/test';

describe('What a merchant owns', () => {
  const service = useService({ merchant: 'all' });
  let strange: Client;
  let sister: Client;
  const ids: Partial<Record<(typeof DETAILS)[number], string>> = {};

  before(async () => {
    strange = service.clientOf(await service.newMerchant());
    sister = service.clientOf(await service.newApp([]));
    const collection = await service.newCollection({ ref_no: 'own-1' });
    await service.learn(collection, succeeded());
    const payout = await service.newPayout({ ref_no: 'own-1' });
    ids['/collections/checkouts/{checkout_id}'] = collection.id;
    ids['/payouts/{payout_id}'] = payout.id;
    const reversal = reversalRequest(collection, { ref_no: 'own-1' });
    ids['/reversals/{ref_no}'] = (await createReversal(service.database, reversal)).ref_no;
    await prepareDeliveries(service.database, 0);
    await service.makeEndpoint('http://127.0.0.1:9');
    ids['/webhooks/deliveries/{id}'] = (await service.client.get('/events')).body.results[0].id;
    await service.client.post('/wallets/transfers', { amount: '10.00', ref_no: 'own-1' });
  });

  it('is covered here for every endpoint that needs a token', () => {
    const covered = new Set([
      ...LISTS.map((path) => path.split('?')[0]),
      ...COMMON,
      ...DETAILS,
      ...SINGLE,
      ...WRITES,
      TEST,
      ...PERSONAL,
    ]);
    const all = (Object.values(endpoints) as Endpoint[]).filter(({ roles }) => roles);
    expect([...covered]).to.have.members(all.map(({ path }) => path));
  });

  for (const path of LISTS) {
    it(`is in ${path} for its own apps and for nobody else`, async () => {
      const own = await service.client.get(path);
      expect(own.body.results).to.not.deep.equal([]);
      expect((await sister.get(path)).body).to.deep.equal(own.body);
      const nothing = { count: 0, next: null, previous: null, results: [] };
      expect((await strange.get(path)).body).to.deep.equal(nothing);
    });
  }

  for (const path of DETAILS) {
    it(`is at ${path} for its own apps, and for others is as if it did not exist`, async () => {
      const at = (id: string) => path.replace(/\{\w+\}/, id);
      const place = at(ids[path]!);
      const own = await service.client.get(place);
      expect(own.status).to.equal(200);
      expect([own.body.id, own.body.ref_no]).to.include(ids[path]);
      expect((await sister.get(place)).body).to.deep.equal(own.body);
      const theirs = await strange.get(place);
      const what = path.startsWith('/webhooks') ? 'Webhook' : 'Transaction';
      expectRefusal(theirs, 404, `${what} not found`);
      const nobodys = await strange.get(at(crypto.randomUUID()));
      expect(theirs.body).to.deep.equal(nobodys.body);
    });
  }

  it('is its own money', async () => {
    const own = await service.client.get('/wallets/balance');
    expect(own.body).to.include({
      collection_wallet_balance: '88.50',
      payout_wallet_balance: '10.00',
    });
    expect((await sister.get('/wallets/balance')).body).to.deep.equal(own.body);
    const theirs = await strange.get('/wallets/balance');
    expect(theirs.body).to.include({
      collection_wallet_balance: '0.00',
      payout_wallet_balance: '0.00',
    });
    const taken = await strange.post('/wallets/transfers', { amount: '1.00', ref_no: 'own-1' });
    expectRefusal(taken, 400, 'Insufficient balance in collection wallet');
    expect((await service.client.get('/wallets/balance')).body).to.deep.equal(own.body);
  });

  it('is not for others to give back', async () => {
    const reversal = reversalBody('own-1', { ref_no: 'theirs-1' });
    const answer = await strange.post('/reversals/initiate', reversal);
    expectRefusal(answer, 404, 'Transaction not found');
  });

  it('is not for others to send again', async () => {
    const id = ids['/webhooks/deliveries/{id}']!;
    await service.rows(
      `UPDATE webhook_deliveries SET status = 'exhausted', next_step = NULL, next_step_at = NULL
       WHERE event_id = :id`,
      { id },
    );
    const before = (await service.client.get(`/webhooks/deliveries/${id}`)).body;
    const theirs = await strange.post(`/webhooks/deliveries/${id}/resend`, {});
    expectRefusal(theirs, 404, 'Webhook not found');
    const nobodys = await strange.post(`/webhooks/deliveries/${crypto.randomUUID()}/resend`, {});
    expect(theirs.body).to.deep.equal(nobodys.body);
    const recovered = await strange.post('/webhooks/recover', { since: '2020-01-01T00:00:00Z' });
    expect(recovered.body).to.deep.equal({ resent: 0, remaining: 0 });
    expect((await service.client.get(`/webhooks/deliveries/${id}`)).body).to.deep.equal(before);
    const sisters = await sister.post(`/webhooks/deliveries/${id}/resend`, {});
    expect(sisters.body).to.include({ id, resent: true });
  });

  it('is not for others to sign with', async () => {
    const body = { callback_url: 'http://127.0.0.1:9/hook', app_code: service.merchant.app_code };
    const other = await service.newMerchant();
    const admin = service.clientOf(await createTestUser(service, other.merchant_id));
    expectRefusal(await admin.post(TEST, body), 404, 'App not found');
    const nobodys = await admin.post(TEST, { ...body, app_code: 1 });
    expectRefusal(nobodys, 404, 'App not found');
  });

  it('includes its references, which others may use too', async () => {
    const other = service.clientOf(await service.newMerchant());
    expectRefusal(
      await service.client.initiate({ ref_no: 'own-1' }),
      409,
      'Reference number already exists',
    );
    expect((await other.initiate({ ref_no: 'own-1' })).status).to.equal(200);
    expect((await other.get('/collections/checkouts?ref_no=own-1')).body.count).to.equal(1);
    expect((await service.client.get('/collections/checkouts?ref_no=own-1')).body.count).to.equal(
      1,
    );
  });
});
