import type { Knex } from 'knex';

/** How far the books have been proved, and what the last proof of all of them has found. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- A wallet's chain of entries is right up to this one.
    CREATE TABLE ledger_checkpoints (
      merchant_id bigint NOT NULL REFERENCES merchants (id),
      wallet text NOT NULL CHECK (wallet IN ('collection', 'payout')),
      entry_no bigint NOT NULL CHECK (entry_no > 0),
      balance_cents bigint NOT NULL,
      verified_at timestamptz NOT NULL,
      PRIMARY KEY (merchant_id, wallet)
    );

    -- Everything of a merchant that was committed by then, and is no wallet's chain, is right.
    CREATE TABLE journal_checkpoints (
      merchant_id bigint PRIMARY KEY REFERENCES merchants (id),
      verified_at timestamptz NOT NULL
    );

    -- One row: what the schedule's last run over all merchants has found.
    CREATE TABLE last_ledger_verification (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
      verified_at timestamptz NOT NULL,
      checked jsonb NOT NULL,
      -- How many breaks there are of each kind, and the first of them.
      counts jsonb NOT NULL,
      breaks jsonb NOT NULL
    );
  `);
}
