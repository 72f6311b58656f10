import type { Knex } from 'knex';
import { ASKER_COLUMNS } from './asker.ts';
import { keptColumns } from './kept-columns.ts';
import { APPENDED, UPDATED_OFTEN } from './storage.ts';

/** Columns that all four kinds of payments share: outcome, next step towards it, who asked. */
const PAYMENT_COLUMNS = `
      -- The gateway knows the payment by it, for ever: see gateway_reference().
      reference uuid NOT NULL,
      status text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
      result_code integer,
      result_description text,
      trans_id text,
      external_ref text,
      payment_completed_at timestamptz,
      -- When support took a completion back. The payment cannot complete again.
      undone_at timestamptz,
      deadline_at timestamptz NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      next_step text,
      next_step_at timestamptz,
      step_no integer NOT NULL DEFAULT 0,
      step_swept_at timestamptz,
      parked_reason text,
      -- The gateway's last answer to a question that did not end the payment, and when it was asked.
      last_answer text,
      last_asked_at timestamptz,
      ${ASKER_COLUMNS.trim()},
      CHECK ((next_step IS NULL) = (next_step_at IS NULL))`;

/** An open payment has a next step with a time, or stands on the support list with a reason. */
const ENDS_OR_GOES_ON = `
      CHECK (status IN ('completed', 'failed') OR next_step IS NOT NULL OR parked_reason IS NOT NULL)`;

