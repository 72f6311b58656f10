/**
 * How many connections to PostgreSQL each process may have open, so that one process of
 * each type, and a command beside them, fit into the 20 of a small managed database.
 */
const POOL_MAX: Readonly<Record<string, number>> = {
  // Requests are short, and those that find no connection free wait in line.
  web: 4,
  // Outbox, events, deliveries and sweeper in turn, while a proof of the books takes one.
  dispatcher: 3,
  // No connection is held during a call out, so these serve many more jobs than they are.
  submission: 3,
  settlement: 3,
  webhooks: 3,
  // Refunds of one merchant wait for its wallet anyway.
  refunds: 2,
  // All types of worker in one process.
  worker: 7,
  // The command line runs one command; migrating takes a second for its lock.
  admin: 2,
  migrate: 2,
};

/** Connections of one process that share the work of all its queues in PostgreSQL. */
export const QUEUE_POOL_MAX = 3;
/** And the one on which all its workers listen. */
const QUEUE_LISTENERS = 1;

/**
 * The default for a process: `web`, `worker`, `admin`, or worker types joined by `+`, which
 * together never take more than all of them in one process.
 */
export function defaultPoolMax(processName: string): number {
  const sum = processName.split('+').reduce((total, type) => total + (POOL_MAX[type] ?? 0), 0);
  return Math.min(sum, POOL_MAX.worker!);
}

/** The most connections that this process opens to PostgreSQL, those of its queues included. */
export function connectionsAtMost(
  processName: string,
  config: { databasePoolMax?: number | undefined; redisUrl?: string | undefined },
): number {
  const pool = config.databasePoolMax ?? defaultPoolMax(processName);
  const hasQueues = !config.redisUrl && processName !== 'web' && processName !== 'admin';
  return hasQueues ? pool + QUEUE_POOL_MAX + QUEUE_LISTENERS : pool;
}
