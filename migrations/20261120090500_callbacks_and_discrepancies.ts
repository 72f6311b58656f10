import type { Knex } from 'knex';

/** What gateways told us, and what does not add up until somebody decides. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    CREATE TABLE callbacks (
      id uuid PRIMARY KEY,
      gateway text NOT NULL,
      -- From the address's token, so known only when that is genuine.
      merchant_id bigint,
      payment_kind text,
      payment_id uuid,
      body text NOT NULL,
      status text NOT NULL DEFAULT 'stored' CHECK (status IN ('stored', 'processed', 'rejected')),
      -- Why it was rejected, or moved nothing.
      problem text,
      next_step text,
      next_step_at timestamptz,
      step_no integer NOT NULL DEFAULT 0,
      step_swept_at timestamptz,
      parked_reason text,
      received_at timestamptz NOT NULL DEFAULT now(),
      CHECK ((next_step IS NULL) = (next_step_at IS NULL)),
      CHECK (status <> 'stored' OR merchant_id IS NOT NULL),
      CHECK (status <> 'stored' OR next_step IS NOT NULL OR parked_reason IS NOT NULL)
    );
    CREATE INDEX callbacks_due ON callbacks (next_step_at) WHERE next_step IS NOT NULL;
    CREATE INDEX callbacks_by_payment ON callbacks (merchant_id, payment_id);

    CREATE TABLE discrepancies (
      id uuid PRIMARY KEY,
      merchant_id bigint NOT NULL,
      kind text NOT NULL,
      payment_kind text NOT NULL,
      payment_id uuid NOT NULL,
      trans_id text,
      amount_cents bigint,
      details jsonb NOT NULL,
      opened_at timestamptz NOT NULL DEFAULT now(),
      resolved_at timestamptz,
      -- The same finding twice is one discrepancy.
      UNIQUE NULLS NOT DISTINCT (merchant_id, payment_kind, payment_id, kind, trans_id)
    );
    CREATE INDEX discrepancies_open ON discrepancies (opened_at) WHERE resolved_at IS NULL;
  `);
}
