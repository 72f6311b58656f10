import { AsyncLocalStorage } from 'node:async_hooks';

/** Where an order comes from. The audit log keeps it with every line. */
export interface Origin {
  /** `service` is what the service does by itself. */
  door: 'console' | 'command line' | 'service';
  /** The IP address of a browser; at the command line the account and the host. */
  address: string | null;
  /** Names the session of a browser, or the token of a command, without giving it away. */
  session: string | null;
  /** The id in the log lines of the request. */
  request: string | null;
}

/** SQL: a command in the audit log has opened the database itself, beside the service. */
export const IS_BREAK_GLASS = `door = 'command line' AND address LIKE '%@%'`;

/** The origin of the work that the service does by itself. */
export const NOWHERE: Origin = { door: 'service', address: null, session: null, request: null };
const origins = new AsyncLocalStorage<Origin>();

/** Does something, and all that follows from it, with this origin. */
export function withOrigin<Result>(origin: Origin, work: () => Result): Result {
  return origins.run(origin, work);
}

/** Returns where the present order comes from. */
export function presentOrigin(): Origin {
  return origins.getStore() ?? NOWHERE;
}
