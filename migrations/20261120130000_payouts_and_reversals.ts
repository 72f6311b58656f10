import type { Knex } from 'knex';

const PAYMENT_KINDS = `('collection', 'payout', 'reversal', 'return')`;

/** What every payment carries to be driven by steps. */
const PAYMENT_COLUMNS = `
      status text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
      result_code integer,
      result_description text,
      trans_id text,
      external_ref text,
      payment_completed_at timestamptz,
      deadline_at timestamptz NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      next_step text,
      next_step_at timestamptz,
      step_no integer NOT NULL DEFAULT 0,
      step_swept_at timestamptz,
      parked_reason text,
      CHECK ((next_step IS NULL) = (next_step_at IS NULL))`;

/** Money that goes out: to a recipient, or back to a customer because the merchant wants it. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    ALTER TABLE merchants
      ADD COLUMN payout_fee_bps integer CHECK (payout_fee_bps BETWEEN 0 AND 10000),
      ADD COLUMN payout_fee_fixed_cents bigint CHECK (payout_fee_fixed_cents >= 0);

    CREATE TABLE payouts (
      merchant_id bigint NOT NULL REFERENCES merchants (id),
      id uuid NOT NULL,
      app_code bigint NOT NULL,
      channel integer NOT NULL,
      gateway text NOT NULL,
      payto text NOT NULL,
      amount_cents bigint NOT NULL CHECK (amount_cents > 0),
      fee_cents bigint NOT NULL CHECK (fee_cents BETWEEN 0 AND amount_cents),
      ref_no text NOT NULL,
      category text NOT NULL,
      narration text NOT NULL,
      callback_url text NOT NULL,
      -- When the money of a failed payout was put back, and when support took it again
      -- because the payout had arrived all the same.
      refund_posted_at timestamptz,
      redebited_at timestamptz,
      ${PAYMENT_COLUMNS},
      PRIMARY KEY (merchant_id, id),
      CONSTRAINT payouts_ref_no_unique UNIQUE (merchant_id, ref_no),
      FOREIGN KEY (merchant_id, app_code) REFERENCES apps (merchant_id, code),
      -- A failed payout is not over before its money is back.
      CHECK (status = 'completed' OR refund_posted_at IS NOT NULL
        OR next_step IS NOT NULL OR parked_reason IS NOT NULL),
      CHECK (refund_posted_at IS NULL OR status = 'failed' OR redebited_at IS NOT NULL),
      CHECK (redebited_at IS NULL OR refund_posted_at IS NOT NULL)
    );
    CREATE INDEX payouts_due ON payouts (next_step_at) WHERE next_step IS NOT NULL;
    CREATE INDEX payouts_open ON payouts (deadline_at) WHERE status IN ('pending', 'processing');
    CREATE INDEX payouts_listed ON payouts (merchant_id, created_at DESC, id DESC);
    CREATE INDEX payouts_by_status ON payouts (merchant_id, status, created_at DESC, id DESC);
    CREATE INDEX payouts_by_payto ON payouts (merchant_id, payto, created_at DESC);
    CREATE TRIGGER payouts_status BEFORE INSERT OR UPDATE OF status ON payouts
      FOR EACH ROW EXECUTE FUNCTION guard_status('pending',
        'pending>processing', 'pending>completed', 'pending>failed',
        'processing>completed', 'processing>failed', 'failed>completed');
    CREATE TRIGGER payouts_kept BEFORE DELETE OR TRUNCATE ON payouts
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

    CREATE TABLE reversals (
      merchant_id bigint NOT NULL REFERENCES merchants (id),
      id uuid NOT NULL,
      app_code bigint NOT NULL,
      collection_id uuid NOT NULL,
      checkout_ref_no text NOT NULL,
      -- The gateway's receipt of the collection; a reversal is not sent before it is known.
      original_trans_id text,
      channel integer NOT NULL,
      gateway text NOT NULL,
      account text NOT NULL,
      -- What the customer gets: what the collection wallet gives and the commission.
      amount_cents bigint NOT NULL CHECK (amount_cents > 0),
      commission_cents bigint NOT NULL CHECK (commission_cents BETWEEN 0 AND amount_cents),
      ref_no text NOT NULL,
      reason text,
      callback_url text NOT NULL,
      ${PAYMENT_COLUMNS},
      PRIMARY KEY (merchant_id, id),
      CONSTRAINT reversals_ref_no_unique UNIQUE (merchant_id, ref_no),
      FOREIGN KEY (merchant_id, app_code) REFERENCES apps (merchant_id, code),
      FOREIGN KEY (merchant_id, collection_id) REFERENCES collections (merchant_id, id),
      CHECK (status IN ('completed', 'failed') OR next_step IS NOT NULL OR parked_reason IS NOT NULL)
    );
    -- The promise that a collection is given back once.
    CREATE UNIQUE INDEX reversals_one_open_or_done ON reversals (merchant_id, collection_id)
      WHERE status <> 'failed';
    CREATE INDEX reversals_due ON reversals (next_step_at) WHERE next_step IS NOT NULL;
    CREATE INDEX reversals_open ON reversals (deadline_at) WHERE status IN ('pending', 'processing');
    CREATE INDEX reversals_listed ON reversals (merchant_id, created_at DESC, id DESC);
    CREATE INDEX reversals_by_status ON reversals (merchant_id, status, created_at DESC, id DESC);
    CREATE INDEX reversals_by_collection ON reversals (merchant_id, collection_id);
    CREATE TRIGGER reversals_status BEFORE INSERT OR UPDATE OF status ON reversals
      FOR EACH ROW EXECUTE FUNCTION guard_status('pending',
        'pending>processing', 'pending>completed', 'pending>failed',
        'processing>completed', 'processing>failed', 'failed>completed');
    CREATE TRIGGER reversals_kept BEFORE DELETE OR TRUNCATE ON reversals
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

    ${widenKinds('movements')}
    ${widenKinds('attempts')}
    ALTER TABLE events DROP CONSTRAINT events_payment_kind_check;
    ALTER TABLE events ADD CONSTRAINT events_payment_kind_check
      CHECK (payment_kind IN ('collection', 'payout', 'reversal')) NOT VALID;

    -- 'cleared': somebody has decided about it, and it has left suspense.
    ALTER TABLE movements DROP CONSTRAINT movements_booked_check;
    ALTER TABLE movements ADD CONSTRAINT movements_booked_check
      CHECK (booked IN ('settled', 'suspense', 'cleared')) NOT VALID;

    -- A movement of a gateway that no payment here explains belongs to nobody.
    ALTER TABLE discrepancies
      ALTER COLUMN merchant_id DROP NOT NULL,
      ALTER COLUMN payment_kind DROP NOT NULL,
      ALTER COLUMN payment_id DROP NOT NULL,
      -- The money that is in suspense until it is resolved.
      ADD COLUMN movement_id uuid,
      ADD COLUMN resolution text CHECK (resolution IN
        ('completed', 'failed', 'returned', 'accept-amount', 'dismissed', 'superseded')),
      ADD COLUMN resolved_by text,
      ADD COLUMN resolved_reason text;
    UPDATE discrepancies d SET movement_id = m.id FROM movements m
    WHERE d.resolved_at IS NULL AND m.merchant_id = d.merchant_id
      AND m.payment_kind = d.payment_kind AND m.payment_id = d.payment_id
      AND m.trans_id IS NOT DISTINCT FROM d.trans_id AND m.booked = 'suspense';
    UPDATE discrepancies d SET movement_id = r.movement_id FROM returns r
    WHERE d.resolved_at IS NULL AND d.kind = 'return_failed'
      AND r.merchant_id = d.merchant_id AND r.id = d.payment_id;

    -- What the operator pays because money went where it should not have gone.
    ALTER TABLE entries DROP CONSTRAINT entries_account_check;
    ALTER TABLE entries ADD CONSTRAINT entries_account_check CHECK (account IN (
      'wallet:collection', 'wallet:payout', 'gateway_float', 'payouts_in_flight',
      'commission', 'fees', 'suspense', 'bank', 'losses')) NOT VALID;
  `);
}

/** Checked from now on only; what is there was under the narrower rule. */
function widenKinds(table: string): string {
  return `
    ALTER TABLE ${table} DROP CONSTRAINT ${table}_payment_kind_check;
    ALTER TABLE ${table} ADD CONSTRAINT ${table}_payment_kind_check
      CHECK (payment_kind IN ${PAYMENT_KINDS}) NOT VALID;`;
}
