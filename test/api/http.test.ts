import { createServer, type Server } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createApp } from '../../src/api/app.ts';
import { type Database, openDatabase } from '../../src/connections/database.ts';
import { callbackUrl } from '../../src/gateways/callback-address.ts';
import { createService, loadConfig } from '../../src/service/service.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import {
  collectionBody,
  eventually,
  expectRefusal,
  request,
  SILENT,
  useStore,
} from '../support/world.ts';

const MAX_BODY_BYTES = 64 * 1_024;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('The API over HTTP', () => {
  const store = useStore({ merchant: 'all', token: true });
  let proxy: TcpProxy;
  let database: Database;
  let server: Server;
  let origin: string;
  let baseUrl: string;
  let stopping = false;

  before(async () => {
    proxy = await startTcpProxy(store.url);
    database = openDatabase(proxy.url, 5, 'malipo-test-proxied');
    const config = loadConfig({ DATABASE_URL: proxy.url });
    const service = createService(config, SILENT, database);
    server = createServer(createApp(service, { isStopping: () => stopping }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    baseUrl = `${origin}/api/v1`;
  });

  after(async () => {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    await database.destroy();
    await proxy.close();
  });

  const initiateUrl = () => `${baseUrl}/collections/checkouts/initiate`;
  const initiate = (body: unknown, headers: Record<string, string> = {}) =>
    request('POST', initiateUrl(), { access: store.merchant.access, body, headers });
  const large = (bytes: number) => {
    const body = JSON.stringify(collectionBody({ filler: '' }));
    return body.replace('"filler":""', `"filler":"${'x'.repeat(bytes - body.length)}"`);
  };

  describe('reads a body', () => {
    const NO_JSON = [
      '{',
      '{"a":1',
      '{a:1}',
      "{'a':1}",
      'payfrom=1',
      '{"a":1}}',
      '\u0000',
      'undefined',
    ];
    for (const text of NO_JSON) {
      it(`and refuses ${JSON.stringify(text)}, which is no JSON`, async () => {
        expectRefusal(await initiate(text), 400, 'JSON parse error');
      });
    }

    for (const text of ['[]', '[{}]', '"text"', '1', 'null', 'true']) {
      it(`and refuses ${text}, which is no object`, async () => {
        expectRefusal(await initiate(text), 400, 'Invalid request');
      });
    }

    it('up to 64 KiB, and not a byte more', async () => {
      expect((await initiate(large(MAX_BODY_BYTES))).status).to.equal(200);
      for (const bytes of [MAX_BODY_BYTES + 1, 1_000_000]) {
        expectRefusal(await initiate(large(bytes)), 413, 'Request body is too large');
      }
    });

    it('up to 64 KiB also when it is compressed', async () => {
      const post = (text: string) =>
        fetch(initiateUrl(), {
          method: 'POST',
          headers: {
            authorization: `Bearer ${store.merchant.access}`,
            'content-type': 'application/json',
            'content-encoding': 'gzip',
          },
          body: gzipSync(text),
        });
      expect((await post(large(MAX_BODY_BYTES))).status).to.equal(200);
      const tooLarge = await post(large(10_000_000));
      const refused = { status: tooLarge.status, body: await tooLarge.json() };
      expectRefusal(refused, 413, 'Request body is too large', { code: 'body_too_large' });
    });

    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
      'application/jsonp',
      'application/json-patch+json',
      'json',
      'application/json; charset=latin1',
    ]) {
      it(`and refuses one of the type ${type}`, async () => {
        const answer = await initiate(JSON.stringify(collectionBody()), { 'content-type': type });
        expectRefusal(answer, 415, 'Content-Type must be application/json');
      });
    }

    for (const type of ['application/json', 'APPLICATION/JSON', 'application/json;charset=UTF-8']) {
      it(`of the type ${type}`, async () => {
        const answer = await initiate(JSON.stringify(collectionBody()), { 'content-type': type });
        expect(answer.status).to.equal(200);
      });
    }

    it('only when the token is accepted', async () => {
      const TROUBLE: [body: string, headers: Record<string, string>][] = [
        ['{', {}],
        ['[]', {}],
        [large(1_000_000), {}],
        ['x', { 'content-type': 'text/plain' }],
      ];
      for (const [body, headers] of TROUBLE) {
        const strange = await request('POST', initiateUrl(), { body, headers });
        expectRefusal(strange, 401, 'Authentication credentials were not provided');
        const wrong = await request('POST', initiateUrl(), { body, headers, access: 'wrong' });
        expectRefusal(wrong, 401, 'Invalid or expired token');
      }
    });

    it('of any content without ever failing itself', async () => {
      const ODD = [
        '\u0000',
        '\ud800',
        '\uffff',
        '__proto__',
        'constructor',
        '%s%n',
        '\u202e',
        '{{7*7}}',
      ];
      for (const odd of ODD) {
        for (const field of Object.keys(collectionBody())) {
          const body = collectionBody({ [field]: odd, [odd]: odd });
          expect((await initiate(body)).status, JSON.stringify(body)).to.be.below(500);
        }
      }
    });
  });

  describe('answers', () => {
    const UNKNOWN: [method: string, path: string][] = [
      ['GET', '/api/v1'],
      ['GET', '/api/v1/'],
      ['GET', '/api/v2/collections/checkouts/x'],
      ['POST', '/collections/checkouts/initiate'],
      ['PUT', '/api/v1/collections'],
      ['OPTIONS', '/api/v1/nothing'],
      ['POST', '/nothing'],
      ['GET', '/api/v1/nothing/%2e%2e/healthz'],
      ['POST', '/gateway/callbacks'],
      // A path has one spelling: that of the documentation.
      ['POST', '/api/v1/auth/LOGIN'],
      ['POST', '/api/v1/auth/login/'],
      ['POST', '/API/v1/auth/login'],
      ['POST', '/api/v1//auth/login'],
      ['POST', '/api/v1/Payouts/initiate'],
      ['POST', '/api/v1/collections/checkouts/initiate/'],
      ['GET', '/api/v1/payouts/'],
      ['GET', '/Healthz'],
      ['GET', '/readyz/'],
      ['GET', '/DOCS'],
      ['GET', '/openapi.json/'],
      ['POST', '/Gateway/callbacks/simulator/x'],
      ['POST', '/gateway/callbacks/simulator/x/'],
    ];
    for (const [method, path] of UNKNOWN) {
      it(`Not found to ${method} ${path}, with a token and without`, async () => {
        const url = `${origin}${path}`;
        expectRefusal(await request(method, url), 404, 'Not found');
        expectRefusal(
          await request(method, url, { access: store.merchant.access }),
          404,
          'Not found',
        );
      });
    }

    const OTHER_METHODS: [method: string, path: string, allowed: string][] = [
      ['POST', '/api/v1/collections/checkouts', 'GET, HEAD, OPTIONS'],
      ['DELETE', '/api/v1/collections/checkouts/x', 'GET, HEAD, OPTIONS'],
      ['PATCH', '/api/v1/reversals/x', 'GET, HEAD, OPTIONS'],
      ['GET', '/api/v1/auth/app/token', 'POST, OPTIONS'],
      ['GET', '/api/v1/wallets/transfers', 'POST, OPTIONS'],
      // It is also the path of a reversal with this reference.
      ['PUT', '/api/v1/reversals/initiate', 'POST, OPTIONS, GET, HEAD'],
      ['POST', '/', 'GET, HEAD, OPTIONS'],
      ['POST', '/docs', 'GET, HEAD, OPTIONS'],
      ['DELETE', '/openapi.json', 'GET, HEAD, OPTIONS'],
      ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
      ['PUT', '/readyz', 'GET, HEAD, OPTIONS'],
      ['GET', '/gateway/callbacks/simulator/x', 'POST, OPTIONS'],
      // Their paths match those of details too, whose ids have another form.
      ['GET', '/api/v1/payouts/initiate', 'POST, OPTIONS'],
      ['DELETE', '/api/v1/payouts/initiate', 'POST, OPTIONS'],
      ['GET', '/api/v1/collections/checkouts/initiate', 'POST, OPTIONS'],
      ['POST', '/api/v1/payouts/list', 'GET, HEAD, OPTIONS'],
    ];
    const allowedBy = ({ headers }: { headers: Headers }) =>
      headers.get('allow')?.split(', ').sort();
    for (const [method, path, allowed] of OTHER_METHODS) {
      it(`Method not allowed to ${method} ${path}, and which are`, async () => {
        const url = `${origin}${path}`;
        for (const access of ['', store.merchant.access]) {
          const answer = await request(method, url, { access });
          expectRefusal(answer, 405, 'Method not allowed', { code: 'method_not_allowed' });
          expect(allowedBy(answer)).to.deep.equal(allowed.split(', ').sort());
        }
        const options = await request('OPTIONS', url);
        expect([options.status, options.body]).to.deep.equal([204, '']);
        expect(allowedBy(options)).to.deep.equal(allowed.split(', ').sort());
      });
    }

    it('HEAD as GET, without the body, and not where there is no GET', async () => {
      const list = `${baseUrl}/collections/checkouts`;
      const { access } = store.merchant;
      const [head, get] = [
        await request('HEAD', list, { access }),
        await request('GET', list, { access }),
      ];
      expect([head.status, head.body]).to.deep.equal([200, '']);
      expect(head.headers.get('content-length')).to.equal(get.headers.get('content-length'));
      expect((await request('HEAD', list)).status).to.equal(401);
      expect((await request('HEAD', `${baseUrl}/auth/login`)).status).to.equal(405);
      expect((await request('HEAD', `${baseUrl}/nothing`)).status).to.equal(404);
    });

    it('a request without a path by leading to the documentation', async () => {
      const answer = await fetch(`${origin}/`, { redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).to.deep.equal([302, '/docs']);
      expect((await request('GET', `${origin}/`)).body).to.include('<title>Malipo API</title>');
    });

    it('more than 1,000 query parameters with Invalid request, and reads all of fewer', async () => {
      const { access } = store.merchant;
      const list = (count: number) =>
        request('GET', `${baseUrl}/payouts?${'a&'.repeat(count - 1)}page=0`, { access });
      const field = 'page';
      expectRefusal(await list(1_000), 400, 'Invalid query parameter: page', { field });
      expectRefusal(await list(1_001), 400, 'Invalid request');
    });

    it('a path that cannot be decoded with Not found', async () => {
      const url = `${baseUrl}/collections/checkouts/%E0%A4%A`;
      expectRefusal(await request('GET', url, { access: store.merchant.access }), 404, 'Not found');
    });

    it('in JSON, without saying what it is made of', async () => {
      const { headers } = await request('GET', `${origin}/nothing`);
      expect(headers.get('content-type')).to.match(/^application\/json/);
      expect(headers.get('x-powered-by')).to.equal(null);
      expect(headers.get('server')).to.equal(null);
    });

    it('with the request’s own id when that is short and plain', async () => {
      for (const id of ['abc', 'A-1_b.2', 'x'.repeat(64)]) {
        const { headers } = await request('GET', `${origin}/healthz`, {
          headers: { 'x-request-id': id },
        });
        expect(headers.get('x-request-id')).to.equal(id);
      }
    });

    it('with an id of its own making otherwise, another one each time', async () => {
      const seen = new Set<string>();
      for (const id of [null, '', 'x'.repeat(65), 'a b', 'a"b', 'a;b', '{"a":1}', '../x', 'é']) {
        const headers: Record<string, string> = id === null ? {} : { 'x-request-id': id };
        const made = (await request('GET', `${origin}/nothing`, { headers })).headers;
        expect(made.get('x-request-id')).to.match(UUID);
        seen.add(made.get('x-request-id')!);
      }
      expect(seen.size).to.equal(9);
    });
  });

  it('is alive, and ready until it is told to stop', async () => {
    const healthy = await request('GET', `${origin}/healthz`);
    expect([healthy.status, healthy.body]).to.deep.equal([200, { status: 'ok' }]);
    const ready = await request('GET', `${origin}/readyz`);
    expect([ready.status, ready.body]).to.deep.equal([200, { status: 'ready' }]);
    stopping = true;
    const unready = await request('GET', `${origin}/readyz`);
    expect([unready.status, unready.body]).to.deep.equal([503, { status: 'not ready' }]);
    expect((await request('GET', `${origin}/healthz`)).status).to.equal(200);
    stopping = false;
  });

  it('says that it is unavailable while the database is away, and comes back with it', async () => {
    const body = collectionBody();
    const target = { kind: 'collection', merchant_id: store.merchantId } as const;
    const genuine = callbackUrl(origin, store.config.secretsKeys, 'simulator', {
      ...target,
      id: crypto.randomUUID(),
    });
    const calls = () => [
      initiate(body),
      request('GET', `${baseUrl}/collections/checkouts/${crypto.randomUUID()}`, {
        access: store.merchant.access,
      }),
      request('POST', `${baseUrl}/auth/app/token`, {
        body: { app_key: store.merchant.app_key, app_secret: store.merchant.app_secret },
      }),
      request('POST', genuine, { body: {} }),
    ];
    const statuses = async () => (await Promise.all(calls())).map(({ status }) => status);
    expect(await statuses()).to.deep.equal([200, 404, 200, 200]);
    const before = await store.countOf('collections');
    await proxy.cut();
    for (const answer of await Promise.all(calls())) {
      expectRefusal(answer, 503, 'Service temporarily unavailable');
      expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 60);
    }
    const readiness = async () => (await request('GET', `${origin}/readyz`)).status;
    await eventually('it not to be ready', async () => (await readiness()) === 503);
    expect((await request('GET', `${origin}/healthz`)).status).to.equal(200);
    expect(await store.countOf('collections')).to.equal(before);
    await proxy.restore();
    await eventually('it to be ready', async () => (await readiness()) === 200);
    expect(await statuses()).to.deep.equal([409, 404, 200, 200]);
  });
});
