import { randomBytes, scryptSync } from 'node:crypto';
import { expect } from 'chai';
import { firstRow, rows } from '../../src/connections/database.ts';
import { type Answer, request } from '../support/api-client.ts';
import { expectRefusal } from '../support/refusals.ts';
import { securityEvents } from '../support/security-events.ts';
import {
  createTestMerchant,
  createTestUser,
  type TestMerchant,
  type TestUser,
} from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const WRONG = 'Invalid credentials';
const LIMITED = 'Request rate limit exceeded';
const FAILURES_ALLOWED = 20;
const REFILL_S = 300;

describe('Guessing a password', () => {
  let one: TestService;
  let two: TestService;
  let merchant: TestMerchant;
  let user: TestUser;
  let network = 0;

  before(async () => {
    const env = { TRUST_PROXY: 'loopback' };
    one = await startTestService({ workers: [], env });
    two = await startTestService({ workers: [], env, beside: one });
  });

  after(async () => {
    await two.close();
    await one.close();
  });

  beforeEach(async () => {
    merchant = await createTestMerchant(one);
    user = await createTestUser(one, merchant.merchant_id, 'Finance');
  });

  /** An address that nobody has used before. */
  function newAddress(): string {
    network += 1;
    return `10.${network >> 8}.${network & 255}.1`;
  }

  const logIn = (overrides: object = {}, from = newAddress(), service = one) =>
    request('POST', `${service.baseUrl}/auth/login`, {
      body: { email: user.email, password: user.password, ...overrides },
      headers: { 'x-forwarded-for': from },
    });
  /** Guesses at once, each from another address, by two processes in turn. */
  const guess = (count: number, overrides: object = {}) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        logIn({ password: 'wrong', ...overrides }, newAddress(), index % 2 ? one : two),
      ),
    );
  const answered = (answers: Answer[]) => answers.filter(({ status }) => status === 401).length;

  function expectLimited(answer: Answer): void {
    expectRefusal(answer, 429, LIMITED);
    expect(Number(answer.headers.get('retry-after'))).to.be.within(1, REFILL_S);
  }

  it('from many addresses and at once ends after twenty failures, in all processes', async () => {
    expect(answered(await guess(2 * FAILURES_ALLOWED))).to.equal(FAILURES_ALLOWED);
    for (const service of [one, two]) {
      expectLimited(await logIn({ password: 'wrong' }, newAddress(), service));
      expectLimited(await logIn({ email: user.email.toUpperCase() }, newAddress(), service));
    }
    const other = await createTestUser(one, merchant.merchant_id);
    expect((await logIn({ email: other.email, password: other.password })).status).to.equal(200);
    const events = await securityEvents(one.database, 'log_in_limited');
    expect(events.length, 'one of each process').to.be.within(1, 2);
    expect(events[0]!.account_hash).to.match(/^[0-9a-f]{64}$/);
  });

  it('is answered alike for an account that does not exist', async () => {
    const stranger = { email: 'no-such-person@test.example' };
    expect(answered(await guess(FAILURES_ALLOWED + 5, stranger))).to.equal(FAILURES_ALLOWED);
    const unknown = await logIn(stranger);
    await guess(FAILURES_ALLOWED);
    const known = await logIn({ password: 'wrong' });
    for (const answer of [unknown, known]) expectLimited(answer);
    expect(unknown.body).to.deep.equal(known.body);
  });

  it('does not lock a person out where the person has logged in lately', async () => {
    const home = newAddress();
    const phone = '2001:db8:7:1:aaaa::1';
    const samePhone = '2001:db8:7:1:bbbb::2';
    for (const address of [home, phone]) expect((await logIn({}, address)).status).to.equal(200);
    await guess(FAILURES_ALLOWED);
    expectLimited(await logIn());
    for (const address of [home, samePhone]) {
      expect((await logIn({}, address)).status, address).to.equal(200);
    }
    expectLimited(await logIn({}, '2001:db8:7:2::1'));
  });

  it('is limited where the person has logged in, too', async () => {
    const home = newAddress();
    await logIn({}, home);
    // The limit of one address ends guesses from it sooner, so the count is made by hand.
    await rows(
      one.database,
      `INSERT INTO log_in_limits (account_hash, network, full_at)
       SELECT account_hash, CAST(:home AS inet), now() + interval '100 minutes'
       FROM security_events WHERE kind = 'log_in' AND ip = CAST(:home AS inet)`,
      { home },
    );
    expectLimited(await logIn({}, home));
    expect((await logIn()).status).to.equal(200);
  });

  it('goes on slowly, because a failure is forgotten every five minutes', async () => {
    await guess(FAILURES_ALLOWED);
    expectLimited(await logIn({ password: 'wrong' }));
    await rows(one.database, `UPDATE log_in_limits SET full_at = full_at - interval '300 seconds'`);
    expect(answered(await guess(3))).to.equal(1);
  });

  it('counts no success, and nothing that right credentials are refused for', async () => {
    for (let count = 0; count < FAILURES_ALLOWED + 5; count += 1) {
      expect((await logIn()).status).to.equal(200);
    }
    const counted = await firstRow(
      one.database,
      `SELECT FROM log_in_limits l JOIN security_events e USING (account_hash)
       WHERE e.user_id = :userId LIMIT 1`,
      user,
    );
    expect(counted).to.equal(undefined);
  });

  describe('against a hash that costs less than today’s', () => {
    /** Stores the password as an earlier version hashed it. */
    async function weaken(): Promise<string> {
      const salt = randomBytes(16);
      const key = scryptSync(user.password, salt, 32, { N: 16, r: 8, p: 1 });
      const hash = `scrypt$16,8,1$${salt.toString('base64')}$${key.toString('base64')}`;
      await rows(one.database, 'UPDATE users SET password_hash = :hash WHERE id = :userId', {
        ...{ hash, userId: user.userId },
      });
      return hash;
    }
    const storedHash = async () =>
      (await firstRow<{ password_hash: string }>(
        one.database,
        'SELECT password_hash FROM users WHERE id = :userId',
        user,
      ))!.password_hash;

    it('changes nothing, and the right password has it hashed anew', async () => {
      const weak = await weaken();
      expectRefusal(await logIn({ password: 'wrong' }), 401, WRONG);
      expect(await storedHash()).to.equal(weak);
      expect((await logIn()).status).to.equal(200);
      const renewed = await storedHash();
      expect(renewed).to.match(/^scrypt\$1024,8,1\$/);
      expect((await logIn()).status).to.equal(200);
      expect(await storedHash()).to.equal(renewed);
    });

    it('breaks no log-in of the same moment', async () => {
      await weaken();
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) => logIn({}, newAddress(), index % 2 ? one : two)),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(10).fill(200));
    });
  });
});
