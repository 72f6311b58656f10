import { expect } from 'chai';
import type { TestService } from '../support/test-service.ts';
import { expectRefusal, request, useService } from '../support/world.ts';

const DENIED = 'Access denied: IP address not allowed';

/** An app's list, the address of a request, and whether it is let in. */
const CASES: [list: string, address: string, allowed: boolean][] = [
  ['', '203.0.113.7', true],
  ['', '2001:db8::1', true],
  ['203.0.113.7', '203.0.113.7', true],
  ['203.0.113.7', '203.0.113.8', false],
  ['203.0.113.7', '203.0.113.70', false],
  ['203.0.113.7', '::ffff:203.0.113.7', true],
  ['203.0.113.7', '::FFFF:203.0.113.7', true],
  ['203.0.113.7', '::ffff:cb00:7107', true],
  ['203.0.113.7', '0:0:0:0:0:ffff:203.0.113.7', true],
  ['203.0.113.7', '::ffff:203.0.113.8', false],
  ['203.0.113.7', '::203.0.113.7', false],
  ['203.0.113.0/24', '203.0.113.0', true],
  ['203.0.113.0/24', '203.0.113.255', true],
  ['203.0.113.0/24', '203.0.114.0', false],
  ['203.0.113.0/24', '::ffff:203.0.113.99', true],
  ['0.0.0.0/0', '198.51.100.1', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['2001:db8::1', '2001:db8::1', true],
  ['2001:db8::1', '2001:0DB8:0:0:0:0:0:1', true],
  ['2001:db8::1', '2001:db8::2', false],
  ['2001:db8:1::/48', '2001:db8:1:ffff::1', true],
  ['2001:db8:1::/48', '2001:db8:2::1', false],
  ['203.0.113.7,2001:db8::/32', '2001:db8::9', true],
  ['203.0.113.7,2001:db8::/32', '198.51.100.1', false],
];

const GARBAGE = [
  'unknown',
  'localhost',
  '203.0.113.7:443',
  '[2001:db8::1]:443',
  '203.0.113',
  '999.1.1.1',
  '0x7f.1',
  '2130706433',
  'fe80::1%eth0',
  "'; DROP TABLE apps; --",
  '{}',
  ',,,',
  ' ',
  'é',
  'x'.repeat(5_000),
  Array.from({ length: 500 }, () => '203.0.113.7').join(', '),
];

describe('An app’s list of addresses', () => {
  const behindProxy = useService({ env: { TRUST_PROXY: 'loopback' }, merchant: 'all' });
  const direct = useService({ beside: behindProxy, merchant: 'none' });

  const allow = (list: string) => behindProxy.assign('apps', `ip_allow_list = '{${list}}'`);
  const read = (service: TestService, address?: string) =>
    request('GET', `${service.baseUrl}/collections/checkouts`, {
      access: behindProxy.merchant.access,
      headers: address === undefined ? {} : { 'x-forwarded-for': address },
    });
  const getToken = (service: TestService, address?: string) =>
    request('POST', `${service.baseUrl}/auth/app/token`, {
      body: { app_key: behindProxy.merchant.app_key, app_secret: behindProxy.merchant.app_secret },
      headers: address === undefined ? {} : { 'x-forwarded-for': address },
    });

  for (const [list, address, allowed] of CASES) {
    it(`${allowed ? 'lets' : 'does not let'} ${address} in when it is {${list}}`, async () => {
      await allow(list);
      for (const answer of [
        await read(behindProxy, address),
        await getToken(behindProxy, address),
      ]) {
        if (allowed) expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
        else expectRefusal(answer, 403, DENIED);
      }
    });
  }

  it('goes by the nearest address that is not a trusted proxy’s', async () => {
    await allow('203.0.113.7');
    expect((await read(behindProxy, '198.51.100.1, 203.0.113.7')).status).to.equal(200);
    expectRefusal(await read(behindProxy, '203.0.113.7, 198.51.100.1'), 403, DENIED);
    expect((await read(behindProxy, '203.0.113.7, 127.0.0.1')).status).to.equal(200);
    expectRefusal(await read(behindProxy), 403, DENIED);
  });

  it('does not believe X-Forwarded-For without a trusted proxy', async () => {
    await allow('203.0.113.7');
    expectRefusal(await read(direct, '203.0.113.7'), 403, DENIED);
    expectRefusal(await getToken(direct, '203.0.113.7'), 403, DENIED);
    await allow('127.0.0.1');
    expect((await read(direct, '203.0.113.7')).status).to.equal(200);
    expect((await getToken(direct, '203.0.113.7')).status).to.equal(200);
  });

  for (const garbage of GARBAGE) {
    it(`lets nobody in who claims to come from ${JSON.stringify(garbage).slice(0, 30)}`, async () => {
      behindProxy.merchant = await behindProxy.newMerchant();
      await allow('198.51.100.99');
      expectRefusal(await read(behindProxy, garbage), 403, DENIED);
      expectRefusal(await getToken(behindProxy, garbage), 403, DENIED);
      await allow('');
      expect((await read(behindProxy, garbage)).status).to.equal(200);
      expect((await getToken(behindProxy, garbage)).status).to.equal(200);
    });
  }

  it('is looked at only when the secret is right', async () => {
    await allow('203.0.113.7');
    const answer = await request('POST', `${direct.baseUrl}/auth/app/token`, {
      body: { app_key: behindProxy.merchant.app_key, app_secret: 'wrong' },
    });
    expectRefusal(answer, 401, 'Invalid app credentials');
  });
});
