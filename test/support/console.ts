import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import winston from 'winston';
import { inTransaction } from '../../src/connections/database.ts';
import { createConsole } from '../../src/console/app.ts';
import type { ConsoleService } from '../../src/console/visit.ts';
import {
  beginStaffTotp,
  enableStaffTotp,
  setStaffPassword,
} from '../../src/domain/credentials/staff-log-in.ts';
import { createStaff, hasStaff, newToken, type StaffRole } from '../../src/domain/staff/staff.ts';
import { queueBackendOf } from '../../src/jobs/backend.ts';
import { openQueueReader } from '../../src/jobs/queue-reader.ts';
import { createComparisons } from '../../src/service/comparisons.ts';
import { createService, loadConfig, type Service } from '../../src/service/service.ts';
import { type ConsoleClient, consoleClient } from './console-client.ts';
import { createTestDatabase, rewrite, type TestDatabase } from './database.ts';
import { otpOf } from './totp.ts';

/** The console in this process, over a database of its own or that of another service. */
export interface TestConsole {
  service: ConsoleService;
  /** What a signal does: comparisons must come to their end. */
  stop(): Promise<void>;
  testDatabase: Pick<TestDatabase, 'database' | 'owner' | 'url'>;
  origin: string;
  client(): ConsoleClient;
  close(): Promise<void>;
}

export interface TestMember {
  id: string;
  email: string;
  password: string;
  token: string;
  /** Null for a member without one-time passwords. */
  secret: string | null;
}

export async function startTestConsole(
  beside?: Service & Pick<TestDatabase, 'owner'>,
  environment: NodeJS.ProcessEnv = {},
): Promise<TestConsole> {
  const own = beside ? null : await createTestDatabase();
  const testDatabase = own ?? {
    ...{ database: beside!.database, owner: beside!.owner },
    url: beside!.config.databaseUrl,
  };
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = loadConfig({
    ...{ DATABASE_URL: testDatabase.url, CONSOLE_URL: origin },
    ...environment,
  });
  const parts = beside
    ? { ...beside, config: { ...beside.config, consoleUrl: origin } }
    : createService(config, silentLogger(), testDatabase.database);
  const stopping = new AbortController();
  const comparisons = createComparisons(parts, stopping.signal);
  const queueReader = openQueueReader(await queueBackendOf(parts, 'console'));
  const service = { ...parts, comparisons, queueReader };
  server.on('request', createConsole(service));
  const stop = async () => {
    stopping.abort();
    await comparisons.ended();
  };
  return {
    ...{ service, testDatabase, origin, stop },
    client: () => consoleClient(origin),
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await stop();
      await queueReader.close();
      await own?.drop();
    },
  };
}

function silentLogger() {
  return winston.createLogger({
    silent: process.env.TEST_LOGS !== '1',
    transports: [new winston.transports.Console()],
  });
}

let members = 0;

/** Makes a member of staff with a password and one-time passwords. */
export async function newMember(
  { service: { database, config } }: TestConsole,
  role: StaffRole,
  withTotp = true,
): Promise<TestMember> {
  members += 1;
  const email = `${role}-${String(members).padStart(3, '0')}@x.example`;
  const { token, ...stored } = newToken();
  const member = await inTransaction(database, async (trx) =>
    createStaff(trx, { name: `The ${role}`, email, role, ...stored }, !(await hasStaff(trx))),
  );
  const password = `correct horse ${members}`;
  const origin = { ip: null, network: null };
  await setStaffPassword(database, config.secretsKeys, { email, token, password }, origin);
  const secret = withTotp
    ? await inTransaction(database, async (trx) => {
        const begun = await beginStaffTotp(trx, config.secretsKeys, member);
        await enableStaffTotp(trx, member);
        return begun.secret;
      })
    : null;
  return { id: member.id, email, password, token, secret };
}

/** Gives the password of a member. What comes next is up to the test. */
export async function givePassword(
  { client }: Pick<TestConsole, 'client'>,
  { email, password }: TestMember,
): Promise<ConsoleClient> {
  const browser = client();
  await browser.get('/log-in');
  const { status } = await browser.post('/log-in', { email, password });
  expect(status).to.equal(303);
  return browser;
}

/** Logs a member in, with a one-time password that is new. */
export async function logIn(
  test: Pick<TestConsole, 'client' | 'service'>,
  member: TestMember,
): Promise<ConsoleClient> {
  const browser = await givePassword(test, member);
  loggedIn.set(browser, member);
  await forgetOtps(test, member);
  await browser.get('/one-time-password');
  const { status } = await browser.post('/one-time-password', { code: otpOf(member.secret!) });
  expect(status).to.equal(303);
  return browser;
}

/** The members behind browsers. */
const loggedIn = new WeakMap<ConsoleClient, TestMember>();

/** Lets a member use the one-time password of now once more. */
function forgetOtps({ service }: Pick<TestConsole, 'service'>, { email }: TestMember) {
  const forget = `UPDATE staff_totp_secrets SET last_step = 0
    WHERE staff_id = (SELECT id FROM staff WHERE email = :email)`;
  return rewrite(service.database, forget, { email });
}

/** Decides about a request as a member at the console, with a one-time password that is new. */
export async function decideRequest(
  { service }: Pick<TestConsole, 'service'>,
  browser: ConsoleClient,
  path: string,
  decision: { as: string; reason: string },
) {
  await browser.get(path);
  return browser.post(path, { ...decision, otp: await freshOtp({ service }, browser) });
}

/** Returns a one-time password of a browser's member that was not used before. */
export async function freshOtp(
  test: Pick<TestConsole, 'service'>,
  browser: ConsoleClient,
): Promise<string> {
  const member = loggedIn.get(browser)!;
  await forgetOtps(test, member);
  return otpOf(member.secret!);
}
