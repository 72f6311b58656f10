import { join } from 'node:path';
import { findFreePort } from '../../src/sandbox/embedded/port.ts';
import { type ServiceProcess, startServiceProcess } from '../../src/sandbox/service-process.ts';
import { environment } from '../support/environment.ts';
import { isServed, type LiveService, startLiveService, startWeb } from '../support/live-service.ts';
import { openLiveShop } from '../support/live-shop.ts';
import { hasWholeHistory, previousRelease, unpackRelease } from '../support/previous-release.ts';
import { REQUIRE_ALL } from '../support/programs.ts';

const PROGRAMS = { web: ['src/api/main.ts'], workers: ['src/workers/main.ts', 'all'] };
type Program = keyof typeof PROGRAMS;

/** While a release is rolled out its processes work beside those of the one before, on the new schema. */
describe("The release before, on this release's schema", () => {
  const commit = previousRelease();
  let service: LiveService;
  let oldFolder: string;

  before(async function () {
    if (commit === null) {
      if (REQUIRE_ALL && hasWholeHistory()) throw new Error('git knows no earlier release');
      console.log('      (Pending: this is no git checkout with its whole history.)');
      this.skip();
    }
    service = await startLiveService('postgres');
    oldFolder = join(service.logFolder, 'release');
    unpackRelease(commit, oldFolder);
    console.log(`      the release before: ${commit}`);
  });

  after(() => service?.close());

  async function startOld(program: Program): Promise<ServiceProcess> {
    const port = await findFreePort();
    const [main = '', ...args] = PROGRAMS[program];
    // An earlier release may refuse what later ones take: it gets no more than it must.
    const env = { ...service.env, PORT: String(port), METRICS_PORT: '', DRAIN_DELAY_MS: '' };
    const { logFolder } = service;
    const { reaper } = environment;
    const child = await startServiceProcess({
      ...{ name: `old-${program}`, program: main, args, folder: oldFolder },
      ...{ env, logFolder, reaper },
    });
    if (program === 'web') service.balancer.add(`http://127.0.0.1:${port}`);
    return service.keep(child);
  }

  async function startNew(program: Program): Promise<ServiceProcess> {
    if (program === 'web') return (await startWeb(service, 'new-web'))();
    return service.start('all', 'new-workers');
  }

  async function expectPaymentsOfAllKinds(name: string): Promise<void> {
    await isServed(service);
    const shop = openLiveShop({ ...service, baseUrl: `${service.balancer.origin}/api/v1` }, name);
    await shop.sendOneOfEach();
    await shop.expectRightEnds(service.database);
  }

  const MIXES: Record<string, { web: typeof startOld; workers: typeof startOld }> = {
    'all of its processes': { web: startOld, workers: startOld },
    'its workers, with a web process of this one': { web: startNew, workers: startOld },
    'its web process, with workers of this one': { web: startOld, workers: startNew },
  };
  for (const [index, [title, start]] of Object.entries(MIXES).entries()) {
    it(`carries payments of all kinds to their webhook with ${title}`, async () => {
      const running = await Promise.all([start.web('web'), start.workers('workers')]);
      await expectPaymentsOfAllKinds(`mix-${index}`);
      await Promise.all(running.map((child) => child.stop()));
    });
  }
});
