import type { Knex } from 'knex';

/** Double entry. Every journal sums to zero and every wallet's entries form a chain. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    CREATE TABLE wallets (
      merchant_id bigint NOT NULL REFERENCES merchants (id),
      kind text NOT NULL CHECK (kind IN ('collection', 'payout')),
      balance_cents bigint NOT NULL DEFAULT 0,
      -- The number of the newest entry: a chain that can be verified in pieces.
      entry_no bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (merchant_id, kind),
      CONSTRAINT payout_wallet_not_negative CHECK (kind <> 'payout' OR balance_cents >= 0)
    );

    CREATE TABLE journals (
      merchant_id bigint NOT NULL REFERENCES merchants (id),
      id uuid NOT NULL,
      source_kind text NOT NULL,
      source_id uuid NOT NULL,
      kind text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (merchant_id, id),
      -- The same thing cannot be booked twice, whatever runs twice.
      UNIQUE (merchant_id, source_kind, source_id, kind)
    );

    CREATE TABLE entries (
      merchant_id bigint NOT NULL,
      journal_id uuid NOT NULL,
      line smallint NOT NULL,
      account text NOT NULL CHECK (account IN (
        'wallet:collection', 'wallet:payout', 'gateway_float', 'payouts_in_flight',
        'commission', 'fees', 'suspense', 'bank')),
      amount_cents bigint NOT NULL CHECK (amount_cents <> 0),
      entry_no bigint,
      balance_after_cents bigint,
      PRIMARY KEY (merchant_id, journal_id, line),
      FOREIGN KEY (merchant_id, journal_id) REFERENCES journals (merchant_id, id),
      CHECK ((account LIKE 'wallet:%') = (entry_no IS NOT NULL)),
      CHECK ((entry_no IS NULL) = (balance_after_cents IS NULL)),
      UNIQUE (merchant_id, account, entry_no)
    );

    -- All lines of a journal come in one statement, so the check at its end sees them all.
    CREATE FUNCTION guard_journal_sum() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (
        SELECT 1 FROM added GROUP BY merchant_id, journal_id HAVING sum(amount_cents) <> 0
      ) THEN
        RAISE EXCEPTION 'a journal does not sum to zero' USING ERRCODE = 'check_violation';
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER entries_sum AFTER INSERT ON entries REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION guard_journal_sum();
    CREATE TRIGGER entries_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON entries
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
    CREATE TRIGGER journals_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON journals
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  `);
}
