import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { issueAppTokens } from '../../src/domain/credentials/log-in.ts';
import type { TokenPair } from '../../src/domain/credentials/tokens.ts';
import type { assign } from '../support/assignments.ts';
import { valuesThroughApi } from '../support/matrix.ts';
import { expectRefusal, request, useService } from '../support/world.ts';

const REVOKED = 'Token has been revoked';
const INVALID = 'Invalid or expired token';

describe('Refreshing tokens', () => {
  const service = useService();
  let tokens: TokenPair;

  beforeEach(async () => {
    tokens = await issueAppTokens(service.database, service.config, service.merchant);
  });

  const post = (body: unknown) => request('POST', `${service.baseUrl}/auth/refresh`, { body });
  const refresh = (token: string) => post({ refresh: token });
  const read = (access: string) => request('GET', `${service.baseUrl}/channels`, { access });
  const set = (table: Parameters<typeof assign>[2], assignment: string) =>
    service.assign(table, assignment);

  it('answers with a new pair, and whose it is', async () => {
    const answer = await refresh(tokens.refresh);
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    const { access, refresh: next, name, email, ...rest } = answer.body;
    expect(rest).to.deep.equal({
      merchant_id: service.merchantId,
      merchant_code: service.merchantId,
      app_code: service.merchant.app_code,
      products: ['collections', 'payouts'],
      phone_number: '+254711000001',
      requires_verification: false,
      message: 'Token refreshed',
    });
    expect(name).to.match(/^Merchant \d+$/);
    expect(email).to.match(/^merchant-\d+@test\.example$/);
    expect(new Set([access, next, tokens.access, tokens.refresh]).size).to.equal(4);
    for (const good of [access, tokens.access]) expect((await read(good)).status).to.equal(200);
    expect((await refresh(next)).status).to.equal(200);
  });

  it('gives tokens that live as long as the first ones', async () => {
    const { body } = await refresh(tokens.refresh);
    const lifetime = (token: string) => {
      const { iat, exp } = jwt.decode(token) as jwt.JwtPayload;
      return exp! - iat!;
    };
    expect(lifetime(body.access)).to.equal(15 * 60);
    expect(lifetime(body.refresh)).to.equal(7 * 24 * 3_600);
  });

  it('says that a merchant who is not approved requires verification', async () => {
    await set('merchants', 'approved = false');
    expect((await refresh(tokens.refresh)).body.requires_verification).to.equal(true);
  });

  it('ends the whole family at once when a spent token comes again, access tokens included', async () => {
    const { body: second } = await refresh(tokens.refresh);
    const { body: third } = await refresh(second.refresh);
    expectRefusal(await refresh(tokens.refresh), 401, REVOKED);
    for (const { access } of [tokens, second, third]) {
      expectRefusal(await read(access), 401, REVOKED);
    }
    for (const token of [tokens.refresh, second.refresh, third.refresh]) {
      expectRefusal(await refresh(token), 401, REVOKED, { field: 'refresh' });
    }
  });

  it('leaves other log-ins of the same app alone when it ends a family', async () => {
    const other = await issueAppTokens(service.database, service.config, service.merchant);
    await refresh(tokens.refresh);
    expectRefusal(await refresh(tokens.refresh), 401, REVOKED);
    expect((await read(other.access)).status).to.equal(200);
    expect((await refresh(other.refresh)).status).to.equal(200);
  });

  it('leaves no living pair when one token is used several times at once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(tokens.refresh)));
    const pairs = answers.filter(({ status }) => status === 200).map(({ body }) => body);
    expect(pairs).to.have.length(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expectRefusal(answer, 401, REVOKED);
    }
    for (const pair of [tokens, ...pairs]) {
      expectRefusal(await read(pair.access), 401, REVOKED);
      expectRefusal(await refresh(pair.refresh), 401, REVOKED);
    }
  });

  function resign(token: string, claims: object, options: jwt.SignOptions = {}): string {
    const { current } = service.config.jwtKeys;
    const { exp: _exp, iat: _iat, ...kept } = jwt.decode(token) as jwt.JwtPayload;
    const all = { algorithm: 'HS256', keyid: current.id, expiresIn: 900, ...options } as const;
    return jwt.sign({ ...kept, ...claims }, current.secret, all);
  }

  it('says that a token has expired, and leaves its family as it is', async () => {
    const expired = resign(tokens.refresh, {}, { expiresIn: -1 });
    const detail = 'Refresh token has expired. Please login again.';
    expectRefusal(await refresh(expired), 401, detail);
    expect((await read(tokens.access)).status).to.equal(200);
  });

  const STRANGE: Record<string, () => string> = {
    'an access token': () => tokens.access,
    'an expired access token': () => resign(tokens.access, {}, { expiresIn: -1 }),
    'text that is no token': () => 'abc',
    'a token that is cut': () => tokens.refresh.slice(0, -1),
    'a token of another algorithm': () => resign(tokens.refresh, {}, { algorithm: 'HS512' }),
    'a token without jti': () => resign(tokens.refresh, { jti: undefined }),
    'a token of another kind': () => resign(tokens.refresh, { typ: 'staff' }),
    'a token with a family that is no id': () => resign(tokens.refresh, { fam: "' OR true" }),
  };
  for (const [what, make] of Object.entries(STRANGE)) {
    it(`refuses ${what}, and leaves the family as it is`, async () => {
      expectRefusal(await refresh(make()), 401, INVALID, { field: 'refresh' });
      expect((await refresh(tokens.refresh)).status).to.equal(200);
    });
  }

  it('counts a token of an unknown family as revoked', async () => {
    const token = resign(tokens.refresh, { fam: crypto.randomUUID() });
    expectRefusal(await refresh(token), 401, REVOKED);
  });

  for (const body of [{}, { refresh: null }, { refresh: '' }, { access: 'x' }]) {
    it(`asks for the token when the body is ${JSON.stringify(body)}`, async () => {
      expectRefusal(await post(body), 400, 'refresh field is required');
    });
  }

  for (const value of valuesThroughApi([7, true, ['x'], { a: 1 }, 'x'.repeat(4_097)])) {
    it(`refuses ${JSON.stringify(value).slice(0, 20)} for the token`, async () => {
      expectRefusal(await post({ refresh: value }), 400, 'Invalid refresh');
    });
  }

  const INACTIVE: [
    table: Parameters<typeof assign>[2],
    assignment: string,
    status: number,
    detail: string,
  ][] = [
    ['apps', 'active = false', 403, 'App is not active'],
    ['merchants', 'active = false', 403, 'Merchant account is not active'],
    ['apps', `ip_allow_list = '{203.0.113.7}'`, 403, 'Access denied: IP address not allowed'],
    ['token_families', 'revoked_at = now()', 401, REVOKED],
  ];
  it('refuses whoever may no longer come in, for what comes first in the order of checks', async () => {
    // Each row breaks one thing more; each needs a token that is not spent.
    const [app, owner, address, family] = await Promise.all(
      INACTIVE.map(() => issueAppTokens(service.database, service.config, service.merchant)),
    );
    for (const [index, [table, assignment, status, detail]] of INACTIVE.entries()) {
      await set(table, assignment);
      const pair = [app, owner, address, family][index]!;
      expectRefusal(await refresh(pair.refresh), status, detail);
    }
  });

  it('ends when the secret that the tokens were got with has lapsed', async () => {
    const pair = await issueAppTokens(service.database, service.config, service.merchant);
    expect((await read(pair.access)).status).to.equal(200);
    await service.rows('UPDATE app_secrets SET expires_at = now() WHERE merchant_id = :id', {
      id: service.merchantId,
    });
    expectRefusal(await read(pair.access), 401, REVOKED);
    expectRefusal(await refresh(pair.refresh), 401, REVOKED);
  });

  it('leaves a token unspent that is refused for a while only', async () => {
    const pair = await issueAppTokens(service.database, service.config, service.merchant);
    await set('apps', 'active = false');
    expect((await refresh(pair.refresh)).status).to.equal(403);
    await set('apps', 'active = true');
    expect((await refresh(pair.refresh)).status).to.equal(200);
  });

  it('gives a person new tokens until the person is deactivated', async () => {
    const user = await service.newUser();
    const { status, body } = await refresh(user.refresh);
    expect(status).to.equal(200);
    expect((await read(body.access)).status).to.equal(200);
    await set('users', 'active = false');
    expectRefusal(await read(body.access), 401, REVOKED);
    expectRefusal(await refresh(body.refresh), 401, REVOKED);
  });
});
