import { expect } from 'chai';
import { rewrite } from '../support/database.ts';
import { setState } from '../support/webhook-state.ts';
import { expectRefusal, useService } from '../support/world.ts';

const SHOP = 'http://shop.example';
const OTHER = 'http://other.example:9000';
const LONG_AGO = '2020-01-01T00:00:00Z';
const LIMIT = 1_000;

describe('Recovering webhooks by the API', () => {
  const service = useService();

  const add = (state: Parameters<typeof setState>[2], callbackUrl?: string) =>
    service.newWebhook(state, callbackUrl);
  const recover = async (fields: object = {}, headers: Record<string, string> = {}) => {
    const answer = await service.client.post(
      '/webhooks/recover',
      { since: LONG_AGO, ...fields },
      headers,
    );
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer;
  };
  const statusOf = async (id: string) => (await service.deliveryOf(id)).status;

  it('sends again what was given up or waits for a later attempt, and nothing else', async () => {
    const ids = [
      await add({ status: 'exhausted' }),
      await add({ attempts: 3, dueInMs: 3_600_000 }),
    ];
    const taken = await add({ status: 'delivered' });
    const stopped = await add({ status: 'stopped' });
    await add({ parked_reason: 'a bug' });
    await add({ admitted: true });
    expect((await recover()).body).to.deep.equal({ resent: 2, remaining: 0 });
    for (const id of ids) {
      const { status, next_step_at } = await service.deliveryOf(id);
      expect([status, next_step_at! <= new Date()]).to.deep.equal(['pending', true]);
    }
    expect(await statusOf(taken)).to.equal('delivered');
    expect(await statusOf(stopped)).to.equal('stopped');
    expect((await recover()).body).to.deep.equal({ resent: 0, remaining: 0 });
  });

  it('is narrowed by time and endpoint', async () => {
    const mine = await add({ status: 'exhausted' });
    const elsewhere = await add({ status: 'exhausted' }, `${OTHER}/hook`);
    const soon = new Date(Date.now() + 60_000).toISOString();
    const nothing = { resent: 0, remaining: 0 };
    expect((await recover({ since: soon })).body).to.deep.equal(nothing);
    expect((await recover({ until: '2021-01-01T03:00:00+03:00' })).body).to.deep.equal(nothing);
    expect((await recover({ until: soon, endpoint: OTHER })).body.resent).to.equal(1);
    expect([await statusOf(mine), await statusOf(elsewhere)]).to.deep.equal([
      'exhausted',
      'pending',
    ]);
    expect((await recover({ endpoint: SHOP })).body.resent).to.equal(1);
  });

  it('sends a thousand at most, and says how many remain', async () => {
    const model = await add({ status: 'exhausted' });
    const bindings = { model, merchant_id: service.merchantId, more: LIMIT + 1 };
    await rewrite(
      service.database,
      `INSERT INTO events (merchant_id, id, app_code, payment_kind, payment_id, type, callback_url,
         endpoint, body, sequence)
       SELECT merchant_id, gen_random_uuid(), app_code, payment_kind, gen_random_uuid(), type,
         callback_url, endpoint, body, 1000 + n
       FROM events, generate_series(1, CAST(:more AS integer)) AS n
       WHERE merchant_id = :merchant_id AND id = :model`,
      bindings,
    );
    await service.rows(
      `INSERT INTO webhook_deliveries (merchant_id, event_id, endpoint, created_at, status)
       SELECT merchant_id, id, endpoint, created_at, 'exhausted' FROM events
       WHERE merchant_id = :merchant_id AND id <> :model`,
      bindings,
    );
    expect((await recover()).body).to.deep.equal({ resent: LIMIT, remaining: 2 });
    expect((await recover()).body).to.deep.equal({ resent: 2, remaining: 0 });
  });

  it('happens once for one key', async () => {
    const id = await add({ status: 'exhausted' });
    const headers = { 'idempotency-key': 'recovery' };
    const first = await recover({}, headers);
    await setState(service.database, id, { status: 'exhausted' });
    const second = await recover({}, headers);
    expect(second.headers.get('idempotent-replayed')).to.equal('true');
    expect(second.body).to.deep.equal(first.body);
    expect(await statusOf(id)).to.equal('exhausted');
  });

  it('refuses what is missing or wrong, and sends nothing', async () => {
    const id = await add({ status: 'exhausted' });
    const refused = async (fields: object, detail: string, field: string) =>
      expectRefusal(await service.client.post('/webhooks/recover', fields), 400, detail, { field });
    for (const since of [undefined, null, '']) {
      await refused({ since }, 'since field is required', 'since');
    }
    for (const since of [
      'yesterday',
      '2026-01-01',
      5,
      '2026-02-30T00:00:00Z',
      '2026-01-01T00:00:00',
    ]) {
      await refused({ since }, 'Invalid since', 'since');
    }
    for (const until of ['now', 7, LONG_AGO, '2019-12-31T23:59:59Z']) {
      await refused({ since: LONG_AGO, until }, 'Invalid until', 'until');
    }
    for (const endpoint of [
      `${SHOP}/`,
      `${SHOP}/hook`,
      'shop.example',
      1,
      'http://u@shop.example',
    ]) {
      await refused({ since: LONG_AGO, endpoint }, 'Invalid endpoint', 'endpoint');
    }
    expect(await statusOf(id)).to.equal('exhausted');
  });
});
