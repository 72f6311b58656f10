import type { Knex } from 'knex';

/** Who has replayed a failed job, when, and with which step. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    ALTER TABLE failed_jobs
      ADD COLUMN replayed_at timestamptz,
      ADD COLUMN replayed_by text,
      ADD COLUMN replayed_step text
  `);
}
