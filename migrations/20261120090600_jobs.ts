import type { Knex } from 'knex';

/** Between a committed step and its job: the outbox, leases, and jobs that failed for good. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    CREATE TABLE outbox (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      queue text NOT NULL,
      kind text NOT NULL,
      step text NOT NULL,
      merchant_id bigint NOT NULL,
      row_id uuid NOT NULL,
      step_no integer NOT NULL,
      run_at timestamptz NOT NULL,
      leased_until timestamptz NOT NULL DEFAULT '-infinity'
    );
    -- Whether a row's job is still on its way.
    CREATE INDEX outbox_by_row ON outbox (row_id);
    -- Every row is written, leased and deleted within a second: dead ones must go as soon.
    ALTER TABLE outbox SET (autovacuum_vacuum_scale_factor = 0,
      autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

    CREATE TABLE leases (
      name text PRIMARY KEY,
      holder text NOT NULL,
      held_until timestamptz NOT NULL
    );

    CREATE TABLE failed_jobs (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      queue text NOT NULL,
      kind text NOT NULL,
      step text NOT NULL,
      merchant_id bigint NOT NULL,
      row_id uuid NOT NULL,
      step_no integer NOT NULL,
      error text NOT NULL,
      stack text,
      failed_at timestamptz NOT NULL DEFAULT now(),
      UNIQUE (merchant_id, kind, row_id, step_no)
    );
  `);
}
