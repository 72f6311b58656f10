import type { Knex } from 'knex';
import { APPENDED } from './storage.ts';

/** Far more than the dispatcher makes, and few enough to do no harm. */
const MAX_MONTHS_AHEAD = 24;

/** Functions that the triggers of many tables share, and those that make and detach partitions. */
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

    -- A payment's amount can only become that of a movement of it.
    CREATE FUNCTION guard_amount() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT EXISTS (SELECT FROM movements m
        WHERE m.merchant_id = NEW.merchant_id AND m.payment_kind || 's' = TG_TABLE_NAME
          AND m.payment_id = NEW.id AND m.amount_cents = NEW.amount_cents)
      THEN
        RAISE EXCEPTION 'no movement of % has this amount', TG_TABLE_NAME
          USING ERRCODE = 'check_violation';
      END IF;
      RETURN NEW;
    END $$;

    -- A movement's amount and account can only become what findings about its payment have told.
    CREATE FUNCTION guard_correction() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT coalesce((
        SELECT bool_or(NEW.amount_cents IN (CAST(told->>'amount_cents' AS bigint), OLD.amount_cents))
          AND bool_or(NEW.account = told->'details'->>'account'
            OR NEW.account IS NOT DISTINCT FROM OLD.account)
        FROM discrepancies d, jsonb_array_elements(d.evidence) AS told
        WHERE d.merchant_id = NEW.merchant_id AND d.payment_kind = NEW.payment_kind
          AND d.payment_id = NEW.payment_id AND (d.movement_id = NEW.id
            OR d.kind IN ('other_amount', 'other_account') AND d.movement_id IS NULL)), false)
      THEN
        RAISE EXCEPTION 'nothing has told this of the movement' USING ERRCODE = 'check_violation';
      END IF;
      RETURN NEW;
    END $$;

    -- Makes the partitions of this month and of the months after it, so that an insert never
    -- waits for one. The service may call it, though it may make no table otherwise.
    CREATE FUNCTION make_month_partitions(parent text, by_column text, months_ahead integer)
    RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER AS $$
    DECLARE
      first_day date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
      month_start date;
      month_end date;
      partition text;
    BEGIN
      -- A table of the caller's own could run the caller's code with the owner's rights.
      IF (parent, by_column) NOT IN
        (('payment_history', 'happened_at'), ('webhook_attempts', 'attempted_at')) THEN
        RAISE EXCEPTION '% has no months by %', parent, by_column
          USING ERRCODE = 'check_violation';
      END IF;
      IF months_ahead > ${MAX_MONTHS_AHEAD} THEN
        RAISE EXCEPTION 'no more than ${MAX_MONTHS_AHEAD} months ahead have partitions'
          USING ERRCODE = 'check_violation';
      END IF;
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

    -- Detaches a month that was kept for long enough. It remains as a table, which the service may
    -- not even read.
    CREATE FUNCTION detach_month(parent text, month text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER AS $$
    DECLARE
      -- As src/domain/upkeep/retention-rules.ts has them.
      kept interval := CASE parent
        WHEN 'payment_history' THEN interval '13 months'
        WHEN 'webhook_attempts' THEN interval '3 months' END;
    BEGIN
      IF kept IS NULL OR month !~ ('^' || parent || '_[0-9]{4}_[0-9]{2}$')
        OR to_date(right(month, 7), 'YYYY_MM') + interval '1 month'
          > (now() AT TIME ZONE 'UTC') - kept THEN
        RAISE EXCEPTION '% is no month that was kept for long enough', month
          USING ERRCODE = 'check_violation';
      END IF;
      EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, month);
    END $$;

    -- These two run with the rights of their owner, so they must find nothing of their caller's:
    -- their names belong to this schema, and nobody else may call them.
    DO $do$
    DECLARE
      safeguard text;
    BEGIN
      FOREACH safeguard IN ARRAY
        ARRAY['make_month_partitions(text, text, integer)', 'detach_month(text, text)']
      LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', safeguard, current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', safeguard);
      END LOOP;
    END $do$;
  `);
}
