import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import type { ServiceProcess } from '../../scripts/sandbox/service-process.ts';
import { startProcess } from '../../scripts/sandbox/stack.ts';
import { request } from '../support/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/make-folder.ts';
import { PROGRAMS_FROM } from '../support/programs.ts';

/** A signal that comes again within a second counts as the same one. */
const SAME_SIGNAL_AFTER_MS = 50;
const ANOTHER_SIGNAL_AFTER_MS = 1_100;
/** Enough for a few requests on a slow machine. */
const DRAIN_MS = 5_000;
const LONG_DRAIN_MS = 10_000;

describe('A web process that is told to stop', () => {
  let testDatabase: TestDatabase;
  let logFolder: string;
  let origin: string;
  let web: ServiceProcess;

  before(async () => {
    testDatabase = await createTestDatabase();
    logFolder = makeFolder('stopping');
  });

  after(async () => {
    await testDatabase.drop();
  });

  async function start(drainDelayMs: number): Promise<void> {
    const PORT = String(await findFreePort());
    origin = `http://127.0.0.1:${PORT}`;
    const env = {
      ...{ PATH: process.env.PATH, DATABASE_URL: testDatabase.url, PORT },
      DRAIN_DELAY_MS: String(drainDelayMs),
    };
    web = await startProcess('web', {
      ...{ env, logFolder, reaper: environment.reaper, from: PROGRAMS_FROM },
    });
  }

  const get = (url: string) => request('GET', url);
  const isUnready = async (at: string | null) => (await get(`${at}/readyz`)).status === 503;

  it('says so at once on both ports, serves on for a while, and exits with 0', async () => {
    await start(DRAIN_MS);
    process.kill(web.pid, 'SIGTERM');
    await eventually('it to be unready', () => isUnready(origin));
    expect(await isUnready(web.operatorUrl)).to.equal(true);
    expect((await get(`${web.operatorUrl}/readyz`)).body).to.deep.equal({
      status: 'not ready',
      reason: 'stopping',
    });
    expect((await get(`${web.operatorUrl}/healthz`)).status).to.equal(200);
    const answer = await get(`${origin}/openapi.json`);
    expect([answer.status, answer.headers.get('connection')]).to.deep.equal([200, 'close']);
    expect(await web.exited).to.equal('exit status 0');
  });

  it('does not wait for balancers after Ctrl-C', async () => {
    await start(LONG_DRAIN_MS);
    const drained = sleep(LONG_DRAIN_MS, 'the drain is over', { ref: false });
    process.kill(web.pid, 'SIGINT');
    expect(await Promise.race([web.exited, drained])).to.equal('exit status 0');
  });

  it('counts a signal passed on twice as one, and exits at once after another', async () => {
    await start(LONG_DRAIN_MS);
    process.kill(web.pid, 'SIGTERM');
    await sleep(SAME_SIGNAL_AFTER_MS);
    process.kill(web.pid, 'SIGTERM');
    await eventually('it to be unready', () => isUnready(origin));
    await sleep(ANOTHER_SIGNAL_AFTER_MS);
    process.kill(web.pid, 'SIGTERM');
    expect(await web.exited).to.equal('exit status 1');
  });
});
