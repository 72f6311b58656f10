import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import winston from 'winston';
import { webhooks } from '../../src/api/documentation/webhooks.ts';
import { createAjv } from '../../src/api/schemas/validator.ts';
import { chooseWebhookSecret } from '../../src/domain/merchants/app.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { resolved } from '../support/named-schema.ts';
import { strict } from '../support/strict-schema.ts';
import { startTestService } from '../support/test-service.ts';
import { type Client, clientOf, eventually, expectRefusal, useService } from '../support/world.ts';

const TEST = '/webhooks/test';
const NO_RECEIVER = 'http://127.0.0.1:9/hook';
const TABLES = ['events', 'webhook_deliveries', 'webhook_attempts', 'webhook_endpoints'];
const PLACES = 20;

describe('A test of a receiver', () => {
  const service = useService();
  let shop: FakeMerchant;

  beforeEach(async () => {
    shop = await startFakeMerchant();
  });

  afterEach(() => shop.close());

  const test = (fields: object = {}, by = service.client) =>
    by.post(TEST, { callback_url: shop.url, ...fields });

  function expectSigned(secret: string) {
    const { headers, body } = shop.received.at(-1)!;
    const key = secret.startsWith('whsec_')
      ? secret
      : `whsec_${Buffer.from(secret).toString('base64')}`;
    new Webhook(key).verify(body, headers as Record<string, string>);
    const signature = createHmac('sha256', secret)
      .update(`${headers['x-service-timestamp']}.${body}`)
      .digest('hex');
    expect(headers['x-service-signature']).to.equal(signature);
  }

  it('sends one signed example of made-up values, and answers with what came back', async () => {
    const { status, body } = await test();
    expect(status).to.equal(200);
    const { duration_ms, webhook_id, ...rest } = body;
    expect(rest).to.deep.equal({ delivered: true, status: 200, error: null, answer: '' });
    expect(duration_ms).to.be.at.least(0);
    expect(shop.received).to.have.length(1);
    const [{ headers, payload }] = shop.received as [FakeMerchant['received'][number]];
    expect(headers).to.include({ 'webhook-id': webhook_id, 'x-service-event-sequence': '0' });
    expect(payload.notification).to.deep.equal({ type: 'test', event: 'webhook.test' });
    expect(payload.data).to.include({ ref_no: 'TEST-ONLY', trans_id: 'TEST-ONLY' });
    expectSigned(service.merchant.app_secret);
    const { content } = webhooks().webhookTested.post.requestBody;
    const schema = resolved(content['application/json'].schema);
    const ajv = createAjv();
    expect(ajv.validate(strict(schema), payload), ajv.errorsText()).to.equal(true);
    expect((await test()).body.webhook_id, 'a new one each time').to.not.equal(webhook_id);
  });

  it('is signed with the webhook secret of an app that has one', async () => {
    const { webhook_secret } = await service.transaction((trx) =>
      chooseWebhookSecret(trx, service.config.secretsKeys, service.merchant.app_code, 'own'),
    );
    expect((await test()).body.delivered).to.equal(true);
    expectSigned(webhook_secret!);
  });

  it('records nothing, takes no key, and is sent once', async () => {
    shop.answerWith(() => 500);
    const kept = 'idempotency_keys WHERE merchant_id = :merchant_id';
    const headers = { 'idempotency-key': 'k' };
    for (let time = 0; time < 3; time += 1) {
      const answer = await service.client.post(TEST, { callback_url: shop.url }, headers);
      expect(answer.body).to.include({ delivered: false, status: 500, error: null });
      expect(answer.headers.get('idempotent-replayed')).to.equal(null);
    }
    expect(shop.received).to.have.length(3);
    for (const table of [
      ...TABLES.map((name) => `${name} WHERE merchant_id = :merchant_id`),
      kept,
    ]) {
      const bindings = { merchant_id: service.merchantId };
      expect(await service.countOf(table, bindings), table).to.equal(0);
    }
  });

  it('says why there was no answer', async () => {
    const { body } = await test({ callback_url: NO_RECEIVER });
    expect(body).to.include({ delivered: false, status: null, answer: null });
    expect(body.error).to.match(/ECONNREFUSED/);
    shop.answerWith(() => new Promise(() => {}));
    expect((await test()).body.error).to.match(/timeout/);
  });

  it('shows the beginning of the answer, and follows no redirect', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(302, { location: shop.url }).end('x'.repeat(5_000));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const callback_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { body } = await test({ callback_url });
    expect(body).to.include({ delivered: false, status: 302, answer: 'x'.repeat(1_024) });
    expect(shop.received).to.deep.equal([]);
    server.close();
    server.closeAllConnections();
  });

  it('goes where webhooks may go, and nowhere else', async () => {
    for (const env of [
      { WEBHOOK_ALLOW_PRIVATE: 'false' },
      { WEBHOOK_BLOCK: '127.0.0.0/8' },
    ] as Record<string, string>[]) {
      const fenced = await startTestService({ workers: [], beside: service, env });
      const { body } = await test({}, clientOf(fenced, service.merchant));
      expect(body).to.include({ delivered: false, status: null });
      expect(body.error).to.equal('The host leads to no public address');
      await fenced.close();
    }
    const env = { WEBHOOK_PORTS: '443', REQUIRE_HTTPS: 'false' };
    const narrow = await startTestService({ workers: [], beside: service, env });
    const refused = await test({}, clientOf(narrow, service.merchant));
    expectRefusal(refused, 400, 'Invalid callback_url', { field: 'callback_url' });
    await narrow.close();
    expect(shop.received).to.deep.equal([]);
  });

  it('is in the log with its receiver and the reason, and without the path', async () => {
    const fenced = await startTestService({
      workers: [],
      beside: service,
      env: { WEBHOOK_ALLOW_PRIVATE: 'false' },
    });
    const lines: string[] = [];
    const stream = new Writable({
      write: (line, _encoding, done) => {
        lines.push(String(line));
        done();
      },
    });
    fenced.logger.silent = false;
    fenced.logger.add(new winston.transports.Stream({ stream, format: winston.format.json() }));
    const { origin } = new URL(shop.url);
    await test({ callback_url: `${origin}/of-the-merchant` }, clientOf(fenced, service.merchant));
    const line = lines.find((each) => each.includes('webhook tested'))!;
    expect(JSON.parse(line)).to.include({
      ...{ merchant_id: service.merchantId, endpoint: origin, status: null },
      error: '127.0.0.1 is not a public address',
    });
    expect(line).to.not.include('of-the-merchant');
    await fenced.close();
  });

  it('refuses addresses that payments refuse', async () => {
    for (const callback_url of [
      'shop.example',
      'ftp://shop.example',
      'http://u:p@shop.example',
      7,
    ]) {
      expectRefusal(await test({ callback_url }), 400, 'Invalid callback_url');
    }
    expectRefusal(await test({ callback_url: null }), 400, 'callback_url field is required');
  });

  it('is signed for the app of the token, or for the one that a person names or has alone', async () => {
    const admin = service.clientOf(await service.newUser());
    expect((await test({}, admin)).body.delivered).to.equal(true);
    expectSigned(service.merchant.app_secret);
    const second = await service.newApp([]);
    expectRefusal(await test({}, admin), 400, 'app_code field is required');
    expect((await test({ app_code: second.app_code }, admin)).body.delivered).to.equal(true);
    expectSigned(second.app_secret);
    expect((await test({}, service.clientOf(second))).body.delivered).to.equal(true);
    expectSigned(second.app_secret);
    const { app_code } = service.merchant;
    expectRefusal(await test({ app_code }, service.clientOf(second)), 400, 'Invalid app_code');
    expectRefusal(await test({ app_code: 1 }, admin), 404, 'App not found');
    await service.assign('apps', 'active = false');
    expectRefusal(await test({ app_code: second.app_code }, admin), 403, 'App is not active');
    expectRefusal(await test({}, admin), 404, 'App not found');
  });

  it('is refused for an app without a valid secret', async () => {
    await service.assign('apps', `signs_webhooks_with = 'own'`);
    const answer = await test();
    expectRefusal(answer, 409, 'App has no valid secret to sign with', { field: 'app_code' });
    expect(shop.received).to.deep.equal([]);
  });

  /** A receiver that answers when it is told to. */
  function holdAnswers() {
    const waiting: ((status: number) => void)[] = [];
    shop.answerWith(() => new Promise((resolve) => waiting.push(resolve)));
    return () => {
      for (const answer of waiting.splice(0)) answer(200);
    };
  }

  it('is one at a time for a merchant, and holds up no other', async () => {
    const release = holdAnswers();
    const first = test();
    await eventually('the first', async () => shop.received.length === 1);
    expectRefusal(await test(), 409, 'A webhook test is already running');
    const other = test({}, service.clientOf(await service.newMerchant()));
    await eventually('that of another', async () => shop.received.length === 2);
    release();
    expect((await first).body.delivered).to.equal(true);
    expect((await other).body.delivered).to.equal(true);
    shop.answerWith(() => 200);
    expect((await test()).body.delivered, 'the place is free again').to.equal(true);
  });

  it('is refused with 503 while all places of the process are taken', async () => {
    const others: Client[] = [];
    for (let n = 0; n < PLACES; n += 1) {
      others.push(service.clientOf(await service.newMerchant()));
    }
    const release = holdAnswers();
    const running = others.map((by) => test({}, by));
    await eventually('all places to be taken', async () => shop.received.length === PLACES);
    const refused = await test();
    expectRefusal(refused, 503, 'Service temporarily unavailable');
    expect(refused.headers.get('retry-after')).to.match(/^\d+$/);
    release();
    for (const { body } of await Promise.all(running)) expect(body.delivered).to.equal(true);
  });

  it('counts for the rate limit', async () => {
    const limits = 'rate_limit_per_minute = 1, rate_limit_burst = 1';
    await service.assign('merchants', limits);
    await test();
    expectRefusal(await test(), 429, 'Request rate limit exceeded');
    expect(shop.received).to.have.length(1);
  });
});
