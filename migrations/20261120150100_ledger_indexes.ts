import type { Knex } from 'knex';
import { buildIndex } from './concurrent-index.ts';

/** Concurrently built indexes allow no transaction. */
export const config = { transaction: false };

/** Lets the books be proved while payments go on: sums and what ended lately, from indexes alone. */
export async function up(knex: Knex): Promise<void> {
  await buildIndex(
    knex,
    'entries_internal',
    `entries (merchant_id, account) INCLUDE (amount_cents)
     WHERE account IN ('payouts_in_flight', 'suspense')`,
  );
  await buildIndex(
    knex,
    'payouts_in_flight',
    `payouts (merchant_id, id) INCLUDE (amount_cents, fee_cents)
     WHERE status <> 'completed' AND refund_posted_at IS NULL`,
  );
  await indexHistory(knex);
}

/** Only ends are in it, so that accepting a payment has nothing to do with it. */
const ENDED = `(merchant_id, happened_at) INCLUDE (payment_kind, payment_id)
     WHERE to_status IN ('completed', 'failed')`;

/**
 * A partitioned table takes no concurrent build: each month gets its own, and they are put
 * together. Months that are made later get theirs from the parent.
 */
async function indexHistory(knex: Knex): Promise<void> {
  await knex.raw(
    `CREATE INDEX IF NOT EXISTS payment_history_ended ON ONLY payment_history ${ENDED}`,
  );
  const { rows: months } = await knex.raw<{ rows: { name: string }[] }>(`
    SELECT CAST(CAST(inhrelid AS regclass) AS text) AS name FROM pg_inherits
    WHERE inhparent = CAST('payment_history' AS regclass)
      AND NOT EXISTS (
        SELECT FROM pg_index i JOIN pg_inherits attached ON attached.inhrelid = i.indexrelid
        WHERE i.indrelid = pg_inherits.inhrelid
          AND attached.inhparent = CAST('payment_history_ended' AS regclass))
    ORDER BY name`);
  for (const { name } of months) {
    await buildIndex(knex, `${name}_ended`, `${name} ${ENDED}`);
    await knex.raw(`ALTER INDEX payment_history_ended ATTACH PARTITION ${name}_ended`);
  }
}
