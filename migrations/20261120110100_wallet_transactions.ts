import type { Knex } from 'knex';

/** What a merchant sees of its wallets, and the orders in which lists are read. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- Only wallet entries have these. Those that a process of the release before writes have
    -- none and are not listed; balances count them all the same.
    ALTER TABLE entries
      ADD COLUMN transaction_id uuid,
      ADD COLUMN type text CHECK (type IN ('collection', 'payout', 'fee', 'payout_refund',
        'fee_refund', 'reversal', 'topup', 'transfer', 'adjustment')),
      ADD COLUMN ref_no text,
      ADD COLUMN counterparty text,
      ADD COLUMN description text,
      ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
    CREATE INDEX entries_listed
      ON entries (merchant_id, created_at DESC, transaction_id DESC)
      WHERE transaction_id IS NOT NULL;
    CREATE INDEX entries_by_ref_no ON entries (merchant_id, ref_no) WHERE transaction_id IS NOT NULL;
    CREATE INDEX entries_by_counterparty
      ON entries (merchant_id, counterparty) WHERE transaction_id IS NOT NULL;

    -- Money that a merchant moved from its collection wallet to its payout wallet.
    CREATE TABLE transfers (
      merchant_id bigint NOT NULL REFERENCES merchants (id),
      id uuid NOT NULL,
      amount_cents bigint NOT NULL CHECK (amount_cents > 0),
      ref_no text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (merchant_id, id),
      CONSTRAINT transfers_ref_no_unique UNIQUE (merchant_id, ref_no)
    );

    -- Carries the status, so that counting by it reads the index alone.
    CREATE INDEX collections_listed ON collections (merchant_id, created_at DESC, id DESC) INCLUDE (status);
    CREATE INDEX collections_by_payfrom ON collections (merchant_id, payfrom, created_at DESC);
  `);
}
