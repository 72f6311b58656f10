import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester } from '../support/admin.ts';
import { rewrite } from '../support/database.ts';
import { deliveriesOf, newEvent } from '../support/events.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const SHOP = 'https://shop.example';
const MOST = 10_000;

describe('admin webhooks recover', () => {
  let admin: AdminTester;
  let merchant: TestMerchant;
  const config = loadConfig({ DATABASE_URL: 'postgres://unused' });

  before(async () => {
    admin = await createAdminTester();
  });

  after(() => admin.close());

  beforeEach(async () => {
    merchant = await createTestMerchant({ database: admin.database, config });
  });

  /** Webhooks that were given up. */
  async function exhaust(count: number, endpoint = SHOP): Promise<void> {
    for (let n = 0; n < count; n += 1) await newEvent(admin.database, merchant, `${endpoint}/hook`);
    await prepareDeliveries(admin.database, 0);
    await rows(
      admin.database,
      `UPDATE webhook_deliveries SET status = 'exhausted', attempts = 12, next_step = NULL,
         next_step_at = NULL
       WHERE merchant_id = :merchant_id AND endpoint = :endpoint`,
      { merchant_id: merchant.merchant_id, endpoint },
    );
  }

  const deliveries = () => deliveriesOf(admin.database, merchant.merchant_id);
  const pending = async () => (await deliveries()).filter(({ status }) => status === 'pending');
  const recovery = (options = '') =>
    `webhooks recover --merchant ${merchant.merchant_id} --since 2026-01-01 ${options}`;

  /** The second in which each becomes due, after the first of them. */
  async function seconds(): Promise<number[]> {
    const times = (await pending()).map(({ next_step_at }) => next_step_at!.getTime());
    return times.map((time) => (time - times[0]!) / 1_000);
  }

  it('sends again what has not reached the merchant, and is in the audit log', async () => {
    await exhaust(2);
    await exhaust(1, 'https://other.example');
    const endpoint = `--endpoint ${SHOP.toUpperCase()}/`;
    expect(await admin.changeJson(recovery(endpoint))).to.deep.equal({
      ...{ dry_run: false, count: 2, left: 0, probed: 0 },
    });
    expect(await pending()).to.have.length(2);
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'webhooks.recover',
      merchant_id: merchant.merchant_id,
      subject: `webhooks of merchant ${merchant.merchant_id}`,
      details: {
        ...{ since: '2025-12-31T21:00:00.000Z', until: null, endpoint: SHOP, rate: null },
        ...{ count: 2, left: 0, probed: 0 },
      },
    });
    expect(await admin.change(recovery())).to.equal('Webhooks sent again: 1\n');
    const audits = (await admin.audits()).length;
    expect(await admin.change(recovery())).to.equal(
      'Webhooks sent again: 0; nothing was changed\n',
    );
    expect(await admin.audits()).to.have.length(audits);
  });

  it('only counts in a dry run', async () => {
    await exhaust(2);
    const before = await deliveries();
    const audits = (await admin.audits()).length;
    expect(await admin.changeJson(recovery('--dry-run --rate 1'))).to.deep.equal({
      ...{ dry_run: true, count: 2, left: 0, probed: 0 },
    });
    expect(await admin.change(recovery('--dry-run'))).to.equal(
      'Webhooks that would be sent again: 2; nothing was changed\n',
    );
    expect(await deliveries()).to.deep.equal(before);
    expect(await admin.audits()).to.have.length(audits);
  });

  it('spreads them over the seconds, oldest first, and does not move them again', async () => {
    await exhaust(5);
    expect(await admin.changeJson(recovery('--rate 2'))).to.include({ count: 5, left: 0 });
    expect(await seconds()).to.deep.equal([0, 0, 1, 1, 2]);
    const before = await deliveries();
    expect(await admin.changeJson(recovery('--rate 2'))).to.include({ count: 0, left: 0 });
    expect(await deliveries()).to.deep.equal(before);
  });

  it('sends so many in a run at most, and says how many are left', async () => {
    await exhaust(1);
    await rewrite(
      admin.database,
      `WITH added AS (
         INSERT INTO events (merchant_id, id, app_code, payment_kind, payment_id, type,
           callback_url, endpoint, body, sequence)
         SELECT merchant_id, gen_random_uuid(), app_code, payment_kind, gen_random_uuid(), type,
           callback_url, endpoint, body, 1000000 + n
         FROM events, generate_series(1, :more) AS n WHERE merchant_id = :merchant_id
         RETURNING merchant_id, id, endpoint, created_at
       )
       INSERT INTO webhook_deliveries
         (merchant_id, event_id, endpoint, status, attempts, created_at)
       SELECT merchant_id, id, endpoint, 'exhausted', 12, created_at FROM added`,
      { merchant_id: merchant.merchant_id, more: MOST + 1 },
    );
    expect(await admin.change(recovery('--dry-run'))).to.equal(
      `Webhooks that would be sent again: ${MOST}; nothing was changed\nLeft for another run: 2\n`,
    );
    const rate = '--rate 100';
    expect(await admin.changeJson(recovery(rate))).to.include({ count: MOST, left: 2 });
    expect(await admin.changeJson(recovery(rate))).to.include({ count: 2, left: 0 });
    expect(await pending()).to.have.length(MOST + 2);
  });

  it('sends each once when two operators ask for it at the same time', async () => {
    await exhaust(6);
    const runs = await Promise.all([1, 2, 3].map(() => admin.changeJson(recovery('--rate 3'))));
    expect(runs.reduce((sum, { count }) => sum + Number(count), 0)).to.equal(6);
  });

  it('changes nothing of a merchant that is not there', async () => {
    await admin.refused([
      ['webhooks recover --merchant 999999 --since 2026-01-01', 'There is no merchant 999999'],
      [
        'webhooks recover --merchant 999999 --since 2026-01-01 --dry-run',
        'There is no merchant 999999',
      ],
    ]);
  });
});
