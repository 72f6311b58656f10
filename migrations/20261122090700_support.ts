import type { Knex } from 'knex';
import { APPENDED } from './storage.ts';

/** What operators see and decide: discrepancies, statements, paused channels, the audit log. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A movement that no payment here explains has no merchant and no payment.
    CREATE TABLE discrepancies (
      id uuid PRIMARY KEY,
      merchant_id bigint,
      kind text NOT NULL,
      -- The gateway that moved the money. Two gateways may use the same receipt.
      gateway text NOT NULL,
      payment_kind text,
      payment_id uuid,
      trans_id text,
      amount_cents bigint,
      details jsonb NOT NULL,
      -- All findings, in the order in which they came. The first that nobody has decided about is
      -- in the columns too.
      evidence jsonb NOT NULL,
      -- False when there were more findings than are kept.
      evidence_complete boolean NOT NULL DEFAULT true,
      opened_at timestamptz NOT NULL DEFAULT now(),
      resolved_at timestamptz,
      -- The money that is in suspense until the discrepancy is resolved.
      movement_id uuid,
      resolution text CHECK (resolution IN
        ('completed', 'failed', 'returned', 'accept-amount', 'parts', 'same', 'undo', 'dismissed',
         'superseded', 'adopted')),
      resolved_by text,
      resolved_reason text,
      -- One row for one question. Each different finding is in its evidence.
      UNIQUE NULLS NOT DISTINCT
        (gateway, merchant_id, payment_kind, payment_id, kind, trans_id)
    );
    -- A person's decision, and what it is about, are kept until later news opens the question anew.
    CREATE TRIGGER discrepancies_decided_once BEFORE UPDATE ON discrepancies
      FOR EACH ROW WHEN (OLD.resolved_by IS NOT NULL AND NEW.resolved_at IS NOT NULL
        AND (NEW.resolved_at, NEW.resolution, NEW.resolved_by, NEW.resolved_reason, NEW.kind,
            NEW.amount_cents, NEW.movement_id, NEW.details, NEW.evidence, NEW.evidence_complete, NEW.opened_at)
          IS DISTINCT FROM
          (OLD.resolved_at, OLD.resolution, OLD.resolved_by, OLD.resolved_reason, OLD.kind,
            OLD.amount_cents, OLD.movement_id, OLD.details, OLD.evidence, OLD.evidence_complete, OLD.opened_at))
      EXECUTE FUNCTION refuse_change();
    -- The database itself says when something was decided.
    CREATE FUNCTION stamp_resolution() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.resolved_at := now();
        RETURN NEW;
      END $$;
    CREATE TRIGGER discrepancies_stamped BEFORE UPDATE ON discrepancies
      FOR EACH ROW WHEN (OLD.resolved_at IS NULL AND NEW.resolved_at IS NOT NULL)
      EXECUTE FUNCTION stamp_resolution();
    CREATE TRIGGER discrepancies_kept BEFORE DELETE OR TRUNCATE ON discrepancies
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
    CREATE INDEX discrepancies_open ON discrepancies (opened_at) WHERE resolved_at IS NULL;
    CREATE INDEX discrepancies_by_movement ON discrepancies (movement_id)
      WHERE resolved_at IS NULL AND movement_id IS NOT NULL;
    CREATE INDEX discrepancies_open_listed ON discrepancies (id) WHERE resolved_at IS NULL;
    CREATE INDEX discrepancies_by_payment ON discrepancies (merchant_id, payment_id);
    -- For what was decided about the money of a receipt.
    CREATE INDEX discrepancies_unowned ON discrepancies (gateway, trans_id)
      WHERE kind IN ('unknown_movement', 'unknown_payment', 'money_back');
    -- For entries by hand, whose references are typed.
    CREATE INDEX discrepancies_by_name ON discrepancies (upper(regexp_replace(trans_id, '[^A-Za-z0-9]', '', 'g')))
      WHERE kind IN ('unknown_movement', 'unknown_payment', 'money_back');
    -- For other money that may be a payment's, whatever was decided about it.
    CREATE INDEX discrepancies_unnamed ON discrepancies (gateway, amount_cents, opened_at)
      WHERE kind = 'unknown_movement' AND details->>'reference' IS NULL;
    -- For money that names no payment and about which people have decided since a moment, or will.
    CREATE INDEX discrepancies_movements ON discrepancies (gateway, coalesce(resolved_at, 'infinity'))
      WHERE kind = 'unknown_movement';
    CREATE INDEX discrepancies_by_receipt ON discrepancies (gateway, trans_id)
      WHERE resolved_at IS NULL AND trans_id IS NOT NULL;
    -- For the rows that bring payouts back.
    CREATE INDEX discrepancies_rows_back ON discrepancies (gateway, trans_id)
      WHERE kind = 'failure_after_success';
    -- For money that went to another account than its payment names.
    CREATE INDEX discrepancies_other_account ON discrepancies (gateway) WHERE kind = 'other_account';
    CREATE INDEX discrepancies_money_back ON discrepancies (gateway, amount_cents, opened_at)
      WHERE kind = 'money_back';
    -- For money of payments that a restored backup does not know. Most often empty.
    CREATE INDEX discrepancies_unexplained ON discrepancies ((details->>'reference'), trans_id)
      WHERE kind IN ('unknown_movement', 'unknown_payment');

    -- Money of payments that are not here, which two people have booked on a merchant's wallet. The
    -- source of the journal has the same id.
    CREATE TABLE adoptions (
      merchant_id bigint NOT NULL,
      id uuid NOT NULL,
      discrepancy_id uuid NOT NULL REFERENCES discrepancies (id),
      gateway text NOT NULL,
      kind text NOT NULL CHECK (kind IN ('collection', 'payout')),
      receipt text NOT NULL,
      -- Ours, if the gateway has repeated it.
      reference text,
      amount_cents bigint NOT NULL CHECK (amount_cents > 0),
      -- The commission, or the fee.
      cost_cents bigint NOT NULL CHECK (cost_cents BETWEEN 0 AND amount_cents),
      adopted_at timestamptz NOT NULL DEFAULT now(),
      -- When it gave way to its payment, which came after all.
      taken_back_at timestamptz,
      PRIMARY KEY (merchant_id, id)
    );
    CREATE INDEX adoptions_by_receipt ON adoptions (receipt);
    CREATE INDEX adoptions_by_reference ON adoptions (reference) WHERE reference IS NOT NULL;

    -- Statements of gateways, line by line.
    CREATE TABLE statement_imports (
      id uuid PRIMARY KEY,
      gateway text NOT NULL,
      channel integer NOT NULL,
      -- Whole UTC days, both included.
      period_from date NOT NULL,
      period_to date NOT NULL,
      -- 'gateway', or the name of the file that it was read from.
      source text NOT NULL,
      -- Who of staff has brought the file to the console. NULL: the gateway gave the statement, or
      -- the command line took it.
      brought_by text,
      imported_at timestamptz NOT NULL DEFAULT now(),
      -- The other member of staff who has agreed to the file by comparing it. NULL: nobody has.
      agreed_by text,
      -- The kinds of which it lists every movement.
      covers text[] NOT NULL DEFAULT '{}',
      -- It lists every movement before this. NULL: unknown.
      complete_until timestamptz,
      -- The rows of own money of a draft, which count once its comparison has begun.
      own jsonb,
      -- The findings that a comparison would have, for the person who decides about it.
      preview jsonb,
      -- When its comparison with the books began. NULL: it waits for a decision, and proves nothing.
      -- Its process renews the lease "statement ID". A comparison without it has stopped.
      started_at timestamptz DEFAULT now(),
      -- What the comparison has found. NULL: it has not ended.
      result jsonb,
      CHECK (period_from <= period_to)
    );

    CREATE TABLE statement_lines (
      import_id uuid NOT NULL REFERENCES statement_imports (id),
      line_no integer NOT NULL,
      kind text NOT NULL CHECK (kind IN ('collection', 'payout', 'reversal')),
      reference text,
      account text,
      amount_cents bigint NOT NULL CHECK (amount_cents > 0),
      trans_id text,
      completed_at timestamptz NOT NULL,
      -- What the gateway charged the operator for it, if its receipt has rows of charges.
      charge_cents bigint CHECK (charge_cents >= 0),
      -- It says neither success nor failure, so it is no movement. It rules nothing out.
      undecided boolean NOT NULL DEFAULT false,
      -- It brings back money that had gone out, and does not say of which payment.
      has_come_back boolean NOT NULL DEFAULT false CHECK (undecided OR NOT has_come_back),
      -- Known before; news that was applied; news that contradicts the books; of no payment here.
      result text CHECK (result IN ('matched', 'settled', 'contradicts', 'unknown')),
      PRIMARY KEY (import_id, line_no),
      CHECK (reference IS NOT NULL OR trans_id IS NOT NULL)
    ) WITH (${APPENDED});
    CREATE INDEX statement_lines_by_receipt ON statement_lines (import_id, trans_id);
    CREATE INDEX statement_lines_breaks ON statement_lines (import_id, line_no)
      WHERE result IN ('unknown', 'contradicts');
    CREATE INDEX statement_lines_by_reference ON statement_lines (reference, import_id);

    -- A channel that takes no new payments until somebody resumes it.
    CREATE TABLE paused_channels (
      code integer PRIMARY KEY,
      -- What is stopped: 'payouts', 'reversals' (and returns), or both. NULL: everything.
      what text[] CHECK (what <@ ARRAY['payouts', 'reversals']),
      paused_at timestamptz NOT NULL DEFAULT now()
    );

    -- What a gateway has last said of the money from which payouts go.
    CREATE TABLE gateway_floats (
      gateway text PRIMARY KEY,
      available_cents bigint NOT NULL,
      heard_at timestamptz NOT NULL,
      -- When it was asked: an answer may come late.
      asked_at timestamptz NOT NULL
    );

    -- Payments that failed because of the operator's own trouble with a gateway, until somebody
    -- resumes the channel.
    CREATE TABLE operator_troubles (
      channel integer NOT NULL,
      gateway text NOT NULL,
      merchant_id bigint NOT NULL,
      payment_kind text NOT NULL,
      payment_id uuid NOT NULL,
      -- The gateway's words.
      trouble text NOT NULL,
      happened_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (payment_kind, merchant_id, payment_id)
    );
    CREATE INDEX operator_troubles_newest ON operator_troubles (gateway, happened_at DESC);

    -- Every change that an operator made, kept in the transaction of the change; and every time
    -- that one has read data of merchants or customers.
    CREATE TABLE audit_log (
      id uuid PRIMARY KEY,
      actor text NOT NULL,
      action text NOT NULL,
      merchant_id bigint,
      subject text NOT NULL,
      -- NULL: somebody has read, and changed nothing.
      reason text,
      details jsonb NOT NULL DEFAULT '{}',
      -- Where the order came from: see src/domain/audit/origin.ts.
      door text NOT NULL DEFAULT 'service' CHECK (door IN ('console', 'command line', 'service')),
      address text,
      session text,
      request text,
      -- These two are the database's own word. The service may not give them.
      happened_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      database_role name NOT NULL DEFAULT session_user
    );
    CREATE INDEX audit_log_listed ON audit_log (happened_at DESC, id DESC);
    CREATE INDEX audit_log_by_actor ON audit_log (actor, happened_at DESC, id DESC);
    CREATE INDEX audit_log_by_noun
      ON audit_log (split_part(action, '.', 1), happened_at DESC, id DESC);
    CREATE INDEX audit_log_by_merchant ON audit_log (merchant_id, happened_at DESC, id DESC);
    CREATE INDEX audit_log_by_subject ON audit_log (subject, happened_at DESC, id DESC);
    CREATE INDEX audit_log_restore_marks ON audit_log (happened_at) WHERE action = 'restore.mark';
    CREATE TRIGGER audit_log_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  `);
}
