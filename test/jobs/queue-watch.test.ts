import { expect } from 'chai';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { openQueueWatch } from '../../src/jobs/queue-watch.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { backendsUnderTest, environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { SILENT } from '../support/world.ts';

const NAMES = ['refunds', 'webhooks'];
const NO_STEPS = { steps: [], graceMs: 0 };

for (const name of backendsUnderTest()) {
  describe(`The watch of queues in ${name}`, () => {
    let database: TestDatabase;
    let proxy: TcpProxy;

    before(async () => {
      database = await createTestDatabase();
      proxy = await startTcpProxy(name === 'redis' ? environment.redisUrl! : database.url);
    });

    after(async () => {
      await proxy.close();
      await database.drop();
    });

    it('keeps its connections, also over an outage', async () => {
      const address = name === 'redis' ? { redisUrl: proxy.url } : { databaseUrl: proxy.url };
      const backend = createQueueBackend(
        { databaseUrl: database.url, ...address, installationId: 'test' },
        'console',
      );
      let opened = 0;
      const createQueue = (queue: string) => {
        opened += 1;
        return backend.createQueue(queue);
      };
      const watch = openQueueWatch({ ...database, logger: SILENT }, { ...backend, createQueue });
      const ask = () => watch.ask(NAMES, NO_STEPS);
      for (const answers of [await ask(), ...(await Promise.all([ask(), ask()]))]) {
        expect([answers.problem, [...answers.states.keys()]]).to.deep.equal([null, NAMES]);
      }
      expect(opened).to.equal(NAMES.length);

      await proxy.cut();
      for (const { problem } of await Promise.all([ask(), ask()])) {
        expect(problem).to.include('do not answer');
      }
      expect((await ask()).problem)
        .to.be.a('string')
        .and.not.include('do not answer');

      await proxy.restore();
      await eventually('the queues answer', async () => (await ask()).problem === null);
      expect(opened).to.equal(NAMES.length);
      await watch.close();
    });
  });
}
