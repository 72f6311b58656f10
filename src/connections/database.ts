import type { Socket } from 'node:net';
import knexModule, { type Knex } from 'knex';
import pg from 'pg';
import { connectionSettings, type DatabaseAddress } from './database-address.ts';
import { isRepeatable } from './database-errors.ts';

export type Database = Knex;
export type Transaction = Knex.Transaction;

const CONNECT_TIMEOUT_MS = 5_000;
const ACQUIRE_TIMEOUT_MS = 10_000;
/** No statement of a request or a job needs longer; what does is stuck. */
const STATEMENT_TIMEOUT_MS = 15_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000;

/** What holds in every session. Behind a pooler by transaction the role carries it instead. */
export const SESSION_SETTINGS = {
  timezone: 'UTC',
  statement_timeout: String(STATEMENT_TIMEOUT_MS),
  idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_TIMEOUT_MS),
  // Everything is made to be read from indexes, and disks without moving parts do not mind.
  random_page_cost: '1.1',
} as const;
const TRANSACTION_TRIES = 5;

const INT8_OID = 20;
pg.types.setTypeParser(INT8_OID, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error('A number of the database is too large');
  return value;
});

/**
 * Opens a pool. Nothing connects before the first query. A `patient` one waits for a slow
 * or silent server however long it takes, as migrations must.
 */
export function openDatabase(
  address: string | DatabaseAddress,
  poolMax: number,
  applicationName = 'malipo',
  patient = false,
): Database {
  const reached: DatabaseAddress = typeof address === 'string' ? { databaseUrl: address } : address;
  const isPooled = reached.databasePooling === 'transaction';
  return knexModule({
    client: 'pg',
    connection: {
      ...connectionSettings(reached),
      application_name: applicationName,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      // A pooler refuses what it could not give back to the next borrower as it was.
      ...(isPooled ? {} : sessionSettings(patient)),
    } as Knex.PgConnectionConfig,
    pool: {
      min: 0,
      max: poolMax,
      afterCreate: (client: pg.Client, done: Done) => {
        if (!patient) giveUpOnSilence(client);
        if (isPooled) keepUtc(client, done);
        else done(null, client);
      },
    },
    acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
    // Whoever asked gets the error and reports it; printing it as well would say it twice.
    log: { warn: ignore, error: ignore, deprecate: ignore, debug: ignore },
  });
}

/** The part of the pool that tells of its use; knex does not declare it. */
interface Pool {
  numUsed(): number;
  numFree(): number;
  numPendingAcquires(): number;
  max: number;
}

/** Where the connections of a database are lent from. */
export function poolOf(database: Database): Pool {
  return database.client.pool;
}

/** As the client sends them when it connects; those that `options` in the address would replace, by name. */
function sessionSettings(patient: boolean) {
  const { statement_timeout, idle_in_transaction_session_timeout, ...others } = SESSION_SETTINGS;
  const inOptions = patient ? { ...others, statement_timeout: '0' } : others;
  const words = Object.entries(inOptions).map(([name, value]) => `-c ${name}=${value}`);
  return {
    ...(patient ? {} : { statement_timeout }),
    idle_in_transaction_session_timeout,
    options: words.join(' '),
  };
}

function ignore(): void {}

type Done = (error: unknown, client: pg.Client) => void;

/** Longer than any statement may take: a connection that is silent for so long is dead. */
const SILENCE_MS = 20_000;

/**
 * A server that vanished without closing its connections would otherwise be waited for
 * for ever: its own statement timeout went with it.
 */
function giveUpOnSilence(client: pg.Client): void {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  stream.setTimeout(SILENCE_MS, () => stream.destroy(new Error('Connection terminated: silence')));
}

/**
 * PgBouncer remembers the time zone of each client, and gives it to every session that it
 * lends; a new client has that of the first session, which may be older than the role's own.
 */
function keepUtc(client: pg.Client, done: Done): void {
  client.query(`SET timezone TO '${SESSION_SETTINGS.timezone}'`, (error) => done(error, client));
}

/**
 * Runs `work` in one transaction and repeats it when Postgres asks for that (deadlock,
 * serialization). So `work` must do nothing but talk to the database.
 */
export async function inTransaction<Result>(
  database: Database,
  work: (trx: Transaction) => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await database.transaction(work);
    } catch (error) {
      if (tries >= TRANSACTION_TRIES || !isRepeatable(error)) throw error;
    }
  }
}

/** Runs `work` in the transaction that is open already, or else in one of its own. */
export async function inOneTransaction<Result>(
  database: Database | Transaction,
  work: (trx: Transaction) => Promise<Result>,
): Promise<Result> {
  return database.isTransaction ? work(database as Transaction) : inTransaction(database, work);
}

/** Rows of a raw query with named bindings. A literal question mark in it must be escaped. */
export async function rows<Row>(
  database: Database | Transaction,
  sql: string,
  bindings: object = {},
): Promise<Row[]> {
  const result = await database.raw<{ rows: Row[] }>(sql, bindings as never);
  return result.rows;
}

/** The first row of a raw query, if there is one. */
export async function firstRow<Row>(
  database: Database | Transaction,
  sql: string,
  bindings: object = {},
): Promise<Row | undefined> {
  return (await rows<Row>(database, sql, bindings))[0];
}

/** What time it is by the clock that all times are compared by: those of the machines differ. */
export async function databaseNow(database: Database | Transaction): Promise<Date> {
  const row = await firstRow<{ at: Date }>(database, 'SELECT clock_timestamp() AS at');
  return row!.at;
}
