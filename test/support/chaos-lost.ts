import { type Database, rows } from '../../src/connections/database.ts';
import { callEndOf } from '../../src/domain/submission/attempts.ts';

/** A payment of Daraja without an acknowledgement, long after its callback would have come. */
export interface Lost {
  kind: 'collection' | 'reversal' | 'return';
  /** Null for a return. */
  refNo: string | null;
  account: string;
}

/** Longer than the simulator takes for anything. */
const SILENT_MS = 10_000;

/**
 * Finds the payments that may not go again and of which nothing more will be heard: the request or
 * its answer was lost, and so was the callback, if there was one. Daraja has no reference by which
 * they could be asked about.
 */
export function findLost(database: Database): Promise<Lost[]> {
  const of = (kind: Lost['kind'], refNo: string, account: string) =>
    `SELECT '${kind}' AS kind, ${refNo} AS "refNo", ${account} AS account FROM ${kind}s p
     WHERE p.status = 'pending' AND p.next_step = 'poll' AND p.external_ref IS NULL
       AND starts_with(p.gateway, 'daraja-')
       AND NOT EXISTS (SELECT FROM attempts a WHERE a.merchant_id = p.merchant_id
         AND a.payment_kind = '${kind}' AND a.payment_id = p.id
         AND ${callEndOf('a')} + interval '${SILENT_MS} ms' > now())`;
  return rows<Lost>(
    database,
    [
      of('collection', 'ref_no', 'payfrom'),
      of('reversal', 'ref_no', 'account'),
      of('return', 'NULL', 'account'),
    ].join(' UNION ALL '),
  );
}

/** Lets the deadline of open collections pass, so that a statement can rule them out. */
export async function passDeadlines(database: Database): Promise<void> {
  await rows(
    database,
    `UPDATE collections SET deadline_at = now() - interval '1 minute'
     WHERE status = 'pending' AND next_step = 'poll'`,
  );
}

/** Returns the references of the collections that a statement has ruled out. */
export async function findRuledOut(database: Database): Promise<string[]> {
  const found = await rows<{ ref_no: string }>(
    database,
    `SELECT c.ref_no FROM collections c JOIN payment_history h ON h.merchant_id = c.merchant_id
       AND h.payment_kind = 'collection' AND h.payment_id = c.id
     WHERE h.to_status = 'failed' AND h.cause = 'statement'`,
  );
  return found.map(({ ref_no }) => ref_no);
}
