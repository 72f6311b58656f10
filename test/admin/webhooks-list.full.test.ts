import { expect } from 'chai';
import winston from 'winston';
import { firstRow, rows } from '../../src/connections/database.ts';
import {
  findDelivery,
  RETRY_DELAYS_MS,
  recordAttempt,
} from '../../src/domain/webhooks/delivery.ts';
import { listDeliveries } from '../../src/domain/webhooks/list-deliveries.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { createService, loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester, type Document, runHere } from '../support/admin.ts';
import { rewrite } from '../support/database.ts';
import { makeEndpoint } from '../support/endpoints.ts';
import { deliveryOf, makeDue, newEvent, outcomeOf } from '../support/events.ts';
import { plansOf } from '../support/plans.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const CAP = 100;
const SHOP = 'https://user-hooks.shop.example:8443/hook?key=hush';
const ATTEMPTS = RETRY_DELAYS_MS.length + 1;

describe('admin webhooks list', () => {
  let admin: AdminTester;
  let merchant: TestMerchant;
  const config = loadConfig({ DATABASE_URL: 'postgres://unused' });

  before(async () => {
    admin = await createAdminTester();
  });

  after(() => admin.close());

  const newMerchant = () => createTestMerchant({ database: admin.database, config });

  beforeEach(async () => {
    merchant = await newMerchant();
  });

  interface Answer {
    status: number | null;
    error?: string | null;
  }

  async function attempt(id: string, { status, error = null }: Answer) {
    await makeEndpoint(admin.database, merchant.merchant_id, new URL(SHOP).origin);
    await makeDue(admin.database, id);
    await prepareDeliveries(admin.database, CAP);
    const { step_no } = await deliveryOf(admin.database, id);
    const ref = { merchant_id: merchant.merchant_id, event_id: id, step_no };
    const delivery = await findDelivery(admin.database, ref);
    await recordAttempt(admin.database, delivery!, outcomeOf({ status, error }));
  }

  async function deliver(times: number, answer: Answer): Promise<string> {
    const id = await newEvent(admin.database, merchant, SHOP);
    await prepareDeliveries(admin.database, 0);
    for (let made = 0; made < times; made += 1) await attempt(id, answer);
    return id;
  }

  const exhaust = (answer: Answer = { status: 503 }) => deliver(ATTEMPTS, answer);
  const list = async (options = '') =>
    (await admin.json(`webhooks list --merchant ${merchant.merchant_id} ${options}`))
      .webhooks as Document[];
  const idsOf = (found: Document[]) => found.map(({ id }) => id);

  it('shows what support needs to know of each webhook that was given up', async () => {
    const refused = await exhaust({ status: 503 });
    const silent = await exhaust({ status: null, error: 'connect ECONNREFUSED' });
    const [first, second, ...others] = await list();
    expect(others).to.deep.equal([]);
    const [payment] = await rows<{ ref_no: string; id: string }>(
      admin.database,
      `SELECT c.ref_no, c.id FROM collections c JOIN events e ON e.payment_id = c.id
       WHERE e.id = :refused`,
      { refused },
    );
    const { last_attempt_at, created_at, ...rest } = first!;
    expect(rest).to.deep.equal({
      id: refused,
      merchant_id: merchant.merchant_id,
      payment_kind: 'collection',
      payment_id: payment!.id,
      ref_no: payment!.ref_no,
      type: 'transaction.completed',
      host: 'user-hooks.shop.example:8443',
      status: 'exhausted',
      attempts: ATTEMPTS,
      delivered_at: null,
      last_status: 503,
      last_error: null,
      next_attempt_at: null,
      parked_reason: null,
    });
    for (const time of [last_attempt_at, created_at]) expect(time).to.match(/^\d{4}-.*Z$/);
    expect(second).to.include({
      id: silent,
      last_status: null,
      last_error: 'connect ECONNREFUSED',
    });
    const text = await admin.text(`webhooks list --merchant ${merchant.merchant_id}`);
    expect(text)
      .to.match(
        /^WEBHOOK-ID +MERCHANT +PAYMENT +TYPE +HOST +STATUS +ATTEMPTS +DELIVERED +LAST ANSWER +LAST/m,
      )
      .and.match(new RegExp(`^${refused} .* collection ${payment!.ref_no} .* 503 +\\d{4}-`, 'm'))
      .and.match(/ connect ECONNREFUSED +\d{4}-/)
      .and.match(/\(2 webhooks\)\n$/)
      .and.not.include('hush');
  });

  it('lists those that the receiver stopped, and those that are still tried, when asked to', async () => {
    const stopped = await deliver(1, { status: 410 });
    const tried = await deliver(2, { status: 500 });
    const fresh = await deliver(0, { status: null });
    await deliver(1, { status: 200 });
    const exhausted = await exhaust();
    expect(idsOf(await list())).to.deep.equal([exhausted]);
    expect(idsOf(await list('--status exhausted'))).to.deep.equal([exhausted]);
    expect(idsOf(await list('--status stopped'))).to.deep.equal([stopped]);
    const pending = await list('--status pending');
    expect(idsOf(pending)).to.deep.equal([tried, fresh]);
    expect(pending[0]).to.include({ attempts: 2, last_status: 500 });
    expect(pending[0]!.next_attempt_at).to.match(/^\d{4}-.*Z$/);
    expect(pending[1]).to.include({ attempts: 0, last_status: null, last_attempt_at: null });
  });

  it('lists those whose events came in a period', async () => {
    const ids = [await exhaust(), await exhaust(), await exhaust()];
    for (const [day, id] of ids.entries()) {
      await rewrite(
        admin.database,
        `UPDATE events SET created_at = CAST('2026-03-01T12:00:00+03:00' AS timestamptz)
           + :day * interval '1 day' WHERE id = :id`,
        { day, id },
      );
    }
    const found = async (period: string) => idsOf(await list(period));
    expect(await found('--since 2026-03-02')).to.deep.equal(ids.slice(1));
    expect(await found('--until 2026-03-02')).to.deep.equal(ids.slice(0, 2));
    expect(await found('--since 2026-03-02 --until 2026-03-02')).to.deep.equal([ids[1]]);
    expect(await found('--since 2026-03-02T12:00:00+03:00')).to.deep.equal(ids.slice(1));
    expect(await found('--until 2026-03-02T12:00:00+03:00')).to.deep.equal(ids.slice(0, 1));
    expect(await found(`--since 2026-03-01 --limit 1 --after ${ids[0]}`)).to.deep.equal([ids[1]]);
    const ofPayer = '--payment 0712345678 --since 2026-03-03';
    expect(await found(ofPayer)).to.deep.equal(ids.slice(2));
  });

  it('shows a pending one that is parked, with the reason', async () => {
    const id = await deliver(0, { status: null });
    await rows(
      admin.database,
      `UPDATE webhook_deliveries SET next_step = NULL, next_step_at = NULL,
         parked_reason = 'job failed: bug' WHERE event_id = :id`,
      { id },
    );
    expect((await list('--status pending'))[0]).to.include({
      id,
      parked_reason: 'job failed: bug',
    });
  });

  it('goes from page to page, oldest first, and shows no other merchant', async () => {
    const ids = [await exhaust(), await exhaust(), await exhaust()];
    merchant = await newMerchant();
    const other = await exhaust();
    expect(idsOf(await list())).to.deep.equal([other]);
    const all = idsOf((await admin.json('webhooks list --limit 500')).webhooks as Document[]);
    expect(all).to.include.members([...ids, other]);
    const page = await admin.json(`webhooks list --limit 2 --after ${ids[0]}`);
    expect(idsOf(page.webhooks as Document[])).to.deep.equal([ids[1], ids[2]]);
    expect(page.next).to.equal(ids[2]);
  });

  it('reads only those that are listed, however many were delivered', async () => {
    await exhaust();
    await deliver(1, { status: 500 });
    const model = await deliver(1, { status: 200 });
    const bindings = { merchant_id: merchant.merchant_id, model };
    await rewrite(
      admin.database,
      `INSERT INTO events (merchant_id, id, app_code, payment_kind, payment_id, type, callback_url,
         endpoint, body, sequence)
       SELECT merchant_id, gen_random_uuid(), app_code, payment_kind, gen_random_uuid(), type,
         callback_url, endpoint, body, 1000000 + n
       FROM events, generate_series(1, 5000) AS n WHERE merchant_id = :merchant_id AND id = :model`,
      bindings,
    );
    await rows(
      admin.database,
      `INSERT INTO webhook_deliveries (merchant_id, event_id, endpoint, created_at, attempts, status,
         next_step, next_step_at)
       SELECT merchant_id, id, endpoint, created_at, 1,
         CASE WHEN waits THEN 'pending' ELSE 'delivered' END, CASE WHEN waits THEN 'deliver' END,
         CASE WHEN waits THEN now() END
       FROM events e, LATERAL (SELECT sequence > 1004000 AS waits) AS w
       WHERE sequence > 1000000 AND merchant_id = :merchant_id`,
      bindings,
    );
    await admin.owner.raw('VACUUM ANALYZE webhook_deliveries, events');
    for (const status of ['exhausted', 'stopped', 'pending'] as const) {
      const [plan] = await plansOf(admin.database, () =>
        listDeliveries(admin.database, { status, limit: 50 }),
      );
      expect(plan, status).to.match(
        status === 'pending'
          ? /webhook_deliveries_(due|admitted|parked|waiting)/
          : /Scan using webhook_deliveries_undelivered on/,
      );
      expect(plan, status).to.not.include('Seq Scan on webhook_deliveries');
    }
    const { origin: endpoint } = new URL(SHOP);
    const waiting = { merchant_id: merchant.merchant_id, endpoint, status: 'pending' } as const;
    const [ofEndpoint] = await plansOf(admin.database, () =>
      listDeliveries(admin.database, { ...waiting, limit: 50 }),
    );
    expect(ofEndpoint, 'of an endpoint')
      .to.match(/webhook_deliveries_(due|admitted|parked|waiting)/)
      .and.not.include('webhook_deliveries_pkey');
    const payment = await firstRow<{ id: string }>(
      admin.database,
      'SELECT payment_id AS id FROM events WHERE merchant_id = :merchant_id AND id = :model',
      bindings,
    );
    const { merchant_id } = merchant;
    const payments = [{ kind: 'collection', merchant_id, ...payment! } as const];
    const [plan] = await plansOf(admin.database, () =>
      listDeliveries(admin.database, { payments, limit: 50 }),
    );
    expect(plan, 'of a payment')
      .to.match(/Scan using events_merchant_id_payment_kind_payment_id_change_no_key on/)
      .and.match(/Scan using webhook_deliveries_pkey on/)
      .and.not.include('Seq Scan on webhook_deliveries');
  });

  it('is named by queues status, with the number of those that were given up', async () => {
    const { text } = await statusOf();
    const before = Number(/^Webhooks that were given up: (\d+)/m.exec(text)![1]);
    await exhaust();
    const after = await statusOf();
    expect(after.text).to.include(`Webhooks that were given up: ${before + 1}; webhooks list`);
    expect(after.data.webhooks_exhausted).to.equal(before + 1);
  });

  async function statusOf() {
    const own = loadConfig({ DATABASE_URL: admin.url });
    const logger = winston.createLogger({ silent: true });
    const { data, lines } = await runHere(
      createService(own, logger, admin.database),
      'queues status',
    );
    return { data, text: lines.join('\n') };
  }
});
