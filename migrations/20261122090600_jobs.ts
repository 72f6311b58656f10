import type { Knex } from 'knex';

/** The outbox between a committed step and its job, leases, and jobs that failed for good. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Every row is written, leased and deleted within a second, so dead rows must go as soon.
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
    ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
      autovacuum_vacuum_cost_delay = 0);
    -- For a backlog, of which some of the oldest and some of the newest rows go next.
    CREATE INDEX outbox_by_queue ON outbox (queue, id);
    -- For the sweeper, which leaves alone what still waits here.
    CREATE INDEX outbox_by_row ON outbox (row_id);

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
      -- The merchant of its payment.
      channel integer,
      error text NOT NULL,
      stack text,
      failed_at timestamptz NOT NULL DEFAULT now(),
      replayed_at timestamptz,
      replayed_by text,
      replayed_step text,
      -- The replay of many jobs that has replayed it.
      bulk_replay_id uuid,
      UNIQUE (merchant_id, kind, row_id, step_no)
    );
    CREATE INDEX failed_jobs_not_replayed ON failed_jobs (id) WHERE replayed_at IS NULL;
    CREATE INDEX failed_jobs_by_bulk_replay ON failed_jobs (bulk_replay_id, id)
      WHERE bulk_replay_id IS NOT NULL;
  `);
}
