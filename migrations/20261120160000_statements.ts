import type { Knex } from 'knex';

/** What gateways say they have moved, line by line, and what each line came to here. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    CREATE TABLE statement_imports (
      id uuid PRIMARY KEY,
      gateway text NOT NULL,
      channel integer NOT NULL,
      -- Whole UTC days, both included.
      period_from date NOT NULL,
      period_to date NOT NULL,
      -- 'gateway', or the name of the file that it was read from.
      source text NOT NULL,
      imported_at timestamptz NOT NULL DEFAULT now(),
      CHECK (period_from <= period_to)
    );

    CREATE TABLE statement_lines (
      import_id uuid NOT NULL REFERENCES statement_imports (id),
      line_no integer NOT NULL,
      kind text NOT NULL CHECK (kind IN ('collection', 'payout', 'reversal')),
      reference text,
      account text,
      amount_cents bigint NOT NULL CHECK (amount_cents > 0),
      trans_id text,
      completed_at timestamptz NOT NULL,
      -- Known already; news that was applied; news that contradicts; of no payment here.
      result text CHECK (result IN ('matched', 'settled', 'contradicts', 'unknown')),
      PRIMARY KEY (import_id, line_no),
      CHECK (reference IS NOT NULL OR trans_id IS NOT NULL)
    );
    CREATE INDEX statement_lines_by_receipt ON statement_lines (import_id, trans_id);
    CREATE INDEX statement_lines_by_reference ON statement_lines (import_id, reference);
  `);
}
