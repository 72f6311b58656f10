import { expect } from 'chai';
import {
  type Answer,
  expectRefusal,
  payoutBody,
  request,
  reversalBody,
  type TestUser,
  useService,
} from '../support/world.ts';

const FUNDS_CENTS = 1_000_000;
const DENIED = 'Access denied: IP address not allowed';
const INSIDE = { 'x-forwarded-for': '203.0.113.7' };
const OUTSIDE = { 'x-forwarded-for': '198.51.100.1' };
const LIST = '{203.0.113.0/24}';

describe('A list of addresses', () => {
  // Nobody submits, so a request for a reversal would wait in vain.
  const service = useService({ env: { TRUST_PROXY: 'loopback', REVERSAL_WAIT_MS: '0' } });
  let person: TestUser;

  beforeEach(async () => {
    person = await service.newUser();
  });

  const set = (table: 'apps' | 'merchants', assignment: string) =>
    service.assign(table, assignment);
  const expectDenied = (answer: Answer) =>
    expectRefusal(answer, 403, DENIED, { code: 'ip_not_allowed' });

  describe('of an app', () => {
    it('holds for people who book a collection on it, named or not', async () => {
      const { initiate, get } = service.clientOf(person);
      await set('apps', `ip_allow_list = '${LIST}'`);
      for (const app_code of [service.merchant.app_code, undefined]) {
        expectDenied(await initiate({ app_code }, OUTSIDE));
        expect((await initiate({ app_code }, INSIDE)).status).to.equal(200);
      }
      expect((await get('/collections/checkouts', OUTSIDE)).body.count).to.equal(2);
      expect(await service.securityKindsOf(person.userId)).to.include('address_refused');
    });

    it('holds for whoever names it for a payout: people, and other apps', async () => {
      await service.topUp(FUNDS_CENTS, 'T1');
      await set('apps', `ip_allow_list = '${LIST}'`);
      const other = await service.newApp(['payouts']);
      for (const caller of [person, other]) {
        const { post } = service.clientOf(caller);
        const pay = (headers: Record<string, string>) =>
          post('/payouts/initiate', payoutBody(service.merchant), headers);
        expectDenied(await pay(OUTSIDE));
        expect((await pay(INSIDE)).status).to.equal(200);
        const own = await post('/payouts/initiate', payoutBody(other), OUTSIDE);
        expect(own.status, 'an app without a list').to.equal(200);
      }
      const { body } = await service.clientOf(person).get('/wallets/balance');
      expect(body.payout_wallet_balance).to.equal('9600.00');
    });

    it('holds for people who give a collection of it back', async () => {
      const { ref_no } = await service.newCompletedCollection();
      await set('apps', `ip_allow_list = '${LIST}'`);
      const { post, get } = service.clientOf(person);
      expectDenied(await post('/reversals/initiate', reversalBody(ref_no), OUTSIDE));
      expect((await get('/reversals')).body.count).to.equal(0);
      const inside = await post('/reversals/initiate', reversalBody(ref_no), INSIDE);
      expect([inside.status, inside.body.code]).to.deep.equal([502, 'gateway_unreachable']);
    });

    it('is looked at before what else is wrong with the app', async () => {
      await set('apps', `ip_allow_list = '${LIST}', active = false`);
      const { initiate } = service.clientOf(person);
      expectDenied(await initiate({ app_code: service.merchant.app_code }, OUTSIDE));
      const inside = await initiate({ app_code: service.merchant.app_code }, INSIDE);
      expectRefusal(inside, 403, 'App is not active');
    });
  });

  describe('of a merchant for its users', () => {
    const call = (path: string, body: unknown, headers: Record<string, string>) =>
      request('POST', `${service.baseUrl}${path}`, { body, headers });
    const logIn = (headers: Record<string, string>, password = person.password) =>
      call('/auth/login', { email: person.email, password }, headers);

    beforeEach(() => set('merchants', `user_ip_allow_list = '${LIST}'`));

    it('holds at log-in, once the password is right', async () => {
      expectDenied(await logIn(OUTSIDE));
      expectRefusal(await logIn(OUTSIDE, 'wrong'), 401, 'Invalid credentials');
      expect((await logIn(INSIDE)).status).to.equal(200);
    });

    it('holds at refresh, and leaves the token unspent', async () => {
      const refresh = (headers: Record<string, string>) =>
        call('/auth/refresh', { refresh: person.refresh }, headers);
      expectDenied(await refresh(OUTSIDE));
      expect((await refresh(INSIDE)).status).to.equal(200);
    });

    it('holds for every request of theirs, and for none of an app', async () => {
      const { get } = service.clientOf(person);
      expectDenied(await get('/channels', OUTSIDE));
      expect((await get('/channels', INSIDE)).status).to.equal(200);
      expect((await service.client.get('/channels', OUTSIDE)).status).to.equal(200);
      await set('merchants', `user_ip_allow_list = '{}'`);
      expect((await get('/channels', OUTSIDE)).status).to.equal(200);
    });
  });
});
