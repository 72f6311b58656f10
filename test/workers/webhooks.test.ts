import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { rows } from '../../src/connections/database.ts';
import { isOutage } from '../../src/connections/database-errors.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { createService, loadConfig, type Service } from '../../src/service/service.ts';
import { deliverWebhook } from '../../src/workers/steps.ts';
import { deliveryOf, makeDue, newEvent } from '../support/events.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { createTestStore, rejection, type TestStore } from '../support/payments.ts';
import { makeReadOnly, makeWritable } from '../support/read-only.ts';
import type { TestMerchant } from '../support/test-merchant.ts';
import { SILENT } from '../support/world.ts';

let store: TestStore;
let merchant: TestMerchant;

/** Creates an event whose delivery is admitted, so that its job can run. */
async function newDelivery(callbackUrl?: string): Promise<string> {
  const eventId = await newEvent(store.database, merchant, callbackUrl);
  await prepareDeliveries(store.database, 1_000);
  return eventId;
}

/** Ends the pause before the next attempt. */
async function comeAgain(eventId: string): Promise<void> {
  await makeDue(store.database, eventId);
  await prepareDeliveries(store.database, 1_000);
}

const attemptsOf = (eventId: string) =>
  rows(
    store.database,
    `SELECT attempt_no, response_status, error, reason, duration_ms FROM webhook_attempts
     WHERE event_id = :id ORDER BY attempt_no`,
    { id: eventId },
  );

describe('A webhook as the merchant receives it', () => {
  let shop: FakeMerchant;
  let service: Service;

  before(async () => {
    store = await createTestStore();
    shop = await startFakeMerchant();
    service = serviceWith({});
  });

  after(async () => {
    await shop.close();
    await store.drop();
  });

  beforeEach(async () => {
    merchant = await store.newMerchant();
    shop.received.length = 0;
    shop.answerWith(() => 200);
  });

  function serviceWith(env: Record<string, string>): Service {
    const config = loadConfig({ DATABASE_URL: store.url, WEBHOOK_TIMEOUT_MS: '2000', ...env });
    return createService(config, SILENT, store.database);
  }

  async function deliver(eventId: string, context = service): Promise<void> {
    const { step_no } = await deliveryOf(store.database, eventId);
    const { merchant_id } = merchant;
    await deliverWebhook(context, { merchant_id, event_id: eventId, step_no }, {});
  }

  it('carries a signature over timestamp and raw body, by the app’s secret', async () => {
    await deliver(await newDelivery(shop.url));
    const [{ headers, body }] = shop.received as [(typeof shop.received)[0]];
    const timestamp = headers['x-service-timestamp'] as string;
    const expected = createHmac('sha256', merchant.app_secret)
      .update(Buffer.concat([Buffer.from(`${timestamp}.`), Buffer.from(body)]))
      .digest('hex');
    expect(headers['x-service-signature']).to.equal(expected);
    expect(Math.abs(Date.now() / 1_000 - Number(timestamp))).to.be.below(300);
    expect(timestamp).to.match(/^\d{10}$/);
    expect(headers['content-type']).to.equal('application/json');
  });

  it('is verified by the published library of Standard Webhooks', async () => {
    const id = await newDelivery(shop.url);
    await deliver(id);
    const [{ headers, body }] = shop.received as [(typeof shop.received)[0]];
    const verify = (secret: string, text: string) =>
      new Webhook(`whsec_${Buffer.from(secret).toString('base64')}`).verify(
        text,
        headers as Record<string, string>,
      );
    expect(verify(merchant.app_secret, body)).to.deep.equal(JSON.parse(body));
    expect(headers['webhook-id']).to.equal(id);
    expect(() => verify(merchant.app_secret, `${body} `)).to.throw();
    expect(() => verify('another secret', body)).to.throw();
  });

  it('carries its number among the merchant’s events', async () => {
    for (const number of [1, 2, 3]) {
      await deliver(await newDelivery(shop.url));
      const { headers } = shop.received.at(-1)!;
      expect(headers['x-service-event-sequence']).to.equal(String(number));
    }
  });

  it('is the same to the byte at every attempt, under the same id', async () => {
    const id = await newDelivery(shop.url);
    const answers = [500, 302, 503, 200];
    shop.answerWith(() => answers[shop.received.length - 1]!);
    for (const [index] of answers.entries()) {
      if (index > 0) await comeAgain(id);
      await deliver(id);
    }
    expect(shop.received).to.have.length(answers.length);
    const distinct = (of: (received: (typeof shop.received)[0]) => unknown) =>
      new Set(shop.received.map(of)).size;
    expect(distinct(({ body }) => body)).to.equal(1);
    expect(distinct(({ headers }) => headers['webhook-id'])).to.equal(1);
    expect(distinct(({ headers }) => headers['x-service-event-sequence'])).to.equal(1);
    expect(await deliveryOf(store.database, id)).to.include({ status: 'delivered', attempts: 4 });
  });

  it('is not sent by a job that has been overtaken', async () => {
    const id = await newDelivery(shop.url);
    const { step_no } = await deliveryOf(store.database, id);
    await deliver(id);
    const { merchant_id } = merchant;
    await deliverWebhook(service, { merchant_id, event_id: id, step_no }, {});
    expect(shop.received).to.have.length(1);
  });

  it('is not sent while its attempt could not be recorded', async () => {
    const id = await newDelivery(shop.url);
    await makeReadOnly(store.url);
    const error = await rejection(deliver(id));
    await makeWritable(store.url);
    expect(isOutage(error)).to.equal(true);
    expect(shop.received).to.deep.equal([]);
    await deliver(id);
    expect(shop.received).to.have.length(1);
    expect(await attemptsOf(id)).to.have.length(1);
  });

  it('never goes to a private address where that is not allowed, and counts as failed', async () => {
    const id = await newDelivery(shop.url);
    await deliver(id, serviceWith({ WEBHOOK_ALLOW_PRIVATE: 'false' }));
    expect(shop.received).to.deep.equal([]);
    const [recorded] = await attemptsOf(id);
    expect(recorded).to.include({
      response_status: null,
      error: 'The host leads to no public address',
      reason: '127.0.0.1 is not a public address',
    });
  });

  it('never goes to a port that is not allowed, and counts as failed', async () => {
    const id = await newDelivery(shop.url);
    await deliver(id, serviceWith({ WEBHOOK_PORTS: '443' }));
    expect(shop.received).to.deep.equal([]);
    const [recorded] = await attemptsOf(id);
    const { port } = new URL(shop.url);
    expect(recorded).to.include({ error: `port ${port} is not in WEBHOOK_PORTS (443)` });
    expect(await deliveryOf(store.database, id)).to.include({ status: 'pending', attempts: 1 });
  });
});
