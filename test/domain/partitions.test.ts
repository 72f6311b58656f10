import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('The partitions of a month', () => {
  let testDatabase: TestDatabase;

  before(async () => {
    testDatabase = await createTestDatabase();
  });

  after(() => testDatabase.drop());

  const make = (months: number) =>
    rows(
      testDatabase.database,
      `SELECT make_month_partitions('payment_history', 'happened_at', :months)`,
      { months },
    );

  const tableOf = (merchant_id: number) =>
    rows<{ table: string }>(
      testDatabase.database,
      'SELECT tableoid::regclass::text AS "table" FROM payment_history WHERE merchant_id = :id',
      { id: merchant_id },
    );

  const insert = (merchant_id: number, months: number) =>
    rows(
      testDatabase.owner,
      `INSERT INTO payment_history
         (merchant_id, payment_kind, payment_id, to_status, cause, happened_at)
       VALUES (:id, 'collection', gen_random_uuid(), 'pending', 'test',
         now() + make_interval(months => :months))`,
      { id: merchant_id, months },
    );

  it('are made ahead, and making them again changes nothing', async () => {
    await make(3);
    await make(3);
    await insert(1, 3);
    const [row] = await tableOf(1);
    expect(row!.table).to.match(/^payment_history_\d{4}_\d{2}$/);
  });

  it('take over what came before they were there', async () => {
    await insert(2, 7);
    expect(await tableOf(2)).to.deep.equal([{ table: 'payment_history_default' }]);
    await make(7);
    const [row] = await tableOf(2);
    expect(row!.table).to.match(/^payment_history_\d{4}_\d{2}$/);
  });
});
