import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Database, hasRow, rows, type Transaction } from './database.ts';

/** Work for one process at a time, with the number of its lock. The numbers mean nothing else. */
const LOCKS = {
  migrations: 4_207_000,
  'preparing deliveries': 4_207_001,
  'role defaults': 4_207_002,
  'runtime rights': 4_207_003,
  charges: 4_207_004,
  'stakes of decisions': 4_207_005,
  'matching statements': 4_207_006,
  'staff accounts': 4_207_010,
} as const;

/** Waits for the lock, and holds it to the end of the transaction. */
export async function lockUntilCommit(trx: Transaction, lock: keyof typeof LOCKS): Promise<void> {
  // A statement with a binding would leave a snapshot, and an index that a migration builds
  // concurrently would wait for it.
  await rows(trx, `SELECT pg_advisory_xact_lock(${LOCKS[lock]})`);
}

/**
 * Makes a claim on a receipt ('shared') and the giving up of it ('exclusive') take turns until the end of the
 * transaction. So a claim finds the owner, or the transaction that gives the receipt up finds the claim.
 */
export async function lockReceipt(
  trx: Transaction,
  receipt: string,
  how: 'shared' | 'exclusive',
): Promise<void> {
  const lock = how === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock';
  await rows(trx, `SELECT ${lock}(hashtextextended('receipt ' || upper(:receipt), 0))`, {
    receipt,
  });
}

/** Returns a name that is unique and that says which process holds the lease. */
export function leaseHolder(): string {
  return `${hostname()} process ${process.pid} ${randomUUID()}`;
}

/**
 * Takes or renews a lease: one of several processes does the work, and another takes over
 * when it dies. Correctness never rests on a lease; it only saves double work. It counts from this
 * moment, also in a long transaction.
 * @returns whether this holder has the lease now
 */
export async function holdLease(
  database: Database | Transaction,
  name: string,
  holder: string,
  durationMs: number,
): Promise<boolean> {
  return hasRow(
    database,
    `INSERT INTO leases (name, holder, held_until)
     VALUES (:name, :holder, clock_timestamp() + :duration_ms * interval '1 millisecond')
     ON CONFLICT (name) DO UPDATE
       SET holder = excluded.holder, held_until = excluded.held_until
       WHERE leases.holder = excluded.holder OR leases.held_until < clock_timestamp()
     RETURNING name`,
    { name, holder, duration_ms: durationMs },
  );
}

/** Gives a lease back before its end, so that another process can take it at once. */
export async function releaseLease(
  database: Database,
  name: string,
  holder: string,
): Promise<void> {
  const lease = { name, holder };
  await rows(database, 'DELETE FROM leases WHERE name = :name AND holder = :holder', lease);
}

/** Renews a lease while the work goes on, and gives it back after the work. */
export async function whileHeld<Result>(
  database: Database,
  { name, holder, durationMs }: { name: string; holder: string; durationMs: number },
  work: () => Promise<Result>,
): Promise<Result> {
  // If this fails, the lease runs out.
  const renew = () => holdLease(database, name, holder, durationMs).catch(() => false);
  let renewal = renew();
  const timer = setInterval(() => {
    renewal = renew();
  }, durationMs / RENEWALS_OF_LEASE);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await renewal;
    await releaseLease(database, name, holder).catch(() => {});
  }
}

const RENEWALS_OF_LEASE = 3;
