import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { OperatorRefusal } from '../operator-refusal.ts';
import { type Differences, differences, newValues, type Page } from './differences.ts';

/** A merchant as its operator sees it. NULL stands for the configuration's value. */
export interface MerchantRecord {
  id: number;
  name: string;
  email: string;
  phone_number: string;
  active: boolean;
  approved: boolean;
  commission_bps: number | null;
  commission_fixed_cents: number | null;
  rate_limit_per_minute: number | null;
  rate_limit_burst: number | null;
  created_at: Date;
}

export type MerchantChanges = Partial<Omit<MerchantRecord, 'id' | 'created_at'>>;

const COLUMNS = `id, name, email, phone_number, active, approved, commission_bps,
  commission_fixed_cents, rate_limit_per_minute, rate_limit_burst, created_at`;

/** Merchants in the order of their numbers. */
export function listMerchants(database: Database, page: Page<number>): Promise<MerchantRecord[]> {
  return rows<MerchantRecord>(
    database,
    `SELECT ${COLUMNS} FROM merchants WHERE id > :after ORDER BY id LIMIT :limit`,
    { after: page.after ?? 0, limit: page.limit },
  );
}

/** @throws OperatorRefusal when there is no such merchant. */
export async function requireMerchant(
  database: Database | Transaction,
  id: number,
): Promise<MerchantRecord> {
  return found(
    await firstRow(database, `SELECT ${COLUMNS} FROM merchants WHERE id = :id`, { id }),
    id,
  );
}

/**
 * Reads a merchant and makes other operators' changes to it wait; payments do not wait.
 * @throws OperatorRefusal when there is no such merchant.
 */
export async function lockMerchant(trx: Transaction, id: number): Promise<MerchantRecord> {
  return found(
    await firstRow(trx, `SELECT ${COLUMNS} FROM merchants WHERE id = :id FOR NO KEY UPDATE`, {
      id,
    }),
    id,
  );
}

function found(merchant: MerchantRecord | undefined, id: number): MerchantRecord {
  if (!merchant) throw new OperatorRefusal(`There is no merchant ${id}`);
  return merchant;
}

/**
 * Gives a merchant's columns other values. @returns it as it is now, and what became different.
 * @throws OperatorRefusal when there is no such merchant.
 */
export async function updateMerchant(
  trx: Transaction,
  id: number,
  wanted: MerchantChanges,
): Promise<{ merchant: MerchantRecord; changed: Differences }> {
  const before = await lockMerchant(trx, id);
  const changed = differences(before, wanted);
  const names = Object.keys(changed);
  if (names.length === 0) return { merchant: before, changed };
  const merchant = await firstRow<MerchantRecord>(
    trx,
    `UPDATE merchants SET ${names.map((name) => `${name} = :${name}`).join(', ')}
     WHERE id = :id RETURNING ${COLUMNS}`,
    { ...newValues(changed), id },
  );
  return { merchant: merchant!, changed };
}