/**
 * Collections, payouts, reversals and returns, and the movements of money that gateways report. A
 * payment's app proves its merchant. What follows from a payment needs no further proof: a foreign
 * key to the merchant in each of its tables would lock the merchant's row five times a payment.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE collections (
      merchant_id bigint NOT NULL,
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
      ${PAYMENT_COLUMNS},
      ${ENDS_OR_GOES_ON},
      PRIMARY KEY (merchant_id, id),
      CONSTRAINT collections_ref_no_unique UNIQUE (merchant_id, ref_no),
      FOREIGN KEY (merchant_id, app_code) REFERENCES apps (merchant_id, code)
    ) WITH (${UPDATED_OFTEN});
    -- Includes the status, so that the index alone answers a count by status.
    CREATE INDEX collections_listed
      ON collections (merchant_id, created_at DESC, id DESC) INCLUDE (status);
    CREATE INDEX collections_by_status
      ON collections (merchant_id, status, created_at DESC, id DESC);
    CREATE INDEX collections_by_payfrom ON collections (merchant_id, payfrom, created_at DESC);
    ${indexesOfSteps('collections')}
    ${triggers('collections', ['payfrom', 'ref_no', 'app_code', 'account_number', 'callback_url', 'category'])}

    CREATE TABLE payouts (
      merchant_id bigint NOT NULL,
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
      -- When the money of a failed payout went back to the wallet.
      refund_posted_at timestamptz,
      -- When support took the money again, because the payout had arrived after all.
      redebited_at timestamptz,
      ${PAYMENT_COLUMNS},
      PRIMARY KEY (merchant_id, id),
      CONSTRAINT payouts_ref_no_unique UNIQUE (merchant_id, ref_no),
      FOREIGN KEY (merchant_id, app_code) REFERENCES apps (merchant_id, code),
      -- A failed payout has not ended before its money is back.
      CHECK (status = 'completed' OR refund_posted_at IS NOT NULL
        OR next_step IS NOT NULL OR parked_reason IS NOT NULL),
      CHECK (refund_posted_at IS NULL OR status = 'failed' OR redebited_at IS NOT NULL),
      CHECK (redebited_at IS NULL OR refund_posted_at IS NOT NULL)
    ) WITH (${UPDATED_OFTEN});
    CREATE INDEX payouts_listed ON payouts (merchant_id, created_at DESC, id DESC);
    CREATE INDEX payouts_by_status ON payouts (merchant_id, status, created_at DESC, id DESC);
    CREATE INDEX payouts_by_payto ON payouts (merchant_id, payto, created_at DESC);
    -- For the proof of the ledger: what is in flight is the sum of these.
    CREATE INDEX payouts_in_flight ON payouts (merchant_id, id) INCLUDE (amount_cents, fee_cents)
      WHERE status <> 'completed' AND refund_posted_at IS NULL;
    ${indexesOfSteps('payouts')}
    ${triggers('payouts', ['payto', 'fee_cents', 'ref_no', 'app_code', 'category', 'narration', 'callback_url'], 'failed>completed')}

    CREATE TABLE reversals (
      merchant_id bigint NOT NULL,
      id uuid NOT NULL,
      app_code bigint NOT NULL,
      collection_id uuid NOT NULL,
      checkout_ref_no text NOT NULL,
      -- The gateway's receipt of the collection. A reversal is not sent before it is known.
      original_trans_id text,
      channel integer NOT NULL,
      gateway text NOT NULL,
      account text NOT NULL,
      -- The gross amount, which the customer gets: from the collection wallet, and the commission.
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
      ${ENDS_OR_GOES_ON}
    ) WITH (${UPDATED_OFTEN});
    -- Guarantees that a collection is reversed at most once.
    CREATE UNIQUE INDEX reversals_one_open_or_done ON reversals (merchant_id, collection_id)
      WHERE status <> 'failed';
    -- For what a merchant will owe once its open reversals are done: each payout looks at it. No other index has this
    -- condition, so the planner takes this one.
    CREATE INDEX reversals_owed ON reversals (merchant_id)
      INCLUDE (amount_cents, commission_cents) WHERE status NOT IN ('completed', 'failed');
    CREATE INDEX reversals_listed ON reversals (merchant_id, created_at DESC, id DESC);
    CREATE INDEX reversals_by_status ON reversals (merchant_id, status, created_at DESC, id DESC);
    CREATE INDEX reversals_by_collection ON reversals (merchant_id, collection_id);
    CREATE INDEX reversals_by_account ON reversals (merchant_id, account, created_at DESC);
    ${indexesOfSteps('reversals')}
    ${triggers('reversals', ['account', 'collection_id', 'ref_no', 'app_code', 'checkout_ref_no', 'reason', 'callback_url'], 'failed>completed')}

    -- Every movement of money that a gateway has reported, once.
    CREATE TABLE movements (
      merchant_id bigint NOT NULL,
      id uuid NOT NULL,
      payment_kind text NOT NULL,
      payment_id uuid NOT NULL,
      gateway text NOT NULL,
      trans_id text,
      amount_cents bigint NOT NULL CHECK (amount_cents > 0),
      account text,
      completed_at timestamptz,
      -- 'settled': the payment's own money. 'suspense': it waits for a decision. 'returning': a
      -- return takes it back. 'undoing': the gateway has told of it, support has undone its payment,
      -- and nothing shows yet that it came back. 'cleared': it has left suspense. 'undone': it never
      -- moved, or has come back.
      booked text NOT NULL,
      -- When support has said, for the last time, that the money has moved, and is back.
      back_at timestamptz,
      -- The receipt, or else the reference, of the row of a statement that brings it back, or asks whether it does.
      row_back text,
      learned_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      -- 'callback', 'poll' or 'statement'; 'file' or 'support' when only people have told of it;
      -- 'likeness' or 'file_likeness' when a line names no payment, and fits this one.
      told_by text NOT NULL,
      -- The source that has proven more than the first, later.
      confirmed_by text,
      -- When that was heard.
      confirmed_at timestamptz,
      -- The source that has told the receipt, if it came later than the money.
      receipt_told_by text,
      -- When the gateway told of it. A job may have applied it later.
      heard_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (merchant_id, id)
    ) WITH (${APPENDED});
    -- A payment that was undone may still have moved its money, under the same receipt.
    CREATE UNIQUE INDEX movements_one_per_receipt
      ON movements (merchant_id, payment_kind, payment_id, trans_id) NULLS NOT DISTINCT
      WHERE booked <> 'undone';
    CREATE INDEX movements_by_payment ON movements (merchant_id, payment_kind, payment_id);
    -- NOT VALID, here and elsewhere: an empty table has nothing to validate.
    ALTER TABLE movements
      ADD CONSTRAINT movements_payment_kind_check
        CHECK (payment_kind IN ('collection', 'payout', 'reversal', 'return')) NOT VALID,
      ADD CONSTRAINT movements_booked_check
        CHECK (booked IN ('settled', 'suspense', 'returning', 'undoing', 'cleared', 'undone')) NOT VALID;
    CREATE INDEX movements_in_suspense ON movements (merchant_id)
      WHERE booked IN ('suspense', 'undoing', 'returning');
    CREATE INDEX movements_in_suspense_by_age ON movements (id)
      WHERE booked IN ('suspense', 'undoing', 'returning');
    CREATE INDEX movements_by_row_back ON movements (gateway, row_back) WHERE row_back IS NOT NULL;
    CREATE INDEX movements_by_receipt ON movements (trans_id) WHERE trans_id IS NOT NULL;
    -- Only what was not known may be added, and where it is booked may change.
    ${keptColumns('movements', MOVEMENT_COLUMNS)}
    CREATE TRIGGER movements_added_once BEFORE UPDATE OF trans_id, completed_at, confirmed_by ON movements
      FOR EACH ROW WHEN (OLD.trans_id IS DISTINCT FROM NEW.trans_id AND OLD.trans_id IS NOT NULL
        OR OLD.confirmed_by IS NOT NULL AND NEW.confirmed_by IS NULL
        -- People may have told a wrong time. It goes when the gateway itself tells of the money.
        OR OLD.completed_at IS DISTINCT FROM NEW.completed_at AND OLD.completed_at IS NOT NULL
          AND NOT (coalesce(OLD.confirmed_by, OLD.told_by) IN ('support', 'file', 'file_likeness')
            AND coalesce(NEW.confirmed_by, 'file') NOT IN ('support', 'file', 'file_likeness')))
      EXECUTE FUNCTION refuse_change();
    CREATE TRIGGER movements_corrected BEFORE UPDATE OF amount_cents, account ON movements
      FOR EACH ROW WHEN ((OLD.amount_cents, OLD.account) IS DISTINCT FROM
        (NEW.amount_cents, NEW.account)) EXECUTE FUNCTION guard_correction();
    CREATE TRIGGER movements_kept BEFORE DELETE OR TRUNCATE ON movements
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

    -- A receipt belongs to one payment, of whatever merchant, or to an adoption. 'in': money of
    -- customers.
    CREATE TABLE receipts (
      gateway text NOT NULL,
      direction text NOT NULL CHECK (direction IN ('in', 'out')),
      receipt text NOT NULL,
      merchant_id bigint NOT NULL,
      payment_kind text NOT NULL,
      payment_id uuid NOT NULL
    ) WITH (${APPENDED});
    -- A person or a file may write a receipt in small letters. It is the same one.
    CREATE UNIQUE INDEX receipts_once ON receipts (gateway, direction, upper(receipt));
    -- For comparing a period with the gateway's statement of it.
    CREATE INDEX movements_by_time ON movements (gateway, (
      CASE WHEN coalesce(confirmed_by, told_by) IN ('support', 'file', 'file_likeness') THEN learned_at
        ELSE coalesce(completed_at, learned_at) END));

    -- Money of a late collection on its way back to the customer.
    CREATE TABLE returns (
      merchant_id bigint NOT NULL,
      id uuid NOT NULL,
      collection_id uuid NOT NULL,
      movement_id uuid NOT NULL,
      -- The gateway's receipt of the money that goes back, if it gave one.
      original_trans_id text,
      channel integer NOT NULL,
      gateway text NOT NULL,
      account text NOT NULL,
      amount_cents bigint NOT NULL CHECK (amount_cents > 0),
      ${PAYMENT_COLUMNS},
      ${ENDS_OR_GOES_ON},
      PRIMARY KEY (merchant_id, id),
      UNIQUE (merchant_id, movement_id),
      FOREIGN KEY (merchant_id, collection_id) REFERENCES collections (merchant_id, id),
      FOREIGN KEY (merchant_id, movement_id) REFERENCES movements (merchant_id, id)
    ) WITH (${UPDATED_OFTEN});
    CREATE INDEX returns_by_collection ON returns (merchant_id, collection_id);
    -- For support. Returns are few, so the four kinds may be looked for in the same ways.
    CREATE INDEX returns_listed ON returns (merchant_id, created_at DESC, id DESC);
    CREATE INDEX returns_by_status ON returns (merchant_id, status, created_at DESC, id DESC);
    CREATE INDEX returns_by_account ON returns (merchant_id, account, created_at DESC);
    ${indexesOfSteps('returns')}
    ${triggers('returns', ['account', 'collection_id', 'movement_id'], 'failed>completed')}
  `);
}

/** Finds payments for the dispatcher (due), and for support (open, parked, by the gateway's id). */
function indexesOfSteps(table: string): string {
  return `
    CREATE UNIQUE INDEX ${table}_reference_unique ON ${table} (reference);
    CREATE INDEX ${table}_due ON ${table} (next_step_at) WHERE next_step IS NOT NULL;
    CREATE INDEX ${table}_due_questions ON ${table} (next_step_at)
      WHERE next_step = 'poll' AND step_swept_at IS NULL;
    CREATE INDEX ${table}_open ON ${table} (deadline_at) WHERE status IN ('pending', 'processing');
    CREATE INDEX ${table}_parked ON ${table} (created_at) WHERE parked_reason IS NOT NULL;
    CREATE INDEX ${table}_by_external_ref ON ${table} (external_ref) WHERE external_ref IS NOT NULL;`;
}

