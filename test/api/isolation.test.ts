import { expect } from 'chai';
import { type Endpoint, endpoints } from '../../src/api/endpoints/endpoints.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { type Client, clientOf, reversalBody } from '../support/api-client.ts';
import { newPayout, reversalRequest } from '../support/payment-kinds.ts';
import { learn, newCollection, succeeded } from '../support/payments.ts';
import { expectRefusal } from '../support/refusals.ts';
import { createTestApp, createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

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
];

/** Where nothing belongs to anybody. */
const COMMON = ['/channels'];
/** What is read by itself, and what the path has for its parameter. */
const DETAILS = [
  '/collections/checkouts/{checkout_id}',
  '/payouts/{payout_id}',
  '/reversals/{ref_no}',
] as const;
const SINGLE = ['/wallets/balance'];
/** A person's own. test/api/own-access.test.ts has those of other people. */
const PERSONAL = [
  '/auth/logout',
  '/auth/sessions',
  '/auth/sessions/{id}',
  '/auth/password',
  '/auth/totp',
  '/auth/totp/confirm',
  '/auth/totp/disable',
  '/auth/totp/recovery-codes',
];
const WRITES = [
  '/collections/checkouts/initiate',
  '/payouts/initiate',
  '/reversals/initiate',
  '/wallets/transfers',
];

describe('What a merchant owns', () => {
  let service: TestService;
  let owner: TestMerchant;
  let owning: Client;
  let strange: Client;
  let sister: Client;
  const ids: Partial<Record<(typeof DETAILS)[number], string>> = {};

  before(async () => {
    service = await startTestService({ workers: [] });
    owner = await createTestMerchant(service);
    owning = clientOf(service, owner);
    strange = clientOf(service, await createTestMerchant(service));
    sister = clientOf(service, await createTestApp(service, owner.merchant_id, []));
    const collection = await newCollection(service.database, owner, { ref_no: 'own-1' });
    await learn(service.database, collection, succeeded());
    const payout = await newPayout(service.database, owner, { ref_no: 'own-1' });
    ids['/collections/checkouts/{checkout_id}'] = collection.id;
    ids['/payouts/{payout_id}'] = payout.id;
    const reversal = reversalRequest(collection, { ref_no: 'own-1' });
    ids['/reversals/{ref_no}'] = (await createReversal(service.database, reversal)).ref_no;
    await owning.post('/wallets/transfers', { amount: '10.00', ref_no: 'own-1' });
  });

  after(() => service.close());

  it('is covered here for every endpoint that needs a token', () => {
    const covered = new Set([
      ...LISTS.map((path) => path.split('?')[0]),
      ...COMMON,
      ...DETAILS,
      ...SINGLE,
      ...WRITES,
      ...PERSONAL,
    ]);
    const all = (Object.values(endpoints) as Endpoint[]).filter(({ roles }) => roles);
    expect([...covered]).to.have.members(all.map(({ path }) => path));
  });

  for (const path of LISTS) {
    it(`is in ${path} for its own apps and for nobody else`, async () => {
      const own = await owning.get(path);
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
      const own = await owning.get(place);
      expect(own.status).to.equal(200);
      expect([own.body.id, own.body.ref_no]).to.include(ids[path]);
      expect((await sister.get(place)).body).to.deep.equal(own.body);
      const theirs = await strange.get(place);
      expectRefusal(theirs, 404, 'Transaction not found');
      const nobodys = await strange.get(at(crypto.randomUUID()));
      expect(theirs.body).to.deep.equal(nobodys.body);
    });
  }

  it('is its own money', async () => {
    const own = await owning.get('/wallets/balance');
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
    expect((await owning.get('/wallets/balance')).body).to.deep.equal(own.body);
  });

  it('is not for others to give back', async () => {
    const reversal = reversalBody('own-1', { ref_no: 'theirs-1' });
    const answer = await strange.post('/reversals/initiate', reversal);
    expectRefusal(answer, 404, 'Transaction not found');
  });

  it('includes its references, which others may use too', async () => {
    const other = clientOf(service, await createTestMerchant(service));
    expectRefusal(
      await owning.initiate({ ref_no: 'own-1' }),
      409,
      'Reference number already exists',
    );
    expect((await other.initiate({ ref_no: 'own-1' })).status).to.equal(200);
    expect((await other.get('/collections/checkouts?ref_no=own-1')).body.count).to.equal(1);
    expect((await owning.get('/collections/checkouts?ref_no=own-1')).body.count).to.equal(1);
  });
});
