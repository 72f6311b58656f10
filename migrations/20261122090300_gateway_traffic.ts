import type { Knex } from 'knex';
import { APPENDED, UPDATED_OFTEN } from './storage.ts';

const ENDED = `(merchant_id, happened_at) INCLUDE (payment_kind, payment_id)
      WHERE to_status IN ('completed', 'failed')`;

/** Calls to gateways, callbacks from them, access tokens, and the history of payments' status. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A row is committed before every submission.
    CREATE TABLE attempts (
      merchant_id bigint NOT NULL,
      payment_kind text NOT NULL,
      payment_id uuid NOT NULL,
      attempt_no integer NOT NULL,
      -- NULL: no answer yet, or ever. 'ruled_out': the gateway has said several times that the
      -- attempt never arrived.
      result text CHECK (result IN ('acknowledged', 'declined', 'not_taken', 'unknown', 'ruled_out')),
      detail text,
      -- The gateway's reference in the acknowledgement.
      external_ref text,
      not_found_count integer NOT NULL DEFAULT 0,
      -- When the last question was asked whose answer counted. An answer may come twice.
      not_found_asked_at timestamptz,
      started_at timestamptz NOT NULL DEFAULT now(),
      answered_at timestamptz,
      PRIMARY KEY (merchant_id, payment_kind, payment_id, attempt_no)
    ) WITH (${UPDATED_OFTEN});
    ALTER TABLE attempts ADD CONSTRAINT attempts_payment_kind_check
      CHECK (payment_kind IN ('collection', 'payout', 'reversal', 'return')) NOT VALID;
    -- Guarantees that no payment is sent twice: there is no next attempt before it is known that
    -- nothing came of the one before.
    CREATE UNIQUE INDEX attempts_one_that_may_have_arrived
      ON attempts (merchant_id, payment_kind, payment_id)
      WHERE result IS NULL OR result NOT IN ('not_taken', 'ruled_out');
    -- For retention. A brin index is no use: new rows take the space of deleted ones, so soon
    -- every range of pages has old and new rows.
    CREATE INDEX attempts_by_age ON attempts (started_at);
    CREATE TRIGGER attempts_kept_while_young BEFORE DELETE ON attempts
      FOR EACH ROW WHEN (OLD.started_at >= now() - interval '13 months')
      EXECUTE FUNCTION refuse_change();

    CREATE TABLE callbacks (
      id uuid PRIMARY KEY,
      gateway text NOT NULL,
      -- The payment comes from the address's token. It may be one that is not here.
      merchant_id bigint NOT NULL,
      payment_kind text NOT NULL,
      payment_id uuid NOT NULL,
      -- What the address was given out for.
      address text NOT NULL DEFAULT 'result' 
        CHECK (address IN ('result', 'answer', 'timeout', 'receipt')),
      -- When the question was asked that it answers.
      asked_at timestamptz,
      -- The receipt that was asked about.
      receipt text,
      body text NOT NULL,
      status text NOT NULL DEFAULT 'stored' CHECK (status IN ('stored', 'processed', 'rejected')),
      -- Why it was rejected, or changed nothing.
      problem text,
      -- How the gateway says that the payment has ended, once this is applied. Null: it does not say.
      outcome text CHECK (outcome IN ('succeeded', 'failed')),
      next_step text,
      next_step_at timestamptz,
      step_no integer NOT NULL DEFAULT 0,
      step_swept_at timestamptz,
      parked_reason text,
      received_at timestamptz NOT NULL DEFAULT now(),
      CHECK ((next_step IS NULL) = (next_step_at IS NULL)),
      CHECK (asked_at IS NULL OR address IN ('answer', 'receipt')),
      CHECK ((receipt IS NOT NULL) = (address = 'receipt')),
      CHECK (status <> 'stored' OR next_step IS NOT NULL OR parked_reason IS NOT NULL)
    ) WITH (${UPDATED_OFTEN});
    CREATE INDEX callbacks_due ON callbacks (next_step_at) WHERE next_step IS NOT NULL;
    CREATE INDEX callbacks_parked ON callbacks (received_at) WHERE parked_reason IS NOT NULL;
    CREATE INDEX callbacks_by_payment ON callbacks (merchant_id, payment_id);
    CREATE INDEX callbacks_by_receipt ON callbacks (receipt) WHERE receipt IS NOT NULL;
    CREATE INDEX callbacks_by_age ON callbacks (received_at)
      WHERE status <> 'stored' AND next_step IS NULL;

    -- Requests to addresses that are not genuine. They belong to nobody, and move nothing.
    -- Retention may delete one that is applied when its period is over, and nobody may before.
    CREATE TRIGGER callbacks_kept_while_young BEFORE DELETE ON callbacks
      FOR EACH ROW WHEN (OLD.status = 'stored' OR OLD.received_at >= now() - interval '90 days')
      EXECUTE FUNCTION refuse_change();
    CREATE TRIGGER callbacks_kept BEFORE TRUNCATE ON callbacks
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

    CREATE TABLE stray_callbacks (
      id uuid PRIMARY KEY,
      gateway text NOT NULL,
      body text NOT NULL,
      problem text NOT NULL,
      received_at timestamptz NOT NULL DEFAULT now()
    ) WITH (${UPDATED_OFTEN});
    CREATE INDEX stray_callbacks_by_age ON stray_callbacks (received_at);

    -- Partitioned by month, so that retention can detach whole months.
    CREATE TABLE payment_history (
      merchant_id bigint NOT NULL,
      payment_kind text NOT NULL,
      payment_id uuid NOT NULL,
      from_status text,
      to_status text NOT NULL,
      cause text NOT NULL,
      happened_at timestamptz NOT NULL DEFAULT clock_timestamp()
    ) PARTITION BY RANGE (happened_at);
    CREATE INDEX payment_history_by_payment
      ON payment_history (merchant_id, payment_kind, payment_id, happened_at);
    -- Takes the rows of a month without a partition: a missing one must never stop a payment.
    CREATE TABLE payment_history_default PARTITION OF payment_history DEFAULT WITH (${APPENDED});
    SELECT make_month_partitions('payment_history', 'happened_at', 3);

    -- Has only the ends, so that accepting a payment does not write to it. The index of each
    -- month is named after the month, and becomes a part of the table's index.
    DO $do$
    DECLARE
      month text;
    BEGIN
      FOR month IN SELECT inhrelid::regclass FROM pg_inherits
        WHERE inhparent = 'payment_history'::regclass
      LOOP
        EXECUTE format($index$CREATE INDEX %I ON %I ${ENDED}$index$, month || '_ended', month);
      END LOOP;
    END $do$;
    CREATE INDEX payment_history_ended ON payment_history ${ENDED};

    -- One access token for all processes, because a new one may end the one before.
    CREATE TABLE gateway_tokens (
      -- A hash of the account's address and user, which stand nowhere in clear.
      account text PRIMARY KEY,
      -- Rises with each token, so that a refusal is about one of them.
      token_no bigint NOT NULL DEFAULT 0,
      key_id text,
      ciphertext bytea,
      expires_at timestamptz,
      renewed_at timestamptz,
      -- The process that asks for the next token, and until when the others wait for it.
      lease_holder uuid,
      lease_until timestamptz,
      -- The newest renewal, if it failed.
      failed_at timestamptz,
      failure text,
      CHECK (num_nulls(key_id, ciphertext, expires_at, renewed_at) IN (0, 4)),
      CHECK (num_nulls(lease_holder, lease_until) IN (0, 2)),
      CHECK (num_nulls(failed_at, failure) IN (0, 2))
    );
  `);
}