/** What a payment is, whatever its kind. */
const IDENTITY = [
  ...['merchant_id', 'id', 'channel', 'gateway', 'reference', 'created_at'],
  ...['asked_family', 'asked_app', 'asked_user', 'asked_ip', 'asked_request'],
];

const MOVEMENT_COLUMNS = [
  ...['merchant_id', 'id', 'payment_kind', 'payment_id', 'gateway'],
  ...['learned_at', 'told_by', 'heard_at'],
];

/**
 * Guards the status by the state machine, and keeps every row, and what was asked for, for ever.
 * @param asked are the columns of the request that only this kind has
 */
function triggers(table: string, asked: readonly string[], ...lateMoves: string[]): string {
  const moves = ['pending>processing', 'pending>completed', 'pending>failed'].concat(
    // Support may undo a completion.
    ['processing>completed', 'processing>failed', 'completed>failed'],
    lateMoves,
  );
  return `
    CREATE TRIGGER ${table}_status BEFORE INSERT OR UPDATE OF status ON ${table}
      FOR EACH ROW EXECUTE FUNCTION guard_status('pending', ${moves.map((move) => `'${move}'`).join(', ')});
    CREATE TRIGGER ${table}_kept BEFORE DELETE OR TRUNCATE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
    ${keptColumns(table, [...IDENTITY, ...asked])}
    CREATE TRIGGER ${table}_amount BEFORE UPDATE OF amount_cents ON ${table}
      FOR EACH ROW WHEN (NEW.amount_cents <> OLD.amount_cents) EXECUTE FUNCTION guard_amount();`;
}
