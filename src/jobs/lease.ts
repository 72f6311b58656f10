import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Database, hasRow, rows } from '../connections/database.ts';

/** Each dispatcher renews this lease, or takes it over, in every round of its sweeper. */
export const SWEEPER_LEASE = 'sweeper';

/** Returns a name that is unique and that says which process holds the lease. */
export function leaseHolder(): string {
  return `${hostname()} process ${process.pid} ${randomUUID()}`;
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

/**
 * Takes or renews a lease: one of several processes does the work, and another takes over
 * when it dies. Correctness never rests on a lease; it only saves double work.
 * @returns whether this holder has the lease now
 */
export async function holdLease(
  database: Database,
  name: string,
  holder: string,
  durationMs: number,
): Promise<boolean> {
  return hasRow(
    database,
    `INSERT INTO leases (name, holder, held_until)
     VALUES (:name, :holder, now() + :duration_ms * interval '1 millisecond')
     ON CONFLICT (name) DO UPDATE
       SET holder = excluded.holder, held_until = excluded.held_until
       WHERE leases.holder = excluded.holder OR leases.held_until < now()
     RETURNING name`,
    { name, holder, duration_ms: durationMs },
  );
}
