import type { Knex } from 'knex';

/** What the books and the logs had at the end of each day, so that a later change is found. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE seals (
      -- As src/domain/seals/seal.ts has them.
      table_name text NOT NULL
        CHECK (table_name IN ('journals', 'entries', 'audit_log', 'security_events')),
      -- A day of Nairobi that is over.
      day date NOT NULL,
      row_count bigint NOT NULL CHECK (row_count >= 0),
      -- For each minute with rows: its beginning, their number and their hash.
      blocks jsonb NOT NULL,
      hash text NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
      hash_before text NOT NULL CHECK (hash_before ~ '^[0-9a-f]{64}$'),
      -- The database's own word.
      sealed_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (table_name, day),
      CHECK (day BETWEEN DATE '2020-01-01' AND CAST(sealed_at AT TIME ZONE 'Africa/Nairobi' AS date) - 1)
    );
    CREATE TRIGGER seals_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON seals
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

    -- For the rows of a day. Rows come in the order of their time, so such an index is a few pages,
    -- and a payment almost never writes to it.
    CREATE INDEX journals_of_day ON journals USING brin (created_at) WITH (autosummarize = on);
    CREATE INDEX entries_of_day ON entries USING brin (created_at) WITH (autosummarize = on);
  `);
}
