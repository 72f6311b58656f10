import { Redis } from 'ioredis';
import { rows } from '../../src/connections/database.ts';
import { type BellLine, bellLineOf, type Listener } from '../../src/jobs/bell-line.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';

/** Cuts the connections of all listeners. */
const CUTS = {
  postgres: (database: TestDatabase) =>
    rows(
      database.database,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'malipo-bell' AND datname = current_database()`,
    ),
  redis: async () => {
    const redis = new Redis(environment.redisUrl!);
    await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    redis.disconnect();
  },
};

for (const store of ['postgres', 'redis'] as const) {
  describe(`The bell over ${store}`, () => {
    let testDatabase: TestDatabase;
    let lines: BellLine[];
    let listeners: Listener[];
    let heard: number[];

    before(function () {
      if (store === 'redis' && !environment.redisUrl) this.skip();
    });

    beforeEach(async () => {
      testDatabase = await createTestDatabase();
      const { url: databaseUrl, database } = testDatabase;
      const redisUrl = store === 'redis' ? environment.redisUrl : undefined;
      const open = () => bellLineOf({ config: { databaseUrl, redisUrl }, database });
      lines = [await open(), await open()];
      heard = [0, 0];
      listeners = lines.map((line, index) =>
        line.listen(() => {
          heard[index]! += 1;
        }),
      );
      await eventually('both listen', async () => listeners.every((each) => each.isListening()));
    });

    afterEach(async () => {
      await Promise.all(listeners.map((listener) => listener.close()));
      await Promise.all(lines.map((line) => line.close()));
      await testDatabase.drop();
    });

    it('is heard by all dispatchers', async () => {
      const before = [...heard];
      await lines[0]!.ring(['outbox']);
      await eventually('both have heard it', async () =>
        heard.every((count, index) => count > before[index]!),
      );
    });

    it('rings by itself after a lost connection, because rings were lost with it', async () => {
      const before = [...heard];
      await CUTS[store](testDatabase);
      await eventually('both have heard something', async () =>
        heard.every((count, index) => count > before[index]!),
      );
      await eventually('both listen', async () => listeners.every((each) => each.isListening()));
    });
  });
}
