import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../scripts/sandbox/embedded/postgres.ts';
import { openDatabase, rows } from '../../src/connections/database.ts';
import { migrate } from '../../src/connections/migrations.ts';
import { otherDatabase } from '../../src/domain/upkeep/other-database.ts';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { PROCESS_TYPES } from '../../src/workers/start-workers.ts';
import { request } from '../support/api-client.ts';
import { backendsUnderTest, environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveService, startLiveService, startWeb } from '../support/live-service.ts';
import { openLiveShop } from '../support/live-shop.ts';
import { makeFolder } from '../support/make-folder.ts';
import { countOf } from '../support/payments.ts';
import { type Standby, startStandby } from '../support/standby.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const POOL_MAX = 4;
const LOAD_MS = 3_000;
/** The payments that came meanwhile take their time, too. */
const WITHIN_MS = 90_000;

const [first] = backendsUnderTest();

for (const backend of backendsUnderTest()) {
  // What stops knows nothing of the queues.
  for (const isWaitedFor of backend === first ? [true, false] : [true]) {
    const how = isWaitedFor ? 'waits for' : 'does not wait for';
    describe(`When PostgreSQL is killed, and a standby that it ${how} takes over, with the queues in ${backend}`, () => {
      let primary: EmbeddedPostgres;
      let standby: Standby;
      let proxy: TcpProxy;
      let service: LiveService;

      before(async () => {
        const { reaper } = environment;
        const folder = join(makeFolder('failover'), 'postgres');
        primary = await startEmbeddedPostgres({ folder, reaper });
        proxy = await startTcpProxy(primary.url);
        const database = openDatabase(proxy.url, POOL_MAX, 'malipo-failover');
        await migrate(database);
        await createQueueBackend({ databaseUrl: proxy.url }).migrate();
        standby = await startStandby(primary, 'second', { isWaitedFor });
        const drop = () => database.destroy();
        const settings = { DATABASE_SYNCHRONOUS_STANDBY: 'true' };
        service = await startLiveService(backend, settings, { url: proxy.url, database, drop });
        await Promise.all([
          startWeb(service, 'web').then((start) => start()),
          ...PROCESS_TYPES.map((type) => service.start(type)),
        ]);
        await servesAgain();
      });

      after(async () => {
        await service?.close();
        await proxy?.close();
        await standby?.stop();
        await primary?.stop();
      });

      const servesAgain = () =>
        eventually('web to serve', async () => service.balancer.readyCount() === 1, WITHIN_MS);

      async function failOver(): Promise<void> {
        await primary.kill();
        await proxy.cut();
        await standby.promote();
        proxy.leadTo(standby.url);
        await proxy.restore();
      }

      const shopNamed = (name: string) =>
        openLiveShop({ ...service, baseUrl: `${service.balancer.origin}/api/v1` }, name);

      it(
        isWaitedFor
          ? 'payments go on by themselves, and each has moved once'
          : 'nothing is sent until an operator has looked',
        async () => {
          const shop = shopNamed('failover');
          const done = new AbortController();
          const sent = shop.sendUntil(done.signal);
          try {
            await sleep(LOAD_MS);
            const killedAt = performance.now();
            await failOver();
            if (isWaitedFor) {
              await eventually('payments to go on', isResumed, WITHIN_MS);
              const ms = Math.round(performance.now() - killedAt);
              console.log(`      sends again ${ms} ms after the kill`);
            }
            const sentBefore = await countOf(service.database, 'attempts');
            await sleep(LOAD_MS);
            const isSent = (await countOf(service.database, 'attempts')) > sentBefore;
            expect(isSent, 'payments go out').to.equal(isWaitedFor);
          } finally {
            done.abort();
          }
          console.log(`      ${shop.sentCount()} accepted, ${(await sent).length} refused or cut`);
          expect(await isResumed(), 'goes on').to.equal(isWaitedFor);
          if (!isWaitedFor) return;
          await shop.expectRightEnds(service.database);
          await expectMovedOnce();
        },
      );

      const isResumed = async () => (await otherDatabase(service.database)) === null;

      async function movedReferences(): Promise<string[]> {
        const { body } = await request('GET', `${service.env.SIMULATOR_URL}/statement`);
        return body.map(({ reference }: { reference: string }) => reference);
      }

      /** What was accepted, and nothing else, and nothing twice. */
      async function expectMovedOnce(): Promise<void> {
        const completed = await rows<{ reference: string }>(
          service.database,
          ['collections', 'payouts', 'reversals']
            .map((table) => `SELECT reference FROM ${table} WHERE status = 'completed'`)
            .join(' UNION ALL '),
        );
        expect((await movedReferences()).sort()).to.deep.equal(
          completed.map(({ reference }) => reference).sort(),
        );
      }
    });
  }
}
