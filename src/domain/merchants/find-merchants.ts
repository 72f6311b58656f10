import { type Database, rows } from '../../connections/database.ts';
import type { MerchantRecord } from './manage-merchants.ts';

/** A merchant in a list. */
export type MerchantHit = Pick<MerchantRecord, 'id' | 'name' | 'active' | 'approved'>;

/** Shorter parts of a name would find nearly everybody. */
const MIN_PART_LENGTH = 3;

/** Finds merchants by id, e-mail address or a part of the name, in the order of their names. */
export function findMerchants(
  database: Database,
  what: string,
  limit: number,
): Promise<MerchantHit[]> {
  const part = what.length < MIN_PART_LENGTH ? null : what;
  return rows<MerchantHit>(
    database,
    `SELECT id, name, active, approved FROM merchants
     WHERE CAST(id AS text) = :what OR lower(email) = lower(:what)
       OR position(lower(CAST(:part AS text)) IN lower(name)) > 0
     ORDER BY name, id LIMIT :limit`,
    { what, part, limit },
  );
}
