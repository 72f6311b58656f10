import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createApp } from '../../src/api/app.ts';
import { ConfigError } from '../../src/process/config.ts';
import { loadConfig } from '../../src/service/service.ts';
import { DAY_MS } from '../../src/time.ts';
import { expectRefusal, request, useStore } from '../support/world.ts';

const PATH = '/.well-known/security.txt';
const SECURITY_CONTACT = 'mailto:security@pay.example';

describe('The file that says where to report a vulnerability', () => {
  const store = useStore({ merchant: 'none' });
  const servers: Server[] = [];

  afterEach(async () => {
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
  });

  /** Returns the address of an app with this environment. */
  async function start(env: Record<string, string>): Promise<string> {
    const settings = { DATABASE_URL: store.url, PUBLIC_URL: 'https://pay.example', ...env };
    const config = loadConfig(settings);
    const service = store.parts(config);
    const server = createServer(createApp(service));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('names the contact, and when and where it counts', async () => {
    const origin = await start({ SECURITY_CONTACT });
    const answer = await request('GET', `${origin}${PATH}`);
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    const [contact, expires, ...others] = String(answer.body).split('\n');
    expect(contact).to.equal(`Contact: ${SECURITY_CONTACT}`);
    const validMs = Date.parse(/^Expires: (.+)$/.exec(expires!)![1]!) - Date.now();
    expect(validMs).to.be.within(30 * DAY_MS, 365 * DAY_MS);
    expect(others).to.deep.equal([
      `Canonical: https://pay.example${PATH}`,
      'Preferred-Languages: en',
      '',
    ]);
    const posted = await request('POST', `${origin}${PATH}`);
    expectRefusal(posted, 405, 'Method not allowed', { code: 'method_not_allowed' });
  });

  it('is not there without a contact', async () => {
    expectRefusal(await request('GET', `${await start({})}${PATH}`), 404, 'Not found');
  });

  it('takes no contact that is no address, or more than one line', () => {
    for (const contact of ['security@pay.example', 'http://x.example', 'mailto:', 'tel:1\nX: y']) {
      const env = { DATABASE_URL: store.url, SECURITY_CONTACT: contact };
      expect(() => loadConfig(env), contact).to.throw(ConfigError, 'SECURITY_CONTACT');
    }
  });
});
