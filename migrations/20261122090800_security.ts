import type { Knex } from 'knex';
import { APPENDED, UPDATED_OFTEN } from './storage.ts';

/** Who got in, who tried, and who changed what lets people in. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- No foreign keys: each event would lock the rows of its app and user. NULL: nobody is known.
    CREATE TABLE security_events (
      id uuid PRIMARY KEY,
      kind text NOT NULL,
      merchant_id bigint,
      app_code bigint,
      user_id uuid,
      -- The operator or member of staff who did it.
      staff text,
      -- The family of tokens. Its row is deleted some days after its end.
      family uuid,
      -- As trusted proxies report it.
      ip inet,
      -- A keyed hash of the e-mail address or app key that somebody tried.
      account_hash text,
      detail jsonb NOT NULL DEFAULT '{}',
      at timestamptz NOT NULL DEFAULT clock_timestamp()
    ) WITH (${APPENDED});
    CREATE INDEX security_events_listed ON security_events (at DESC, id DESC);
    CREATE INDEX security_events_by_kind ON security_events (kind, at DESC, id DESC);
    CREATE INDEX security_events_by_merchant ON security_events (merchant_id, at DESC, id DESC)
      WHERE merchant_id IS NOT NULL;
    CREATE INDEX security_events_by_account ON security_events (account_hash, at DESC, id DESC)
      WHERE account_hash IS NOT NULL;
    -- For the networks from which an account was logged in to lately.
    CREATE INDEX security_events_log_ins ON security_events (account_hash, at)
      WHERE kind = 'log_in' AND account_hash IS NOT NULL;
    CREATE INDEX security_events_by_ip ON security_events (ip, at DESC, id DESC)
      WHERE ip IS NOT NULL;
    CREATE TRIGGER security_events_kept BEFORE UPDATE OR TRUNCATE ON security_events
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
    -- Retention may delete an event when its period is over, and nobody may before.
    CREATE TRIGGER security_events_kept_while_young BEFORE DELETE ON security_events
      FOR EACH ROW WHEN (OLD.at >= now() - interval '13 months')
      EXECUTE FUNCTION refuse_change();

    -- Changes of access by staff of which its owner is to be told by e-mail. A row goes then.
    CREATE TABLE access_notices (
      event_id uuid PRIMARY KEY,
      -- A former address, besides the present ones.
      also_tell text,
      -- Addresses that have got the e-mail, while others have not.
      told text[] NOT NULL DEFAULT '{}',
      created_at timestamptz NOT NULL DEFAULT now(),
      tell_at timestamptz NOT NULL DEFAULT now()
    ) WITH (${UPDATED_OFTEN});
    CREATE INDEX access_notices_by_time ON access_notices (tell_at);

    -- Failed log-ins of each account over all addresses, as a token bucket. A row costs the caller
    -- who makes it a check of a password, and means nothing any more once the bucket is full again.
    CREATE TABLE log_in_limits (
      -- As in security_events. An unknown account has a row too.
      account_hash text NOT NULL,
      -- A network from which the account was logged in to lately; 0.0.0.0/0 for all others.
      network inet NOT NULL,
      full_at timestamptz NOT NULL,
      PRIMARY KEY (account_hash, network)
    ) WITH (${UPDATED_OFTEN});
    CREATE INDEX log_in_limits_by_end ON log_in_limits (full_at);
  `);
}
