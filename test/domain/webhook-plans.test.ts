import { expect } from 'chai';
import { listOwnEndpoints } from '../../src/domain/webhooks/list-endpoints.ts';
import {
  listOwnDeliveries,
  type OwnDeliveryFilter,
  readFeed,
} from '../../src/domain/webhooks/list-own-deliveries.ts';
import {
  countRecoverable,
  recoverDeliveries,
} from '../../src/domain/webhooks/recover-deliveries.ts';
import { plansOf } from '../support/plans.ts';
import { newWebhook } from '../support/webhook-state.ts';
import { type TestMerchant, useStore } from '../support/world.ts';

const PER_MERCHANT = 20_000;
const FIRST = { page: 1, pageSize: 20, asOf: null };
const LISTED = 'webhook_deliveries_listed';
const SORTED = /Sort {2}\(cost[^\n]*\n\s*Sort Key: [^\n]*created_at/;
const SCANNED = /Seq Scan on (events|webhook_deliveries)/;

describe('What merchants ask of their webhooks, among many', () => {
  const store = useStore({ merchant: 'none' });
  let merchant: TestMerchant;

  before(async () => {
    // Of another merchant many were given up or stopped, which must not be read.
    for (const copies of [['exhausted', 'stopped'], ['delivered']]) {
      merchant = await store.newMerchant();
      await multiply(await newWebhook(store.database, merchant, { status: 'delivered' }), copies);
      for (const status of ['exhausted', 'stopped', 'pending'] as const) {
        await newWebhook(store.database, merchant, { status, dueInMs: 60_000 });
      }
    }
    await store.owner.raw('VACUUM ANALYZE');
  });

  /** Makes webhooks like one of the merchant, one a minute before it. */
  async function multiply(model: string, statuses: string[]) {
    const bindings = { model, statuses, merchant_id: merchant.merchant_id, count: PER_MERCHANT };
    await store.rewrite(
      `INSERT INTO events (merchant_id, id, app_code, payment_kind, payment_id, type, callback_url,
         endpoint, body, sequence, created_at)
       SELECT merchant_id, gen_random_uuid(), app_code, payment_kind, gen_random_uuid(), type,
         callback_url, endpoint, body, 1000 + n, created_at - n * interval '1 minute'
       FROM events, generate_series(1, CAST(:count AS integer)) AS n
       WHERE merchant_id = :merchant_id AND id = :model`,
      bindings,
    );
    await store.rows(
      `INSERT INTO webhook_deliveries (merchant_id, event_id, endpoint, created_at, status, attempts)
       SELECT merchant_id, id, endpoint, created_at,
         (CAST(:statuses AS text[]))[1 + sequence % cardinality(CAST(:statuses AS text[]))], 1 FROM events
       WHERE merchant_id = :merchant_id AND id <> :model`,
      bindings,
    );
  }

  const plansFor = (filter: OwnDeliveryFilter) =>
    plansOf(store.database, () =>
      listOwnDeliveries(store.database, merchant.merchant_id, filter, FIRST),
    );

  const CASES: [what: string, filter: OwnDeliveryFilter, index: string][] = [
    ['the newest', {}, LISTED],
    ['the delivered ones', { status: 'delivered' }, LISTED],
    ['the exhausted ones', { status: 'exhausted' }, LISTED],
    ['the stopped ones', { status: 'stopped' }, LISTED],
    ['the pending ones', { status: 'pending' }, LISTED],
    ['those of a day', { created_from: '2026-01-01', created_to: '2026-01-02' }, LISTED],
    ['those of an endpoint', { endpoint: 'http://shop.example' }, LISTED],
    ['those of a kind', { kind: 'collection' }, LISTED],
    ['those that failed', { event: 'transaction.failed' }, LISTED],
    ['those of a reference', { ref_no: 'some' }, 'webhook_deliveries_pkey'],
    ['those of a payment', { payment_id: crypto.randomUUID() }, 'webhook_deliveries_pkey'],
  ];

  for (const [what, filter, index] of CASES) {
    it(`finds ${what} by an index`, async () => {
      const plans = await plansFor(filter);
      const page = plans.at(-1)!;
      expect(page).to.include(index).and.not.match(SCANNED);
      if (index === LISTED) expect(page, 'it is in the order of the index').to.not.match(SORTED);
      expect(plans[0], 'the count').to.include('Limit');
    });
  }

  it('reads the feed by the numbers', async () => {
    const plans = await plansOf(store.database, () =>
      readFeed(store.database, merchant.merchant_id, { after: 5, limit: 20 }),
    );
    expect(plans).to.have.length(2);
    for (const plan of plans) {
      expect(plan).to.include('events_merchant_id_sequence_key').and.not.match(SCANNED);
    }
  });

  it('recovers without reading what was delivered', async () => {
    const recovery = { merchant_id: merchant.merchant_id, since: new Date('2020-01-01') };
    const [count] = await plansOf(store.database, () =>
      countRecoverable(store.database, recovery, 10_000),
    );
    const [move] = await plansOf(store.database, () =>
      store.transaction((trx) => recoverDeliveries(trx, recovery, { limit: 0 })),
    );
    for (const plan of [count, move]) {
      expect(plan)
        .to.match(/webhook_deliveries_(listed|undelivered)/)
        .and.not.match(SCANNED);
    }
  });

  it('counts what waits for an endpoint by an index', async () => {
    // Many wait for another endpoint, or any index of what waits would do as well.
    await store.rows(
      `UPDATE webhook_deliveries SET status = 'pending', next_step = 'deliver',
         next_step_at = now() + interval '1 hour'
       WHERE merchant_id <> :merchant_id AND status = 'stopped'`,
      merchant,
    );
    await store.owner.raw('VACUUM ANALYZE webhook_deliveries');
    const plans = await plansOf(store.database, () =>
      listOwnEndpoints(store.database, merchant.merchant_id, { page: 1, pageSize: 20 }),
    );
    expect(plans.at(-1)).to.include('webhook_deliveries_waiting');
  });
});
