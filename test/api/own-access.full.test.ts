import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { rows } from '../../src/connections/database.ts';
import { hashPassword } from '../../src/domain/credentials/passwords.ts';
import { waitsForLock } from '../support/locks.ts';
import { createTestUser } from '../support/test-merchant.ts';
import {
  type Client,
  eventually,
  expectRefusal,
  request,
  type TestUser,
  useService,
} from '../support/world.ts';

const REVOKED = 'Token has been revoked';
const WRONG = 'Invalid credentials';
const NEXT = 'another horse battery';
const DAY_S = 24 * 3_600;
const FAILURES_ALLOWED = 10;

describe('A person’s own access', () => {
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

  const from = (address = `203.0.113.${host}`) => ({ 'x-forwarded-for': address });
  const call = (path: string, body: object, headers = from()) =>
    request('POST', `${service.baseUrl}${path}`, { body, headers });
  const logIn = (password = user.password, headers = from()) =>
    call('/auth/login', { email: user.email, password }, headers);
  const refresh = (token: string, headers = from()) =>
    call('/auth/refresh', { refresh: token }, headers);
  const isIn = async ({ access }: { access: string }) =>
    (await service.clientOf({ access }).get('/channels')).status === 200;
  const change = (body: object, client = own) => client.post('/auth/password', body, from());
  const familyOf = ({ access }: { access: string }): string =>
    (jwt.decode(access) as jwt.JwtPayload).fam;
  const setFamily = (tokens: { access: string }, assignment: string) =>
    service.rewrite(`UPDATE token_families SET ${assignment} WHERE id = :id`, {
      id: familyOf(tokens),
    });

  describe('has a password', () => {
    it('that the person changes: this session goes on, all others end', async () => {
      const other = (await logIn()).body;
      const colleague = await service.newUser();
      const changed = await change({ old_password: user.password, new_password: NEXT });
      expect([changed.status, changed.body]).to.deep.equal([200, { message: 'Password changed' }]);
      expect(changed.headers.get('cache-control')).to.equal('no-store');
      expect([await isIn(user), await isIn(other), await isIn(colleague)]).to.deep.equal([
        ...[true, false, true],
      ]);
      expectRefusal(await refresh(other.refresh), 401, REVOKED);
      expect((await refresh(user.refresh)).status).to.equal(200);
      expectRefusal(await logIn(), 401, WRONG);
      expect((await logIn(NEXT)).status).to.equal(200);
      expect(await service.securityKindsOf(user.userId)).to.include('password_changed');
    });

    it('that is not changed without the old one, or into one that is not allowed', async () => {
      const { password: old_password } = user;
      expectRefusal(await change({ old_password: 'wrong', new_password: NEXT }), 401, WRONG);
      for (const new_password of [
        'eleven char',
        'a'.repeat(12),
        'x'.repeat(129),
        'a\u0000bcdefghijklm',
        7,
      ]) {
        expectRefusal(await change({ old_password, new_password }), 400, 'Invalid new_password');
      }
      const same = await change({ old_password, new_password: old_password });
      expectRefusal(same, 400, 'Invalid new_password', { field: 'new_password' });
      expectRefusal(await change({ old_password }), 400, 'new_password field is required');
      expect((await logIn()).status).to.equal(200);
    });

    it('that is changed once, by one of several who change it at once', async () => {
      const answers = await Promise.all(
        ['first', 'second'].map((word) =>
          change({ old_password: user.password, new_password: `${word} horse battery` }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401]);
    });

    it('that ends what logs in with the old one at the same moment', async () => {
      let late: ReturnType<typeof logIn> | undefined;
      const change = { userId: user.userId, hash: await hashPassword(NEXT) };
      await service.transaction(async (trx) => {
        await rows(trx, 'UPDATE users SET password_hash = :hash WHERE id = :userId', change);
        late = logIn();
        await eventually('the log-in to wait for the user', () => waitsForLock(service.database));
      });
      expectRefusal(await late!, 401, WRONG);
    });

    it('that a session cannot change which ends while its request waits', async () => {
      let late: ReturnType<typeof change> | undefined;
      await service.transaction(async (trx) => {
        await rows(trx, 'SELECT FROM users WHERE id = :userId FOR UPDATE', user);
        late = change({ old_password: user.password, new_password: NEXT });
        await eventually('the change to wait for the user', () => waitsForLock(service.database));
        const end = 'UPDATE token_families SET revoked_at = now() WHERE user_id = :userId';
        await rows(trx, end, user);
      });
      expectRefusal(await late!, 401, REVOKED);
      expect((await logIn()).status).to.equal(200);
    });

    it('that cannot be guessed in a session either', async () => {
      const guesses = Array.from({ length: FAILURES_ALLOWED }, () =>
        change({ old_password: 'wrong', new_password: NEXT }),
      );
      for (const answer of await Promise.all(guesses)) expectRefusal(answer, 401, WRONG);
      const right = await change({ old_password: user.password, new_password: NEXT });
      expectRefusal(right, 429, 'Request rate limit exceeded');
      expectRefusal(await logIn(), 429, 'Request rate limit exceeded');
    });

    it('that must be changed first, if the operator says so', async () => {
      await service.rows('UPDATE users SET must_change_password = true WHERE id = :userId', user);
      const tokens = (await logIn()).body;
      const client = service.clientOf(tokens);
      const refused = [
        await client.get('/channels'),
        await client.get('/wallets/balance'),
        await client.initiate(),
        await client.post('/auth/totp', { password: user.password }),
      ];
      for (const answer of refused) {
        expectRefusal(answer, 403, 'Change your password first', {
          code: 'password_change_required',
        });
      }
      expect((await client.get('/auth/sessions')).status).to.equal(200);
      const refreshed = (await refresh(tokens.refresh)).body;
      expect(await isIn(refreshed)).to.equal(false);
      const body = { old_password: user.password, new_password: NEXT };
      expect((await change(body, service.clientOf(refreshed))).status).to.equal(200);
      expect(await isIn(refreshed)).to.equal(true);
    });

    it('that need not be changed to log out', async () => {
      await service.rows('UPDATE users SET must_change_password = true WHERE id = :userId', user);
      expect((await own.post('/auth/logout', {})).status).to.equal(200);
    });
  });

  describe('has sessions', () => {
    it('of which each can be logged out, by people and by apps', async () => {
      const app = await service.newApp();
      const other = (await logIn()).body;
      for (const session of [user, app]) {
        const { status, body } = await service.clientOf(session).post('/auth/logout', {});
        expect([status, body]).to.deep.equal([200, { message: 'Logged out' }]);
        expect(await isIn(session)).to.equal(false);
        expectRefusal(await refresh(session.refresh), 401, REVOKED);
      }
      expect([await isIn(other), await isIn(service.merchant)]).to.deep.equal([true, true]);
      expect(await service.securityKindsOf(user.userId)).to.include('logged_out');
    });

    it('that are listed, newest first, with what is known of them', async () => {
      const second = (await logIn(user.password, from('198.51.100.7'))).body;
      const ended = (await logIn()).body;
      await service.clientOf(ended).post('/auth/logout', {});
      const stale = (await logIn()).body;
      await setFamily(stale, 'expires_at = now()');
      await service.newUser();
      const { count, results } = (await own.get('/auth/sessions')).body;
      expect(count).to.equal(2);
      const seen = results.map((session: Record<string, unknown>) => [
        ...[session.id, session.address, session.current, session.with_otp],
      ]);
      expect(seen).to.deep.equal([
        [familyOf(second), '198.51.100.7', false, false],
        [familyOf(user), null, true, false],
      ]);
      const [{ created_at, expires_at, ends_at }] = results;
      const secondsTo = (moment: string) => (Date.parse(moment) - Date.parse(created_at)) / 1_000;
      expect([expires_at, ends_at].map(secondsTo)).to.deep.equal([7 * DAY_S, 30 * DAY_S]);
      const page = (await own.get('/auth/sessions?page_size=1')).body;
      expect((await request('GET', page.next, user)).body.results[0].id).to.equal(familyOf(user));
    });

    it('that show when and from where they were refreshed last', async () => {
      await setFamily(user, `refreshed_at = now() - interval '1 hour'`);
      const [before] = (await own.get('/auth/sessions')).body.results;
      await refresh(user.refresh, from('198.51.100.8'));
      const [after] = (await own.get('/auth/sessions')).body.results;
      expect(after.address).to.equal('198.51.100.8');
      expect(Date.parse(after.refreshed_at)).to.be.above(Date.parse(before.refreshed_at));
      expect(after.created_at).to.equal(before.created_at);
    });

    it('that the person can end, and nobody else’s', async () => {
      const end = (id: string, { access } = user) =>
        request('DELETE', `${service.baseUrl}/auth/sessions/${id}`, { access });
      const other = (await logIn()).body;
      const colleague = await service.newUser();
      const stranger = await createTestUser(service, (await service.newMerchant()).merchant_id);
      for (const id of [
        ...[familyOf(colleague), familyOf(stranger), familyOf(service.merchant)],
        ...[crypto.randomUUID(), 'x', '%00'],
      ]) {
        expectRefusal(await end(id), 404, 'Session not found', { code: 'session_not_found' });
      }
      expect([
        await isIn(colleague),
        await isIn(stranger),
        await isIn(service.merchant),
      ]).to.deep.equal([...[true, true, true]]);
      const { status, body } = await end(familyOf(other));
      expect([status, body]).to.deep.equal([200, { message: 'Session ended' }]);
      expect([await isIn(other), await isIn(user)]).to.deep.equal([false, true]);
      expectRefusal(await end(familyOf(other)), 404, 'Session not found');
      expect(await service.securityKindsOf(user.userId)).to.include('session_ended');
      expect((await end(familyOf(user))).status).to.equal(200);
      expect(await isIn(user)).to.equal(false);
    });

    it('that end after thirty days, however often they are refreshed', async () => {
      const lifetimeOf = (token: string) => {
        const { exp, iat } = jwt.decode(token) as { exp: number; iat: number };
        return exp - iat;
      };
      const first = (await refresh(user.refresh)).body;
      expect(lifetimeOf(first.refresh)).to.equal(7 * DAY_S);
      await setFamily(user, `ends_at = now() + interval '5 minutes'`);
      const last = (await refresh(first.refresh)).body;
      for (const token of [last.access, last.refresh]) {
        expect(lifetimeOf(token)).to.be.within(1, 300);
      }
      const row = await service.firstRow<{ ended: boolean }>(
        'SELECT expires_at = ends_at AS ended FROM token_families WHERE id = :id',
        { id: familyOf(user) },
      );
      expect(row!.ended).to.equal(true);
      await setFamily(user, 'ends_at = now()');
      const over = 'Refresh token has expired. Please login again.';
      expectRefusal(await refresh(last.refresh), 401, over, { code: 'refresh_expired' });
    });
  });

  it('is no matter of an app', async () => {
    const { get, post } = service.client;
    const answers = [
      await get('/auth/sessions'),
      await post('/auth/password', { old_password: 'x', new_password: NEXT }),
      await post('/auth/totp', { password: 'x' }),
    ];
    for (const answer of answers) {
      expectRefusal(answer, 403, 'You do not have permission to access this resource');
    }
  });

  it('is refused with everything else once the person is deactivated', async () => {
    await service.assign('users', 'active = false');
    expectRefusal(await own.get('/auth/sessions'), 401, REVOKED);
    expectRefusal(await change({ old_password: user.password, new_password: NEXT }), 401, REVOKED);
    await service.assign('users', 'active = true');
  });
});
