import type { Knex } from 'knex';

/**
 * When the database cleans its tables up. The defaults wait until a fifth of a table has
 * changed: with a hundred million rows that is twenty million dead ones, read past by every
 * query. These settings take a lock that no reader or writer waits for.
 */
const OFTEN = 'autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02';

/** Only added to: cleaned up so that sums can be read from indexes alone. */
const APPENDED = 'autovacuum_vacuum_insert_scale_factor = 0.05';

const SETTINGS: Readonly<Record<string, string>> = {
  // A row changes some five times until its payment has ended.
  collections: OFTEN,
  payouts: OFTEN,
  reversals: OFTEN,
  returns: OFTEN,
  // Two or three times: claimed and answered; admitted, sent, done; stored and processed.
  attempts: OFTEN,
  events: OFTEN,
  webhook_deliveries: OFTEN,
  callbacks: OFTEN,
  // Comes and goes within days.
  idempotency_keys: OFTEN,
  token_families: OFTEN,
  // Few rows, each changed by every payment of its merchant. Room in the page lets a change
  // stay in it, and be cleaned up by whoever comes next.
  wallets: `autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0, fillfactor = 50`,
  event_sequences: `autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0, fillfactor = 50`,
  journals: APPENDED,
  entries: APPENDED,
  movements: APPENDED,
  statement_lines: APPENDED,
};

export async function up(knex: Knex): Promise<void> {
  for (const [table, settings] of Object.entries(SETTINGS)) {
    await knex.raw(`ALTER TABLE ${table} SET (${settings})`);
  }
  await setOnPartitions(knex);
}

/** A partitioned table has no settings of its own: each month gets them, now and when it is made. */
async function setOnPartitions(knex: Knex): Promise<void> {
  const { rows: months } = await knex.raw<{ rows: { name: string }[] }>(`
    SELECT CAST(CAST(inhrelid AS regclass) AS text) AS name FROM pg_inherits
    WHERE inhparent IN (CAST('payment_history' AS regclass), CAST('webhook_attempts' AS regclass))
    ORDER BY name`);
  for (const { name } of months) await knex.raw(`ALTER TABLE ${name} SET (${APPENDED})`);
  // As it was, but for the settings of the new table.
  await knex.schema.raw(`
    CREATE OR REPLACE FUNCTION make_month_partitions(parent text, by_column text, months_ahead integer)
    RETURNS void
    LANGUAGE plpgsql AS $$
    DECLARE
      first_day date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
      month_start date;
      month_end date;
      partition text;
    BEGIN
      FOR step IN 0..months_ahead LOOP
        month_start := first_day + make_interval(months => step);
        month_end := first_day + make_interval(months => step + 1);
        partition := parent || '_' || to_char(month_start, 'YYYY_MM');
        IF to_regclass(partition) IS NULL THEN
          -- Attaching, unlike creating it as a partition, lets inserts go on meanwhile.
          EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', partition, parent);
          EXECUTE format('ALTER TABLE %I SET (${APPENDED})', partition);
          -- What fell into the default partition moves, or this month could never be attached.
          EXECUTE format(
            'WITH moved AS (DELETE FROM %I WHERE %I >= %L AND %I < %L RETURNING *)
             INSERT INTO %I SELECT * FROM moved',
            parent || '_default', by_column, month_start::text || ' 00:00:00+00',
            by_column, month_end::text || ' 00:00:00+00', partition);
          EXECUTE format(
            'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, partition,
            month_start::text || ' 00:00:00+00', month_end::text || ' 00:00:00+00');
        END IF;
      END LOOP;
    END $$;
  `);
}
