import type { Knex } from 'knex';

/** From where an app may call, how fast a merchant may, and which request was which. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- Empty: from anywhere. A network is written as an address with its prefix length.
    ALTER TABLE apps ADD COLUMN ip_allow_list inet[] NOT NULL DEFAULT '{}';

    -- The secret that a family was got with: when it lapses, so does the family. NULL for
    -- people, and for families of the release before.
    ALTER TABLE token_families ADD COLUMN secret_id uuid REFERENCES app_secrets (id);

    -- For ending all tokens of an app or a person at once.
    CREATE INDEX token_families_by_app ON token_families (merchant_id, app_code);
    CREATE INDEX token_families_by_user ON token_families (merchant_id, user_id);

    -- NULL: the limits of the configuration.
    ALTER TABLE merchants
      ADD COLUMN rate_limit_per_minute integer CHECK (rate_limit_per_minute BETWEEN 1 AND 100000),
      ADD COLUMN rate_limit_burst integer CHECK (rate_limit_burst BETWEEN 1 AND 100000);

    -- The first answer to a request that carried an Idempotency-Key, kept in the transaction
    -- of what it did.
    CREATE TABLE idempotency_keys (
      merchant_id bigint NOT NULL REFERENCES merchants (id),
      path text NOT NULL,
      key text NOT NULL,
      fingerprint bytea NOT NULL,
      response_status smallint NOT NULL,
      -- Not jsonb, which would change the order of the answer's fields.
      response_body json NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (merchant_id, path, key)
    );
    CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

    -- A channel that takes no new payments until somebody resumes it.
    CREATE TABLE paused_channels (
      code integer PRIMARY KEY,
      paused_at timestamptz NOT NULL DEFAULT now()
    );

    -- Every change that an operator made, in the transaction of the change.
    CREATE TABLE audit_log (
      id uuid PRIMARY KEY,
      actor text NOT NULL,
      action text NOT NULL,
      merchant_id bigint,
      subject text NOT NULL,
      reason text NOT NULL,
      details jsonb NOT NULL DEFAULT '{}',
      happened_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE TRIGGER audit_log_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  `);
}
