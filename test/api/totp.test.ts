import { expect } from 'chai';
import { setTotp } from '../../src/domain/credentials/one-time-passwords.ts';
import { waitsForLock } from '../support/locks.ts';
import { startTestService, type TestService } from '../support/test-service.ts';
import { enableTotp, otpOf, wrongOtpOf } from '../support/totp.ts';
import {
  type Client,
  clientOf,
  eventually,
  expectRefusal,
  payoutBody,
  request,
  reversalBody,
  type TestUser,
  useService,
} from '../support/world.ts';

const REQUIRED = 'One-time password required';
const WRONG = 'Invalid one-time password';
const REVOKED = 'Token has been revoked';
const FAILURES_ALLOWED = 10;

describe('One-time passwords', () => {
  const service = useService({ env: { TRUST_PROXY: 'loopback' }, merchant: 'all' });
  let user: TestUser;
  let own: Client;
  let host = 0;

  beforeEach(async () => {
    user = await service.newUser();
    own = service.clientOf(user);
    // Failures are counted by address too, and each test has its own.
    host += 1;
  });

  const from = () => ({ 'x-forwarded-for': `203.0.113.${host}` });
  const logIn = (otp?: string, overrides: object = {}) =>
    request('POST', `${service.baseUrl}/auth/login`, {
      body: { email: user.email, password: user.password, otp, ...overrides },
      headers: from(),
    });
  const post = (path: string, body: object, client = own) => client.post(path, body, from());
  const enable = () => enableTotp(service, service.merchantId, user);
  /** Lets the one-time passwords of a user be used again. */
  const forgetSteps = () =>
    service.rows('UPDATE totp_secrets SET last_step = 0 WHERE user_id = :userId', user);
  /** Takes a user through the enrolment. */
  async function enrol(): Promise<{ secret: string; codes: string[] }> {
    const begun = await post('/auth/totp', { password: user.password });
    expect(begun.status, JSON.stringify(begun.body)).to.equal(200);
    const { secret } = begun.body;
    const confirmed = await post('/auth/totp/confirm', { otp: otpOf(secret) });
    expect(confirmed.status, JSON.stringify(confirmed.body)).to.equal(200);
    expect(confirmed.headers.get('cache-control')).to.equal('no-store');
    await forgetSteps();
    return { secret, codes: confirmed.body.recovery_codes };
  }

  describe('at log-in', () => {
    it('are asked for after the password, and let in when they are right', async () => {
      const secret = await enable();
      expectRefusal(await logIn(undefined, { password: 'wrong' }), 401, 'Invalid credentials');
      expectRefusal(await logIn(otpOf(secret), { password: 'wrong' }), 401, 'Invalid credentials');
      for (const missing of [undefined, '']) {
        const answer = await logIn(missing);
        expectRefusal(answer, 401, REQUIRED, { code: 'otp_required', field: 'otp' });
      }
      const wrong = await logIn(wrongOtpOf(secret));
      expectRefusal(wrong, 401, WRONG, { code: 'invalid_otp', field: 'otp' });
      const kinds = await service.securityKindsOf(user.userId);
      // Two wrong passwords and one wrong code.
      expect(kinds.filter((kind) => kind === 'log_in_failed')).to.have.length(3);
      const right = await logIn(otpOf(secret));
      expect(right.status).to.equal(200);
      expect(Object.keys(right.body)).to.have.members(
        Object.keys(
          (
            await request('POST', `${service.baseUrl}/auth/refresh`, {
              body: { refresh: right.body.refresh },
            })
          ).body,
        ),
      );
    });

    it('do not matter to a person who has none', async () => {
      expect((await logIn('123456')).status).to.equal(200);
    });

    it('may be one step late or early, and no more', async () => {
      const secret = await enable();
      for (const steps of [-3, 3]) expectRefusal(await logIn(otpOf(secret, steps)), 401, WRONG);
      expect((await logIn(otpOf(secret, 1))).status).to.equal(200);
      await forgetSteps();
      const late = await logIn(otpOf(secret, -1));
      // The step may have ended meanwhile, but not twice in a row.
      const isIn = late.status === 200 || (await logIn(otpOf(secret, -1))).status === 200;
      expect(isIn).to.equal(true);
    });

    it('are good once, and none is good that is older than a used one', async () => {
      const secret = await enable();
      const [now, next] = [otpOf(secret), otpOf(secret, 1)];
      expect((await logIn(now)).status).to.equal(200);
      expectRefusal(await logIn(now), 401, WRONG);
      expect((await logIn(next)).status).to.equal(200);
      for (const used of [now, next]) expectRefusal(await logIn(used), 401, WRONG);
    });

    it('let one of several in who use the same at once', async () => {
      const otp = otpOf(await enable());
      const answers = await Promise.all(Array.from({ length: 5 }, () => logIn(otp)));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401, 401, 401, 401]);
    });

    it('are asked for even by a log-in that began before they were switched on', async () => {
      let late: ReturnType<typeof logIn> | undefined;
      await service.transaction(async (trx) => {
        await setTotp(trx, { merchant_id: service.merchantId, user_id: user.userId }, true);
        late = logIn();
        await eventually('the log-in to wait for the user', () => waitsForLock(service.database));
      });
      expect((await late!).status).to.equal(401);
      expect((await own.get('/auth/sessions')).body.count).to.equal(1);
    });

    it('are not spent by a log-in that is refused for something else', async () => {
      const otp = otpOf(await enable());
      const list = (addresses: string) =>
        service.assign('merchants', `user_ip_allow_list = '{${addresses}}'`);
      await list('198.51.100.1');
      expectRefusal(await logIn(otp), 403, 'Access denied: IP address not allowed');
      await list('');
      expect((await logIn(otp)).status).to.equal(200);
    });

    it('count as failures when they are wrong, and not when they are missing', async () => {
      const secret = await enable();
      const wrong = wrongOtpOf(secret);
      for (let count = 0; count < 3; count += 1) expectRefusal(await logIn(), 401, REQUIRED);
      const guesses = Array.from({ length: FAILURES_ALLOWED }, () => logIn(wrong));
      for (const answer of await Promise.all(guesses)) expectRefusal(answer, 401, WRONG);
      expectRefusal(await logIn(otpOf(secret)), 429, 'Request rate limit exceeded');
      // A session is no way around: guesses in it are counted with those at log-in.
      const body = { password: user.password, otp: wrong };
      expectRefusal(await post('/auth/totp/disable', body), 429, 'Request rate limit exceeded');
    });
  });

  describe('that are set up', () => {
    it('begin with the password, and count only once they are confirmed', async () => {
      expectRefusal(await post('/auth/totp', { password: 'wrong' }), 401, 'Invalid credentials');
      const confirm = (otp: string) => post('/auth/totp/confirm', { otp });
      expectRefusal(await confirm('123456'), 409, 'One-time passwords are not on');
      const begin = () => post('/auth/totp', { password: user.password });
      const first = await begin();
      expect(first.headers.get('cache-control')).to.equal('no-store');
      const { secret, otpauth_uri } = (await begin()).body;
      expect(secret)
        .to.match(/^[A-Z2-7]{32}$/)
        .and.not.equal(first.body.secret);
      const uri = new URL(otpauth_uri);
      expect([uri.protocol, uri.host, decodeURIComponent(uri.pathname)]).to.deep.equal([
        'otpauth:',
        'totp',
        `/Malipo:${user.email}`,
      ]);
      expect(Object.fromEntries(uri.searchParams)).to.include({ secret, issuer: 'Malipo' });
      expectRefusal(await confirm(wrongOtpOf(secret)), 401, WRONG);
      expect((await logIn()).status).to.equal(200);
      expect((await confirm(otpOf(secret))).status).to.equal(200);
      expectRefusal(await logIn(), 401, REQUIRED);
      expectRefusal(await begin(), 409, 'One-time passwords are on already');
      expectRefusal(await confirm(otpOf(secret, 1)), 409, 'One-time passwords are on already');
    });

    it('end the other sessions, and make this one no better than it was', async () => {
      const other = (await logIn()).body;
      await enrol();
      const stranger = service.clientOf(other);
      expectRefusal(await stranger.get('/channels'), 401, REVOKED);
      const { results } = (await own.get('/auth/sessions')).body;
      expect(results).to.have.length(1);
      // Somebody may have stolen its tokens before.
      expect(results[0]).to.include({ with_otp: false, current: true });
      const kinds = await service.securityKindsOf(user.userId);
      expect(kinds.filter((kind) => kind.startsWith('totp'))).to.deep.equal([
        'totp_begun',
        'totp_enabled',
      ]);
    });

    it('are confirmed once, by one of several who try at once', async () => {
      const { secret } = (await post('/auth/totp', { password: user.password })).body;
      const otp = otpOf(secret);
      const answers = await Promise.all(
        Array.from({ length: 3 }, () => post('/auth/totp/confirm', { otp })),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409]);
    });

    it('leave no secret and no code in the database that could be used', async () => {
      const { secret, codes } = await enrol();
      const stored = await service.firstRow<{
        text: string;
      }>(`SELECT (SELECT string_agg(t::text, ' ') FROM totp_secrets t)
           || (SELECT string_agg(c::text, ' ') FROM recovery_codes c)
           || coalesce((SELECT string_agg(k::text, ' ') FROM idempotency_keys k), '') AS text`);
      for (const text of [secret, ...codes]) {
        expect(stored!.text).to.not.include(text);
        expect(stored!.text).to.not.include(Buffer.from(text).toString('hex'));
        expect(stored!.text).to.not.include(text.replaceAll('-', ''));
      }
    });

    it('keep nothing under an idempotency key', async () => {
      const headers = { ...from(), 'idempotency-key': 'k' };
      const begin = () => own.post('/auth/totp', { password: user.password }, headers);
      const [first, second] = [await begin(), await begin()];
      expect(second.body.secret).to.not.equal(first.body.secret);
      const kept = await service.rows(`SELECT path FROM idempotency_keys WHERE path LIKE '/auth%'`);
      expect(kept).to.deep.equal([]);
    });
  });

  describe('have recovery codes', () => {
    it('of which each is good once in place of one, however it is written', async () => {
      const { codes } = await enrol();
      expect(codes).to.have.length(10);
      expect(new Set(codes).size).to.equal(10);
      for (const code of codes) expect(code).to.match(/^([0-9a-f]{5}-){3}[0-9a-f]{5}$/);
      const [first, second, third] = codes as [string, string, string];
      expect((await logIn(first)).status).to.equal(200);
      expectRefusal(await logIn(first), 401, WRONG);
      expect((await logIn(second.replaceAll('-', ' ').toUpperCase())).status).to.equal(200);
      const answers = await Promise.all([logIn(third), logIn(third)]);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401]);
      const kinds = await service.securityKindsOf(user.userId);
      expect(kinds.filter((kind) => kind === 'recovery_code_used')).to.have.length(3);
    });

    it('that are a person’s own', async () => {
      const { codes } = await enrol();
      const other = await service.newUser();
      await enableTotp(service, service.merchantId, other);
      const { email, password } = other;
      expectRefusal(await logIn(codes[0], { email, password }), 401, WRONG);
    });

    it('that new ones replace, for the password and a one-time password', async () => {
      const { secret, codes } = await enrol();
      const renew = (body: object) => post('/auth/totp/recovery-codes', body);
      const otp = otpOf(secret);
      const { password } = user;
      expectRefusal(await renew({ password: 'wrong', otp }), 401, 'Invalid credentials');
      expectRefusal(await renew({ password, otp: wrongOtpOf(secret) }), 401, WRONG);
      const renewed = await renew({ password, otp });
      expect(renewed.status).to.equal(200);
      expect(renewed.body.recovery_codes).to.have.length(10);
      expectRefusal(await logIn(codes[0]), 401, WRONG);
      expect((await logIn(renewed.body.recovery_codes[0])).status).to.equal(200);
      expect(await service.securityKindsOf(user.userId)).to.include('recovery_codes_renewed');
    });
  });

  it('end for the password and one of them, and so does what a session has by them', async () => {
    const { secret, codes } = await enrol();
    const end = (body: object) => post('/auth/totp/disable', body);
    const withOtp = async () => {
      const { results } = (await own.get('/auth/sessions')).body;
      return results.map(({ with_otp }: { with_otp: boolean }) => with_otp);
    };
    const otp = otpOf(secret);
    expect((await logIn(otp)).status).to.equal(200);
    expect(await withOtp()).to.deep.equal([true, false]);
    await forgetSteps();
    expectRefusal(await end({ password: 'wrong', otp }), 401, 'Invalid credentials');
    expectRefusal(await end({ password: user.password, otp: wrongOtpOf(secret) }), 401, WRONG);
    expectRefusal(await end({ password: user.password }), 400, 'otp field is required');
    expect((await end({ password: user.password, otp })).status).to.equal(200);
    const off = await end({ password: user.password, otp: codes[0] });
    expectRefusal(off, 409, 'One-time passwords are not on');
    expect((await logIn()).status).to.equal(200);
    expect(await withOtp()).to.deep.equal([false, false, false]);
    expect(await service.securityKindsOf(user.userId)).to.include('totp_disabled');
    // A new enrolment is another secret.
    expect((await enrol()).secret).to.not.equal(secret);
  });

  describe('that are required', () => {
    const OPERATIONS: Record<string, [path: string, body: () => unknown, passed: string]> = {
      payouts: ['/payouts/initiate', () => payoutBody(service.merchant), 'insufficient_balance'],
      transfers: [
        '/wallets/transfers',
        () => ({ amount: '1.00', ref_no: 'T1' }),
        'insufficient_balance',
      ],
      reversals: ['/reversals/initiate', () => reversalBody('none'), 'transaction_not_found'],
    };
    const require = (operations: string) =>
      service.assign('merchants', `totp_required_for = '{${operations}}'`);
    /** The codes that each operation comes to. */
    async function codesOf(
      access: string,
      at: TestService = service,
    ): Promise<Record<string, string>> {
      const client = clientOf(at, { access });
      const codes: Record<string, string> = {};
      for (const [operation, [path, body, passed]] of Object.entries(OPERATIONS)) {
        const { code } = (await client.post(path, body())).body;
        codes[operation] = code === passed ? 'passed' : code;
      }
      return codes;
    }
    const PASSED = { payouts: 'passed', transfers: 'passed', reversals: 'passed' };

    afterEach(() => require(''));

    it('by the merchant keep a session without one from what it names', async () => {
      await require('payouts,reversals');
      expect(await codesOf(user.access)).to.deep.equal({
        ...PASSED,
        payouts: 'otp_login_required',
        reversals: 'otp_login_required',
      });
      expectRefusal(
        await post('/payouts/initiate', payoutBody(service.merchant)),
        403,
        'Log in with a one-time password before initiating payouts',
      );
      expect((await own.initiate()).status).to.equal(200);
      expect(await codesOf(service.merchant.access), 'an app').to.deep.equal(PASSED);
      const secret = await enable();
      const { access, refresh } = (await logIn(otpOf(secret))).body;
      expect(await codesOf(access)).to.deep.equal(PASSED);
      // A session that was begun before is not one with a one-time password.
      expect((await codesOf(user.access)).payouts).to.equal('otp_login_required');
      const refreshed = await request('POST', `${service.baseUrl}/auth/refresh`, {
        body: { refresh },
      });
      expect(await codesOf(refreshed.body.access)).to.deep.equal(PASSED);
    });

    it('by the operator do so for everybody', async () => {
      const env = { REQUIRE_TOTP_FOR: 'payouts, transfers,reversals' };
      const strict = await startTestService({ workers: [], beside: service, env });
      try {
        expect(await codesOf(user.access, strict)).to.deep.equal({
          payouts: 'otp_login_required',
          transfers: 'otp_login_required',
          reversals: 'otp_login_required',
        });
        expect(await codesOf(service.merchant.access, strict)).to.deep.equal(PASSED);
      } finally {
        await strict.close();
      }
    });
  });
});
