import type { Knex } from 'knex';

/**
 * What every payment carries to be driven by steps. The check is a promise: an open
 * payment has a next step with a time on it, or stands on the support list with a reason.
 */
const STEP_COLUMNS = `
      next_step text,
      next_step_at timestamptz,
      step_no integer NOT NULL DEFAULT 0,
      step_swept_at timestamptz,
      parked_reason text,
      CHECK ((next_step IS NULL) = (next_step_at IS NULL)),
      CHECK (status IN ('completed', 'failed') OR next_step IS NOT NULL OR parked_reason IS NOT NULL)`;

export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    CREATE TABLE collections (
      merchant_id bigint NOT NULL REFERENCES merchants (id),
      id uuid NOT NULL,
      app_code bigint NOT NULL,
      channel integer NOT NULL,
      gateway text NOT NULL,
      payfrom text NOT NULL,
      amount_cents bigint NOT NULL CHECK (amount_cents > 0),
      commission_cents bigint NOT NULL CHECK (commission_cents BETWEEN 0 AND amount_cents),
      ref_no text NOT NULL,
      account_number text NOT NULL,
      callback_url text NOT NULL,
      category text NOT NULL DEFAULT 'other',
      status text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
      result_code integer,
      result_description text,
      trans_id text,
      external_ref text,
      payment_completed_at timestamptz,
      deadline_at timestamptz NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      ${STEP_COLUMNS},
      PRIMARY KEY (merchant_id, id),
      CONSTRAINT collections_ref_no_unique UNIQUE (merchant_id, ref_no),
      FOREIGN KEY (merchant_id, app_code) REFERENCES apps (merchant_id, code)
    );
    CREATE INDEX collections_due ON collections (next_step_at) WHERE next_step IS NOT NULL;
    CREATE TRIGGER collections_status BEFORE INSERT OR UPDATE OF status ON collections
      FOR EACH ROW EXECUTE FUNCTION guard_status('pending',
        'pending>processing', 'pending>completed', 'pending>failed',
        'processing>completed', 'processing>failed');
    CREATE TRIGGER collections_kept BEFORE DELETE OR TRUNCATE ON collections
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

    -- Every movement of money that a gateway has reported, once.
    CREATE TABLE movements (
      merchant_id bigint NOT NULL REFERENCES merchants (id),
      id uuid NOT NULL,
      payment_kind text NOT NULL CHECK (payment_kind IN ('collection', 'return')),
      payment_id uuid NOT NULL,
      gateway text NOT NULL,
      trans_id text,
      amount_cents bigint NOT NULL CHECK (amount_cents > 0),
      account text,
      completed_at timestamptz,
      -- 'settled': it is the payment's own; 'suspense': the money waits for a return or a decision.
      booked text NOT NULL CHECK (booked IN ('settled', 'suspense')),
      learned_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (merchant_id, id),
      UNIQUE NULLS NOT DISTINCT (merchant_id, payment_kind, payment_id, trans_id)
    );

    -- Money of a late collection on its way back to the customer.
    CREATE TABLE returns (
      merchant_id bigint NOT NULL REFERENCES merchants (id),
      id uuid NOT NULL,
      collection_id uuid NOT NULL,
      movement_id uuid NOT NULL,
      -- The gateway's receipt of the money that goes back, where it gave one.
      original_trans_id text,
      channel integer NOT NULL,
      gateway text NOT NULL,
      account text NOT NULL,
      amount_cents bigint NOT NULL CHECK (amount_cents > 0),
      status text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
      result_code integer,
      result_description text,
      trans_id text,
      external_ref text,
      payment_completed_at timestamptz,
      deadline_at timestamptz NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      ${STEP_COLUMNS},
      PRIMARY KEY (merchant_id, id),
      UNIQUE (merchant_id, movement_id),
      FOREIGN KEY (merchant_id, collection_id) REFERENCES collections (merchant_id, id),
      FOREIGN KEY (merchant_id, movement_id) REFERENCES movements (merchant_id, id)
    );
    CREATE INDEX returns_due ON returns (next_step_at) WHERE next_step IS NOT NULL;
    CREATE INDEX returns_by_collection ON returns (merchant_id, collection_id);
    CREATE TRIGGER returns_status BEFORE INSERT OR UPDATE OF status ON returns
      FOR EACH ROW EXECUTE FUNCTION guard_status('pending',
        'pending>processing', 'pending>completed', 'pending>failed',
        'processing>completed', 'processing>failed', 'failed>completed');
    CREATE TRIGGER returns_kept BEFORE DELETE OR TRUNCATE ON returns
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

    -- A row is committed before every submission. The index is the promise that no payment
    -- is sent twice: the next attempt needs the word that nothing came of the one before.
    CREATE TABLE attempts (
      merchant_id bigint NOT NULL REFERENCES merchants (id),
      payment_kind text NOT NULL CHECK (payment_kind IN ('collection', 'return')),
      payment_id uuid NOT NULL,
      attempt_no integer NOT NULL,
      -- NULL: no answer (yet). 'ruled_out': the gateway said, repeatedly, that it never arrived.
      result text CHECK (result IN ('acknowledged', 'declined', 'not_taken', 'unknown', 'ruled_out')),
      detail text,
      not_found_count integer NOT NULL DEFAULT 0,
      started_at timestamptz NOT NULL DEFAULT now(),
      answered_at timestamptz,
      PRIMARY KEY (merchant_id, payment_kind, payment_id, attempt_no)
    );
    CREATE UNIQUE INDEX attempts_one_that_may_have_arrived
      ON attempts (merchant_id, payment_kind, payment_id)
      WHERE result IS NULL OR result NOT IN ('not_taken', 'ruled_out');

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
    -- Catches what no month's partition takes: a missing one must never stop a payment.
    CREATE TABLE payment_history_default PARTITION OF payment_history DEFAULT;
    SELECT make_month_partitions('payment_history', 'happened_at', 3);
  `);
}
