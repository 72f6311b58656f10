import { expect } from 'chai';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { openQueueReader } from '../../src/jobs/queue-reader.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { backendsUnderTest, environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const NAMES = ['refunds', 'webhooks'];

for (const name of backendsUnderTest()) {
  describe(`The reader of queues in ${name}`, () => {
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
      const reader = openQueueReader({ ...backend, createQueue });
      const ask = async () => {
        const read: string[] = [];
        const problem = await reader.ask(async () => {
          for (const each of NAMES) read.push((await reader.read(each)).queue);
        });
        return { problem, read };
      };
      for (const answers of [await ask(), ...(await Promise.all([ask(), ask()]))]) {
        expect([answers.problem, answers.read]).to.deep.equal([null, NAMES]);
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
      await reader.close();
    });
  });
}
