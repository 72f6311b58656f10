import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import winston from 'winston';
import { createApp } from '../../src/api/app.ts';
import { createLogger } from '../../src/process/logger.ts';
import { clientOf, eventually, request, useService } from '../support/world.ts';

describe('The log lines of a request', () => {
  const service = useService({ env: { TRUST_PROXY: 'loopback' }, merchant: 'all' });
  let server: Server;
  let origin: string;
  let lines: Record<string, unknown>[];

  before(async () => {
    const write = (chunk: unknown, _encoding: string, done: () => void) => {
      lines.push(JSON.parse(String(chunk)));
      done();
    };
    const stream = new Writable({ write });
    const logger = createLogger('info', 'web').clear();
    logger.add(new winston.transports.Stream({ stream }));
    server = createServer(createApp({ ...service, logger }));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(async () => {
    server.close();
  });

  beforeEach(() => {
    lines = [];
  });

  const written = (count: number) =>
    eventually(`${count} lines`, async () => lines.length === count);

  for (const headers of [{}, { 'idempotency-key': 'k1' }] as Record<string, string>[]) {
    const how = headers['idempotency-key'] ? 'with a key' : 'without a key';
    it(`name its id, the merchant and the payment, ${how}`, async () => {
      const client = clientOf({ baseUrl: `${origin}/api/v1` }, service.merchant);
      const answer = await client.initiate({}, { ...headers, 'x-request-id': 'r1' });
      await written(1);
      expect(lines[0]).to.include({
        ...{ message: 'request', request_id: 'r1', status: 200, method: 'POST' },
        merchant_id: service.merchantId,
        payment_id: answer.body.id,
      });
    });
  }

  it('name who sent it: the family of the token, the app or the user, and the address', async () => {
    const { userId, access } = await service.newUser('Finance');
    const from = { 'x-forwarded-for': '203.0.113.7' };
    const senders = [
      { access, app: null, user: userId },
      { access: service.merchant.access, app: service.merchant.app_code, user: null },
    ];
    for (const [index, { access, ...sender }] of senders.entries()) {
      await clientOf({ baseUrl: `${origin}/api/v1` }, { access }).get('/channels', from);
      await written(index + 1);
      const { fam: family } = jwt.decode(access) as { fam: string };
      expect(lines[index]).to.include({ family, ...sender, address: '203.0.113.7' });
    }
  });

  it('are not written for a probe that is answered with 200', async () => {
    for (const path of ['/healthz', '/readyz', '/healthy']) await request('GET', origin + path);
    await written(1);
    expect(lines[0]).to.include({ path: '/healthy', status: 404 });
  });

  it('name nobody when the token is not accepted', async () => {
    await clientOf({ baseUrl: `${origin}/api/v1` }, { access: 'forged' }).get('/channels');
    await written(1);
    expect(lines[0]).to.include({ status: 401 });
    expect(lines[0]).to.not.have.any.keys('family', 'app', 'user', 'address');
  });

  it('all have its id, and no other request has it', async () => {
    const url = `${origin}/gateway/callbacks/simulator/nonsense`;
    const post = (id: string) =>
      request('POST', url, { body: {}, headers: { 'x-request-id': id } });
    await Promise.all([post('r2'), post('r3')]);
    await written(4);
    for (const id of ['r2', 'r3']) {
      const own = lines.filter(({ request_id }) => request_id === id);
      expect(own.map(({ message }) => message)).to.deep.equal([
        'callback with a wrong token',
        'request',
      ]);
    }
  });
});
