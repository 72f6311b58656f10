import type { Knex } from 'knex';

/** What merchants are told: settlement events, their deliveries, and every attempt. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    CREATE TABLE events (
      merchant_id bigint NOT NULL REFERENCES merchants (id),
      -- Also the webhook-id of every delivery.
      id uuid NOT NULL,
      app_code bigint NOT NULL,
      payment_kind text NOT NULL CHECK (payment_kind IN ('collection')),
      payment_id uuid NOT NULL,
      type text NOT NULL CHECK (type IN ('transaction.completed', 'transaction.failed')),
      callback_url text NOT NULL,
      -- Its scheme, host and port: what the cap on deliveries counts by.
      endpoint text NOT NULL,
      -- The exact bytes that are signed and sent, the same at every attempt.
      body text NOT NULL,
      -- Given after the commit, in the order in which readers may see the events.
      sequence bigint,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (merchant_id, id),
      CONSTRAINT events_one_per_payment UNIQUE (merchant_id, payment_kind, payment_id),
      UNIQUE (merchant_id, sequence),
      FOREIGN KEY (merchant_id, app_code) REFERENCES apps (merchant_id, code)
    );
    CREATE INDEX events_unnumbered ON events (created_at, id) WHERE sequence IS NULL;

    CREATE TABLE event_sequences (
      merchant_id bigint PRIMARY KEY REFERENCES merchants (id),
      last_sequence bigint NOT NULL
    );

    CREATE TABLE webhook_deliveries (
      merchant_id bigint NOT NULL,
      event_id uuid NOT NULL,
      endpoint text NOT NULL,
      status text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'delivered', 'exhausted', 'stopped')),
      attempts integer NOT NULL DEFAULT 0,
      -- Set while a job for it may be under way.
      admitted_at timestamptz,
      next_step text,
      next_step_at timestamptz,
      step_no integer NOT NULL DEFAULT 0,
      step_swept_at timestamptz,
      parked_reason text,
      PRIMARY KEY (merchant_id, event_id),
      FOREIGN KEY (merchant_id, event_id) REFERENCES events (merchant_id, id),
      CHECK ((next_step IS NULL) = (next_step_at IS NULL)),
      CHECK (status <> 'pending' OR next_step IS NOT NULL OR parked_reason IS NOT NULL)
    );
    CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_step_at)
      WHERE next_step IS NOT NULL AND admitted_at IS NULL;
    CREATE INDEX webhook_deliveries_waiting
      ON webhook_deliveries (merchant_id, endpoint, next_step_at)
      WHERE next_step IS NOT NULL AND admitted_at IS NULL;
    CREATE INDEX webhook_deliveries_admitted
      ON webhook_deliveries (merchant_id, endpoint, next_step_at)
      WHERE next_step IS NOT NULL AND admitted_at IS NOT NULL;

    CREATE TABLE webhook_attempts (
      merchant_id bigint NOT NULL,
      event_id uuid NOT NULL,
      attempt_no integer NOT NULL,
      response_status integer,
      error text,
      duration_ms integer NOT NULL,
      attempted_at timestamptz NOT NULL DEFAULT clock_timestamp()
    ) PARTITION BY RANGE (attempted_at);
    CREATE INDEX webhook_attempts_by_event ON webhook_attempts (merchant_id, event_id, attempted_at);
    CREATE TABLE webhook_attempts_default PARTITION OF webhook_attempts DEFAULT;
    SELECT make_month_partitions('webhook_attempts', 'attempted_at', 3);
  `);
}
