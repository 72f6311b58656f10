import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { type Database, openDatabase, rows } from '../../src/connections/database.ts';
import { createReadiness } from '../../src/connections/readiness.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { makeReadOnly, makeWritable } from '../support/read-only.ts';

const SILENT = 'DATABASE_URL cannot be used: no answer within two seconds';

describe('Whether a process is ready', () => {
  let testDatabase: TestDatabase;
  /** Of one connection, so that whoever has it keeps the pool busy. */
  let database: Database;
  let problem: () => Promise<string | null>;

  before(async () => {
    testDatabase = await createTestDatabase();
  });

  after(() => testDatabase.drop());

  beforeEach(async () => {
    database = openDatabase(testDatabase.url, 1);
    // To connect may take a while on a slow machine.
    await rows(database, 'SELECT 1');
    problem = createReadiness(database);
  });

  afterEach(() => database.destroy());

  it('is asked of the database once for all who want to know at the same time, or soon after', async () => {
    let statements = 0;
    database.on('query', () => {
      statements += 1;
    });
    const answers = await Promise.all(Array.from({ length: 50 }, problem));
    expect([...new Set([...answers, await problem()])]).to.deep.equal([null]);
    expect(statements).to.equal(1);
  });

  it('does not change because all connections are busy with requests', async () => {
    const request = await database.transaction();
    expect(await problem()).to.equal(null);
    await request.rollback();
  });

  it('changes when they have been busy for so long that nothing is known any more', async () => {
    const impatient = createReadiness(database, 0);
    const request = await database.transaction();
    expect(await impatient()).to.equal(SILENT);
    await request.rollback();
    await eventually('it to be ready', async () => (await impatient()) === null);
  });

  it('says that the database can only be read, for as long as that is so', async () => {
    await makeReadOnly(testDatabase.url);
    await eventually('it to say so', async () =>
      /^DATABASE_URL can only be read: /.test((await problem()) ?? ''),
    );
    await makeWritable(testDatabase.url);
    await eventually('it to be ready', async () => (await problem()) === null);
  });

  it('is found out again while all connections are busy, if it was not ready', async () => {
    await makeReadOnly(testDatabase.url);
    await eventually('it not to be ready', async () => (await problem()) !== null);
    await makeWritable(testDatabase.url);
    const done = new AbortController();
    const requests = Promise.all([1, 2].map(() => keepBusy(database, done.signal)));
    await eventually('it to be ready', async () => (await problem()) === null);
    done.abort();
    await requests;
  });

  it('is known soon of a database that says nothing', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const hanging = openDatabase(`postgres://nobody@127.0.0.1:${port}/none`, 1);
    expect(await createReadiness(hanging)()).to.equal(SILENT);
    for (const socket of sockets) socket.destroy();
    silent.close();
    await hanging.destroy();
  });
});

/** One request after the other, so that with two of these a connection never rests. */
async function keepBusy(database: Database, done: AbortSignal): Promise<void> {
  while (!done.aborted) await rows(database, 'SELECT pg_sleep(0.02)').catch(() => {});
}
