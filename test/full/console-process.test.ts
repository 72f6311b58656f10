import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { darajaSettings } from '../../scripts/daraja-simulator/service-settings.ts';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import type { ServiceProcess } from '../../scripts/sandbox/service-process.ts';
import { startProcess } from '../../scripts/sandbox/stack.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { environment } from '../support/environment.ts';
import { makeFolder } from '../support/make-folder.ts';
import { rejection } from '../support/payments.ts';
import { PROGRAMS_FROM } from '../support/programs.ts';

const freshKey = () => `k1:${randomBytes(32).toString('base64')}`;

describe('The process of the console', () => {
  let testDatabase: TestDatabase;
  let port: number;
  let running: ServiceProcess | undefined;

  before(async () => {
    testDatabase = await createTestDatabase();
    port = await findFreePort();
  });

  after(async () => {
    await running?.stop();
    await testDatabase.drop();
  });

  const start = (env: Record<string, string>) =>
    startProcess('console', {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: testDatabase.url,
        CONSOLE_PORT: String(port),
        ...env,
      },
      logFolder: makeFolder('console'),
      reaper: environment.reaper,
      from: PROGRAMS_FROM,
    });

  it('wants to know its address in production', async () => {
    const starting = start({
      ...{
        MALIPO_ENV: 'production',
        PUBLIC_URL: 'https://pay.example.com',
        CHANNELS: '63902=daraja',
      },
      ...{ SECRETS_KEY: freshKey(), JWT_KEYS: freshKey(), TRUST_PROXY: 'loopback' },
      ...darajaSettings('https://127.0.0.1:1'),
    });
    expect((await rejection(starting)).message).to.include(
      'CONSOLE_URL is required for the console',
    );
  });

  it('serves staff and operators, each at a port of their own, and stops in good order', async () => {
    running = await start({});
    const page = await fetch(`http://127.0.0.1:${port}/`);
    expect([page.status, page.url]).to.deep.equal([200, `http://127.0.0.1:${port}/log-in`]);
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await fetch(`${running.operatorUrl}${path}`)).status, path).to.equal(200);
    }
    const metrics = await (await fetch(`${running.operatorUrl}/metrics`)).text();
    expect(metrics).to.match(/malipo_build_info{.*type="console".*} 1/);
    await running.stop();
    expect(await running.exited).to.equal('exit status 0');
    running = undefined;
  });
});
