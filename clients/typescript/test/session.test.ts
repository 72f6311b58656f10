import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { rows } from '../../../src/connections/database.ts';
import { withFastClock } from '../../../test/support/fast-clock.ts';
import { createTestUser, type TestMerchant } from '../../../test/support/test-merchant.ts';
import { enableTotp, otpOf } from '../../../test/support/totp.ts';
import { createClient, MalipoError } from '../src/index.ts';
import { type ClientWorld, startClientWorld } from './support/client-world.ts';
import type { Front } from './support/front.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const CALLS_AT_ONCE = 20;

describe('The client’s session', () => {
  let world: ClientWorld;
  let merchant: TestMerchant;
  let front: Front;

  before(async () => {
    // No payment is made, and the clock is put forward under no worker.
    world = await startClientWorld({ workers: [] });
  });

  after(() => world.close());

  beforeEach(async () => {
    merchant = await world.newMerchant();
    front = world.front;
    front.passed.length = 0;
    front.changeWith(() => null);
  });

  const countOf = (path: string) =>
    front.passed.filter((each) => each.path === `/api/v1${path}`).length;
  const tokenRequests = () => ({
    tokens: countOf('/auth/app/token'),
    refreshes: countOf('/auth/refresh'),
  });
  const refusals = () => front.passed.filter(({ status }) => status === 401).length;
  const sessions = () =>
    rows<{ revoked: boolean }>(
      world.service.database,
      `SELECT revoked_at IS NOT NULL AS revoked FROM token_families
       WHERE merchant_id = :merchant_id`,
      { merchant_id: merchant.merchant_id },
    );

  const revokeAll = () =>
    rows(
      world.service.database,
      'UPDATE token_families SET revoked_at = now() WHERE merchant_id = :merchant_id RETURNING id',
      { merchant_id: merchant.merchant_id },
    );

  /** Returns the same token as it is when its time is over. */
  function expired(access: string): string {
    const nowS = Math.floor(Date.now() / 1_000);
    const claims = jwt.decode(access) as jwt.JwtPayload;
    const { id, secret } = world.service.config.jwtKeys.current;
    const old = { ...claims, iat: nowS - 1_000, exp: nowS - 100 };
    return jwt.sign(old, secret, { algorithm: 'HS256', keyid: id });
  }

  it('gets a token at the first call, and keeps it', async () => {
    const client = world.clientOf(merchant);
    expect(front.passed).to.deep.equal([]);
    const { results } = await client.get('/channels');
    expect(results.map(({ code }) => code)).to.include(63902);
    await client.get('/wallets/balance');
    expect(tokenRequests()).to.deep.equal({ tokens: 1, refreshes: 0 });
  });

  it('renews an expired token once for all calls that find it refused', async () => {
    front.changeWith(({ path }, body) => {
      if (!path.endsWith('/auth/app/token')) return null;
      const tokens = JSON.parse(body);
      const changed = JSON.stringify({ ...tokens, access: expired(tokens.access) });
      return { status: 200, body: changed };
    });
    const client = world.clientOf(merchant);
    const calls = Array.from({ length: CALLS_AT_ONCE }, () => client.get('/channels'));
    for (const { count } of await Promise.all(calls)) expect(count).to.be.above(0);
    expect(refusals()).to.equal(CALLS_AT_ONCE);
    await client.get('/channels');
    expect(tokenRequests()).to.deep.equal({ tokens: 1, refreshes: 1 });
    expect(refusals()).to.equal(CALLS_AT_ONCE);
    // One is of the merchant’s creation.
    expect(await sessions()).to.deep.equal([{ revoked: false }, { revoked: false }]);
  });

  it('renews a token once shortly before it expires, so that no call is refused', async () => {
    const client = world.clientOf(merchant);
    await client.get('/channels');
    await withFastClock(14.5 * MINUTE_MS, async () => {
      const calls = Array.from({ length: CALLS_AT_ONCE }, () => client.get('/channels'));
      await Promise.all(calls);
    });
    expect(tokenRequests()).to.deep.equal({ tokens: 1, refreshes: 1 });
    expect(refusals()).to.equal(0);
  });

  it('logs in again when its refresh token is over too', async () => {
    const client = world.clientOf(merchant);
    await client.get('/channels');
    await withFastClock(8 * DAY_MS, () => client.get('/channels'));
    expect(tokenRequests()).to.deep.equal({ tokens: 2, refreshes: 0 });
  });

  it('logs in again, once, when its log-in was revoked', async () => {
    const client = world.clientOf(merchant);
    await client.get('/channels');
    await revokeAll();
    await Promise.all(Array.from({ length: CALLS_AT_ONCE }, () => client.get('/channels')));
    expect(tokenRequests()).to.deep.equal({ tokens: 2, refreshes: 0 });
  });

  it('sends no refresh token again whose answer was lost, and logs in', async () => {
    const client = world.clientOf(merchant);
    await client.get('/channels');
    front.changeWith(({ path }) =>
      path.endsWith('/auth/refresh') ? { status: 502, body: '<h1>Bad Gateway</h1>' } : null,
    );
    await withFastClock(14.5 * MINUTE_MS, () => client.get('/channels'));
    expect(tokenRequests()).to.deep.equal({ tokens: 2, refreshes: 1 });
  });

  it('tries the next log-in anew after one that has failed', async () => {
    const client = world.clientOf(merchant);
    front.changeWith(({ path }) =>
      path.endsWith('/auth/app/token')
        ? { status: 401, body: JSON.stringify({ detail: 'No', code: 'invalid_app_credentials' }) }
        : null,
    );
    const outcomes = await Promise.allSettled([client.get('/channels'), client.get('/channels')]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect(tokenRequests().tokens).to.equal(1);
    front.changeWith(() => null);
    expect((await client.get('/channels')).count).to.be.above(0);
  });

  it('lets a caller end the wait for a token, and goes on for the others', async () => {
    const ended = new AbortController();
    let release = () => {};
    front.changeWith(({ path }) => {
      if (!path.endsWith('/auth/app/token')) return null;
      ended.abort();
      return new Promise((resolve) => {
        release = () => resolve(null);
      });
    });
    const client = world.clientOf(merchant);
    const other = client.get('/channels');
    const init = { signal: ended.signal };
    const error = await client.get('/channels', init).catch((reason: unknown) => reason);
    expect(error).to.have.property('name', 'AbortError');
    const late = await client.get('/channels', init).catch((reason: unknown) => reason);
    expect(late).to.have.property('name', 'AbortError');
    release();
    expect((await other).count).to.be.above(0);
    expect(tokenRequests()).to.deep.equal({ tokens: 1, refreshes: 0 });
  });

  it('says so when what comes in place of tokens is no token', async () => {
    const claims = Buffer.from('{}').toString('base64url');
    for (const body of [{ access: 'a', refresh: 'b' }, {}, { access: `a.${claims}.c` }, null]) {
      const client = world.clientOf(merchant);
      front.changeWith(({ path }) =>
        path.endsWith('/auth/app/token') ? { status: 200, body: JSON.stringify(body) } : null,
      );
      const error = await client.get('/channels').catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(MalipoError);
      expect(error).to.include({ status: 200, code: 'unreadable_answer', mayBeDone: false });
    }
  });

  it('says why an app gets no token', async () => {
    const client = world.clientOf({ ...merchant, app_secret: 'as_wrong' });
    const error = await client.get('/channels').catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(MalipoError);
    expect(error).to.include({ status: 401, code: 'invalid_app_credentials' });
  });

  it('logs a person in, and asks for a one-time password at each log-in', async () => {
    const user = await createTestUser(world.service, merchant.merchant_id);
    const secret = await enableTotp(world.service, merchant.merchant_id, user);
    let asked = 0;
    const otp = async () => otpOf(secret, asked++);
    const baseUrl = `${front.origin}/api/v1/`;
    const client = createClient({ baseUrl, email: user.email, password: user.password, otp });
    const { results } = await client.get('/auth/sessions');
    expect(results.filter(({ current }) => current)).to.have.length(1);
    await revokeAll();
    await client.get('/auth/sessions');
    expect([asked, countOf('/auth/login')]).to.deep.equal([2, 2]);
  });
});
