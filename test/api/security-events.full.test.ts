import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { issueAppTokens } from '../../src/domain/credentials/log-in.ts';
import { accountHash } from '../../src/domain/credentials/log-in-limit.ts';
import { createMetrics } from '../../src/metrics/process-metrics.ts';
import { assign } from '../support/assignments.ts';
import { scrape, sumOf } from '../support/metrics.ts';
import { createTestUser } from '../support/test-merchant.ts';
import { enableTotp, wrongOtpOf } from '../support/totp.ts';
import { expectRefusal, request, type TestUser, useService } from '../support/world.ts';

const COUNTER = 'malipo_security_events_total';
const REVOKED_AT_ONCE = 60;
const EVENTS_PER_MINUTE = 60;
const WRONG = 'Invalid credentials';

describe('Security events', () => {
  const service = useService({ env: { TRUST_PROXY: 'loopback' } });
  let user: TestUser;
  let address = 0;

  before(async () => {
    createMetrics(service, 'web');
  });

  beforeEach(async () => {
    user = await service.newUser('Finance');
    address += 1;
  });

  const ip = () => `198.51.100.${address}`;
  const post = (path: string, body: object) =>
    request('POST', `${service.baseUrl}/auth/${path}`, {
      body,
      headers: { 'x-forwarded-for': ip() },
    });
  const logIn = (overrides: object = {}) =>
    post('login', { email: user.email, password: user.password, ...overrides });
  const getToken = (app_secret: string) =>
    post('app/token', { app_key: service.merchant.app_key, app_secret });
  const read = (access: string) =>
    request('GET', `${service.baseUrl}/channels`, {
      access,
      headers: { 'x-forwarded-for': ip() },
    });
  const hashOf = (account: string) => accountHash(service.config.secretsKeys, account);
  const ofMerchant = async (kind: string) =>
    (await service.securityEvents(kind)).filter(
      ({ merchant_id }) => merchant_id === service.merchantId,
    );
  const counted = async (kind: string) =>
    sumOf(await scrape(service.meters.registry), COUNTER, { kind });

  it('have every log-in, with whose it is, the session and the address', async () => {
    await logIn();
    await getToken(service.merchant.app_secret);
    const [byUser, byApp] = (await ofMerchant('log_in')).slice(-2);
    expect(byUser).to.include({
      ...{ user_id: user.userId, app_code: null, ip: ip(), staff: null },
      account_hash: hashOf(user.email),
    });
    expect(byApp).to.include({
      ...{ user_id: null, app_code: service.merchant.app_code, ip: ip() },
      account_hash: hashOf(service.merchant.app_key),
    });
    const families = await service.rows<{ id: string }>(
      'SELECT id FROM token_families WHERE merchant_id = :merchant_id ORDER BY created_at, id',
      service.merchant,
    );
    expect(families.slice(-2).map(({ id }) => id)).to.deep.equal([byUser!.family, byApp!.family]);
  });

  it('have every failed log-in, with the account as a hash only', async () => {
    await logIn({ password: 'wrong' });
    await logIn({ email: 'Stranger@test.example' });
    await getToken('wrong');
    const failed = (await service.securityEvents('log_in_failed')).slice(-3);
    const merchant_id = service.merchantId;
    expect(failed.map((event) => [event.merchant_id, event.user_id, event.app_code])).to.deep.equal(
      [
        [merchant_id, user.userId, null],
        [null, null, null],
        [merchant_id, null, service.merchant.app_code],
      ],
    );
    expect(failed.map(({ account_hash }) => account_hash)).to.deep.equal(
      [user.email, 'stranger@test.example', service.merchant.app_key].map(hashOf),
    );
    for (const event of failed) {
      expect(event.ip).to.equal(ip());
      expect(JSON.stringify(event)).to.not.match(/example|ak_|wrong/i);
    }
  });

  it('have the reuse of a refresh token once, and later uses as those of a revoked one', async () => {
    const { refresh } = await issueAppTokens(service.database, service.config, service.merchant);
    const { body } = await post('refresh', { refresh });
    for (const token of [refresh, refresh, body.refresh]) {
      expectRefusal(await post('refresh', { refresh: token }), 401, 'Token has been revoked');
    }
    const [reused, ...others] = await ofMerchant('refresh_token_reused');
    expect(others).to.deep.equal([]);
    expect(reused).to.include({ app_code: service.merchant.app_code, ip: ip() });
    const revoked = await ofMerchant('revoked_token_used');
    expect(revoked.map(({ family }) => family)).to.deep.equal([reused!.family]);
  });

  it('have a revoked token once a minute, and too many requests with it get 429', async () => {
    await service.assign('token_families', 'revoked_at = now()');
    const before = (await counted('revoked_token_used'))!;
    const answers = [];
    for (let count = 0; count < REVOKED_AT_ONCE; count += 1) {
      answers.push(await read(service.merchant.access));
    }
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(REVOKED_AT_ONCE).fill(401));
    // The bucket may have been refilled by a request or two since.
    const more = await Promise.all(Array.from({ length: 20 }, () => read(service.merchant.access)));
    const limited = more.filter(({ status }) => status === 429);
    expect(limited).to.not.be.empty;
    expect(Number(limited[0]!.headers.get('retry-after'))).to.be.within(1, 60);
    // Another log-in of the same app is not concerned.
    const { access } = await issueAppTokens(service.database, service.config, service.merchant);
    expect((await read(access)).status).to.equal(200);
    const events = await ofMerchant('revoked_token_used');
    expect(events).to.have.length(1);
    expect(await counted('revoked_token_used')).to.equal(before + REVOKED_AT_ONCE + 20);
  });

  it('have a refused address once a minute, by token and by log-in', async () => {
    await service.assign('apps', `ip_allow_list = '{192.0.2.1}'`);
    const denied = 'Access denied: IP address not allowed';
    for (const answer of [
      ...[await read(service.merchant.access), await read(service.merchant.access)],
      ...[await getToken(service.merchant.app_secret), await getToken(service.merchant.app_secret)],
    ]) {
      expectRefusal(answer, 403, denied);
    }
    const events = await ofMerchant('address_refused');
    expect(events.map((event) => [event.app_code, event.ip])).to.deep.equal([
      ...[
        [service.merchant.app_code, ip()],
        [service.merchant.app_code, ip()],
      ],
    ]);
    expect(events.map(({ family }) => family === null)).to.deep.equal([false, true]);
  });

  it('have each person whom an address is refused, also from one address', async () => {
    const other = await service.newMerchant();
    const people = [user, await createTestUser(service, other.merchant_id, 'Finance')];
    for (const { merchant_id } of [service.merchant, other]) {
      await assign(
        service.database,
        merchant_id,
        'merchants',
        `user_ip_allow_list = '{192.0.2.1}'`,
      );
    }
    for (const { email, password } of people) {
      expect((await logIn({ email, password })).status).to.equal(403);
    }
    const refused = (await service.securityEvents('address_refused')).slice(-2);
    expect(refused.map(({ user_id }) => user_id)).to.deep.equal(people.map(({ userId }) => userId));
  });

  it('have one log-in an hour of an app from an address, and count all', async () => {
    const before = (await counted('log_in'))!;
    for (let count = 0; count < 3; count += 1) {
      expect((await getToken(service.merchant.app_secret)).status).to.equal(200);
    }
    expect((await ofMerchant('log_in')).filter((event) => event.ip === ip())).to.have.length(1);
    expect(await counted('log_in')).to.equal(before + 3);
  });

  it('count no log-in that a wrong one-time password has ended', async () => {
    const secret = await enableTotp(service, service.merchantId, user);
    const before = await counted('log_in');
    expect((await logIn({ otp: wrongOtpOf(secret) })).status).to.equal(401);
    expect(await counted('log_in')).to.equal(before);
  });

  it('do not turn a refusal into a failure when they cannot be written', async () => {
    await rows(
      service.owner,
      `ALTER TABLE security_events ADD CONSTRAINT refused CHECK (kind <> 'log_in_failed') NOT VALID`,
    );
    try {
      expectRefusal(await logIn({ password: 'wrong' }), 401, WRONG);
    } finally {
      await rows(service.owner, 'ALTER TABLE security_events DROP CONSTRAINT refused');
    }
  });

  it('cannot be changed, and cannot be deleted while they are young', async () => {
    for (const statement of [
      `UPDATE security_events SET staff = 'somebody else'`,
      'DELETE FROM security_events',
      'TRUNCATE security_events',
    ]) {
      const refused = await rows(service.owner, statement).then(
        () => null,
        (error: Error) => error.message,
      );
      expect(refused, statement).to.include('of security_events is refused');
    }
  });

  // Last, because it uses up what the process records in this minute.
  it('of strangers fill no disk: a process records so many a minute, and counts all', async () => {
    const [before, recorded] = [
      (await counted('log_in_failed'))!,
      (await service.securityEvents('log_in_failed')).length,
    ];
    // A minute may end meanwhile, and another one begin.
    const strangers = 3 * EVENTS_PER_MINUTE;
    for (let count = 0; count < strangers; count += 1) {
      address = 100 + (count % 5);
      expect((await getToken('wrong')).status).to.equal(401);
    }
    expect(await counted('log_in_failed')).to.equal(before + strangers);
    const after = (await service.securityEvents('log_in_failed')).length;
    expect(after - recorded).to.be.at.most(2 * EVENTS_PER_MINUTE);
  });
});
