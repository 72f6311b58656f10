import type { Knex } from 'knex';
import { APPENDED, HOT_ROWS, UPDATED_OFTEN } from './storage.ts';

/** Events that merchants are told, their deliveries, and every attempt to deliver. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE events (
      merchant_id bigint NOT NULL,
      -- Also the webhook-id of every delivery.
      id uuid NOT NULL,
      app_code bigint NOT NULL,
      payment_kind text NOT NULL,
      payment_id uuid NOT NULL,
      change_no integer NOT NULL DEFAULT 1,
      type text NOT NULL CHECK (type IN ('transaction.completed', 'transaction.failed')),
      callback_url text NOT NULL,
      -- Scheme, host and port of callback_url. The cap on concurrent deliveries counts by it.
      endpoint text NOT NULL,
      -- The exact bytes that are signed and sent, the same at every attempt.
      body text NOT NULL,
      -- Given after the commit, in the order in which readers may see the events.
      sequence bigint,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (merchant_id, id),
      -- 1 for the end of the payment. A status that changes afterwards has an event of its own.
      UNIQUE (merchant_id, payment_kind, payment_id, change_no),
      UNIQUE (merchant_id, sequence)
    ) WITH (${UPDATED_OFTEN});
    ALTER TABLE events ADD CONSTRAINT events_payment_kind_check
      CHECK (payment_kind IN ('collection', 'payout', 'reversal')) NOT VALID;
    CREATE INDEX events_unnumbered ON events (created_at, id) WHERE sequence IS NULL;

    CREATE TABLE event_sequences (
      merchant_id bigint PRIMARY KEY REFERENCES merchants (id),
      last_sequence bigint NOT NULL
    ) WITH (${HOT_ROWS});

    CREATE TABLE webhook_deliveries (
      merchant_id bigint NOT NULL,
      event_id uuid NOT NULL,
      endpoint text NOT NULL,
      status text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'delivered', 'exhausted', 'stopped')),
      attempts integer NOT NULL DEFAULT 0,
      -- The attempts that were made when an operator sent it again. The ladder began anew then.
      attempts_before_resend integer NOT NULL DEFAULT 0,
      -- The first answer 2xx. It stays when the webhook is sent again.
      delivered_at timestamptz,
      -- Set while the delivery may have a job.
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
    ) WITH (${UPDATED_OFTEN});
    CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_step_at)
      WHERE next_step IS NOT NULL AND admitted_at IS NULL;
    CREATE INDEX webhook_deliveries_waiting
      ON webhook_deliveries (merchant_id, endpoint, next_step_at)
      WHERE next_step IS NOT NULL AND admitted_at IS NULL;
    CREATE INDEX webhook_deliveries_admitted
      ON webhook_deliveries (merchant_id, endpoint, next_step_at)
      WHERE next_step IS NOT NULL AND admitted_at IS NOT NULL;
    -- For support's list. Most deliveries are delivered.
    CREATE INDEX webhook_deliveries_undelivered ON webhook_deliveries (status, event_id)
      WHERE status IN ('exhausted', 'stopped');
    CREATE INDEX webhook_deliveries_parked ON webhook_deliveries (event_id)
      WHERE parked_reason IS NOT NULL;

    -- Partitioned by month, as payment_history.
    CREATE TABLE webhook_attempts (
      merchant_id bigint NOT NULL,
      event_id uuid NOT NULL,
      attempt_no integer NOT NULL,
      response_status integer,
      error text,
      -- The beginning of the answer's body, of at most 1 KiB. NULL without an answer.
      answer text CHECK (length(answer) <= 1024),
      duration_ms integer NOT NULL,
      attempted_at timestamptz NOT NULL DEFAULT clock_timestamp()
    ) PARTITION BY RANGE (attempted_at);
    CREATE INDEX webhook_attempts_by_event ON webhook_attempts (merchant_id, event_id, attempted_at);
    CREATE TABLE webhook_attempts_default PARTITION OF webhook_attempts DEFAULT WITH (${APPENDED});
    SELECT make_month_partitions('webhook_attempts', 'attempted_at', 3);
  `);
}
