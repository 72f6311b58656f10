import type { Knex } from 'knex';
import { buildIndex } from './concurrent-index.ts';

/** Concurrently built indexes allow no transaction. */
export const config = { transaction: false };

/** Lets a large merchant's lists be counted, and read in order, by every filter from an index alone. */
export async function up(knex: Knex): Promise<void> {
  await buildIndex(
    knex,
    'collections_by_status',
    'collections (merchant_id, status, created_at DESC, id DESC)',
  );
  await buildIndex(
    knex,
    'entries_by_account',
    'entries (merchant_id, account, created_at DESC, transaction_id DESC) WHERE transaction_id IS NOT NULL',
  );
  await buildIndex(
    knex,
    'entries_by_type',
    'entries (merchant_id, type, created_at DESC, transaction_id DESC) WHERE transaction_id IS NOT NULL',
  );
}
