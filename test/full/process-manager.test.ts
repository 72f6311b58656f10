import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { startMerchantReceiver } from '../../scripts/sandbox/merchant-receiver.ts';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import { type Program, startProgram } from '../../scripts/sandbox/processes/program.ts';
import { ROOT_FOLDER } from '../../scripts/sandbox/programs.ts';
import type { ServiceProcess } from '../../scripts/sandbox/service-process.ts';
import { startProcess } from '../../scripts/sandbox/stack.ts';
import { rows } from '../../src/connections/database.ts';
import { loadConfig } from '../../src/service/service.ts';
import { PROCESS_TYPES } from '../../src/workers/start-workers.ts';
import { clientOf, collectionBody } from '../support/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/make-folder.ts';
import { describeWith, findProgram } from '../support/programs.ts';
import { createTestMerchant } from '../support/test-merchant.ts';

const TYPES = ['web', 'console', ...PROCESS_TYPES];
const READY_TIMEOUT_MS = 240_000;

describeWith(['foreman'], 'The plain command of a process manager', () => {
  let testDatabase: TestDatabase;
  let simulator: ServiceProcess;
  let manager: Program | undefined;
  let env: NodeJS.ProcessEnv;
  let port: number;
  const lines: string[] = [];

  before(async function () {
    const isBuilt = existsSync(join(ROOT_FOLDER, 'dist/src/main/web.js'));
    if (!isBuilt && !process.env.REQUIRE_ALL) this.skip();
    expect(isBuilt, 'The Procfile names the build: npm run build').to.equal(true);
    testDatabase = await createTestDatabase();
    const simulatorPort = await findFreePort();
    port = await findFreePort();
    env = {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      DATABASE_URL: testDatabase.url,
      CONSOLE_PORT: String(await findFreePort()),
      METRICS_PORT: '0',
      // A manager kills what has not ended after 5 s.
      DRAIN_DELAY_MS: '0',
      SIMULATOR_PORT: String(simulatorPort),
      SIMULATOR_URL: `http://127.0.0.1:${simulatorPort}`,
      SIMULATOR_DELAY_MS: '50',
    };
    const logFolder = makeFolder('manager');
    simulator = await startProcess('simulator', { env, logFolder, reaper: environment.reaper });
  });

  after(async () => {
    await manager?.stop();
    await simulator?.stop();
    await testDatabase?.drop();
  });

  it('starts one process of each type, each with a port of its own', async () => {
    manager = await startProgram({
      ...{ name: 'foreman', command: findProgram('foreman')!, cwd: ROOT_FOLDER },
      args: ['start', '--port', String(port), '--env', '/dev/null', '--no-timestamp'],
      ...{ env, reaper: environment.reaper, ready: /"message":"ready"/ },
      // They start at once, beside other tests.
      readyTimeoutMs: READY_TIMEOUT_MS,
      onLine: (line) => lines.push(line),
    });
    const ready = (type: string) =>
      lines.some((line) => line.startsWith(`${type}.1`) && line.includes('"message":"ready"'));
    await eventually('all processes to be ready', async () => TYPES.every(ready));
    expect(lines.filter((line) => /exited|"level":"error"/.test(line))).to.deep.equal([]);
  });

  it('takes a payment from its request to its webhook, by the callback', async () => {
    const { database } = testDatabase;
    const merchant = await createTestMerchant({ database, config: loadConfig(env) });
    const receiver = await startMerchantReceiver(merchant.app_secret);
    try {
      const client = clientOf({ baseUrl: `http://127.0.0.1:${port}/api/v1` }, merchant);
      const body = { ...collectionBody({ callback_url: receiver.url }), ref_no: 'managed-1' };
      const { status } = await client.post('/collections/checkouts/initiate', body);
      expect(status).to.equal(200);
      const { payload, verified } = await receiver.webhookFor('managed-1');
      expect([payload.notification.event, verified]).to.deep.equal(['transaction.completed', true]);
    } finally {
      await receiver.close();
    }
    const causes = await rows(
      database,
      `SELECT cause FROM payment_history WHERE to_status = 'completed'`,
    );
    expect(causes).to.deep.equal([{ cause: 'callback' }]);
  });

  it('ends every process in good order', async () => {
    await manager!.stop();
    for (const type of TYPES) {
      expect(
        lines.some((line) => line.startsWith(`${type}.1`) && /exited with code 0/.test(line)),
        type,
      ).to.equal(true);
    }
  });
});
