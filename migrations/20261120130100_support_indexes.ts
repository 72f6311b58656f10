import type { Knex } from 'knex';
import { buildIndex } from './concurrent-index.ts';

/** Concurrently built indexes allow no transaction. */
export const config = { transaction: false };

/** Lets support find open, parked and named payments without reading a whole table. */
export async function up(knex: Knex): Promise<void> {
  await buildIndex(
    knex,
    'collections_open',
    `collections (deadline_at) WHERE status IN ('pending', 'processing')`,
  );
  await buildIndex(
    knex,
    'returns_open',
    `returns (deadline_at) WHERE status IN ('pending', 'processing')`,
  );
  await buildIndex(
    knex,
    'movements_in_suspense',
    `movements (merchant_id) WHERE booked = 'suspense'`,
  );
  await buildIndex(knex, 'movements_by_receipt', 'movements (trans_id) WHERE trans_id IS NOT NULL');
  await buildIndex(knex, 'discrepancies_by_payment', 'discrepancies (merchant_id, payment_id)');
  for (const table of ['collections', 'payouts', 'reversals', 'returns']) {
    await buildIndex(
      knex,
      `${table}_parked`,
      `${table} (created_at) WHERE parked_reason IS NOT NULL`,
    );
    await buildIndex(
      knex,
      `${table}_by_external_ref`,
      `${table} (external_ref) WHERE external_ref IS NOT NULL`,
    );
  }
}
