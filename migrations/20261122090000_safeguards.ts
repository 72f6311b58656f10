import type { Knex } from 'knex';
import { APPENDED } from './storage.ts';

/** Functions that the triggers of many tables share, and the one that makes partitions. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Refuses a change of status that the state machine does not have. Arguments: the initial
    -- status, then every allowed move as 'from>to'.
    CREATE FUNCTION guard_status() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        IF NEW.status <> TG_ARGV[0] THEN
          RAISE EXCEPTION '% must begin as %, not as %', TG_TABLE_NAME, TG_ARGV[0], NEW.status
            USING ERRCODE = 'check_violation';
        END IF;
      ELSIF NEW.status <> OLD.status
        AND NOT (OLD.status || '>' || NEW.status) = ANY (TG_ARGV) THEN
        RAISE EXCEPTION '% cannot move from % to %', TG_TABLE_NAME, OLD.status, NEW.status
          USING ERRCODE = 'check_violation';
      END IF;
      RETURN NEW;
    END $$;

    -- Keeps rows that nobody may delete, or even change.
    CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION '% of % is refused: these rows are kept as they are', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'check_violation';
    END $$;

    -- Makes the partitions of this month and of the months after it, so that an insert never
    -- waits for one.
    CREATE FUNCTION make_month_partitions(parent text, by_column text, months_ahead integer)
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
