import jwt from 'jsonwebtoken';
import { expectRefusal, request, useService } from '../support/world.ts';

describe('A forged token', () => {
  const service = useService({ merchant: 'all' });

  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const withHeader = (header: unknown) =>
    [part(header), ...service.merchant.access.split('.').slice(1)].join('.');
  const own = { alg: 'HS256', typ: 'JWT', kid: 'dev' };
  const signed = (claims: object, options: jwt.SignOptions = {}) => {
    const { exp: _exp, iat: _iat, ...kept } = jwt.decode(service.merchant.access) as jwt.JwtPayload;
    const { id, secret } = service.config.jwtKeys.current;
    const all = { algorithm: 'HS256', keyid: id, expiresIn: 900, ...options } as const;
    return jwt.sign({ ...kept, ...claims }, secret, all);
  };

  const FORGERIES: Record<string, () => string> = {
    'that expired a second ago': () => signed({}, { expiresIn: -1 }),
    'that is cut': () => service.merchant.access.slice(0, -1),
    'without its last part': () => service.merchant.access.split('.').slice(0, 2).join('.'),
    'with a part more': () => `${service.merchant.access}.x`,
    'that is huge but rightly signed': () => signed({ filler: 'x'.repeat(4_000) }),
    'that is huge': () => 'x.'.repeat(6_000),
    'whose header is no JSON': () => `x.${service.merchant.access.split('.').slice(1).join('.')}`,
    'whose header is null': () => withHeader(null),
    'whose header is a list': () => withHeader([own]),
    'whose key is a path': () => withHeader({ ...own, kid: '../../../../dev/null' }),
    'whose key is a query': () => withHeader({ ...own, kid: "dev' UNION SELECT 'x" }),
    'whose key is a command': () => withHeader({ ...own, kid: 'dev|/bin/true' }),
    'whose key is a number': () => withHeader({ ...own, kid: 7 }),
    'whose key is an object': () => withHeader({ ...own, kid: { toString: 'dev' } }),
    'whose key is a property': () => withHeader({ ...own, kid: 'constructor' }),
    'that brings its own key': () => withHeader({ ...own, jwk: { kty: 'oct', k: 'AA' } }),
    'that says where its key is': () => withHeader({ ...own, jku: 'http://127.0.0.1:9/keys' }),
    'of algorithm None': () => `${withHeader({ ...own, alg: 'None' })}`,
    'of an algorithm with key pairs': () => withHeader({ ...own, alg: 'RS256' }),
    'of an unknown algorithm': () => withHeader({ ...own, alg: '__proto__' }),
    'of HS512 with our key': () => signed({}, { algorithm: 'HS512' }),
    'without a family': () => signed({ fam: undefined }),
    'whose family is a query': () => signed({ fam: "' OR true --" }),
    'whose kind is a list': () => signed({ typ: ['access'] }),
  };
  for (const [what, make] of Object.entries(FORGERIES)) {
    it(`${what} is refused`, async () => {
      const answer = await request('GET', `${service.baseUrl}/channels`, { access: make() });
      expectRefusal(answer, 401, 'Invalid or expired token');
    });
  }
});
