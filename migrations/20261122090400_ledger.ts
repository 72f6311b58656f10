import type { Knex } from 'knex';
import { ASKER_COLUMNS } from './asker.ts';
import { APPENDED, HOT_ROWS } from './storage.ts';

/** Double entry: every journal sums to zero, and the entries of every wallet form a chain. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE wallets (
      merchant_id bigint NOT NULL REFERENCES merchants (id),
      kind text NOT NULL CHECK (kind IN ('collection', 'payout')),
      balance_cents bigint NOT NULL DEFAULT 0,
      -- The number of the newest entry, so that the chain can be verified in pieces.
      entry_no bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (merchant_id, kind),
      CONSTRAINT payout_wallet_not_negative CHECK (kind <> 'payout' OR balance_cents >= 0)
    ) WITH (${HOT_ROWS});

    CREATE TABLE journals (
      merchant_id bigint NOT NULL,
      id uuid NOT NULL,
      source_kind text NOT NULL,
      source_id uuid NOT NULL,
      kind text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (merchant_id, id),
      -- Guarantees that nothing is booked twice, whatever runs twice.
      UNIQUE (merchant_id, source_kind, source_id, kind)
    ) WITH (${APPENDED});
    CREATE TRIGGER journals_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON journals
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

    CREATE TABLE entries (
      merchant_id bigint NOT NULL,
      journal_id uuid NOT NULL,
      line smallint NOT NULL,
      account text NOT NULL,
      amount_cents bigint NOT NULL CHECK (amount_cents <> 0),
      entry_no bigint,
      balance_after_cents bigint,
      -- Only entries of wallets have this and the next four columns. They are what a merchant
      -- sees of the entry.
      transaction_id uuid,
      type text CHECK (type IN ('collection', 'payout', 'fee', 'payout_refund',
        'fee_refund', 'reversal', 'topup', 'transfer', 'adjustment')),
      ref_no text,
      counterparty text,
      description text,
      -- Read with the wallet locked, so that a wallet's entries are listed in their order.
      created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (merchant_id, journal_id, line),
      FOREIGN KEY (merchant_id, journal_id) REFERENCES journals (merchant_id, id),
      CHECK ((account LIKE 'wallet:%') = (entry_no IS NOT NULL)),
      CHECK ((entry_no IS NULL) = (balance_after_cents IS NULL)),
      UNIQUE (merchant_id, account, entry_no)
    ) WITH (${APPENDED});
    -- 'losses' is what the operator pays because money went where it should not have gone, and
    -- 'charges' what gateways charge. 'capital' is the operator's own money
    -- outside of these accounts.
    ALTER TABLE entries ADD CONSTRAINT entries_account_check CHECK (account IN (
      'wallet:collection', 'wallet:payout', 'gateway_float', 'payouts_in_flight',
      'commission', 'fees', 'suspense', 'bank', 'losses', 'charges', 'capital')) NOT VALID;
    CREATE INDEX entries_listed
      ON entries (merchant_id, created_at DESC, transaction_id DESC)
      WHERE transaction_id IS NOT NULL;
    CREATE INDEX entries_by_account
      ON entries (merchant_id, account, created_at DESC, transaction_id DESC)
      WHERE transaction_id IS NOT NULL;
    CREATE INDEX entries_by_type
      ON entries (merchant_id, type, created_at DESC, transaction_id DESC)
      WHERE transaction_id IS NOT NULL;
    CREATE INDEX entries_by_ref_no ON entries (merchant_id, ref_no) WHERE transaction_id IS NOT NULL;
    -- Tells whether money was booked by hand, however its name is written.
    CREATE INDEX entries_of_adjustments ON entries (upper(regexp_replace(ref_no, '[^A-Za-z0-9]', '', 'g')))
      WHERE type = 'adjustment';
    CREATE INDEX entries_by_counterparty ON entries (merchant_id, counterparty)
      WHERE transaction_id IS NOT NULL;
    -- For the proof of the ledger, which sums these two accounts while payments go on.
    CREATE INDEX entries_internal ON entries (merchant_id, account) INCLUDE (amount_cents)
      WHERE account IN ('payouts_in_flight', 'suspense');

    -- All lines of a journal come in one statement, so the check at its end sees them all.
    CREATE FUNCTION guard_journals() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (
        SELECT 1 FROM added GROUP BY merchant_id, journal_id HAVING sum(amount_cents) <> 0
      ) THEN
        RAISE EXCEPTION 'a journal does not sum to zero' USING ERRCODE = 'check_violation';
      END IF;
      -- Each entry of a wallet goes on from the one before. Whoever could break the chain could also write a
      -- checkpoint behind the break.
      IF EXISTS (
        SELECT 1 FROM added a LEFT JOIN entries before ON before.merchant_id = a.merchant_id
          AND before.account = a.account AND before.entry_no = a.entry_no - 1
        WHERE a.entry_no IS NOT NULL AND a.balance_after_cents IS DISTINCT FROM a.amount_cents
          + CASE WHEN a.entry_no = 1 THEN 0 ELSE before.balance_after_cents END
      ) THEN
        RAISE EXCEPTION 'an entry of a wallet does not go on from the one before'
          USING ERRCODE = 'check_violation';
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER entries_guarded AFTER INSERT ON entries REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION guard_journals();
    CREATE TRIGGER entries_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON entries
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

    -- A wallet's balance is the end of its chain, whoever has changed it. Looked at once a commit, so
    -- that the parts of a transaction may come in any order.
    CREATE FUNCTION guard_balance() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      -- A transaction may add several entries. A wallet that has none is empty.
      PERFORM FROM wallets w LEFT JOIN LATERAL (SELECT entry_no, balance_after_cents FROM entries e
          WHERE e.merchant_id = w.merchant_id AND e.account = 'wallet:' || w.kind
          ORDER BY entry_no DESC LIMIT 1) AS newest ON true
        WHERE w.merchant_id = NEW.merchant_id AND w.kind = NEW.kind
          AND w.entry_no = coalesce(newest.entry_no, 0)
          AND w.balance_cents = coalesce(newest.balance_after_cents, 0);
      IF NOT FOUND THEN
        RAISE EXCEPTION 'the balance of a wallet is not the end of its chain'
          USING ERRCODE = 'check_violation';
      END IF;
      RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER wallets_balance AFTER INSERT OR UPDATE ON wallets
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION guard_balance();

    -- Money that a merchant moved from its collection wallet to its payout wallet.
    CREATE TABLE transfers (
      merchant_id bigint NOT NULL REFERENCES merchants (id),
      id uuid NOT NULL,
      amount_cents bigint NOT NULL CHECK (amount_cents > 0),
      ref_no text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      ${ASKER_COLUMNS.trim()},
      PRIMARY KEY (merchant_id, id),
      CONSTRAINT transfers_ref_no_unique UNIQUE (merchant_id, ref_no)
    );

    -- The chain of a wallet's entries is proved up to this one.
    CREATE TABLE ledger_checkpoints (
      merchant_id bigint NOT NULL REFERENCES merchants (id),
      wallet text NOT NULL CHECK (wallet IN ('collection', 'payout')),
      entry_no bigint NOT NULL CHECK (entry_no > 0),
      balance_cents bigint NOT NULL,
      verified_at timestamptz NOT NULL,
      PRIMARY KEY (merchant_id, wallet)
    );

    -- Whatever of a merchant was committed by then is proved, apart from the wallets' chains.
    CREATE TABLE journal_checkpoints (
      merchant_id bigint PRIMARY KEY REFERENCES merchants (id),
      verified_at timestamptz NOT NULL
    );

    -- One row: the result of the last scheduled proof of all merchants.
    CREATE TABLE last_ledger_verification (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
      verified_at timestamptz NOT NULL,
      checked jsonb NOT NULL,
      -- The number of breaks of each kind, and the first of them.
      counts jsonb NOT NULL,
      breaks jsonb NOT NULL
    );
  `);
}
