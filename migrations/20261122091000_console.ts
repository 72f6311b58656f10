import type { Knex } from 'knex';
import { UPDATED_OFTEN } from './storage.ts';

/** The log-ins to the support console. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- In the form of connect-pg-simple. The cookie has the id with a signature, so a reader of the
    -- table cannot make a cookie of it.
    CREATE TABLE console_sessions (
      sid text PRIMARY KEY,
      sess jsonb NOT NULL,
      expire timestamptz NOT NULL
    ) WITH (${UPDATED_OFTEN});
    CREATE INDEX console_sessions_by_end ON console_sessions (expire);
  `);
}
