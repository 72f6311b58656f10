import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../../scripts/sandbox/embedded/postgres.ts';
import { EmbeddedServiceError } from '../../../../scripts/sandbox/processes/embedded-service-error.ts';
import { type Reaper, startReaper } from '../../../../scripts/sandbox/processes/reaper.ts';
import {
  eventually,
  isRunning,
  killAll,
  launch,
  startLauncher,
  temporaryFolder,
} from './launched.ts';

describe('the embedded PostgreSQL', () => {
  let reaper: Reaper;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let servers: EmbeddedPostgres[] = [];
  let processes: (number | undefined)[] = [];

  before(async () => {
    reaper = await startReaper();
  });

  after(() => reaper.close());

  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  afterEach(async () => {
    killAll(processes);
    await Promise.all(servers.map((server) => server.stop()));
    servers = [];
    processes = [];
    await folder.remove();
  });

  async function start(options: { port?: number; folder?: string } = {}) {
    const server = await startEmbeddedPostgres({ folder: folder.path, reaper, ...options });
    servers.push(server);
    return server;
  }

  async function failureOf(options: { port?: number; folder?: string }): Promise<unknown> {
    return start(options).then(
      () => expect.fail('it started'),
      (error: unknown) => error,
    );
  }

  it('answers on 127.0.0.1 only, in UTF-8 and UTC', async () => {
    const server = await start();
    expect(new URL(server.url).host).to.equal(`127.0.0.1:${server.port}`);
    expect(await settings(server.url)).to.deep.equal({
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      server_encoding: 'UTF8',
      TimeZone: 'UTC',
      max_connections: '300',
      fsync: 'off',
    });
    expect(await query(server.url, "select upper('é') as text")).to.deep.equal([{ text: 'É' }]);
  });

  it('lets nobody in without the password', async () => {
    const server = await start();
    const url = new URL(server.url);
    url.password = 'another';
    const error = await query(url.href, 'select 1').catch((reason: unknown) => reason);
    expect(error).to.have.property('code', '28P01');
  });

  it('leaves neither server nor data after stop()', async () => {
    const server = await start();
    const data = await dataFolder(server.url);
    expect(existsSync(data)).to.equal(true);
    await server.stop();
    await server.stop();
    expect(isRunning(server.pid)).to.equal(false);
    expect(existsSync(data)).to.equal(false);
    expect(await readdir(folder.path)).to.deep.equal([]);
  });

  it('keeps port and data over a restart', async () => {
    const server = await start();
    const { pid, port } = server;
    await query(server.url, 'create table kept as select 42 as number');
    await server.restart();
    expect(server.port).to.equal(port);
    expect(server.pid).not.to.equal(pid);
    expect(await query(server.url, 'select number from kept')).to.deep.equal([{ number: 42 }]);
  });

  it('tells when the server ends by itself, and starts again when asked', async () => {
    const server = await start();
    await query(server.url, 'create table kept as select 42 as number');
    const message = new Promise<string>((resolve) => server.onExit(resolve));
    process.kill(server.pid, 'SIGKILL');
    expect(await message).to.match(/^PostgreSQL \(pid \d+\) ended by itself \(SIGKILL\)/);
    await server.restart();
    expect(await query(server.url, 'select number from kept')).to.deep.equal([{ number: 42 }]);
  });

  it('tells nothing when it is stopped or restarted on purpose', async () => {
    const server = await start();
    const messages: string[] = [];
    server.onExit((message) => messages.push(message));
    await server.restart();
    await server.stop();
    expect(messages).to.deep.equal([]);
  });

  it('runs beside another server of the same folder', async () => {
    const [one, other] = await Promise.all([start(), start()]);
    expect(one.port).not.to.equal(other.port);
    await query(one.url, 'create table mine ()');
    await other.stop();
    expect(await query(one.url, 'select * from mine')).to.deep.equal([]);
  });

  it('names the port that is taken, and leaves nothing', async () => {
    const { port } = await start();
    const before = await readdir(folder.path);
    const error = await failureOf({ port });
    expect(error).to.be.instanceOf(EmbeddedServiceError);
    expect(error)
      .to.have.property('message')
      .that.equals(
        `Port ${port} is taken: choose another with SANDBOX_POSTGRES_PORT, or 0 for any free one`,
      );
    expect(await readdir(folder.path)).to.deep.equal(before);
  });

  it('uses the port that it is given', async () => {
    const port = await freePort();
    const server = await start({ port });
    expect(server.port).to.equal(port);
    expect(await query(server.url, 'show port')).to.deep.equal([{ port: String(port) }]);
  });

  it('says in one line what to do when its folder cannot be made', async () => {
    const file = join(folder.path, 'file');
    await writeFile(file, '');
    const error = await failureOf({ folder: join(file, 'postgres') });
    expect(error).to.be.instanceOf(EmbeddedServiceError);
    expect(error)
      .to.have.property('message')
      .that.matches(/^PostgreSQL could not be started: ENOTDIR.*\. .+$/)
      .and.does.not.include('\n');
  });

  it('ends the server and removes the data of an earlier run', async () => {
    const { launcher, report } = await launch({
      postgresFolder: folder.path,
      withoutReaper: true,
    });
    processes.push(launcher.pid, ...report.pids);
    const data = await dataFolder(report.url!);
    const [leftover] = await readdir(folder.path);
    await kill(launcher);
    expect(report.pids.every(isRunning)).to.equal(true);
    const server = await start();
    expect(report.pids.some(isRunning)).to.equal(false);
    expect(existsSync(data)).to.equal(false);
    expect(await readdir(folder.path)).not.to.include(leftover);
    const tables = "select * from pg_tables where schemaname = 'public'";
    expect(await query(server.url, tables)).to.deep.equal([]);
  });

  it('leaves alone the server of another process that still runs', async () => {
    const { launcher, report } = await launch({ postgresFolder: folder.path });
    processes.push(launcher.pid, ...report.pids);
    await start();
    expect(await query(report.url!, 'select 1 as number')).to.deep.equal([{ number: 1 }]);
  });

  it('removes what an earlier process with the same pid has left', async () => {
    const leftover = join(folder.path, `run-${process.pid}-1-0123456789abcdef`);
    await mkdir(join(leftover, 'data'), { recursive: true });
    await start();
    expect(existsSync(leftover)).to.equal(false);
  });

  it('spares a process that was given the pid of a server of an earlier run', async () => {
    const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60000)']);
    processes.push(bystander.pid);
    const leftover = join(folder.path, 'run-0123456789abcdef');
    const dataDir = join(leftover, 'data');
    await mkdir(dataDir, { recursive: true });
    await writeFile(join(dataDir, 'postmaster.pid'), `${bystander.pid}\n${dataDir}\n`);
    await start();
    expect(existsSync(leftover)).to.equal(false);
    expect(isRunning(bystander.pid!)).to.equal(true);
  });

  it('leaves neither server nor data when its launcher is killed', async () => {
    const { launcher, report } = await launch({ postgresFolder: folder.path });
    processes.push(launcher.pid, ...report.pids);
    const data = await dataFolder(report.url!);
    await kill(launcher);
    await eventually('the server has ended', () => !report.pids.some(isRunning));
    await eventually('its data is gone', () => !existsSync(data));
    await eventually('its folder is empty', async () => (await readdir(folder.path)).length === 0);
  });

  it('leaves nothing when its launcher is killed while it starts', async () => {
    const launcher = startLauncher({ postgresFolder: folder.path });
    processes.push(launcher.pid);
    await eventually('it has begun', async () => (await readdir(folder.path)).length > 0);
    await kill(launcher);
    await eventually('its folder is empty', async () => (await readdir(folder.path)).length === 0);
  });
});

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function settings(url: string): Promise<Record<string, unknown>> {
  const names = [
    'listen_addresses',
    'unix_socket_directories',
    'server_encoding',
    'TimeZone',
    'max_connections',
    'fsync',
  ];
  const list = names.map((name) => `current_setting('${name}') as "${name}"`).join(', ');
  return (await query(url, `select ${list}`))[0]!;
}

async function dataFolder(url: string): Promise<string> {
  return String((await query(url, 'show data_directory'))[0]!.data_directory);
}

async function kill(launcher: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => launcher.once('exit', resolve));
  launcher.kill('SIGKILL');
  await exited;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
