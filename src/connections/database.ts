import type { Socket } from 'node:net';
import knexModule, { type Knex } from 'knex';
import pg from 'pg';
import { connectionSettings, type DatabaseAddress } from './address.ts';
import { isRepeatable, isStalePlan } from './database-errors.ts';
import { renewStatements, statementOf, valuesOf } from './statement.ts';

export type Database = Knex;
export type Transaction = Knex.Transaction;

const CONNECT_TIMEOUT_MS = 5_000;
const ACQUIRE_TIMEOUT_MS = 10_000;
/** No statement of a request or a job needs longer. One that does is stuck. */
const STATEMENT_TIMEOUT_MS = 15_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000;

/** Settings of every session. Behind a pooler by transaction, the role has them instead. */
export const SESSION_SETTINGS = {
  timezone: 'UTC',
  statement_timeout: String(STATEMENT_TIMEOUT_MS),
  idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_TIMEOUT_MS),
  // Every query is made for an index, and on solid-state disks random reads cost little more.
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
 * Opens a pool. Nothing connects before the first query. A `patient` pool waits for a slow or
 * silent server without limit, as migrations must.
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
    // A pooler by transaction must know prepared statements, or sessions mix them up.
    keepsPlans: !isPooled || reached.databasePoolerPrepares === true,
    connection: {
      ...connectionSettings(reached),
      application_name: applicationName,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      // A pooler refuses settings that it could not reset for the next client.
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
    // The caller gets the error and reports it. Knex would print it a second time.
    log: { warn: ignore, error: ignore, deprecate: ignore, debug: ignore },
  } as Knex.Config);
}

/** The counters of the pool, which knex does not declare. */
interface Pool {
  numUsed(): number;
  numFree(): number;
  numPendingAcquires(): number;
  max: number;
}

export function poolOf(database: Database): Pool {
  return database.client.pool;
}

/**
 * Returns the session settings as the client sends them when it connects. Time-outs go by name,
 * because `options` in the address would replace them.
 */
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

/** Longer than any statement may take. A connection that is silent for so long is dead. */
const SILENCE_MS = 20_000;

/**
 * Ends a connection that is silent. A server that vanished without closing its connections
 * would otherwise be waited for without end, because its statement timeout vanished with it.
 */
function giveUpOnSilence(client: pg.Client): void {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  stream.setTimeout(SILENCE_MS, () => stream.destroy(new Error('Connection terminated: silence')));
}

/**
 * Sets the time zone once for each client of PgBouncer, which then gives it to every session
 * that it lends to that client. Otherwise a client has the time zone of its first session, and
 * that session may be older than the setting of the role.
 */
function keepUtc(client: pg.Client, done: Done): void {
  client.query(`SET timezone TO '${SESSION_SETTINGS.timezone}'`, (error) => done(error, client));
}

/**
 * Runs `work` in one transaction, and repeats it after a deadlock or a serialization failure.
 * So `work` must do nothing but talk to the database.
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

/**
 * Runs `work` on a snapshot of the database. It does not see payments that move meanwhile,
 * cannot change anything and locks no row.
 */
export async function inSnapshot<Result>(
  database: Database,
  work: (trx: Transaction) => Promise<Result>,
): Promise<Result> {
  return inTransaction(database, async (trx) => {
    await rows(trx, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    return work(trx);
  });
}

/** Runs `work` in the transaction that is already open, or else in one of its own. */
export async function inOneTransaction<Result>(
  database: Database | Transaction,
  work: (trx: Transaction) => Promise<Result>,
): Promise<Result> {
  return database.isTransaction ? work(database as Transaction) : inTransaction(database, work);
}

/**
 * `fresh` is for batches of rows that come and go, as in the outbox: a plan that was made while
 * there were none reads a table again for every row, once there are thousands.
 */
export type Plan = 'kept' | 'fresh';

/**
 * The most rows for which a batch takes a kept plan: making the plan costs more than they do, and a bad plan
 * does little harm.
 */
export const FEW_ROWS = 50;

/**
 * Runs one statement with named bindings and returns its rows. All SQL of the service goes through
 * here. PostgreSQL keeps the plan of each text, so a text must not vary with the data.
 * Knex is here for its pool, transactions and migrations; nothing uses its query builder.
 */
export async function rows<Row>(
  database: Database | Transaction,
  sql: string,
  bindings: object = {},
  plan: Plan = 'kept',
): Promise<Row[]> {
  try {
    return await runOnce<Row>(database, sql, bindings, plan);
  } catch (error) {
    // A transaction is repeated as a whole.
    if (database.isTransaction || !isStalePlan(error)) throw error;
    return runOnce<Row>(database, sql, bindings, plan);
  }
}

async function runOnce<Row>(
  database: Database | Transaction,
  sql: string,
  bindings: object,
  plan: Plan,
): Promise<Row[]> {
  const { client } = database;
  const statement = statementOf(sql);
  const { text, name } = statement;
  const values = valuesOf(statement, bindings);
  if (database.isTransaction && (database as Transaction).isCompleted()) {
    throw new Error(`The transaction has ended before: ${sql}`);
  }
  client.emit('query', { sql: text, bindings: values });
  const connection: pg.Client = await client.acquireConnection();
  try {
    const isKept = plan === 'kept' && name && client.config.keepsPlans;
    return (await connection.query({ text, values, ...(isKept ? { name } : {}) })).rows;
  } catch (error) {
    // The plans of other sessions are stale too.
    if (isStalePlan(error)) renewStatements(statement);
    throw error;
  } finally {
    client.releaseConnection(connection);
  }
}

export async function firstRow<Row>(
  database: Database | Transaction,
  sql: string,
  bindings: object = {},
  plan: Plan = 'kept',
): Promise<Row | undefined> {
  return (await rows<Row>(database, sql, bindings, plan))[0];
}

/** Runs one statement and tells whether it returns a row. */
export async function hasRow(
  database: Database | Transaction,
  sql: string,
  bindings: object = {},
): Promise<boolean> {
  return (await firstRow(database, sql, bindings)) !== undefined;
}

/** Returns the time of the database. All times are compared by it, because machines' clocks differ. */
export async function databaseNow(database: Database | Transaction): Promise<Date> {
  const row = await firstRow<{ at: Date }>(database, 'SELECT clock_timestamp() AS at');
  return row!.at;
}
