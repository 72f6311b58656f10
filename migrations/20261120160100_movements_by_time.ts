import type { Knex } from 'knex';
import { buildIndex } from './concurrent-index.ts';

/** Concurrently built indexes allow no transaction. */
export const config = { transaction: false };

/** Lets a period's movements be compared with a gateway's statement of it. */
export async function up(knex: Knex): Promise<void> {
  await buildIndex(
    knex,
    'movements_by_time',
    'movements (gateway, (coalesce(completed_at, learned_at)))',
  );
}
