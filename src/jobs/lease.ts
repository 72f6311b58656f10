import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Database, firstRow, rows } from '../connections/database.ts';

/** Each dispatcher renews it, or takes it over, in every round of its sweeper. */
export const SWEEPER_LEASE = 'sweeper';

/** A name that no other holder ever has, in which people find the process. */
export function leaseHolder(): string {
  return `${hostname()} process ${process.pid} ${randomUUID()}`;
}

/** Gives a lease back before its end, so that somebody may take it at once. */
export async function releaseLease(
  database: Database,
  name: string,
  holder: string,
): Promise<void> {
  await rows(database, 'DELETE FROM leases WHERE name = :name AND holder = :holder', {
    name,
    holder,
  });
}

/**
 * Takes or keeps a lease: of several processes one does the work, and another takes over
 * when it dies. A help against doing things twice, never what correctness rests on.
 */
export async function holdLease(
  database: Database,
  name: string,
  holder: string,
  durationMs: number,
): Promise<boolean> {
  const row = await firstRow(
    database,
    `INSERT INTO leases (name, holder, held_until)
     VALUES (:name, :holder, now() + :duration_ms * interval '1 millisecond')
     ON CONFLICT (name) DO UPDATE
       SET holder = excluded.holder, held_until = excluded.held_until
       WHERE leases.holder = excluded.holder OR leases.held_until < now()
     RETURNING name`,
    { name, holder, duration_ms: durationMs },
  );
  return row !== undefined;
}
