import type { Knex } from 'knex';

/**
 * Builds an index while processes go on writing, which takes no transaction. What a build
 * that was interrupted has left is of no use and goes first, so this may be run again.
 */
export async function buildIndex(knex: Knex, name: string, definition: string): Promise<void> {
  await knex.raw(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
  await knex.raw(`CREATE INDEX CONCURRENTLY ${name} ON ${definition}`);
}
