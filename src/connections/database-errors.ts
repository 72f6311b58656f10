const UNIQUE_VIOLATION = '23505';
const CHECK_VIOLATION = '23514';
const DEADLOCK = '40P01';
const SERIALIZATION_FAILURE = '40001';
const LOCK_NOT_AVAILABLE = '55P03';
const QUERY_CANCELED = '57014';
const FEATURE_NOT_SUPPORTED = '0A000';
/** A primary has become a standby, or a database has been made read-only. */
const READ_ONLY = '25006';
/** The answer of a Redis that has become a replica. */
const READ_ONLY_REPLICA = /^READONLY /;

/** SQL that is true in a session that can only read. */
export const IS_READ_ONLY = `current_setting('transaction_read_only') = 'on'`;

/**
 * Refuses a read-only database before work calls out: its outcome could not be recorded.
 * @throws Error that counts as an outage, as the error of a write would
 */
export function requireWritable({ isReadOnly }: { isReadOnly: boolean }): void {
  if (isReadOnly) {
    throw Object.assign(new Error('The database can only be read'), { code: READ_ONLY });
  }
}

/** Recognises a store that answers and refuses to be written. */
export function isReadOnlyError(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return code === READ_ONLY || READ_ONLY_REPLICA.test(String(message));
}

/** Recognises a row that one of these unique or check constraints has refused. */
export function violates(error: unknown, ...constraints: string[]): boolean {
  const { code, constraint = '' } = error as { code?: string; constraint?: string };
  const isRefusal = code === UNIQUE_VIOLATION || code === CHECK_VIOLATION;
  return isRefusal && constraints.includes(constraint);
}

/** Recognises the errors after which the whole transaction may simply be repeated. */
export function isRepeatable(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === DEADLOCK || code === SERIALIZATION_FAILURE || isStalePlan(error);
}

/** Recognises a kept plan whose columns a migration has changed. The statement has done nothing. */
export function isStalePlan(error: unknown): boolean {
  const { code, routine } = error as { code?: string; routine?: string };
  return code === FEATURE_NOT_SUPPORTED && routine === 'RevalidateCachedQuery';
}

const NETWORK_CODES =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST\w+|ENET\w+|EADDR\w+)$/;
/** A certificate has expired, or another server has this address now. */
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
 * Recognises errors that mean that Postgres or Redis is away or overloaded. The work itself is
 * not at fault, and is simply done again later.
 */
export function isOutage(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === 'string') {
    if ([NETWORK_CODES, TLS_CODES, OUTAGE_SQLSTATES].some((codes) => codes.test(code))) return true;
    if (OUTAGE_CODES.includes(code)) return true;
  }
  return typeof message === 'string' && OUTAGE_MESSAGES.test(message);
}

/** Returns a message for people: never empty, one line, without the password of an address. */
export function messageOf(error: unknown): string {
  const { message, code, severity } = error as Record<string, string | undefined>;
  const inner = error instanceof AggregateError ? messageOf(error.errors[0]) : '';
  // Knex puts the whole statement before what Postgres says.
  const said = severity && message ? `${message.split(' - ').at(-1)} (SQLSTATE ${code})` : message;
  const text = (said || inner || code || String(error)).trim();
  const line = text.split('\n')[0] || 'unknown error';
  return line.replace(/\b(\w+:\/\/)[^@\s/]+@/g, '$1***@');
}
