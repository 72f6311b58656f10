import { randomBytes } from 'node:crypto';
import {
  type Database,
  inTransaction,
  openDatabase,
  poolOf,
  rows,
} from '../../src/connections/database.ts';
import { emptyingOf, schemaMark } from './empty-database.ts';
import { environment } from './environment.ts';

export interface TestDatabase {
  name: string;
  /** As the service's role. */
  url: string;
  /** Has the rights of the service, and no others. */
  database: Database;
  ownerUrl: string;
  /** For what only the owner of the tables may. Connects when it is first used. */
  owner: Database;
  drop(): Promise<void>;
}

/** A database that the next file gets empty, with its connections. */
interface Reusable extends Omit<TestDatabase, 'drop'> {
  emptying: string;
  schemaMark: string;
}

const APPLICATION_NAME = 'malipo-test';
const POOL_MAX = 10;
/** The server must have ended the connections of others before somebody else gets the database. */
const END_TIMEOUT_MS = 5_000;
/** Ends what a test has left connected, such as a worker that it has frozen. */
const END_OTHERS = `SELECT pg_terminate_backend(pid, :END_TIMEOUT_MS) FROM pg_stat_activity
  WHERE datname = :name AND application_name <> :own`;
const idle: Reusable[] = [];
const inUse = new Map<string, Database>();

/**
 * Makes a database that is migrated and empty, or a copy of one that nobody is connected to. An
 * empty one is an installation of its own. A copy is the same as what it is copied from.
 */
export async function createTestDatabase(template = environment.template): Promise<TestDatabase> {
  if (template !== environment.template) {
    await onServer(END_OTHERS, { name: template, own: '', END_TIMEOUT_MS });
    const copy = await clone(template);
    return { ...copy, drop: () => remove(copy) };
  }
  const given = idle.pop() ?? (await makeReusable());
  inUse.set(given.url, given.database);
  return { ...given, drop: () => giveBack(given) };
}

/** Returns the connections of a database that a test has now, by its address. */
export function keptDatabase(url: string): Database | undefined {
  return inUse.get(url);
}

/** Drops the databases that wait for a next file. */
export async function dropIdleDatabases(): Promise<void> {
  for (const waiting of idle.splice(0)) await remove(waiting);
  await server?.destroy();
  server = undefined;
}

async function makeReusable(): Promise<Reusable> {
  const made = await clone(environment.template);
  const emptying = await emptyingOf(made.owner);
  await rows(made.owner, emptying);
  return { ...made, emptying, schemaMark: await schemaMark(made.owner) };
}

async function clone(template: string): Promise<Omit<TestDatabase, 'drop'>> {
  const name = `${environment.databasePrefix}${randomBytes(6).toString('hex')}`;
  const { owner } = environment.roles;
  // Copying its files costs less than logging each page of them.
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${template} OWNER ${owner} STRATEGY FILE_COPY`);
  await onServer(`REVOKE TEMPORARY ON DATABASE ${name} FROM PUBLIC`);
  const [url, ownerUrl] = [environment.urlOf(name), environment.ownerUrlOf(name)];
  const database = openDatabase(url, POOL_MAX, APPLICATION_NAME);
  const ownerOfIt = openDatabase(ownerUrl, 2, APPLICATION_NAME);
  owners.set(database, ownerOfIt);
  return { name, url, database, ownerUrl, owner: ownerOfIt };
}

/** The owners of the databases, by what their tests work with. */
const owners = new WeakMap<Database, Database>();

/**
 * Changes what the service may not change, and what triggers keep, such as the time of a row.
 * @param database is the one of the service
 */
export function rewrite(database: Database, sql: string, bindings: object = {}): Promise<void> {
  return tamper(owners.get(database)!, sql, bindings);
}

/** Does, as the owner, what no trigger is there to refuse. */
export async function tamper(owner: Database, sql: string, bindings: object): Promise<void> {
  await inTransaction(owner, async (trx) => {
    await rows(trx, 'SET LOCAL session_replication_role = replica');
    await rows(trx, sql, bindings);
  });
}

/** Empties a database for the next file, unless a test has left it in another state. */
async function giveBack(given: Reusable): Promise<void> {
  const { name, url, database, owner } = given;
  inUse.delete(url);
  if (!isUnused(database) || !isUnused(owner)) return remove(given);
  await onServer(END_OTHERS, { name, own: APPLICATION_NAME, END_TIMEOUT_MS });
  if ((await schemaMark(owner)) !== given.schemaMark) return remove(given);
  await rows(owner, given.emptying);
  idle.push(given);
}

/** Tells whether a pool is open and nothing of a test is under way in it. */
function isUnused(database: Database): boolean {
  const pool = poolOf(database) as ReturnType<typeof poolOf> | undefined;
  return pool !== undefined && pool.numUsed() === 0 && pool.numPendingAcquires() === 0;
}

async function remove({ name, database, owner }: Omit<TestDatabase, 'drop'>): Promise<void> {
  await database.destroy();
  await owner.destroy();
  await onServer(`DROP DATABASE ${name} WITH (FORCE)`);
}

/** The connection to the server's own database, as superuser. */
let server: Database | undefined;

async function onServer(statement: string, values: object = {}): Promise<void> {
  server ??= openDatabase(environment.serverUrl, 1, APPLICATION_NAME);
  await rows(server, statement, values);
}

/** Does what no role of a database may, in the database of this name; null is the server's own. */
export async function asSuperuser(name: string | null, statements: string[]): Promise<void> {
  const url = new URL(environment.serverUrl);
  if (name !== null) url.pathname = `/${name}`;
  const database = openDatabase(url.href, 1, APPLICATION_NAME);
  try {
    for (const statement of statements) await rows(database, statement);
  } finally {
    await database.destroy();
  }
}
