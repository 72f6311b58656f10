import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import type { Transaction } from '../../src/connections/database.ts';
import { issueAppTokens } from '../../src/domain/credentials/log-in.ts';
import { chooseWebhookSecret } from '../../src/domain/merchants/app.ts';
import type { SecretKind } from '../../src/domain/merchants/app-secrets.ts';
import { rotateAppSecret, rotateWebhookSecret } from '../../src/domain/merchants/rotate-secrets.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import type { Service } from '../../src/service/service.ts';
import { deliverWebhook } from '../../src/workers/steps.ts';
import { type FakeMerchant, type Received, startFakeMerchant } from '../support/fake-merchant.ts';
import { useStore } from '../support/world.ts';

const OVERLAP_MS = 3_600_000;

/** As the receiver in docs/guides/webhooks.md: the key is the text of the secret as it was shown. */
function isSpecified({ headers, body }: Received, secret: string): boolean {
  const material = `${headers['x-service-timestamp']}.${body}`;
  const expected = createHmac('sha256', secret).update(material).digest('hex');
  return headers['x-service-signature'] === expected;
}

/** The published library takes a webhook secret as it is, and an app secret as base64. */
function isStandard({ headers, body }: Received, secret: string): boolean {
  const standard = secret.startsWith('whsec_')
    ? secret
    : `whsec_${Buffer.from(secret).toString('base64')}`;
  try {
    new Webhook(standard).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

const signaturesOf = ({ headers }: Received) => String(headers['webhook-signature']).split(' ');

describe('The secrets that sign webhooks', () => {
  const store = useStore();
  let shop: FakeMerchant;
  let service: Service;

  before(async () => {
    shop = await startFakeMerchant();
    service = store.parts();
  });

  after(async () => {
    await shop.close();
  });

  beforeEach(async () => {
    shop.received.length = 0;
    shop.answerWith(() => 200);
  });

  const change = <Result>(work: (trx: Transaction) => Promise<Result>) => store.transaction(work);

  const choose = (kind: SecretKind) =>
    change((trx) =>
      chooseWebhookSecret(trx, store.config.secretsKeys, store.merchant.app_code, kind),
    ).then(({ webhook_secret }) => webhook_secret);

  const rotate = (overlapMs: number) =>
    change((trx) =>
      rotateWebhookSecret(trx, store.config.secretsKeys, store.merchant.app_code, overlapMs),
    ).then(({ value }) => value.secret);

  const rotateApp = (overlapMs: number) =>
    change((trx) =>
      rotateAppSecret(trx, store.config.secretsKeys, store.merchant.app_code, overlapMs, 0),
    ).then(({ value }) => value.secret);

  const endOverlap = (table: 'app_secrets' | 'webhook_secrets') =>
    store.rewrite(
      `UPDATE ${table} SET expires_at = now()
       WHERE merchant_id = :merchant_id AND expires_at IS NOT NULL`,
      { merchant_id: store.merchantId },
    );

  async function attempt(event_id: string): Promise<void> {
    await prepareDeliveries(store.database, 1_000);
    const { step_no } = await store.deliveryOf(event_id);
    await deliverWebhook(service, { merchant_id: store.merchantId, event_id, step_no }, {});
  }

  async function nextWebhook(): Promise<Received> {
    await attempt(await store.newEvent(shop.url));
    return shop.received.at(-1)!;
  }

  const letsIn = (secret: string) =>
    issueAppTokens(store.database, store.config, {
      app_key: store.merchant.app_key,
      app_secret: secret,
    }).then(
      () => true,
      () => false,
    );

  it('are the app’s secret, with one signature, for an app that chooses nothing', async () => {
    const webhook = await nextWebhook();
    expect(isSpecified(webhook, store.merchant.app_secret)).to.equal(true);
    expect(isStandard(webhook, store.merchant.app_secret)).to.equal(true);
    expect(signaturesOf(webhook)).to.have.length(1);
  });

  it('are its own in both conventions from the moment at which it chooses that', async () => {
    const own = (await choose('own'))!;
    expect(own).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const webhook = await nextWebhook();
    expect(signaturesOf(webhook)).to.have.length(1);
    expect([isSpecified(webhook, own), isStandard(webhook, own)]).to.deep.equal([true, true]);
    expect(isSpecified(webhook, store.merchant.app_secret)).to.equal(false);
    expect(isStandard(webhook, store.merchant.app_secret)).to.equal(false);
  });

  it('are the app’s again when it goes back, and a new one when it returns', async () => {
    const first = (await choose('own'))!;
    expect(await choose('app')).to.equal(null);
    const webhook = await nextWebhook();
    expect(isSpecified(webhook, store.merchant.app_secret)).to.equal(true);
    expect(isStandard(webhook, store.merchant.app_secret)).to.equal(true);
    const second = (await choose('own'))!;
    const later = await nextWebhook();
    expect([isSpecified(later, second), isStandard(later, second)]).to.deep.equal([true, true]);
    expect([isSpecified(later, first), isStandard(later, first)]).to.deep.equal([false, false]);
  });

  it('are both during an overlap: the old receiver and the new one verify one delivery', async () => {
    const old = (await choose('own'))!;
    const renewed = await rotate(OVERLAP_MS);
    const webhook = await nextWebhook();
    expect(isSpecified(webhook, old), 'the old receiver').to.equal(true);
    expect(isStandard(webhook, renewed), 'the new receiver').to.equal(true);
    expect(isStandard(webhook, old), 'an old receiver with the library').to.equal(true);
    expect(isSpecified(webhook, renewed)).to.equal(false);
    expect(signaturesOf(webhook)).to.have.length(2);
  });

  it('are only the new one after the overlap, also for a webhook that was tried in it', async () => {
    const old = (await choose('own'))!;
    const renewed = await rotate(OVERLAP_MS);
    shop.answerWith(() => 500);
    const event = await store.newEvent(shop.url);
    await attempt(event);
    await endOverlap('webhook_secrets');
    await store.makeDue(event);
    await attempt(event);
    const [during, after] = shop.received as [Received, Received];
    expect(isSpecified(during, old)).to.equal(true);
    expect([isSpecified(after, renewed), isStandard(after, renewed)]).to.deep.equal([true, true]);
    expect([isSpecified(after, old), isStandard(after, old)]).to.deep.equal([false, false]);
    expect(signaturesOf(after)).to.have.length(1);
  });

  it('are only the new one at once without an overlap', async () => {
    const old = (await choose('own'))!;
    const renewed = await rotate(0);
    const webhook = await nextWebhook();
    expect([isSpecified(webhook, renewed), isStandard(webhook, renewed)]).to.deep.equal([
      true,
      true,
    ]);
    expect(isStandard(webhook, old)).to.equal(false);
  });

  it('stay with the oldest of three until that ends, then with the next', async () => {
    const oldest = (await choose('own'))!;
    const middle = await rotate(OVERLAP_MS / 2);
    const newest = await rotate(OVERLAP_MS);
    const webhook = await nextWebhook();
    expect(signaturesOf(webhook)).to.have.length(3);
    expect(isSpecified(webhook, oldest)).to.equal(true);
    for (const secret of [oldest, middle, newest]) {
      expect(isStandard(webhook, secret)).to.equal(true);
    }
    await store.rows(
      `UPDATE webhook_secrets SET expires_at = now() WHERE merchant_id = :merchant_id
         AND created_at = (SELECT min(created_at) FROM webhook_secrets
           WHERE merchant_id = :merchant_id)`,
      { merchant_id: store.merchantId },
    );
    expect(isSpecified(await nextWebhook(), middle)).to.equal(true);
  });

  it('overlap likewise while they are the app’s secrets', async () => {
    const renewed = await rotateApp(OVERLAP_MS);
    const during = await nextWebhook();
    expect(isSpecified(during, store.merchant.app_secret)).to.equal(true);
    expect(
      [store.merchant.app_secret, renewed].map((secret) => isStandard(during, secret)),
    ).to.deep.equal([true, true]);
    await endOverlap('app_secrets');
    const after = await nextWebhook();
    expect([isSpecified(after, renewed), isStandard(after, renewed)]).to.deep.equal([true, true]);
    expect(isStandard(after, store.merchant.app_secret)).to.equal(false);
  });

  it('do not change with the app’s secret when they are its own', async () => {
    const own = (await choose('own'))!;
    await rotateApp(OVERLAP_MS);
    const webhook = await nextWebhook();
    expect(isSpecified(webhook, own)).to.equal(true);
    expect(signaturesOf(webhook)).to.have.length(1);
  });

  it('let nobody in, in no form, not even copied among the secrets that do', async () => {
    const own = (await choose('own'))!;
    const encoded = own.slice('whsec_'.length);
    const forms = [own, encoded, `as_${Buffer.from(encoded, 'base64').toString('base64url')}`];
    for (const form of forms) expect(await letsIn(form)).to.equal(false);
    expect(await letsIn(store.merchant.app_secret)).to.equal(true);
    await store.rows(
      `INSERT INTO app_secrets SELECT * FROM webhook_secrets WHERE merchant_id = :merchant_id`,
      { merchant_id: store.merchantId },
    );
    for (const form of forms) expect(await letsIn(form)).to.equal(false);
  });

  it('never become the app’s by themselves: without one of its own webhooks wait for one', async () => {
    await choose('own');
    await store.rows(
      'UPDATE webhook_secrets SET expires_at = now() WHERE merchant_id = :merchant_id',
      { merchant_id: store.merchantId },
    );
    const event = await store.newEvent(shop.url);
    for (let time = 1; time <= 2; time += 1) {
      await attempt(event);
      const waiting = { status: 'pending', next_step: 'deliver', attempts: 0, admitted: false };
      expect(await store.deliveryOf(event)).to.include(waiting);
      await store.makeDue(event);
    }
    expect(shop.received).to.deep.equal([]);
    const renewed = await rotate(0);
    await attempt(event);
    expect(await store.deliveryOf(event)).to.include({
      status: 'delivered',
      attempts: 1,
    });
    expect(isSpecified(shop.received[0]!, renewed)).to.equal(true);
  });

  it('are one, when two operators choose at once', async () => {
    const chosen = await Promise.all([choose('own'), choose('own')]);
    const [own, ...more] = chosen.filter((secret) => secret !== null);
    expect(more).to.deep.equal([]);
    const webhook = await nextWebhook();
    expect(signaturesOf(webhook)).to.have.length(1);
    expect(isSpecified(webhook, own!)).to.equal(true);
  });
});
