import type { Knex } from 'knex';
import { UPDATED_OFTEN } from './storage.ts';

/** Replays of many failed jobs, which a dispatcher works off one job after the other. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE bulk_replays (
      id uuid PRIMARY KEY,
      -- Which failed jobs, as src/domain/support/failed-job-store.ts selects them.
      filter jsonb NOT NULL,
      -- Jobs that failed later are not of it: one that fails again must not come round again.
      last_job bigint NOT NULL,
      -- Jobs per second.
      rate integer NOT NULL CHECK (rate > 0),
      -- It stops when this many of its jobs have failed again.
      stop_after integer NOT NULL DEFAULT 10 CHECK (stop_after > 0),
      -- E-mail addresses of staff. NULL: one person may replay so few alone.
      requested_by text NOT NULL,
      approved_by text,
      reason text NOT NULL,
      requested_at timestamptz NOT NULL DEFAULT now(),
      state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'stopped')),
      -- Why it stopped before the last job.
      why text CHECK ((state = 'stopped') = (why IS NOT NULL)),
      ended_at timestamptz CHECK ((state = 'running') = (ended_at IS NULL)),
      -- The last job that was looked at.
      done_up_to bigint NOT NULL DEFAULT 0,
      -- How many jobs came to each outcome.
      outcomes jsonb NOT NULL DEFAULT '{}',
      -- The process that works on it now.
      leased_by text,
      leased_until timestamptz NOT NULL DEFAULT '-infinity'
    ) WITH (${UPDATED_OFTEN});
    CREATE INDEX bulk_replays_running ON bulk_replays (id) WHERE state = 'running';
  `);
}
