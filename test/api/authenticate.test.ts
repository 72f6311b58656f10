import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { issueAppTokens } from '../../src/domain/credentials/log-in.ts';
import { createApp } from '../../src/domain/merchants/app.ts';
import { collectionBody, expectRefusal, request, useService } from '../support/world.ts';

const OLD_KEY = Buffer.alloc(32, 'old');
const NEW_KEY = Buffer.alloc(32, 'new');
const OTHER_KEY = Buffer.alloc(32, 'other');
const JWT_KEYS = `new:${NEW_KEY.toString('base64')},old:${OLD_KEY.toString('base64')}`;

describe('A request that needs a token', () => {
  const service = useService({ env: { JWT_KEYS } });

  const set = (table: 'merchants' | 'apps' | 'token_families', assignment: string) =>
    service.rows(
      `UPDATE ${table} SET ${assignment}
       WHERE ${table === 'merchants' ? 'id' : 'merchant_id'} = :id`,
      { id: service.merchantId },
    );

  const initiate = (access: string, body: unknown = collectionBody()) =>
    request('POST', `${service.baseUrl}/collections/checkouts/initiate`, { access, body });

  const get = (headers: Record<string, string>) =>
    request('GET', `${service.baseUrl}/collections/checkouts/${crypto.randomUUID()}`, { headers });

  /** What a token that is accepted comes to here: there is no such collection. */
  const accepted = [404, 'Transaction not found'] as const;

  const HEADERS: [header: string | null, detail: string][] = [
    [null, 'Authentication credentials were not provided'],
    ['', 'Authentication credentials were not provided'],
    ['Bearer', 'Invalid token format'],
    ['Bearer ', 'Invalid token format'],
    ['Basic dXNlcjpwYXNz', 'Invalid token format'],
    ['Token abc', 'Invalid token format'],
    ['abc', 'Invalid token format'],
    ['Bearer a b', 'Invalid token format'],
    ['BearerToken', 'Invalid token format'],
    ['Bearer abc', 'Invalid or expired token'],
    ['Bearer a.b.c', 'Invalid or expired token'],
    ['Bearer null', 'Invalid or expired token'],
  ];
  for (const [header, detail] of HEADERS) {
    it(`is refused with ${header === null ? 'no header' : `the header "${header}"`}`, async () => {
      const answer = await get(header === null ? {} : { authorization: header });
      expectRefusal(answer, 401, detail);
    });
  }

  it('is accepted with a token, whatever the case of the word Bearer', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expectRefusal(
        await get({ authorization: `${scheme} ${service.merchant.access}` }),
        ...accepted,
      );
    }
  });

  const familyOf = (token: string) => (jwt.decode(token) as jwt.JwtPayload).fam as string;
  const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

  interface Forgery {
    claims?: object;
    key?: Buffer;
    options?: jwt.SignOptions;
  }

  function forge({ claims = {}, key = NEW_KEY, options = {} }: Forgery): string {
    const fam = familyOf(service.merchant.access);
    const all = { typ: 'access', fam, jti: crypto.randomUUID(), ...claims };
    return jwt.sign(all, key, { algorithm: 'HS256', keyid: 'new', expiresIn: 900, ...options });
  }

  const FORGERIES: Readonly<Record<string, () => string | Promise<string>>> = {
    'a refresh token': async () => {
      const credentials = {
        app_key: service.merchant.app_key,
        app_secret: service.merchant.app_secret,
      };
      return (await issueAppTokens(service.database, service.config, credentials)).refresh;
    },
    'a token without signature': () => {
      const [, payload] = service.merchant.access.split('.');
      return `${base64({ alg: 'none', typ: 'JWT', kid: 'new' })}.${payload}.`;
    },
    'a token that says alg none, with its signature': () => {
      const [, payload, signature] = service.merchant.access.split('.');
      return `${base64({ alg: 'none', typ: 'JWT', kid: 'new' })}.${payload}.${signature}`;
    },
    'a token whose claims were changed': () => {
      const [header, , signature] = service.merchant.access.split('.');
      const fam = crypto.randomUUID();
      return `${header}.${base64({ typ: 'access', fam, jti: crypto.randomUUID(), exp: 4e9 })}.${signature}`;
    },
    'a token by another key': () => forge({ key: OTHER_KEY }),
    'a token by another key of ours than it names': () => forge({ key: OLD_KEY }),
    'a token that names an unknown key': () => forge({ options: { keyid: 'nobody' } }),
    'a token that names a key like a property': () => forge({ options: { keyid: '__proto__' } }),
    'a token by another algorithm': () => forge({ options: { algorithm: 'HS512' } }),
    'an expired token': () => forge({ options: { expiresIn: -1 } }),
    'a token that is not valid yet': () => forge({ options: { notBefore: 600 } }),
    'a token without an id': () => forge({ claims: { jti: undefined } }),
    'a token of no kind': () => forge({ claims: { typ: undefined } }),
    'a token of another kind': () => forge({ claims: { typ: 'staff' } }),
    'a token of an unknown family': () => forge({ claims: { fam: crypto.randomUUID() } }),
    'a token whose family is not text': () => forge({ claims: { fam: { a: 1 } } }),
  };
  for (const [what, make] of Object.entries(FORGERIES)) {
    it(`is refused with ${what}`, async () => {
      const answer = await get({ authorization: `Bearer ${await make()}` });
      expectRefusal(answer, 401, 'Invalid or expired token', { field: 'Authorization' });
    });
  }

  it('is accepted with a token by an older key that is still in the ring', async () => {
    const token = forge({ key: OLD_KEY, options: { keyid: 'old' } });
    expectRefusal(await get({ authorization: `Bearer ${token}` }), ...accepted);
  });

  it('is refused when the token’s family was revoked, and others of the app are not', async () => {
    await set('token_families', 'revoked_at = now()');
    expectRefusal(await initiate(service.merchant.access), 401, 'Token has been revoked');
    const { access } = await issueAppTokens(service.database, service.config, service.merchant);
    expect((await initiate(access)).status).to.equal(200);
  });

  // Each row breaks one thing more, and what comes first in the order must answer.
  const unapproved =
    'Your merchant profile is not approved. Please ensure your profile has been verified before initiating collections.';
  const ORDER: [
    table: Parameters<typeof set>[0] | null,
    assignment: string,
    status: number,
    detail: string,
  ][] = [
    [null, '', 400, 'payfrom field is required'],
    ['apps', `products = '{payouts}'`, 403, 'App does not have collections product enabled'],
    ['merchants', 'approved = false', 403, unapproved],
    ['apps', 'active = false', 403, 'App is not active'],
    ['merchants', 'active = false', 403, 'Merchant account is not active'],
    ['token_families', 'revoked_at = now()', 401, 'Token has been revoked'],
  ];
  it('is refused for what comes first in the order of checks', async () => {
    for (const [table, assignment, status, detail] of ORDER) {
      if (table) await set(table, assignment);
      expectRefusal(await initiate(service.merchant.access, {}), status, detail);
    }
  });

  it('may read without approval and without product', async () => {
    const initiated = await initiate(service.merchant.access);
    await set('merchants', 'approved = false');
    await set('apps', `products = '{}'`);
    const url = `${service.baseUrl}/collections/checkouts/${initiated.body.id}`;
    expect((await request('GET', url, { access: service.merchant.access })).status).to.equal(200);
  });

  it('may not read for an app or a merchant that is not active', async () => {
    await set('apps', 'active = false');
    const header = { authorization: `Bearer ${service.merchant.access}` };
    expectRefusal(await get(header), 403, 'App is not active');
    await set('merchants', 'active = false');
    expectRefusal(await get(header), 403, 'Merchant account is not active');
  });

  it('reads what another app of the same merchant has initiated', async () => {
    const initiated = await initiate(service.merchant.access);
    const app = await createApp(service.database, service.config.secretsKeys, service.merchantId, {
      name: 'Second till',
      products: [],
    });
    const { access } = await issueAppTokens(service.database, service.config, app);
    const url = `${service.baseUrl}/collections/checkouts/${initiated.body.id}`;
    expect((await request('GET', url, { access })).body.id).to.equal(initiated.body.id);
  });
});
