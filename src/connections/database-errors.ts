const UNIQUE_VIOLATION = '23505';
const CHECK_VIOLATION = '23514';
const DEADLOCK = '40P01';
const SERIALIZATION_FAILURE = '40001';
const LOCK_NOT_AVAILABLE = '55P03';
const QUERY_CANCELED = '57014';
/** A primary that has become a standby, or a database that has been made read-only. */
const READ_ONLY = '25006';
/** What a Redis says that has become a replica. */
const READ_ONLY_REPLICA = /^READONLY /;

/** SQL: whether this session can only read. */
export const IS_READ_ONLY = `current_setting('transaction_read_only') = 'on'`;

/**
 * For work that calls out before it writes: what could not be recorded is better not done.
 * @throws an outage, as a write would
 */
export function requireWritable({ isReadOnly }: { isReadOnly: boolean }): void {
  if (isReadOnly) {
    throw Object.assign(new Error('The database can only be read'), { code: READ_ONLY });
  }
}

/** Whether a store that can be reached refuses to be written. */
export function isReadOnlyError(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return code === READ_ONLY || READ_ONLY_REPLICA.test(String(message));
}

/** Whether this error says that this constraint, unique or a check, has refused a row. */
export function violates(error: unknown, constraint: string): boolean {
  const { code, constraint: name } = error as { code?: string; constraint?: string };
  return (code === UNIQUE_VIOLATION || code === CHECK_VIOLATION) && name === constraint;
}

/** Whether Postgres asks for the whole transaction again. */
export function isRepeatable(error: unknown): boolean {
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
