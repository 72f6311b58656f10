import type { Knex } from 'knex';

/** What a member of staff wants to do, and a second one must agree to. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE approvals (
      id uuid PRIMARY KEY,
      -- Noun and verb, as the audit log names them.
      action text NOT NULL,
      -- The thing that it is about, as the audit log names it.
      subject text NOT NULL,
      merchant_id bigint,
      amount_cents bigint,
      -- What the action needs. It checks all of it again when it runs.
      payload jsonb NOT NULL,
      -- What will happen, in the words that the first person has read.
      preview text NOT NULL,
      -- E-mail addresses of staff, as in the audit log.
      requested_by text NOT NULL,
      reason text NOT NULL,
      requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      decided_by text,
      decided_at timestamptz,
      decision text CHECK (decision IN ('approved', 'rejected', 'withdrawn', 'expired')),
      decision_reason text,
      -- When somebody is to be told of it next. NULL: everybody was told.
      tell_at timestamptz DEFAULT now(),
      -- Addresses that have got the e-mail, and the hook, while others have not.
      told text[] NOT NULL DEFAULT '{}',
      CHECK (num_nulls(decided_by, decided_at, decision, decision_reason) IN (0, 4)),
      -- Nobody decides about an own wish, and nobody else withdraws it.
      CHECK ((decision = 'withdrawn') = (decided_by = requested_by))
    );
    -- One question about a thing at a time, however often a form is sent.
    CREATE UNIQUE INDEX approvals_open ON approvals (action, subject) WHERE decision IS NULL;
    CREATE INDEX approvals_open_listed ON approvals (id) WHERE decision IS NULL;
    CREATE INDEX approvals_untold ON approvals (tell_at)
      WHERE decision IS NULL OR decision = 'approved';
    CREATE TRIGGER approvals_decided_once BEFORE UPDATE ON approvals
      FOR EACH ROW WHEN (OLD.decision IS NOT NULL
        AND (NEW.decided_by, NEW.decided_at, NEW.decision, NEW.decision_reason)
        IS DISTINCT FROM (OLD.decided_by, OLD.decided_at, OLD.decision, OLD.decision_reason))
      EXECUTE FUNCTION refuse_change();
    -- The database itself says when.
    CREATE FUNCTION stamp_decision() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.decided_at := clock_timestamp();
        RETURN NEW;
      END $$;
    CREATE TRIGGER approvals_stamped BEFORE UPDATE ON approvals
      FOR EACH ROW WHEN (OLD.decision IS NULL AND NEW.decision IS NOT NULL)
      EXECUTE FUNCTION stamp_decision();
    -- Nobody changes what was asked for, not even before the decision.
    CREATE TRIGGER approvals_asked_once BEFORE UPDATE ON approvals
      FOR EACH ROW WHEN ((NEW.id, NEW.action, NEW.subject, NEW.merchant_id, NEW.amount_cents,
        NEW.payload, NEW.preview, NEW.requested_by, NEW.reason, NEW.requested_at)
        IS DISTINCT FROM (OLD.id, OLD.action, OLD.subject, OLD.merchant_id, OLD.amount_cents,
        OLD.payload, OLD.preview, OLD.requested_by, OLD.reason, OLD.requested_at))
      EXECUTE FUNCTION refuse_change();
    CREATE TRIGGER approvals_kept BEFORE DELETE OR TRUNCATE ON approvals
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  `);
}
