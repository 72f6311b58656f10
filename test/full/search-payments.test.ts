import { expect } from 'chai';
import { openDatabase, rows } from '../../src/connections/database.ts';
import type { PaymentFilter } from '../../src/domain/support/find-payments.ts';
import { searchPayments } from '../../src/domain/support/list-for-support.ts';
import { newPayment, PAYMENT_KINDS } from '../support/payment-kinds.ts';
import { createTestStore, PAYER, type TestStore } from '../support/payments.ts';
import { plansOf } from '../support/plans.ts';
import type { TestMerchant } from '../support/test-merchant.ts';

const PER_MERCHANT = 4_000;
const PHONES = 2_000;
const LIMIT = 51;

/** The column of the phone. */
const TABLES = { collections: 'payfrom', payouts: 'payto' };

describe('A search for payments among many', () => {
  let store: TestStore;
  let merchant: TestMerchant;

  before(async () => {
    store = await createTestStore();
    const merchants = [];
    for (let n = 0; n < 3; n += 1) merchants.push(await store.newMerchant());
    [merchant] = merchants as [TestMerchant];
    for (const owner of merchants) {
      for (const kind of PAYMENT_KINDS) await newPayment(kind, store.database, owner);
    }
    for (const table of ['collections', 'payouts'] as const) {
      for (const { merchant_id } of merchants) await multiply(table, merchant_id);
    }
    await rows(store.owner, 'ANALYZE');
  });

  after(() => store.drop());

  /** Makes payments like the newest one of a merchant, of many phones, one an hour. */
  async function multiply(table: 'collections' | 'payouts', merchant_id: number) {
    await rows(
      store.database,
      `INSERT INTO ${table} SELECT (json_populate_record(t, json_build_object(
         'id', gen_random_uuid(), 'reference', gen_random_uuid(), 'ref_no', 'many-' || n,
         '${TABLES[table]}', '+2547' || (10000000 + n % ${PHONES}),
         'created_at', t.created_at - n * interval '1 hour'))).*
       FROM ${table} t, generate_series(1, ${PER_MERCHANT}) AS n
       WHERE t.id = (SELECT id FROM ${table} WHERE merchant_id = :merchant_id AND status = 'pending'
         ORDER BY id DESC LIMIT 1)`,
      { merchant_id },
    );
  }

  const planOf = async (filter: PaymentFilter & { after?: string }) => {
    const plans = await plansOf(store.database, () =>
      searchPayments(store.database, { after: undefined, ...filter, limit: LIMIT }),
    );
    return plans.at(-1)!;
  };

  const since = new Date(Date.now() - 7 * 86_400_000);
  const day = { since, until: new Date(since.getTime() + 86_400_000) };

  const CASES: [what: string, filter: () => PaymentFilter, index: RegExp][] = [
    ['a phone', () => ({ phone: PAYER }), /collections_by_payfrom.*payouts_by_payto/s],
    [
      'a phone of one merchant, by state, channel and amount',
      () => ({
        ...{ phone: PAYER, merchant_id: merchant.merchant_id, statuses: ['failed'] },
        ...{ channel: 63902, min_cents: 1, max_cents: 9 },
      }),
      /collections_by_payfrom.*payouts_by_payto/s,
    ],
    ['a merchant', () => ({ merchant_id: merchant.merchant_id }), /collections_listed/],
    ['a kind', () => ({ kind: 'payout' }), /payouts_listed/],
    ['a rare state', () => ({ statuses: ['failed'] }), /collections_by_status/],
    // Both indexes begin with the newest.
    ['a common state', () => ({ statuses: ['pending'] }), /collections_(by_status|listed)/],
    ['several states', () => ({ statuses: ['failed', 'completed'] }), /payouts_by_status/],
    ['a day', () => day, /collections_(listed|by_status)/],
    ['an amount in a day', () => ({ ...day, min_cents: 77, max_cents: 77 }), /collections_listed/],
    [
      'a channel and a state since a day',
      () => ({ since, channel: 63903, statuses: ['failed'] }),
      /collections_by_status/,
    ],
    ['an app in a day', () => ({ ...day, app_code: merchant.app_code }), /payouts_listed/],
  ];

  for (const [what, filter, index] of CASES) {
    it(`reads no table for ${what}`, async () => {
      const plan = await planOf(filter());
      expect(plan).to.match(index);
      for (const table of ['collections', 'payouts']) {
        expect(plan).to.not.include(`Seq Scan on ${table}`);
      }
    });
  }

  it('reads no table either where the planner would, since nearly all is of one merchant', async () => {
    const few = await createTestStore();
    const database = openDatabase(few.url, 1);
    try {
      // So few rows that a planner reads the table.
      await newPayment('collection', database, await few.newMerchant());
      await rows(few.owner, 'ANALYZE');
      const scans = async () => {
        await rows(database, 'SELECT pg_stat_force_next_flush()');
        return rows(
          database,
          `SELECT relname, seq_scan FROM pg_stat_user_tables
           WHERE relname IN ('collections', 'payouts', 'reversals', 'returns') ORDER BY relname`,
        );
      };
      const before = await scans();
      const filter = { ...day, min_cents: 77, max_cents: 77, after: undefined, limit: LIMIT };
      expect(await searchPayments(database, filter)).to.deep.equal([]);
      expect(await scans()).to.deep.equal(before);
    } finally {
      await database.destroy();
      await few.drop();
    }
  });

  it('reads no table to go on after a payment', async () => {
    const [first] = await searchPayments(store.database, {
      kind: 'collection',
      after: undefined,
      limit: 1,
    });
    const plan = await planOf({ kind: 'collection', after: first!.id });
    expect(plan).to.match(/using collections_listed[^\n]*\n[^\n]*ROW\(created_at, id\) < ROW/);
  });
});
