import { expect } from 'chai';
import { readGuides } from '../../src/api/documentation/guides.ts';
import { type Answer, request, useService } from '../support/world.ts';

describe('The pages of the documentation', () => {
  const guides = readGuides();
  const paths = ['/docs', ...guides.map(({ name }) => `/docs/guides/${name}`)];
  const service = useService({ merchant: 'none' });

  const get = (path: string, headers = {}): Promise<Answer> =>
    request('GET', `${service.origin}${path}`, { headers });
  const policyOf = ({ headers }: Answer) => headers.get('content-security-policy') ?? '';

  it('have a guide for every file, the one to begin with first', async () => {
    expect(guides[0]?.name).to.equal('first-payment');
    expect(guides.map(({ name }) => name)).to.include('verify-a-webhook');
    for (const { name, title } of guides) {
      const { body } = await get(`/docs/guides/${name}`);
      for (const guide of guides) expect(body).to.include(`href="/docs/guides/${guide.name}"`);
      expect(body).to.include(`>${title}</h1>`);
      expect(body).to.include('href="/docs"');
      expect(body.match(/<script[^>]*>/g)).to.deep.equal(['<script src="/docs/guide.js">']);
      expect(body.replace(/<pre.*?<\/pre>/gs, '')).to.not.include('`');
    }
  });

  it('have no link that leads nowhere', async () => {
    const { body: document } = await get('/openapi.json');
    const texts = JSON.stringify(document).matchAll(/\]\(([^)\s]+)\)/g);
    const links = [...texts].map(([, to]) => new URL(to!, `${service.origin}/docs`));
    for (const path of ['/', '/docs/guides', ...paths]) {
      const { body } = await get(path);
      const found = [...body.matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, to]) => to);
      links.push(...found.map((to) => new URL(to, `${service.origin}${path}`)));
    }
    const own = links.filter(({ origin }) => origin === service.origin);
    expect(own.length).to.be.above(20);
    const opened = new Map<string, Answer>();
    for (const { pathname, hash } of own) {
      if (!opened.has(pathname)) opened.set(pathname, await get(pathname));
      const { status, body } = opened.get(pathname)!;
      expect(status, pathname).to.equal(200);
      const isDrawn = pathname === '/docs';
      if (hash && !isDrawn) expect(body, pathname).to.include(`id="${hash.slice(1)}"`);
    }
    const others = links.filter(({ origin }) => origin !== service.origin);
    for (const { href } of others) expect(href).to.match(/^https:\/\//);
  });

  it('load nothing from elsewhere, and run no text as a script', async () => {
    for (const path of paths) {
      const answer = await get(path);
      const loaded = [...answer.body.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]*)"/g)];
      for (const [, address] of loaded) expect(address).to.match(/^\/(?!\/)/);
      expect(policyOf(answer)).to.include("default-src 'none'").and.include("base-uri 'none'");
      expect(policyOf(answer)).to.not.match(/unsafe-eval|\*|https?:/);
      expect(answer.body).to.not.match(/<[^>]*\s(on\w+|style)\s*=/i);
    }
    const reference = policyOf(await get('/docs'));
    expect(reference).to.include("script-src 'self';").and.include("connect-src 'self'");
    expect(policyOf(await get(paths[1]!)))
      .to.include("script-src 'self';")
      .and.not.include('unsafe');
  });

  it('leave the policy of all other paths as it is', async () => {
    for (const path of ['/openapi.json', '/docs/style.css', '/api/v1/channels', '/nowhere']) {
      expect(policyOf(await get(path))).to.equal(
        "default-src 'none';style-src 'self';frame-ancestors 'none';base-uri 'none';form-action 'none'",
      );
    }
  });

  it('name the parts of a long guide above them', async () => {
    const { body } = await get('/docs/guides/webhooks');
    const [, contents] = /aria-label="On this page"><ul>(.*?)<\/ul>/s.exec(body)!;
    const parts = [...body.matchAll(/<h2 id="([^"]+)"/g)].map(([, id]) => `#${id}`);
    const links = [...contents!.matchAll(/href="([^"]+)"/g)].map(([, to]) => to);
    expect(links).to.deep.equal(parts).and.have.length.at.least(3);
    const { body: short } = await get('/docs/guides/test-numbers');
    expect(short).to.not.include('On this page');
  });

  describe('are searched', () => {
    const find = async (query: string) => {
      const { status, body } = await get(`/docs/search?q=${encodeURIComponent(query)}`);
      expect(status).to.equal(200);
      const links = [...body.matchAll(/<li><a href="([^"]+)">/g)].map(([, to]) => to!);
      return { body: body as string, links };
    };

    it('from the bar of each of them', async () => {
      for (const path of [...paths, '/docs/search']) {
        expect((await get(path)).body).to.include('<form role="search" action="/docs/search">');
      }
    });

    for (const [query, first] of Object.entries({
      account_number: '/docs#tag/collections/POST/collections/checkouts/initiate',
      'verify webhook python': '/docs/guides/verify-a-webhook#python',
      insufficient_balance: '/docs/guides/errors#all-codes',
      'charge a customer': '/docs#tag/collections/POST/collections/checkouts/initiate',
      refunds: '/docs/guides/give-back',
      'retry a payment': '/docs/guides/take-a-payment#when-your-request-gets-no-answer',
      timeout: '/docs/guides/pay-out#when-your-request-gets-no-answer',
      timezone: '/docs#tag/collections/GET/collections/checkouts',
    })) {
      it(`and have ${first} among the first three for ${query}`, async () => {
        expect((await find(query)).links.slice(0, 3)).to.include(first);
      });
    }

    it('also for a word that is typed in part, or a little wrong', async () => {
      for (const query of ['reversa', 'reversl']) {
        const { links } = await find(query);
        expect(links.join(' '), query).to.include('/docs#tag/reversals/');
      }
    });

    it('and lead to nothing but what is there', async () => {
      const { links } = await find('payment');
      expect(links.length).to.be.within(10, 20);
      for (const link of links) {
        const { pathname, hash } = new URL(link, service.origin);
        const { status, body } = await get(pathname);
        expect(status, link).to.equal(200);
        if (hash && pathname !== '/docs') expect(body, link).to.include(`id="${hash.slice(1)}"`);
      }
    });

    it('and say so when nothing is found, or asked, without running what was typed', async () => {
      const script = '<script>alert(1)</script>"';
      const { body } = await find(script);
      expect(body).to.include('Nothing has all words of').and.not.include('<script>alert');
      expect((await find('')).body).to.include('Search for a word');
      expect((await find('Qwertz')).body).to.include('Nothing has the word “Qwertz”');
      expect((await find('x'.repeat(10_000))).links).to.deep.equal([]);
      expect((await find('!?')).links).to.deep.equal([]);
      const twice = await get('/docs/search?q=a&q=b');
      expect(twice.body).to.include('Search for a word');
      expect(policyOf(twice)).to.include("script-src 'self';").and.not.include('unsafe');
    });
  });

  it('say that there is no such page, with the list of guides', async () => {
    for (const path of ['/docs/guides/nothing', '/docs/nowhere/at/all', '/docs/']) {
      const { status, headers, body } = await get(path);
      expect([status, headers.get('content-type')], path).to.deep.equal([
        404,
        'text/html; charset=utf-8',
      ]);
      expect(body).to.include('There is no such page').and.include('/docs/guides/first-payment');
    }
    // Other addresses are for programs.
    expect((await get('/nowhere')).body).to.be.an('object');
  });

  it('are sent compressed, and not again to a caller that has them', async () => {
    for (const path of ['/openapi.json', '/docs', '/docs/guides/webhooks', '/docs/style.css']) {
      const packed = await get(path, { 'accept-encoding': 'gzip' });
      const plain = await get(path, { 'accept-encoding': 'identity' });
      expect(packed.headers.get('content-encoding'), path).to.equal('gzip');
      expect(plain.headers.get('content-encoding'), path).to.equal(null);
      expect(plain.body).to.deep.equal(packed.body);
      const etag = packed.headers.get('etag')!;
      expect(etag)
        .to.match(/^W\/"[\w-]{43}"$/)
        .and.equal(plain.headers.get('etag'));
      // Left alone, Node's client would ask for a fresh one.
      const again = await get(path, { 'if-none-match': etag, 'cache-control': 'max-age=0' });
      expect(again.status, path).to.equal(304);
      const newer = await get(path, { 'if-none-match': 'W/"other"', 'cache-control': 'max-age=0' });
      expect(newer.status, path).to.equal(200);
    }
  });

  it('let browsers keep the script of the reference, whose address has its version', async () => {
    const { body } = await get('/docs');
    const [, path] = /src="(\/docs\/scalar-[\d.]+\.js)"/.exec(body) ?? [];
    const plain = await get(path!, { 'accept-encoding': 'identity' });
    const packed = await get(path!, { 'accept-encoding': 'gzip' });
    expect(packed.headers.get('content-encoding')).to.equal('gzip');
    expect(plain.headers.get('content-encoding')).to.equal(null);
    expect(packed.body).to.equal(plain.body).and.include('createApiReference');
    for (const { headers } of [plain, packed]) {
      expect(headers.get('content-type')).to.match(/^text\/javascript/);
      expect(headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
      expect(headers.get('vary')).to.include('Accept-Encoding');
    }
  });
});
