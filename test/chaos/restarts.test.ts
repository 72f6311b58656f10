import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { ServiceProcess } from '../../scripts/sandbox/service-process.ts';
import { rows } from '../../src/connections/database.ts';
import { queueBackendOf } from '../../src/jobs/backend.ts';
import { allQueues } from '../../src/jobs/job-types.ts';
import { openQueueReader } from '../../src/jobs/queue-reader.ts';
import { loadConfig } from '../../src/service/service.ts';
import { PROCESS_TYPES, type ProcessType } from '../../src/workers/start-workers.ts';
import { request } from '../support/api-client.ts';
import { backendsUnderTest } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveService, startLiveService, startWeb } from '../support/live-service.ts';
import { openLiveShop } from '../support/live-shop.ts';

/** As the balancer of the test needs it, which looks more often than others. */
const DRAIN_DELAY_MS = 5_000;
/** A reversal waits for a submission that may wait for a machine that starts processes. */
const REVERSAL_WAIT_MS = 15_000;
const LOAD_MS = 2_000;

for (const backend of backendsUnderTest()) {
  describe(`With its queues in ${backend}, under load`, () => {
    const workers = new Map<ProcessType, ServiceProcess>();
    const starts: (() => Promise<ServiceProcess>)[] = [];
    let webs: ServiceProcess[];
    let service: LiveService;

    before(async () => {
      service = await startLiveService(backend, {
        DRAIN_DELAY_MS: String(DRAIN_DELAY_MS),
        REVERSAL_WAIT_MS: String(REVERSAL_WAIT_MS),
      });
      for (const name of ['web-a', 'web-b']) starts.push(await startWeb(service, name));
      await startAll();
      await bothServe();
    });

    after(() => service.close());

    async function startAll(): Promise<void> {
      const [running] = await Promise.all([
        Promise.all(starts.map((start) => start())),
        ...PROCESS_TYPES.map(async (type) => workers.set(type, await service.start(type))),
      ]);
      webs = running;
    }

    const shopNamed = (name: string) =>
      openLiveShop({ ...service, baseUrl: `${service.balancer.origin}/api/v1` }, name);

    it('every process is restarted, one after the other, and no request fails', async () => {
      service.balancer.served.length = 0;
      const shop = shopNamed('rolling');
      const done = new AbortController();
      const sent = shop.sendUntil(done.signal);
      for (const [index, start] of starts.entries()) {
        await expectCleanEnd(webs[index]!);
        webs[index] = await start();
        await bothServe();
      }
      for (const type of PROCESS_TYPES) {
        // For a while there are two, as where many run.
        const next = await service.start(type, `${type}-next`);
        await expectCleanEnd(workers.get(type)!);
        workers.set(type, next);
      }
      done.abort();
      const errors = await sent;
      expect(failedRequests()).to.deep.equal([]);
      expect(errors).to.deep.equal([]);
      console.log(`      ${shop.sentCount()} payments, ${service.balancer.served.length} requests`);
      await shop.expectRightEnds(service.database);
    });

    it('everything is stopped at once: no request is cut, and no job stays taken', async () => {
      service.balancer.served.length = 0;
      const shop = shopNamed('stopped');
      // So that there are jobs under way whenever the signal comes.
      const body = { mode: 'slow', rate: 1, for_ms: LOAD_MS };
      await request('POST', `${service.env.SIMULATOR_URL}/faults`, { body });
      const done = new AbortController();
      const sent = shop.sendUntil(done.signal);
      await sleep(LOAD_MS);
      const ends = [...webs, ...workers.values()].map(expectCleanEnd);
      await Promise.all(ends);
      expect(service.balancer.served.filter(({ outcome }) => outcome === 'cut')).to.deep.equal([]);
      await expectNothingTaken();
      await startAll();
      done.abort();
      await sent;
      // While nobody submits, a reversal is answered with what is known of it.
      const failed = failedRequests().filter(({ path }) => !path.endsWith('/reversals/initiate'));
      expect(failed).to.deep.equal([]);
      await shop.expectRightEnds(service.database);
    });

    const bothServe = () =>
      eventually('both to be served from', async () => service.balancer.readyCount() === 2);

    const failedRequests = () =>
      service.balancer.served.filter(({ outcome }) => outcome === 'cut' || Number(outcome) >= 500);

    /** The lock of a job that nobody works on any more would hold it back until it runs out. */
    async function expectNothingTaken(): Promise<void> {
      const { database } = service;
      const backend = await queueBackendOf({ config: loadConfig(service.env), database });
      const states = openQueueReader(backend);
      for (const queue of allQueues(['simulator'])) {
        const { active } = await states.read(queue);
        expect(active, `jobs under way in ${queue}`).to.equal(0);
      }
      await states.close();
      const leased = await rows(
        service.database,
        'SELECT id FROM outbox WHERE leased_until > now()',
      );
      expect(leased, 'rows of the outbox that somebody holds').to.deep.equal([]);
      const sweeper = await rows(service.database, `SELECT 1 FROM leases WHERE name = 'sweeper'`);
      expect(sweeper, 'leases of the sweeper').to.deep.equal([]);
    }
  });
}

async function expectCleanEnd(child: ServiceProcess): Promise<void> {
  await child.stop();
  expect(await child.exited, child.name).to.equal('exit status 0');
}
