import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import type { ServiceProcess } from '../../scripts/sandbox/service-process.ts';
import { type StackType, startProcess } from '../../scripts/sandbox/stack.ts';
import { rows } from '../../src/connections/database.ts';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { CALLBACK_BASE_UNKNOWN } from '../../src/service/callback-base.ts';
import { request } from '../support/api-client.ts';
import { environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/make-folder.ts';
import { createTestStore, newCollection, reread, type TestStore } from '../support/payments.ts';
import { PROGRAMS_FROM } from '../support/programs.ts';
import { stackEnvironment } from '../support/stack-environment.ts';

/** No question settles a payment during a test. */
const POLL_FIRST_MS = '600000';

describe('Processes that each have a PORT of their own, and no PUBLIC_URL', () => {
  let store: TestStore;
  let logFolder: string;
  let env: NodeJS.ProcessEnv;
  let running: ServiceProcess[];

  beforeEach(async () => {
    store = await createTestStore();
    logFolder = makeFolder('callback-base');
    const { PUBLIC_URL: _, ...others } = await stackEnvironment(store.url);
    env = { ...others, POLL_FIRST_MS };
    running = [];
    await start('simulator');
  });

  afterEach(async () => {
    await Promise.all(running.map((child) => child.stop()));
    await store.drop();
  });

  async function start(type: StackType | 'all'): Promise<ServiceProcess> {
    const own = { ...env, PORT: String(await findFreePort()) };
    const child = await startProcess(type, {
      ...{ env: own, logFolder, reaper: environment.reaper, from: PROGRAMS_FROM },
    });
    running.push(child);
    return child;
  }

  async function expectCalledBack(collection: Collection): Promise<void> {
    await eventually('the collection to complete', async () => {
      return (await reread(store.database, collection)).status === 'completed';
    });
    const history = await rows<{ cause: string }>(
      store.database,
      `SELECT cause FROM payment_history WHERE to_status = 'completed'`,
    );
    expect(history).to.deep.equal([{ cause: 'callback' }]);
  }

  it('are called back at the port of the web process', async () => {
    await start('web');
    await start('all');
    await expectCalledBack(await newCollection(store.database, await store.newMerchant()));
  });

  it('submit nothing and say why, until a web process has started', async () => {
    const worker = await start('all');
    const readiness = () => request('GET', `${worker.operatorUrl}/readyz`);
    const unready = await readiness();
    expect(unready.status).to.equal(503);
    expect(unready.body).to.deep.equal({ status: 'not ready', reason: CALLBACK_BASE_UNKNOWN });
    const collection = await newCollection(store.database, await store.newMerchant());
    const logged = (text: string) =>
      readFileSync(join(logFolder, 'all.log'), 'utf8').split(text).length - 1;
    const metrics = async () => (await request('GET', `${worker.operatorUrl}/metrics`)).body;
    await eventually('the job to be put off', async () => {
      return /queue="submission-simulator",outcome="put_off"/.test(await metrics());
    });
    expect(await rows(store.database, 'SELECT FROM attempts')).to.deep.equal([]);
    expect(await metrics()).to.not.include('call="submit"');
    expect(logged(CALLBACK_BASE_UNKNOWN)).to.equal(1);
    await start('web');
    await expectCalledBack(collection);
    expect((await readiness()).body).to.deep.equal({ status: 'ready' });
    expect(logged(CALLBACK_BASE_UNKNOWN)).to.equal(1);
  });
});
