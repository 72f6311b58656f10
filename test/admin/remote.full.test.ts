import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import type { ServiceProcess } from '../../scripts/sandbox/service-process.ts';
import { startProcess } from '../../scripts/sandbox/stack.ts';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { createStaff, newToken } from '../../src/domain/staff/staff.ts';
import { loadConfig } from '../../src/service/service.ts';
import { runAdmin } from '../support/admin-runs.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/make-folder.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const BEGINNING = 'HTTP/1.1 503';
const BANK_FILE = fileURLToPath(new URL('../fixtures/bank.csv', import.meta.url));

describe('A command line without the settings of the service', () => {
  let testDatabase: TestDatabase;
  let process_: ServiceProcess;
  let merchant: TestMerchant;
  let url: string;
  let token: string;

  before(async () => {
    testDatabase = await createTestDatabase();
    const { database } = testDatabase;
    url = `http://127.0.0.1:${await findFreePort()}`;
    const env = {
      ...{ PATH: process.env.PATH, DATABASE_URL: testDatabase.url, CONSOLE_URL: url },
      CONSOLE_PORT: new URL(url).port,
    };
    const options = { env, logFolder: makeFolder('remote'), reaper: environment.reaper };
    process_ = await startProcess('console', options);
    const made = newToken();
    token = made.token;
    const { token: _, ...stored } = made;
    const amina = { name: 'Amina', email: 'amina@x.example', role: 'admin' as const };
    await inTransaction(database, (trx) => createStaff(trx, { ...amina, ...stored }, true));
    merchant = await createTestMerchant({ database, config: loadConfig(env) });
  });

  after(async () => {
    await process_?.stop();
    await testDatabase?.drop();
  });

  const run = (
    args: string[],
    { input = '', env = {} }: { input?: string; env?: NodeJS.ProcessEnv } = {},
  ) =>
    runAdmin(args, {
      input,
      env: { MALIPO_CONSOLE_URL: url, MALIPO_STAFF_TOKEN: token, ...env },
      asProgram: true,
    });
  /** The same, by the settings of the service. */
  const runDirectly = (args: string[], input = '') =>
    runAdmin(args, {
      input,
      env: { DATABASE_URL: testDatabase.url, MALIPO_STAFF_TOKEN: token },
      asProgram: true,
    });
  const why = ['--reason', 'Ticket 4711'];
  const count = async (table: string) =>
    (await rows(testDatabase.database, `SELECT FROM ${table}`)).length;

  it('shows what the command line of the service shows', async () => {
    for (const args of [
      ['merchant', 'list'],
      ['app', 'show', String(merchant.app_code), '--json'],
      ['queues', 'status', '--json'],
      ['payment', 'show', 'nobody'],
    ]) {
      const [near, far] = [await runDirectly(args), await run(args)];
      const told = ({ stdout, ...other }: typeof near) => ({
        ...other,
        stdout: stdout.replace(/"checked_at".*|\d+ms|"age_ms": \d+/g, ''),
      });
      expect(told(far), args.join(' ')).to.deep.equal(told(near));
    }
  });

  it('changes things in the name of the member, from the address of the member', async () => {
    const { status, stderr } = await run(['app', 'suspend', String(merchant.app_code), ...why]);
    expect([status, stderr]).to.deep.equal([0, '']);
    const lines = await rows(
      testDatabase.database,
      `SELECT actor, door, address FROM audit_log WHERE action = 'app.suspend'`,
    );
    expect(lines).to.deep.equal([
      { actor: 'amina@x.example', door: 'command line', address: '127.0.0.1' },
    ]);
    const again = await run(['merchant', 'list']);
    expect(again.status, 'the process goes on').to.equal(0);
  });

  it('takes along a file, and a password from a pipe', async () => {
    const bank = ['ledger', 'bank-statement', BANK_FILE, '--utc-offset', '+03:00', ...why];
    const read = await run(bank);
    expect([read.status, read.stderr]).to.deep.equal([0, '']);
    expect(read.stdout).to.include('has 3 rows');
    const user = ['user', 'create', String(merchant.merchant_id), '--email', 'juma@x.example'];
    const args = [...user, '--role', 'Finance', '--password-stdin', ...why];
    const made = await run(args, { input: 'seven green boats at noon\n' });
    expect([made.status, made.stderr]).to.deep.equal([0, '']);
    expect(await count('users')).to.equal(1);
  });

  it('opens no file of the machine of the service', async () => {
    const secret = join(makeFolder('there'), 'there.csv');
    writeFileSync(
      secret,
      'Transaction Date,Transaction Reference,Narrative,Debit,Credit,Balance\n',
    );
    const args = ['ledger', 'bank-statement', secret, '--utc-offset', '+03:00', ...why];
    const response = await fetch(`${url}/command-line`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ args, input: '', columns: null, files: {} }),
    });
    expect(await response.text()).to.include('was not sent with the command');
  });

  it('is told what is wrong by its own machine, and by the service', async () => {
    const wrong = await run(['app', 'suspend', String(merchant.app_code)]);
    expect([wrong.status, wrong.stderr]).to.deep.equal([2, '--reason is required\n']);
    const nobody = await run(['app', 'suspend', '999999', ...why]);
    expect(nobody).to.include({ status: 1 });
    expect(nobody.stderr).to.include('999999');
    const gone = await run(['ledger', 'bank-statement', '/nowhere.csv', ...why]);
    expect(gone.stderr).to.include('/nowhere.csv cannot be read');
    const help = await run(['--help'], { env: { MALIPO_CONSOLE_URL: 'http://127.0.0.1:9' } });
    expect([help.status, help.stderr]).to.deep.equal([0, '']);
  });

  it('does nothing for somebody without a valid token, not even what needs none', async () => {
    const before = await count('security_events');
    const stranger = { MALIPO_STAFF_TOKEN: newToken().token };
    for (const args of [
      ['queues', 'status'],
      ['merchant', 'list'],
    ]) {
      const { status, stderr } = await run(args, { env: stranger });
      expect([status, stderr]).to.deep.equal([
        1,
        'The staff token is not valid, or another one has replaced it\n',
      ]);
    }
    expect(await count('security_events')).to.equal(before + 2);
    for (const verb of [['mark'], ['resume', '--nothing-lost']]) {
      const asked = await run(['restore', ...verb, ...why]);
      expect(asked.stderr).to.include('done beside the service');
    }
    const none = await run(['queues', 'status'], { env: { MALIPO_STAFF_TOKEN: '' } });
    expect(none.stderr).to.include('Set MALIPO_STAFF_TOKEN');
    const bare = await fetch(`${url}/command-line`, { method: 'POST', body: 'x' });
    expect(bare.status).to.equal(401);
  });

  it('reads no command of millions of values', async () => {
    const send = async (args: string) => {
      const { status } = await fetch(`${url}/command-line`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: `{"args":[${args}],"input":"a\\"b,c[","columns":null,"files":{}}`,
      });
      return status;
    };
    expect(await send(`${'{},'.repeat(4_000_000)}{}`)).to.equal(400);
    expect(await send('"queues","status"')).to.equal(200);
  });

  for (const does of ['reads no answers', 'sends no command to its end']) {
    it(`has places left while a member ${does}`, () => playIdle(does === 'reads no answers'));
  }

  async function playIdle(isWhole: boolean) {
    const made = newToken();
    const { token: idle, ...stored } = made;
    const email = `viewer-${isWhole}@x.example`;
    const juma = { name: 'Juma', email, role: 'viewer' as const };
    const { database } = testDatabase;
    await inTransaction(database, (trx) => createStaff(trx, { ...juma, ...stored }, false));
    // More than a connection that nobody reads can hold.
    await rows(
      database,
      `INSERT INTO security_events (id, kind, detail)
       SELECT gen_random_uuid(), 'log_in_failed', jsonb_build_object('x', repeat('y', 300))
       FROM generate_series(1, 40000)`,
    );
    const body = JSON.stringify({
      ...{ args: ['security', 'list', '--jsonl'], input: '', columns: null, files: {} },
    });
    const sockets = Array.from({ length: 8 }, () => connect(Number(new URL(url).port)));
    try {
      for (const socket of sockets) {
        socket.on('error', () => {});
        socket.write(
          `POST /command-line HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${idle}\r\n` +
            `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${isWhole ? body : '{'}`,
        );
      }
      // The member's other commands are refused at once, and these answers are read.
      const refused = new Set<Socket>();
      await eventually('five of them are refused', async () => {
        for (const socket of sockets) {
          if (String(socket.read(BEGINNING.length)).endsWith('503')) refused.add(socket);
        }
        return refused.size === 5;
      });
      const { status, stderr } = await run(['merchant', 'list']);
      expect([status, stderr]).to.deep.equal([0, '']);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  }

  it('sends its token through no network without TLS, and says when nobody answers', async () => {
    for (const address of [
      'http://console.example.com',
      'console.example.com',
      'ftp://127.0.0.1',
    ]) {
      const { status, stderr } = await run(['merchant', 'list'], {
        env: { MALIPO_CONSOLE_URL: address },
      });
      expect(status).to.equal(2);
      expect(stderr).to.include('MALIPO_CONSOLE_URL must be an address such as https://');
    }
    const away = { MALIPO_CONSOLE_URL: `http://127.0.0.1:${await findFreePort()}` };
    const { stderr } = await run(['merchant', 'list'], { env: away });
    expect(stderr).to.include('does not answer');
  });
});
