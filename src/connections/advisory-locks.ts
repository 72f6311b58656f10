import { rows, type Transaction } from './database.ts';

/** Work for one process at a time, with the number of its lock. The numbers mean nothing else. */
const LOCKS = {
  migrations: 4_207_000,
  'preparing deliveries': 4_207_001,
  'role defaults': 4_207_002,
  'runtime rights': 4_207_003,
  'staff accounts': 4_207_010,
} as const;

/** Waits for the lock, and holds it to the end of the transaction. */
export async function lockUntilCommit(trx: Transaction, lock: keyof typeof LOCKS): Promise<void> {
  // A statement with a binding would leave a snapshot, and an index that a migration builds
  // concurrently would wait for it.
  await rows(trx, `SELECT pg_advisory_xact_lock(${LOCKS[lock]})`);
}
