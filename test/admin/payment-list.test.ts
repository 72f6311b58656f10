import { expect } from 'chai';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';
import { rewrite } from '../support/database.ts';
import { hear } from '../support/discrepancies/scene.ts';
import { newPayout, newReversal } from '../support/payment-kinds.ts';
import { newCollection, newReturn, PAYER, succeeded } from '../support/payments.ts';
import { FAILURE } from '../support/settle-stories.ts';
import { createTestApp, createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const NOBODY = '0199f0c0-5a3e-7cc1-8f0e-3d5b0a1c2d3e';

describe('admin payment list', () => {
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

  const ofMerchant = () => `--merchant ${merchant.merchant_id}`;
  const list = async (options: string) => {
    const { payments } = await admin.json(`payment list ${options}`);
    return (payments as Document[]).map(({ id }) => id);
  };
  const ids = (...payments: AnyPayment[]) => payments.map(({ id }) => id);
  /** Lets a payment be one that was created then. */
  const createAt = (payment: AnyPayment, at: string) =>
    rewrite(admin.database, `UPDATE ${payment.kind}s SET created_at = :at WHERE id = :id`, {
      at,
      id: payment.id,
    });

  it('finds every kind of payment by its phone, newest first', async () => {
    const reversal = await newReversal(admin.database, merchant);
    const payment = await newReturn(admin.database, merchant);
    const payout = await newPayout(admin.database, merchant);
    await newCollection(admin.database, merchant, { payfrom: '+254722000001' });
    const all = await list(`--phone 0712345678 ${ofMerchant()}`);
    expect(all).to.have.length(5);
    expect(all[0]).to.equal(payout.id);
    for (const one of [reversal, payment, payout]) {
      expect(await list(`--phone ${PAYER} ${ofMerchant()} --kind ${one.kind}`)).to.deep.equal([
        one.id,
      ]);
    }
    expect(await list(`--phone 0722000001 ${ofMerchant()} --kind payout`)).to.deep.equal([]);
    expect(await list(`--phone 0733000009`)).to.deep.equal([]);
  });

  it('goes over all merchants, and on from page to page without a gap', async () => {
    const phone = '+254722000002';
    const other = await newMerchant();
    const made = [];
    for (const owner of [merchant, other, merchant, other, merchant]) {
      made.push(await newCollection(admin.database, owner, { payfrom: phone }));
    }
    // Of one moment, so that the id decides.
    for (const one of made.slice(1, 4)) await createAt(one, '2026-11-20T10:00:00.123456Z');
    for (const one of made.slice(0, 1)) await createAt(one, '2026-11-19T10:00:00Z');
    const newestFirst = ids(...made.reverse());
    expect(await list(`--phone ${phone}`)).to.deep.equal(newestFirst);
    const walked = [];
    let after = '';
    do {
      const page = await admin.json(`payment list --phone ${phone} --limit 2 ${after}`);
      walked.push(...(page.payments as Document[]).map(({ id }) => id));
      after = page.next ? `--after ${page.next}` : '';
    } while (after);
    expect(walked).to.deep.equal(newestFirst);
    await admin.refused([
      [`payment list --phone ${phone} --after ${NOBODY}`, `There is no payment ${NOBODY}`],
    ]);
  });

  it('finds by state, as it is stored', async () => {
    const scene = { database: admin.database, merchant };
    const pending = await newCollection(admin.database, merchant);
    const completed = await newCollection(admin.database, merchant);
    await hear(scene, completed, succeeded());
    const failed = await newPayout(admin.database, merchant);
    await hear(scene, failed, FAILURE);
    const inState = (states: string) => list(`--state ${states} ${ofMerchant()}`);
    expect(await inState('pending')).to.deep.equal(ids(pending));
    expect(await inState('completed')).to.deep.equal(ids(completed));
    expect(await inState('failed')).to.deep.equal(ids(failed));
    expect(await inState('processing')).to.deep.equal([]);
    expect(await inState('failed,pending')).to.deep.equal(ids(failed, pending));
    expect(await inState('failed,pending --limit 1')).to.deep.equal(ids(failed));
    expect(await inState(`failed,pending --after ${failed.id}`)).to.deep.equal(ids(pending));
    expect(await list(`--state completed --phone 0712345678 ${ofMerchant()}`)).to.deep.equal(
      ids(completed),
    );
  });

  it('finds by days of Nairobi, and by moments', async () => {
    const [late, midnight, evening] = [
      await newCollection(admin.database, merchant),
      await newCollection(admin.database, merchant),
      await newCollection(admin.database, merchant),
    ];
    await createAt(evening, '2026-11-20T20:59:59.999999Z');
    await createAt(midnight, '2026-11-20T21:00:00Z');
    await createAt(late, '2026-11-21T20:59:59.999999Z');
    const of = (period: string) => list(`${ofMerchant()} ${period}`);
    expect(await of('--since 2026-11-20 --until 2026-11-20')).to.deep.equal(ids(evening));
    expect(await of('--since 2026-11-21 --until 2026-11-21')).to.deep.equal(ids(late, midnight));
    expect(await of('--since 2026-11-21')).to.deep.equal(ids(late, midnight));
    expect(await of('--until 2026-11-20')).to.deep.equal(ids(evening));
    expect(await of('--since 2026-11-22')).to.deep.equal([]);
    expect(await of('--since 2026-11-21T00:00:00+03:00 --until 2026-11-21T12:00Z')).to.deep.equal(
      ids(midnight),
    );
  });

  it('finds by app, channel and amount in a period, or for a phone', async () => {
    const { app_code } = await createTestApp(
      { database: admin.database, config },
      merchant.merchant_id,
    );
    const first = await newCollection(admin.database, merchant);
    const second = await newCollection(admin.database, { ...merchant, app_code });
    const airtel = await newPayout(admin.database, merchant, {
      channel: 63903,
      amount_cents: 150_050,
    });
    const returned = await newReturn(admin.database, merchant);
    const today = `--since ${new Date(Date.now() + 3 * 3_600_000).toISOString().slice(0, 10)}`;
    const of = (options: string) => list(`${ofMerchant()} ${today} ${options}`);
    expect(await of(`--app ${app_code}`)).to.deep.equal(ids(second));
    expect(await list(`--phone 0712345678 --app ${app_code}`)).to.deep.equal(ids(second));
    expect(await list(`${today} --app ${app_code}`)).to.deep.equal(ids(second));
    expect(await of(`--app ${app_code} --kind return`)).to.deep.equal([]);
    expect(await of('--app 999999')).to.deep.equal([]);
    for (const name of ['63903', 'airtel-money', 'AirtelMoney']) {
      expect(await of(`--channel ${name}`), name).to.deep.equal(ids(airtel));
    }
    expect(await of('--amount 1500.50')).to.deep.equal(ids(airtel));
    expect(await of('--min 1500.50 --kind payout')).to.deep.equal(ids(airtel));
    expect(await of('--min 101')).to.deep.equal(ids(airtel));
    const hundreds = await of('--max 100');
    expect(hundreds)
      .to.include.members(ids(first, second, returned))
      .and.not.include(airtel.id);
    expect(await of('--min 100 --max 100')).to.deep.equal(hundreds);
    expect(await of('--amount 100 --channel 63902 --state pending')).to.include(first.id);
  });

  it('takes a merchant alone for a search, and nothing for what needs support', async () => {
    const collection = await newCollection(admin.database, merchant);
    expect(await list(ofMerchant())).to.deep.equal(ids(collection));
    expect(await list('--limit 500')).to.not.include(collection.id);
    expect(await list(`${ofMerchant()} --parked`)).to.deep.equal([]);
  });
});
