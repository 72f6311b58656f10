import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import winston from 'winston';
import { createApp } from '../../src/api/app.ts';
import { createLogger } from '../../src/process/logger.ts';
import { clientOf, request } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

describe('The log lines of a request', () => {
  let service: TestService;
  let merchant: TestMerchant;
  let server: Server;
  let origin: string;
  let lines: Record<string, unknown>[];

  before(async () => {
    service = await startTestService({ workers: [] });
    merchant = await createTestMerchant(service);
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
    await service.close();
  });

  beforeEach(() => {
    lines = [];
  });

  const written = (count: number) =>
    eventually(`${count} lines`, async () => lines.length === count);

  for (const headers of [{}, { 'idempotency-key': 'k1' }] as Record<string, string>[]) {
    const how = headers['idempotency-key'] ? 'with a key' : 'without a key';
    it(`name its id, the merchant and the payment, ${how}`, async () => {
      const client = clientOf({ baseUrl: `${origin}/api/v1` }, merchant);
      const answer = await client.initiate({}, { ...headers, 'x-request-id': 'r1' });
      await written(1);
      expect(lines[0]).to.include({
        ...{ message: 'request', request_id: 'r1', status: 200, method: 'POST' },
        merchant_id: merchant.merchant_id,
        payment_id: answer.body.id,
      });
    });
  }

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
