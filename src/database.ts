import type { Socket } from 'node:net';
import knexModule, { type Knex } from 'knex';
import pg from 'pg';
import { connectionAdvice, POSTGRES_SETTINGS } from './stores/connection-advice.ts';
import { connectionSettings, type DatabaseAddress } from './stores/database-address.ts';

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

/** Oldest PostgreSQL that the migrations' SQL needs. */
const MIN_SERVER_VERSION = 150_000;

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
  bindings: Record<string, unknown> = {},
): Promise<Row[]> {
  const result = await database.raw<{ rows: Row[] }>(sql, bindings as never);
  return result.rows;
}

/** The first row of a raw query, if there is one. */
export async function firstRow<Row>(
  database: Database | Transaction,
  sql: string,
  bindings: Record<string, unknown> = {},
): Promise<Row | undefined> {
  return (await rows<Row>(database, sql, bindings))[0];
}

/** What time it is by the clock that all times are compared by: those of the machines differ. */
export async function databaseNow(database: Database | Transaction): Promise<Date> {
  const row = await firstRow<{ at: Date }>(database, 'SELECT clock_timestamp() AS at');
  return row!.at;
}

/** What a database is wanted for. */
type Use = 'read' | 'write';

/** Says in one line why the database cannot be used, or null when it can. */
export async function databaseProblem(
  database: Database,
  use: Use = 'write',
): Promise<string | null> {
  try {
    return await databaseFault(database, use);
  } catch (error) {
    const said = connectionAdvice(error, POSTGRES_SETTINGS) ?? messageOf(error);
    return `DATABASE_URL cannot be used: ${said}`;
  }
}

/** The same of a database that answers. @throws when it does not */
export async function databaseFault(
  database: Database,
  use: Use = 'write',
): Promise<string | null> {
  const found = await firstRow<{ version: number; isStandby: boolean; isReadOnly: boolean }>(
    database,
    `SELECT current_setting('server_version_num')::int AS version,
       pg_is_in_recovery() AS "isStandby",
       current_setting('transaction_read_only') = 'on' AS "isReadOnly"`,
  );
  if (!found || found.version < MIN_SERVER_VERSION) {
    return 'DATABASE_URL is a PostgreSQL older than 15: upgrade the server';
  }
  if (use === 'read' || !found.isReadOnly) return null;
  return `DATABASE_URL can only be read: ${found.isStandby ? STANDBY : READ_ONLY_DATABASE}`;
}

const STANDBY = 'it is a standby. Give the address of the primary, or promote it';
const READ_ONLY_DATABASE =
  'default_transaction_read_only is on, as when its provider has found the disk full. Make room, then end that';

/**
 * For work that calls out before it writes: what cannot be recorded is better not done.
 * @throws an outage, as a write would, while the database can only be read
 */
export async function requireWritable(database: Database): Promise<void> {
  const fault = await databaseFault(database);
  if (fault) throw Object.assign(new Error(fault), { code: READ_ONLY });
}

const UNIQUE_VIOLATION = '23505';
const CHECK_VIOLATION = '23514';
const DEADLOCK = '40P01';
const SERIALIZATION_FAILURE = '40001';
const LOCK_NOT_AVAILABLE = '55P03';
const QUERY_CANCELED = '57014';
/** A primary that has become a standby, or a database that has been made read-only. */
const READ_ONLY = '25006';

/** Whether this error says that this constraint, unique or a check, has refused a row. */
export function violates(error: unknown, constraint: string): boolean {
  const { code, constraint: name } = error as { code?: string; constraint?: string };
  return (code === UNIQUE_VIOLATION || code === CHECK_VIOLATION) && name === constraint;
}

function isRepeatable(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === DEADLOCK || code === SERIALIZATION_FAILURE;
}

const NETWORK_CODES =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST\w+|ENET\w+|EADDR\w+)$/;
/** A certificate that has expired, or a server that is not the one any more. */
const TLS_CODES = /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_|ERR_SSL_|EPROTO$)/;
/** SQLSTATE classes: connection exceptions, insufficient resources, operator intervention. */
const OUTAGE_SQLSTATES = /^(08|53|57P|58)/;
const OUTAGE_MESSAGES =
  /Connection terminated|Timeout acquiring a connection|Unable to acquire a connection|timeout expired|Client has encountered a connection error|Connection is closed|Connection ended|Query read timeout|not queryable|timeout exceeded when trying to connect|max retries per request|Stream isn't writeable/i;

const OUTAGE_CODES = [
  DEADLOCK,
  SERIALIZATION_FAILURE,
  LOCK_NOT_AVAILABLE,
  QUERY_CANCELED,
  READ_ONLY,
];

/**
 * Whether an error means that Postgres or Redis is away or overloaded, rather than that
 * this work is impossible: such work is simply done again later.
 */
export function isOutage(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === 'string') {
    if ([NETWORK_CODES, TLS_CODES, OUTAGE_SQLSTATES].some((codes) => codes.test(code))) return true;
    if (OUTAGE_CODES.includes(code)) return true;
  }
  return typeof message === 'string' && OUTAGE_MESSAGES.test(message);
}

/** A message for people: never empty, never more than one line, never a connection string. */
export function messageOf(error: unknown): string {
  const { message, code, severity } = error as Record<string, string | undefined>;
  const inner = error instanceof AggregateError ? messageOf(error.errors[0]) : '';
  // Knex puts the whole statement before what Postgres says.
  const said = severity && message ? `${message.split(' - ').at(-1)} (SQLSTATE ${code})` : message;
  const text = (said || inner || code || String(error)).trim();
  const line = text.split('\n')[0] || 'unknown error';
  return line.replace(/\b(\w+:\/\/)[^@\s/]+@/g, '$1***@');
}
