import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { valuesThroughApi } from '../support/matrix.ts';
import { collectionBody, expectRefusal, request, useService } from '../support/world.ts';

const JWT_KEYS = `new:${Buffer.alloc(32, 'new').toString('base64')}`;
const WRONG_CREDENTIALS = 'Invalid app credentials';

describe('Getting a token for an app', () => {
  const service = useService({ env: { JWT_KEYS } });

  const set = (table: 'merchants' | 'apps', assignment: string) =>
    service.rows(
      `UPDATE ${table} SET ${assignment}
       WHERE ${table === 'merchants' ? 'id' : 'merchant_id'} = :id`,
      { id: service.merchantId },
    );

  const initiate = (access: string) =>
    request('POST', `${service.baseUrl}/collections/checkouts/initiate`, {
      access,
      body: collectionBody(),
    });

  const post = (body: unknown) => request('POST', `${service.baseUrl}/auth/app/token`, { body });
  const credentials = () => ({
    app_key: service.merchant.app_key,
    app_secret: service.merchant.app_secret,
  });

  it('answers with two tokens and whose they are', async () => {
    const answer = await post(credentials());
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    const { access, refresh, name, email, ...rest } = answer.body;
    expect(rest).to.deep.equal({
      merchant_id: service.merchantId,
      merchant_code: service.merchantId,
      phone_number: '+254711000001',
      requires_verification: false,
      app_code: service.merchant.app_code,
      products: ['collections', 'payouts'],
      message: 'Token issued',
    });
    expect([name, email].join()).to.match(/^Merchant \d+,merchant-\d+@test\.example$/);
    for (const [token, lifetimeS] of [
      [access, 15 * 60],
      [refresh, 7 * 24 * 3_600],
    ] as const) {
      const { header, payload } = jwt.decode(token, { complete: true })!;
      const { iat, exp } = payload as jwt.JwtPayload;
      expect(header).to.include({ alg: 'HS256', kid: 'new' });
      expect(exp! - iat!).to.equal(lifetimeS);
    }
    expect((await initiate(access)).status).to.equal(200);
  });

  it('gives each time new tokens, and the old ones stay good', async () => {
    const one = await post(credentials());
    const two = await post(credentials());
    expect(one.body.access).to.not.equal(two.body.access);
    for (const { body } of [one, two]) expect((await initiate(body.access)).status).to.equal(200);
  });

  const MISSING: [body: (full: Record<string, unknown>) => unknown, field: string][] = [
    [() => ({}), 'app_key'],
    [({ app_secret }) => ({ app_secret }), 'app_key'],
    [({ app_key }) => ({ app_key }), 'app_secret'],
    [(full) => ({ ...full, app_key: null }), 'app_key'],
    [(full) => ({ ...full, app_key: '' }), 'app_key'],
    [(full) => ({ ...full, app_secret: null }), 'app_secret'],
    [(full) => ({ ...full, app_secret: '' }), 'app_secret'],
    [() => ({ app_key: 7, app_secret: '' }), 'app_secret'],
  ];
  for (const [body, field] of MISSING) {
    it(`asks for ${field} when the body is ${JSON.stringify(body({ app_key: 'k', app_secret: 's' }))}`, async () => {
      expectRefusal(await post(body(credentials())), 400, `${field} field is required`);
    });
  }

  for (const field of ['app_key', 'app_secret']) {
    for (const value of valuesThroughApi([7, true, ['x'], { a: 1 }, 'x'.repeat(201), 'a\u0000b'])) {
      it(`refuses ${JSON.stringify(value).slice(0, 20)} for ${field}`, async () => {
        expectRefusal(await post({ ...credentials(), [field]: value }), 400, `Invalid ${field}`);
      });
    }

    for (const value of ['wrong', "' OR '1'='1", 'ak_🎉', ' ', '__proto__', '%00']) {
      it(`does not know ${JSON.stringify(value)} for ${field}`, async () => {
        expectRefusal(await post({ ...credentials(), [field]: value }), 401, WRONG_CREDENTIALS);
      });
    }
  }

  it('does not take one app’s secret for another’s', async () => {
    const other = await service.newMerchant();
    const mixed = { app_key: service.merchant.app_key, app_secret: other.app_secret };
    expectRefusal(await post(mixed), 401, WRONG_CREDENTIALS);
  });

  it('refuses an app that is not active', async () => {
    await set('apps', 'active = false');
    expectRefusal(await post(credentials()), 403, 'App is not active');
    const wrong = { ...credentials(), app_secret: 'wrong' };
    expectRefusal(await post(wrong), 401, WRONG_CREDENTIALS);
  });

  it('refuses an app whose merchant is not active, before it looks at the app', async () => {
    await set('merchants', 'active = false');
    expectRefusal(await post(credentials()), 403, 'Merchant account is not active');
    await set('apps', 'active = false');
    expectRefusal(await post(credentials()), 403, 'Merchant account is not active');
  });

  it('needs no approval and no product', async () => {
    await set('merchants', 'approved = false');
    await set('apps', `products = '{}'`);
    const answer = await post(credentials());
    expect(answer.status).to.equal(200);
    expect(answer.body.products).to.deep.equal([]);
  });

  it('takes no secret that has expired', async () => {
    const expire = (when: string) =>
      service.rows(`UPDATE app_secrets SET expires_at = ${when} WHERE app_code = :code`, {
        code: service.merchant.app_code,
      });
    await expire(`now() + interval '1 hour'`);
    expect((await post(credentials())).status).to.equal(200);
    await expire(`now() - interval '1 second'`);
    expectRefusal(await post(credentials()), 401, WRONG_CREDENTIALS);
  });
});
