import type { Knex } from 'knex';
import { buildIndex } from './concurrent-index.ts';

/** Concurrently built indexes allow no transaction. */
export const config = { transaction: false };

/** Finds the failed jobs that nobody has replayed, however many were. */
export async function up(knex: Knex): Promise<void> {
  await buildIndex(knex, 'failed_jobs_not_replayed', 'failed_jobs (id) WHERE replayed_at IS NULL');
}
