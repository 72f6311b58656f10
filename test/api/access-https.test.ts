import { expect } from 'chai';
import { clientOf, payoutBody, request } from '../support/api-client.ts';
import { expectRefusal } from '../support/refusals.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const REQUIRED = 'HTTPS is required';
const OVER_HTTPS = { 'x-forwarded-proto': 'https' };

describe('When HTTPS is required', () => {
  let behindProxy: TestService;
  let direct: TestService;
  let withPorts: TestService;
  let merchant: TestMerchant;

  before(async () => {
    const env = { REQUIRE_HTTPS: 'true' };
    behindProxy = await startTestService({
      workers: [],
      env: { ...env, TRUST_PROXY: '127.0.0.1' },
    });
    direct = await startTestService({ workers: [], env, beside: behindProxy });
    const ports = { TRUST_PROXY: '127.0.0.1', WEBHOOK_PORTS: '443,8443' };
    withPorts = await startTestService({
      workers: [],
      env: { ...env, ...ports },
      beside: behindProxy,
    });
    merchant = await createTestMerchant(behindProxy);
  });

  after(async () => {
    await withPorts.close();
    await direct.close();
    await behindProxy.close();
  });

  for (const path of ['/openapi.json', '/docs', '/nothing', '/gateway/callbacks/simulator/x']) {
    it(`a plain request for ${path} is refused`, async () => {
      for (const { origin } of [behindProxy, direct]) {
        expectRefusal(await request('GET', `${origin}${path}`), 403, REQUIRED);
      }
    });
  }

  it('a plain call is refused before its token is looked at', async () => {
    const { get, initiate } = clientOf(behindProxy, merchant);
    expectRefusal(await get('/channels'), 403, REQUIRED);
    expectRefusal(await initiate(), 403, REQUIRED);
    const strange = clientOf(behindProxy, { access: 'wrong' });
    expectRefusal(await strange.get('/channels'), 403, REQUIRED);
    const credentials = { app_key: merchant.app_key, app_secret: merchant.app_secret };
    expectRefusal(await strange.post('/auth/app/token', credentials), 403, REQUIRED);
  });

  it('probes are answered all the same', async () => {
    for (const path of ['/healthz', '/readyz']) {
      expect((await request('GET', `${direct.origin}${path}`)).status).to.equal(200);
    }
  });

  it('a trusted proxy says that a request came over HTTPS', async () => {
    const { get } = clientOf(behindProxy, merchant);
    expect((await get('/channels', OVER_HTTPS)).status).to.equal(200);
    for (const proto of ['http', '', 'httpsx', 'ftp', 'http, https']) {
      expectRefusal(await get('/channels', { 'x-forwarded-proto': proto }), 403, REQUIRED);
    }
  });

  it('nobody else can say so', async () => {
    const { get } = clientOf(direct, merchant);
    expectRefusal(await get('/channels', OVER_HTTPS), 403, REQUIRED);
  });

  it('so must be the address of the outcome', async () => {
    const { initiate, post } = clientOf(behindProxy, merchant);
    for (const callback_url of ['http://shop.example/', 'HTTP://shop.example/']) {
      expectRefusal(await initiate({ callback_url }, OVER_HTTPS), 400, 'Invalid callback_url');
      const payout = payoutBody(merchant, { callback_url });
      const answer = await post('/payouts/initiate', payout, OVER_HTTPS);
      expectRefusal(answer, 400, 'Invalid callback_url');
    }
    for (const callback_url of ['https://shop.example/', 'HTTPS://shop.example/']) {
      expect((await initiate({ callback_url }, OVER_HTTPS)).status).to.equal(200);
    }
  });

  it('the address of the outcome must have a port that is allowed', async () => {
    const { initiate, post, get } = clientOf(withPorts, merchant);
    const initiatePayout = (callback_url: string) =>
      post('/payouts/initiate', payoutBody(merchant, { callback_url }), OVER_HTTPS);
    const countBefore = (await get('/collections/checkouts/', OVER_HTTPS)).body.count;
    for (const callback_url of [
      ...['https://shop.example:444/', 'https://shop.example:80/', 'https://shop.example:22'],
      ...['https://[2001:db8::1]:6379/', 'https://shop.example:443@x.example:22/'],
    ]) {
      const answer = await initiate({ callback_url }, OVER_HTTPS);
      expectRefusal(answer, 400, 'Invalid callback_url');
      expect(answer.body).to.include({ code: 'invalid_field', field: 'callback_url' });
      expectRefusal(await initiatePayout(callback_url), 400, 'Invalid callback_url');
    }
    expect((await get('/collections/checkouts/', OVER_HTTPS)).body.count).to.equal(countBefore);
    for (const callback_url of [
      ...['https://shop.example/', 'https://shop.example:443/', 'https://shop.example:8443/x'],
      'https://shop.example:/',
    ]) {
      const { status } = await initiate({ callback_url }, OVER_HTTPS);
      expect(status, callback_url).to.equal(200);
    }
    // Where nothing says which ports, any will do.
    const elsewhere = clientOf(behindProxy, merchant);
    const odd = { callback_url: 'https://shop.example:444/' };
    expect((await elsewhere.initiate(odd, OVER_HTTPS)).status).to.equal(200);
  });
});
