import type { Knex } from 'knex';
import { keptColumns } from './kept-columns.ts';
import { APPENDED, HOT_ROWS, UPDATED_OFTEN } from './storage.ts';

const EVENT_COLUMNS = [
  ...['merchant_id', 'id', 'app_code', 'payment_kind', 'payment_id', 'change_no', 'type'],
  ...['callback_url', 'endpoint', 'body', 'created_at'],
];

/** The payments of which merchants are told, with the column of their customer's or recipient's account. */
const ACCOUNT_OF_EVENTS = { collection: 'payfrom', payout: 'payto', reversal: 'account' };

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
      -- Scheme, host and port of callback_url.
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
      CHECK (payment_kind IN ('${Object.keys(ACCOUNT_OF_EVENTS).join("', '")}')) NOT VALID;
    CREATE INDEX events_unnumbered ON events (created_at, id) WHERE sequence IS NULL;

    -- What a merchant is told is the state of its payment, when the statement ends that tells it.
    CREATE FUNCTION require_true_event() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        body jsonb := CAST(NEW.body AS jsonb);
        told jsonb := body->'data';
        is_true boolean;
      BEGIN
        -- One statement for all kinds, so that its plan is kept.
        SELECT 'transaction.' || status = NEW.type AND app_code = NEW.app_code AND callback_url = NEW.callback_url
          AND body->'notification' = jsonb_build_object('type', NEW.payment_kind, 'event', NEW.type)
          AND CAST(id AS text) = told->>'id' AND ref_no = told->>'ref_no'
          AND amount_cents = 100 * CAST(told->>'amount' AS numeric)
          AND (status = 'completed') = (told->'result_code' = CAST('0' AS jsonb))
          AND coalesce(trans_id, '') = told->>'trans_id' AND account = told #>> '{beneficiary,account}'
        INTO is_true FROM (${Object.entries(ACCOUNT_OF_EVENTS)
          .map(
            ([
              kind,
              account,
            ]) => `SELECT id, app_code, callback_url, status, ref_no, amount_cents, trans_id, ${account} AS account
              FROM ${kind}s WHERE NEW.payment_kind = '${kind}' AND merchant_id = NEW.merchant_id AND id = NEW.payment_id`,
          )
          .join(' UNION ALL ')}) AS payment;
        IF is_true IS NOT TRUE THEN
          RAISE EXCEPTION 'the event % does not say what its payment is', NEW.id;
        END IF;
        RETURN NULL;
      END $$;
    CREATE TRIGGER events_true AFTER INSERT ON events
      FOR EACH ROW EXECUTE FUNCTION require_true_event();

    -- An event is what was signed. It gets its number once.
    ${keptColumns('events', EVENT_COLUMNS)}
    CREATE TRIGGER events_numbered_once BEFORE UPDATE OF sequence ON events
      FOR EACH ROW WHEN (OLD.sequence IS NOT NULL) EXECUTE FUNCTION refuse_change();
    CREATE TRIGGER events_kept BEFORE DELETE OR TRUNCATE ON events
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

    CREATE TABLE event_sequences (
      merchant_id bigint PRIMARY KEY REFERENCES merchants (id),
      last_sequence bigint NOT NULL
    ) WITH (${HOT_ROWS});

    CREATE TABLE webhook_deliveries (
      merchant_id bigint NOT NULL,
      event_id uuid NOT NULL,
      endpoint text NOT NULL,
      -- The event's: the merchant's list is in its order.
      created_at timestamptz NOT NULL,
      status text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'delivered', 'exhausted', 'stopped')),
      attempts integer NOT NULL DEFAULT 0,
      -- First attempts go before others.
      is_retry boolean GENERATED ALWAYS AS (attempts > 0) STORED,
      -- The attempts that were made when it was sent again by hand. The ladder began anew then.
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
      ON webhook_deliveries (merchant_id, endpoint, is_retry, next_step_at)
      WHERE next_step IS NOT NULL AND admitted_at IS NULL;
    CREATE INDEX webhook_deliveries_admitted
      ON webhook_deliveries (merchant_id, endpoint, next_step_at)
      WHERE next_step IS NOT NULL AND admitted_at IS NOT NULL;
    -- For the merchant's list. Each status has a part of its own, so a rare one is found at once.
    CREATE INDEX webhook_deliveries_listed
      ON webhook_deliveries (merchant_id, status, created_at, event_id);
    -- For support's list. Most deliveries are delivered.
    CREATE INDEX webhook_deliveries_undelivered ON webhook_deliveries (status, event_id)
      WHERE status IN ('exhausted', 'stopped');
    CREATE INDEX webhook_deliveries_parked ON webhook_deliveries (event_id)
      WHERE parked_reason IS NOT NULL;

    -- What the attempts have told of a receiver. It has no row before the first one.
    CREATE TABLE webhook_endpoints (
      merchant_id bigint NOT NULL REFERENCES merchants (id),
      endpoint text NOT NULL,
      -- 'open': its deliveries wait, and one at a time goes as a probe.
      breaker text NOT NULL DEFAULT 'closed' CHECK (breaker IN ('closed', 'open')),
      -- Deliveries that may be under way at once, whatever its share of the slots.
      concurrency integer NOT NULL DEFAULT 1 CHECK (concurrency >= 1),
      -- Attempts that failed since the last one that did not, and the first of them.
      failures integer NOT NULL DEFAULT 0,
      failing_since timestamptz,
      -- The last attempt had no answer in time.
      times_out boolean NOT NULL DEFAULT false,
      -- The last failure: the status of the answer, or the error without one.
      last_status integer,
      last_error text,
      last_failure_at timestamptz,
      last_success_at timestamptz,
      opened_at timestamptz,
      probes integer NOT NULL DEFAULT 0,
      probe_at timestamptz,
      -- That deliveries were given up was told in this outage.
      told_exhausted_at timestamptz,
      changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (merchant_id, endpoint),
      CHECK ((failures > 0) = (failing_since IS NOT NULL)),
      CHECK ((breaker = 'open') = (opened_at IS NOT NULL)),
      CHECK ((breaker = 'open') = (probe_at IS NOT NULL))
    ) WITH (${HOT_ROWS});

    CREATE INDEX webhook_endpoints_open ON webhook_endpoints (merchant_id, endpoint)
      WHERE breaker = 'open';

    -- What merchants and operators are told of outages.
    CREATE TABLE webhook_notices (
      id uuid PRIMARY KEY,
      merchant_id bigint NOT NULL,
      endpoint text NOT NULL,
      kind text NOT NULL CHECK (kind IN ('failing', 'recovered', 'exhausted')),
      failing_since timestamptz NOT NULL,
      last_status integer,
      last_error text,
      created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      -- Not before this time. Also the end of the sender's lease.
      send_at timestamptz NOT NULL,
      tries integer NOT NULL DEFAULT 0,
      -- The ways of telling that are done, and the ways that are wanted.
      emailed_at timestamptz,
      posted_at timestamptz,
      sent_at timestamptz,
      FOREIGN KEY (merchant_id, endpoint) REFERENCES webhook_endpoints (merchant_id, endpoint)
        ON DELETE CASCADE
    ) WITH (${UPDATED_OFTEN});
    CREATE INDEX webhook_notices_unsent ON webhook_notices (send_at) WHERE sent_at IS NULL;
    CREATE INDEX webhook_notices_emailed ON webhook_notices (merchant_id, emailed_at)
      WHERE emailed_at IS NOT NULL;
    CREATE INDEX webhook_notices_by_endpoint ON webhook_notices (merchant_id, endpoint, created_at);

    -- The webhook workers that run, and how many deliveries each can have under way.
    CREATE TABLE webhook_workers (
      id uuid PRIMARY KEY,
      slots integer NOT NULL CHECK (slots >= 1),
      seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
    ) WITH (${HOT_ROWS});

    -- Partitioned by month, as payment_history.
    CREATE TABLE webhook_attempts (
      merchant_id bigint NOT NULL,
      event_id uuid NOT NULL,
      attempt_no integer NOT NULL,
      response_status integer,
      error text,
      -- Why its host was refused, for operators only. The error says no more than that it was.
      reason text,
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
