import { expect } from 'chai';
import { valuesThroughApi } from '../support/matrix.ts';
import { expectRefusal, request, type TestUser, useService } from '../support/world.ts';

const WRONG = 'Invalid credentials';
const LIMITED = 'Request rate limit exceeded';
const FAILURES_ALLOWED = 10;
const WRONG_VALUES = [7, true, ['x'], { a: 1 }, 'x'.repeat(255), 'a\u0000b', '\ud800'];

describe('Logging in', () => {
  const service = useService({ env: { TRUST_PROXY: 'loopback' } });
  let user: TestUser;
  let address = 0;

  beforeEach(async () => {
    user = await service.newUser('Finance');
    // Failures are counted by address, and each test makes its own.
    address += 1;
  });

  const from = (host = address) => ({ 'x-forwarded-for': `203.0.113.${host}` });
  const post = (body: unknown, headers: Record<string, string> = from()) =>
    request('POST', `${service.baseUrl}/auth/login`, { body, headers });
  const logIn = (overrides: object = {}, headers?: Record<string, string>) =>
    post({ email: user.email, password: user.password, ...overrides }, headers);
  const read = (access: string) =>
    request('GET', `${service.baseUrl}/wallets/balance`, { access, headers: from() });

  it('answers with tokens, and with the merchant as refreshing does', async () => {
    const answer = await logIn();
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    const { access, refresh, name, email, ...rest } = answer.body;
    expect(rest).to.deep.equal({
      merchant_id: service.merchantId,
      merchant_code: service.merchantId,
      app_code: null,
      products: null,
      phone_number: '+254711000001',
      requires_verification: false,
      message: 'Logged in',
    });
    expect([name, email].join()).to.match(/^Merchant \d+,merchant-\d+@test\.example$/);
    expect((await read(access)).status).to.equal(200);
    const refreshed = await request('POST', `${service.baseUrl}/auth/refresh`, {
      body: { refresh },
      headers: from(),
    });
    const { access: _access, refresh: _refresh, ...same } = refreshed.body;
    expect(same).to.deep.equal({ ...rest, name, email, message: 'Token refreshed' });
    const app = await request('POST', `${service.baseUrl}/auth/app/token`, {
      body: { app_key: service.merchant.app_key, app_secret: service.merchant.app_secret },
      headers: from(),
    });
    expect(Object.keys(app.body)).to.have.members(Object.keys(answer.body));
  });

  it('takes the e-mail address in any case, and the password to the letter', async () => {
    expect((await logIn({ email: user.email.toUpperCase() })).status).to.equal(200);
    expectRefusal(await logIn({ password: user.password.toUpperCase() }), 401, WRONG);
    for (const password of [` ${user.password}`, `${user.password} `, user.password.slice(1)]) {
      expectRefusal(await logIn({ password }), 401, WRONG);
    }
  });

  it('says the same of a wrong password, an unknown person and an inactive one', async () => {
    expectRefusal(await logIn({ password: 'wrong' }), 401, WRONG);
    expectRefusal(await logIn({ email: 'nobody@test.example' }), 401, WRONG);
    expectRefusal(await logIn({ email: "' OR true --" }), 401, WRONG);
    await service.assign('users', 'active = false');
    expectRefusal(await logIn(), 401, WRONG);
  });

  it('refuses a person whose merchant is not active, if the password is right', async () => {
    await service.assign('merchants', 'active = false');
    expectRefusal(await logIn(), 403, 'Merchant account is not active');
    expectRefusal(await logIn({ password: 'wrong' }), 401, WRONG);
  });

  it('needs no approval', async () => {
    await service.assign('merchants', 'approved = false');
    expect((await logIn()).body.requires_verification).to.equal(true);
  });

  it('asks for what is missing, in order', async () => {
    for (const missing of [undefined, null, '']) {
      expectRefusal(await logIn({ email: missing }), 400, 'email field is required');
      expectRefusal(await logIn({ password: missing }), 400, 'password field is required');
    }
    expectRefusal(await post({}), 400, 'email field is required');
    expectRefusal(await post({ password: 7 }), 400, 'email field is required');
  });

  for (const field of ['email', 'password']) {
    for (const value of valuesThroughApi(WRONG_VALUES)) {
      it(`refuses ${JSON.stringify(value).slice(0, 20)} for ${field}`, async () => {
        expectRefusal(await logIn({ [field]: value }), 400, `Invalid ${field}`);
      });
    }
  }

  const fail = async (times: number, overrides: object = {}) => {
    for (let count = 0; count < times; count += 1) {
      expectRefusal(await logIn({ password: 'wrong', ...overrides }), 401, WRONG);
    }
  };

  it('stops one account from one address after ten failures, and nobody else', async () => {
    await fail(FAILURES_ALLOWED);
    const limited = await logIn({ password: 'wrong' });
    expectRefusal(limited, 429, LIMITED);
    expect(Number(limited.headers.get('retry-after'))).to.be.within(1, 60);
    expectRefusal(await logIn(), 429, LIMITED);
    expectRefusal(await logIn({ email: user.email.toUpperCase() }), 429, LIMITED);
    const other = await service.newUser();
    expect((await logIn({ email: other.email, password: other.password })).status).to.equal(200);
    expect((await logIn({}, from(250))).status).to.equal(200);
  });

  it('counts failures that come at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 3 * FAILURES_ALLOWED }, () => logIn({ password: 'wrong' })),
    );
    const failed = answers.filter(({ status }) => status === 401).length;
    // The bucket is refilled every six seconds, and a slow machine may need as long.
    expect(failed).to.be.within(FAILURES_ALLOWED, FAILURES_ALLOWED + 2);
  });

  it('does not count success', async () => {
    for (let count = 0; count < FAILURES_ALLOWED + 2; count += 1) {
      expect((await logIn()).status).to.equal(200);
    }
    await fail(FAILURES_ALLOWED);
    expectRefusal(await logIn(), 429, LIMITED);
  });

  it('lets an app in that starts in many places at once, and counts no account for it', async () => {
    const getToken = (app_secret: string) =>
      request('POST', `${service.baseUrl}/auth/app/token`, {
        body: { app_key: service.merchant.app_key, app_secret },
        headers: from(),
      });
    for (let count = 0; count < FAILURES_ALLOWED; count += 1) {
      expectRefusal(await getToken('wrong'), 401, 'Invalid app credentials');
    }
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => getToken(service.merchant.app_secret)),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(60).fill(200));
  });

  it('counts wrong credentials only, not what right ones are refused for', async () => {
    await service.assign('merchants', 'active = false');
    for (let count = 0; count < FAILURES_ALLOWED; count += 1) {
      expectRefusal(await logIn(), 403, 'Merchant account is not active');
    }
    expectRefusal(await logIn(), 403, 'Merchant account is not active');
  });
});
