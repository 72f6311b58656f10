import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import {
  collectionTable,
  INNER_COLUMNS,
  payoutTable,
  returnTable,
  reversalTable,
} from '../../src/records/payments.ts';
import type { PaymentTable } from '../../src/records/record.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const TABLES = {
  collections: columnsOf(collectionTable),
  payouts: columnsOf(payoutTable),
  reversals: columnsOf(reversalTable),
  returns: columnsOf(returnTable),
};

/** The columns that some answer or page shows, or that are left out by name. */
function columnsOf<Row>(table: PaymentTable<Row>): Set<string> {
  const fields = table.flatMap((group) => Object.values(group.fields));
  return new Set([...INNER_COLUMNS, ...fields.flatMap(({ columns }) => columns)]);
}

describe('The table of fields of', () => {
  let scene: TestDatabase;

  before(async () => {
    scene = await createTestDatabase();
  });

  after(() => scene.drop());

  for (const [table, named] of Object.entries(TABLES)) {
    it(`${table} shows each column of the database, or leaves it out by name`, async () => {
      const stored = await rows<{ column_name: string }>(
        scene.owner,
        `SELECT column_name FROM information_schema.columns
         WHERE table_schema = 'public' AND table_name = :table`,
        { table },
      );
      const names = stored.map(({ column_name }) => column_name);
      expect(names.filter((name) => !named.has(name))).to.deep.equal([]);
      expect([...named].filter((name) => !names.includes(name))).to.deep.equal([]);
    });
  }
});
