import type { Knex } from 'knex';

/** The proof of the books against the world: what gateways tell of our balances. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- For the ledger's float of a gateway, which is summed up while payments go on.
    CREATE INDEX entries_of_float ON entries (created_at) WHERE account = 'gateway_float';

    -- What people have decided about money may be why a balance differs.
    CREATE INDEX movements_by_hand ON movements (gateway)
      WHERE told_by IN ('support', 'file', 'file_likeness') OR booked = 'undone';

    -- Each balance that a gateway has told, beside the ledger's float at that moment.
    CREATE TABLE balance_proofs (
      gateway text NOT NULL,
      -- Payments move the money of 'utility'. The gateway 'bank' has one, 'bank'.
      sub_account text NOT NULL CHECK (sub_account IN ('utility', 'working', 'charges', 'bank')),
      told_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      -- When the gateway was asked, or the time of a bank's last row.
      asked_at timestamptz NOT NULL,
      told_cents bigint NOT NULL,
      ledger_cents bigint NOT NULL,
      -- The most that may come to it, and leave it, by payments on their way.
      may_rise_cents bigint NOT NULL CHECK (may_rise_cents >= 0),
      may_fall_cents bigint NOT NULL CHECK (may_fall_cents >= 0),
      -- Since when no payment on its way explains the difference. NULL: the balance agrees.
      differs_since timestamptz,
      -- The ledger's float without what was booked since this moment. The next proof begins here.
      counted_until timestamptz NOT NULL,
      counted_cents bigint NOT NULL,
      PRIMARY KEY (gateway, sub_account, told_at)
    );
    -- Money between the operator's own accounts, and to and from its bank.
    CREATE TABLE own_moves (
      id uuid PRIMARY KEY,
      -- As the bank or the gateway names it.
      reference text NOT NULL UNIQUE,
      -- 'bank', 'capital', 'losses', or a gateway and its sub-account, such as daraja-600000/utility.
      from_account text NOT NULL,
      to_account text NOT NULL,
      amount_cents bigint NOT NULL CHECK (amount_cents > 0),
      created_at timestamptz NOT NULL DEFAULT now(),
      CHECK (from_account <> to_account)
    );
    CREATE TRIGGER own_moves_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON own_moves
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

    -- Rows of statements about the operator's own money. They settle nothing.
    CREATE TABLE own_lines (
      -- As in own_moves.
      account text NOT NULL,
      reference text NOT NULL,
      -- Signed: what came to the account is positive.
      amount_cents bigint NOT NULL CHECK (amount_cents <> 0),
      told_at timestamptz NOT NULL,
      -- Of equal rows of a bank: which one of them it is in its file.
      occurrence int NOT NULL,
      -- The reference as it is compared: banks write it with blanks and slashes, and people do not type these.
      name text NOT NULL GENERATED ALWAYS AS (upper(regexp_replace(reference, '[^A-Za-z0-9]', '', 'g'))) STORED,
      PRIMARY KEY (account, reference, amount_cents, told_at, occurrence)
    );
    CREATE INDEX own_lines_by_name ON own_lines (account, name);
    CREATE INDEX own_lines_by_age ON own_lines (told_at);
    CREATE INDEX entries_of_bank ON entries (created_at) WHERE account = 'bank';

    -- How the books and the world compared at the end of each day of Nairobi.
    CREATE TABLE closed_days (
      day date PRIMARY KEY,
      closed_at timestamptz NOT NULL DEFAULT now(),
      agrees boolean NOT NULL,
      -- Each with what might explain it.
      differences jsonb NOT NULL,
      untold text[] NOT NULL,
      -- Nobody closes a day that is not over.
      CHECK (day < CAST(closed_at AT TIME ZONE 'Africa/Nairobi' AS date))
    );

    -- What a gateway has charged the operator for movements and adopted money. The journal of a run has their sum.
    CREATE TABLE charges (
      merchant_id bigint NOT NULL,
      -- Of a movement, or of an adoption.
      movement_id uuid NOT NULL,
      gateway text NOT NULL,
      kind text NOT NULL,
      -- As of the movement, or when the money was adopted.
      learned_at timestamptz NOT NULL,
      -- By the tariff. NULL: it had booked nothing when the gateway told.
      booked_cents bigint CHECK (booked_cents >= 0),
      -- Booked as the gateway or a file has told. NULL: none has told.
      told_cents bigint CHECK (told_cents >= 0),
      -- 'statement', 'answer': the gateway itself. 'file': a member has brought it. 'undone': the movement
      -- did not happen, and the charge was taken back.
      told_by text CHECK (told_by IN ('statement', 'answer', 'file', 'undone')),
      -- In an answer of the gateway. The next run books it.
      heard_cents bigint CHECK (heard_cents >= 0),
      CHECK ((told_cents IS NULL) = (told_by IS NULL)),
      CHECK (num_nonnulls(booked_cents, told_cents, heard_cents) > 0),
      PRIMARY KEY (merchant_id, movement_id)
    );
    CREATE INDEX charges_by_tariff ON charges (gateway, kind, learned_at)
      WHERE booked_cents IS NOT NULL;
    CREATE INDEX charges_heard ON charges (gateway) WHERE heard_cents IS NOT NULL;
    CREATE INDEX movements_by_learning ON movements (learned_at);
    CREATE TABLE charge_runs (
      id uuid PRIMARY KEY,
      gateway text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );

    CREATE INDEX balance_proofs_by_age ON balance_proofs (told_at);
  `);
}
