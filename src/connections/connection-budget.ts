/**
 * The most connections to PostgreSQL of each type of process. One process of each type, and a
 * command beside them, need 24: a little more than a small managed database has.
 */
const POOL_MAX: Readonly<Record<string, number>> = {
  // Requests are short. One that finds no free connection waits in line.
  web: 4,
  // A page asks several questions at once. Each request also reads its session.
  console: 4,
  // Its loops take turns, while verifying the ledger takes one.
  dispatcher: 3,
  // No connection is held during a call out, so two serve many jobs. On a full machine PostgreSQL
  // works most for those with most connections: what has begun goes before what begins.
  submission: 2,
  settlement: 2,
  webhooks: 5,
  // Refunds of one merchant wait for its wallet anyway.
  refunds: 2,
  // All types of worker in one process.
  worker: 7,
  // The command line runs one command. Migrating takes a second connection for its lock.
  admin: 2,
  migrate: 2,
};

/** These ask the queues for a moment, if at all. */
const WITHOUT_QUEUES = ['web', 'admin'];

/** Connections of one process that all its queues in PostgreSQL share. */
const QUEUE_POOL_MAX = 3;
/** The connection on which all workers of a process listen, and the one on which its dispatcher does. */
const LISTENERS = 1;

/** Returns how many connections all queues of a process in PostgreSQL share. */
export function queuePoolMax(processName: string): number {
  // It only looks, at one queue after the other.
  return processName === 'console' ? 1 : QUEUE_POOL_MAX;
}

/**
 * Returns the default of a process: `web`, `worker`, `admin`, or types of worker joined by `+`.
 * Several types never take more than all types in one process.
 */
export function defaultPoolMax(processName: string): number {
  const sum = processName.split('+').reduce((total, type) => total + (POOL_MAX[type] ?? 0), 0);
  return Math.min(sum, POOL_MAX.worker!);
}

/** Returns the most connections that a process opens to PostgreSQL, with the connections of its queues. */
export function connectionsAtMost(
  processName: string,
  config: { databasePoolMax?: number | undefined; redisUrl?: string | undefined },
): number {
  const pool = config.databasePoolMax ?? defaultPoolMax(processName);
  if (config.redisUrl || WITHOUT_QUEUES.includes(processName)) return pool;
  const types = processName.split('+');
  const dispatches = types.some((type) => type === 'dispatcher' || type === 'worker');
  const works = types.some((type) => type !== 'dispatcher' && type !== 'console');
  const listeners = (dispatches ? LISTENERS : 0) + (works ? LISTENERS : 0);
  return pool + queuePoolMax(processName) + listeners;
}
