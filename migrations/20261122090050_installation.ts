import type { Knex } from 'knex';

/** The identity of this installation, and the references under which gateways know its payments. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- One row for ever. A restored backup has the same id.
    CREATE TABLE installation (
      is_here boolean PRIMARY KEY DEFAULT true CHECK (is_here),
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      -- The database_identity() on which payments may be sent. NULL before the first start.
      seen_on text,
      -- The one whose open payments "restore mark" has marked last, all of them.
      marked_on text,
      -- Where gateways reach the web process that started last. NULL before the first one.
      gateway_callback_url text
    );
    INSERT INTO installation DEFAULT VALUES;
    CREATE TRIGGER installation_kept BEFORE DELETE OR TRUNCATE OR UPDATE OF id ON installation
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

    -- What one dispatcher at a time has seen of the standbys that every commit waits for. Its own table: its row stays
    -- locked while a note waits for a standby that is away.
    CREATE TABLE standby_watch (
      is_here boolean PRIMARY KEY DEFAULT true CHECK (is_here),
      -- Their names in small letters. NULL: a commit waits for none of them, or nobody has looked.
      standbys text[],
      -- Each look has the next number.
      number bigint NOT NULL DEFAULT 0,
      noted_at timestamptz,
      -- The process that watches.
      noted_by uuid
    );
    INSERT INTO standby_watch DEFAULT VALUES;

    -- Names this database. A restore, a failover or a move changes one of the parts. NULL on a
    -- standby. A role may be forbidden to read a part.
    CREATE FUNCTION database_identity() RETURNS text LANGUAGE plpgsql STABLE AS $$
    DECLARE
      system text := 'unknown';
      timeline text := 'unknown';
      database oid := (SELECT oid FROM pg_database WHERE datname = current_database());
    BEGIN
      IF pg_is_in_recovery() THEN
        RETURN NULL;
      END IF;
      BEGIN
        system := (SELECT system_identifier FROM pg_control_system());
      EXCEPTION WHEN insufficient_privilege OR undefined_function OR feature_not_supported THEN
      END;
      BEGIN
        timeline := substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
      EXCEPTION WHEN insufficient_privilege OR undefined_function OR feature_not_supported THEN
      END;
      RETURN format('system %s, timeline %s, database %s', system, timeline, database);
    END $$;

    -- Derives the reference that a gateway sees, a UUIDv8. A database that has forgotten a payment
    -- gives it the same reference when it comes again, so a gateway that takes each reference once
    -- pays once. No part but the last can contain a slash.
    CREATE FUNCTION gateway_reference(merchant_id bigint, kind text, ref_no text) RETURNS uuid
    LANGUAGE plpgsql STABLE AS $$
    DECLARE
      digest bytea;
    BEGIN
      SELECT substring(sha256(convert_to(concat_ws('/', id, merchant_id, kind, ref_no), 'UTF8')) FOR 16)
        INTO STRICT digest FROM installation;
      digest := set_byte(digest, 6, (get_byte(digest, 6) & 15) | 128);
      digest := set_byte(digest, 8, (get_byte(digest, 8) & 63) | 128);
      RETURN CAST(encode(digest, 'hex') AS uuid);
    END $$;
  `);
}
