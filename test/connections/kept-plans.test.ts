import { expect } from 'chai';
import {
  type Database,
  FEW_ROWS,
  firstRow,
  inTransaction,
  openDatabase,
  rows,
} from '../../src/connections/database.ts';
import { renewStatements, statementOf } from '../../src/connections/statement.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { type AddedRows, dispatchOutbox } from '../../src/jobs/dispatch-outbox.ts';
import { sweep } from '../../src/jobs/sweeper.ts';
import { loadConfig } from '../../src/service/service.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { newEvent } from '../support/events.ts';
import { createTestMerchant } from '../support/test-merchant.ts';

const READ = 'SELECT * FROM stock WHERE id = :id';
const NO_QUEUES = {
  add: async () => {},
  countWaiting: async () => 0,
  close: async () => {},
};
const KEPT = 'SELECT count(*) AS count FROM pg_prepared_statements WHERE statement LIKE :like';

describe('Plans of statements', () => {
  let testDatabase: TestDatabase;
  /** Of one connection, which keeps the plans. */
  let database: Database;

  beforeEach(async () => {
    // Other tests of this process may have filled the room for names.
    renewStatements(statementOf(READ));
    testDatabase = await createTestDatabase();
    await rows(testDatabase.owner, 'CREATE TABLE stock (id integer PRIMARY KEY)');
    await rows(testDatabase.owner, 'INSERT INTO stock VALUES (1)');
    database = openDatabase(testDatabase.ownerUrl, 1);
  });

  afterEach(async () => {
    await database.destroy();
    await testDatabase.drop();
  });

  const config = loadConfig({ DATABASE_URL: 'postgres://unused/unused' });

  async function keptPlans(like = 'SELECT * FROM stock%'): Promise<number> {
    return (await firstRow<{ count: number }>(database, KEPT, { like }))!.count;
  }

  it('are kept once for a text, whatever its values', async () => {
    for (const id of [1, 2, 3]) await rows(database, READ, { id });
    expect(await keptPlans()).to.equal(1);
  });

  it('are not kept behind a pooler by transaction, unless it knows them', async () => {
    const address = { databaseUrl: testDatabase.ownerUrl, databasePooling: 'transaction' } as const;
    for (const databasePoolerPrepares of [false, true]) {
      await database.destroy();
      database = openDatabase({ ...address, databasePoolerPrepares }, 1);
      await rows(database, READ, { id: 1 });
      expect(await keptPlans()).to.equal(databasePoolerPrepares ? 1 : 0);
    }
  });

  describe('for batches of rows that come and go', () => {
    const BATCHES = {
      outbox: '%UPDATE outbox%',
      numbering: '%UPDATE events%',
      admission: '%UPDATE webhook_deliveries%',
    };
    let added: AddedRows;

    beforeEach(() => {
      added = [];
    });

    async function runBatches(events: number) {
      const merchant = await createTestMerchant({ ...testDatabase, config });
      for (let count = 0; count < events; count += 1) {
        await newEvent(testDatabase.database, merchant);
      }
      expect(await prepareDeliveries(database, 1)).to.equal(events + 1);
      await dispatchOutbox(database, NO_QUEUES, new Map(), added);
    }

    async function keptBatches(): Promise<number[]> {
      const kept: number[] = [];
      for (const like of Object.values(BATCHES)) kept.push(await keptPlans(like));
      return kept;
    }

    it('are made anew while there are many', async () => {
      added = Array.from({ length: FEW_ROWS }, (_, index) => -index);
      await runBatches(FEW_ROWS + 1);
      await sweep(database, 0);
      expect(await keptBatches()).to.deep.equal([0, 0, 0]);
      expect(await keptPlans('%step_swept_at = now()%'), 'the sweeper').to.equal(0);
    });

    it('are kept while there are few', async () => {
      await runBatches(1);
      expect(await keptBatches()).to.deep.equal([1, 1, 1]);
    });
  });

  describe('that a migration has made stale', () => {
    const CONNECTIONS = 10;

    /** Every connection keeps the plan of the statement before the migration. */
    beforeEach(async () => {
      await database.destroy();
      database = openDatabase(testDatabase.ownerUrl, CONNECTIONS);
      await atOnce(() => rows(database, `${READ} AND pg_sleep(0.2) IS NOT NULL`, { id: 1 }));
      await rows(testDatabase.owner, 'ALTER TABLE stock ADD COLUMN shelf text');
    });

    const atOnce = <Result>(work: () => Promise<Result>) =>
      Promise.all(Array.from({ length: CONNECTIONS }, work));
    const read = (from: Database) => rows(from, `${READ} AND pg_sleep(0.2) IS NOT NULL`, { id: 1 });
    const FOUND = [{ id: 1, shelf: null }];

    it('are made anew, whichever connections are used', async () => {
      for (const found of await atOnce(() => read(database))) expect(found).to.deep.equal(FOUND);
    });

    it('are made anew for a transaction, which is repeated as a whole', async () => {
      let id = 1;
      const found = await atOnce(() => {
        id += 1;
        const own = id;
        return inTransaction(database, async (trx) => {
          await rows(trx, 'INSERT INTO stock VALUES (:own)', { own });
          return read(trx);
        });
      });
      for (const each of found) expect(each).to.deep.equal(FOUND);
      const [counted] = await rows(database, 'SELECT count(*) AS count FROM stock');
      expect(counted).to.deep.equal({ count: 1 + CONNECTIONS });
    });
  });

  it('are not used by a transaction that has ended', async () => {
    const trx = await database.transaction();
    await trx.rollback();
    const late = await rows(trx, READ, { id: 1 }).catch((error) => error);
    expect(late.message).to.match(/^The transaction has ended before/);
  });
});
