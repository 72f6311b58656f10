import { type Database, rows } from '../../src/connections/database.ts';

/** What a merchant's access hangs on, and by which column a row of it is the merchant's. */
const OWNER = {
  merchants: 'id',
  apps: 'merchant_id',
  app_secrets: 'merchant_id',
  users: 'merchant_id',
  token_families: 'merchant_id',
} as const;

/** Changes all rows of a merchant, such as `assign(database, id, 'apps', 'active = false')`. */
export async function assign(
  database: Database,
  merchant_id: number,
  table: keyof typeof OWNER,
  assignment: string,
): Promise<void> {
  await rows(database, `UPDATE ${table} SET ${assignment} WHERE ${OWNER[table]} = :id`, {
    id: merchant_id,
  });
}
