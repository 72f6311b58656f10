import { expect } from 'chai';
import { Redis } from 'ioredis';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../scripts/sandbox/embedded/redis.ts';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import type { ServiceProcess } from '../../scripts/sandbox/service-process.ts';
import { startProcess } from '../../scripts/sandbox/stack.ts';
import { request } from '../support/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/make-folder.ts';
import { describeWith, PROGRAMS_FROM } from '../support/programs.ts';

describeWith(
  ['redis-server'],
  'The readiness of processes while something is wrong with Redis',
  () => {
    let testDatabase: TestDatabase;
    let redis: EmbeddedRedis;
    let web: ServiceProcess;
    let dispatcher: ServiceProcess;

    before(async () => {
      const { reaper } = environment;
      [testDatabase, redis] = await Promise.all([
        createTestDatabase(),
        startEmbeddedRedis({ reaper }),
      ]);
      const env = {
        ...{ PATH: process.env.PATH, DATABASE_URL: testDatabase.url, REDIS_URL: redis.url },
        PORT: String(await findFreePort()),
      };
      const logFolder = makeFolder('redis-readiness');
      const options = { env, logFolder, reaper, from: PROGRAMS_FROM } as const;
      [web, dispatcher] = await Promise.all([
        startProcess('web', options),
        startProcess('dispatcher', options),
      ]);
    });

    after(async () => {
      await Promise.all([web?.stop(), dispatcher?.stop()]);
      await redis?.stop();
      await testDatabase?.drop();
    });

    const readyz = async (child: ServiceProcess) =>
      (await request('GET', `${child.operatorUrl}/readyz`)).body;

    /** A dispatcher is not ready for this reason, and a web process warns of it and is. */
    async function expectTold(reason: RegExp): Promise<void> {
      await eventually('the dispatcher to be unready', async () => {
        const body = await readyz(dispatcher);
        return body.status === 'not ready' && reason.test(body.reason);
      });
      const body = await eventually('the web process to warn', async () => {
        const answer = await readyz(web);
        return reason.test(answer.warnings?.join()) && answer;
      });
      expect(body.status).to.equal('ready');
    }

    it('keeps dispatchers from being ready, and only warns in web processes', async () => {
      for (const child of [web, dispatcher]) {
        expect(await readyz(child)).to.deep.equal({ status: 'ready' });
      }
      const owner = new Redis(redis.url);
      await owner.config('SET', 'maxmemory-policy', 'allkeys-lru');
      await expectTold(/Redis drops jobs/);
      await owner.config('SET', 'maxmemory-policy', 'noeviction');
      owner.disconnect();
      await eventually('the dispatcher to be ready', async () => {
        return (await readyz(dispatcher)).status === 'ready';
      });
      await redis.stop();
      await expectTold(/^REDIS_URL cannot be used: /);
    });
  },
);
