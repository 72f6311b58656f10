import type { Knex } from 'knex';

/**
 * An answer that is kept before it is known: what was done is committed, and what the
 * caller is told of it follows. Until then the key repeats the record as it is.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(
    'ALTER TABLE idempotency_keys ADD COLUMN provisional boolean NOT NULL DEFAULT false',
  );
}
