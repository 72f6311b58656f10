import type { Knex } from 'knex';
import { buildIndex } from './concurrent-index.ts';

/** Concurrently built indexes allow no transaction. */
export const config = { transaction: false };

/** Lets the old rows that are deleted be found without reading a whole table. */
export async function up(knex: Knex): Promise<void> {
  // No summary of each stretch (brin): new rows take the space of those that were deleted, and
  // soon every stretch has young and old ones.
  await buildIndex(knex, 'attempts_by_age', 'attempts (started_at)');
  await buildIndex(
    knex,
    'callbacks_by_age',
    `callbacks (received_at) WHERE status <> 'stored' AND next_step IS NULL`,
  );
  await buildIndex(knex, 'token_families_by_end', 'token_families (expires_at)');
}
