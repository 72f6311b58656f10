import { expect } from 'chai';
import { rewrite } from '../support/database.ts';
import { type makeEndpoint, OPEN } from '../support/endpoints.ts';
import { BAD_PAGE, BAD_PAGE_SIZE, expectBadValues } from '../support/query-cases.ts';
import { newWebhook } from '../support/webhook-state.ts';
import { request, useService } from '../support/world.ts';

const LIST = '/webhooks/endpoints';
const SHOP = 'http://shop.example';
const [SINCE, THEN, SOON] = [
  '2026-11-20T09:30:00.000Z',
  '2026-11-20T09:31:00.000Z',
  '2026-11-20T09:31:10.000Z',
];
const FAILED = {
  failures: 2,
  failing_since: new Date(SINCE),
  last_failure_at: new Date(THEN),
  last_status: 503,
  last_success_at: null,
  concurrency: 4,
};

describe('The list of receivers', () => {
  const service = useService();

  const make = (endpoint: string, state: Parameters<typeof makeEndpoint>[3] = {}) =>
    service.makeEndpoint(endpoint, state);

  it('shows the state of each, those that do not work first', async () => {
    await make('http://a.example', { last_success_at: new Date(SINCE) });
    await make('http://b.example', FAILED);
    await make('http://c.example', {
      ...OPEN,
      ...FAILED,
      failures: 6,
      last_status: null,
      last_error: 'timeout',
      concurrency: 1,
      opened_at: new Date(THEN),
      probe_at: new Date(SOON),
    });
    const { body } = await service.client.get(LIST);
    expect(body).to.include({ count: 3, next: null, previous: null });
    const nothing = { failing_since: null, held_since: null, next_probe_at: null };
    const failed = { failing_since: SINCE, last_failure_at: THEN, last_success_at: null };
    expect(body.results).to.deep.equal([
      {
        ...{
          endpoint: 'http://c.example',
          state: 'held',
          ...failed,
          held_since: THEN,
          failures: 6,
        },
        ...{ last_status: null, last_error: 'timeout', next_probe_at: SOON },
        ...{ waiting: 0, concurrency: 1 },
      },
      {
        ...{ endpoint: 'http://b.example', state: 'failing', ...nothing, ...failed, failures: 2 },
        ...{ last_status: 503, last_error: null, waiting: 0, concurrency: 4 },
      },
      {
        ...{ endpoint: 'http://a.example', state: 'working', ...nothing, failures: 0 },
        ...{ last_status: null, last_error: null, last_failure_at: null, last_success_at: SINCE },
        ...{ waiting: 0, concurrency: 32 },
      },
    ]);
  });

  it('counts what waits for each, up to a thousand', async () => {
    const { database } = service;
    await make(SHOP);
    await make('http://other.example');
    const model = await newWebhook(database, service.merchant);
    await newWebhook(database, service.merchant, { attempts: 1, dueInMs: 60_000 });
    await newWebhook(database, service.merchant, { admitted: true });
    await newWebhook(database, service.merchant, { status: 'exhausted' });
    const waiting = async () => {
      const { body } = await service.client.get(LIST);
      return Object.fromEntries(
        body.results.map(({ endpoint, waiting }: { endpoint: string; waiting: number }) => [
          endpoint,
          waiting,
        ]),
      );
    };
    expect(await waiting()).to.deep.equal({ [SHOP]: 2, 'http://other.example': 0 });
    const bindings = { model, merchant_id: service.merchantId };
    await rewrite(
      database,
      `WITH added AS (
         INSERT INTO events (merchant_id, id, app_code, payment_kind, payment_id, type,
           callback_url, endpoint, body, sequence)
         SELECT merchant_id, gen_random_uuid(), app_code, payment_kind, gen_random_uuid(), type,
           callback_url, endpoint, body, 1000 + n
         FROM events, generate_series(1, 1200) AS n
         WHERE merchant_id = :merchant_id AND id = :model
         RETURNING *
       )
       INSERT INTO webhook_deliveries
         (merchant_id, event_id, endpoint, created_at, next_step, next_step_at)
       SELECT merchant_id, id, endpoint, created_at, 'deliver', now() FROM added`,
      bindings,
    );
    expect((await waiting())[SHOP]).to.equal(1_000);
  });

  it('has pages', async () => {
    const all = ['http://a.example', 'http://b.example', 'http://c.example'];
    for (const endpoint of all) await make(endpoint);
    const { body: one } = await service.client.get(`${LIST}?page_size=2`);
    expect(one.count).to.equal(3);
    const { body: two } = await request('GET', one.next, { access: service.merchant.access });
    expect(two.next).to.equal(null);
    const shown = [...one.results, ...two.results].map(({ endpoint }) => endpoint);
    expect(shown).to.deep.equal(all);
    const { body: back } = await request('GET', two.previous, { access: service.merchant.access });
    expect(back.results).to.deep.equal(one.results);
    const { body: beyond } = await service.client.get(`${LIST}?page=9`);
    expect(beyond).to.deep.include({ count: 3, next: null, results: [] });
  });

  it('refuses bad values by the name of the parameter', () =>
    expectBadValues(service.client, LIST, { page: BAD_PAGE, page_size: BAD_PAGE_SIZE }));
});
