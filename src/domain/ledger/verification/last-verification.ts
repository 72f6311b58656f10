import { type Database, firstRow, rows } from '../../../connections/database.ts';
import type { Verification } from './verify-ledger.ts';

export interface LastVerification extends Omit<Verification, 'counts'> {
  verified_at: Date;
  counts: Partial<Verification['counts']>;
}

/** Stores the result of a run over all merchants, so that every process can read it. */
export async function recordVerification(
  database: Database,
  { checked, counts, breaks }: Verification,
): Promise<void> {
  await rows(
    database,
    `INSERT INTO last_ledger_verification (verified_at, checked, counts, breaks)
     VALUES (now(), CAST(:checked AS jsonb), CAST(:counts AS jsonb), CAST(:breaks AS jsonb))
     ON CONFLICT (is_only) DO UPDATE SET verified_at = excluded.verified_at,
       checked = excluded.checked, counts = excluded.counts, breaks = excluded.breaks`,
    {
      checked: JSON.stringify(checked),
      counts: JSON.stringify(counts),
      breaks: JSON.stringify(breaks),
    },
  );
}

/** Reads the result of the last scheduled run; undefined before the first one. */
export function lastVerification(database: Database): Promise<LastVerification | undefined> {
  return firstRow<LastVerification>(
    database,
    'SELECT verified_at, checked, counts, breaks FROM last_ledger_verification',
  );
}
