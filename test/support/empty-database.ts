import { type Database, firstRow, rows } from '../../src/connections/database.ts';

const TABLES = `SELECT c.oid, CAST(CAST(c.oid AS regclass) AS text) AS name
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'r' AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'`;
const SEQUENCES = `SELECT CAST(CAST(s.seqrelid AS regclass) AS text) AS name,
    coalesce(pg_sequence_last_value(s.seqrelid), s.seqstart) AS value,
    pg_sequence_last_value(s.seqrelid) IS NOT NULL AS is_called
  FROM pg_sequence s`;

/**
 * Returns a statement that makes a database as it is now, but for the id of its installation. It
 * works without triggers, because these guard the books, and it leaves the schema alone, so that
 * connections keep their plans.
 */
export async function emptyingOf(owner: Database): Promise<string> {
  const parts: string[] = [];
  for (const { name } of await rows<{ name: string }>(owner, TABLES)) {
    const text = `SELECT CAST(jsonb_agg(to_jsonb(t)) AS text) AS found FROM ${name} t`;
    const row = await firstRow<{ found: string | null }>(owner, text);
    if (row!.found === null) continue;
    parts.push(
      `INSERT INTO ${name} OVERRIDING SYSTEM VALUE
       SELECT * FROM json_populate_recordset(CAST(NULL AS ${name}), $seed$${row!.found}$seed$);`,
    );
  }
  const sequences = await rows<{ name: string; value: number; is_called: boolean }>(
    owner,
    SEQUENCES,
  );
  for (const { name, value, is_called } of sequences) {
    parts.push(`PERFORM setval('${name}', ${value}, ${is_called});`);
  }
  return `DO $empty$ DECLARE name text; BEGIN
    PERFORM set_config('session_replication_role', 'replica', true);
    FOR name IN SELECT t.name FROM (${TABLES}) t WHERE pg_relation_size(t.oid) > 0 LOOP
      EXECUTE 'DELETE FROM ' || name;
    END LOOP;
    ${parts.join('\n')}
    UPDATE installation SET id = gen_random_uuid();
  END $empty$`;
}

/**
 * Returns a text that a change of the schema changes, as PostgreSQL then writes a new version of a
 * row of its catalogs, with a later transaction id. Statistics of a table change it too, because
 * they change plans.
 */
export async function schemaMark(owner: Database): Promise<string> {
  const row = await firstRow<{ mark: string }>(owner, MARK);
  return row!.mark;
}

const CATALOGS = ['class', 'attribute', 'constraint', 'trigger', 'proc', 'namespace', 'index'];
const VERSIONS = CATALOGS.map(
  (name) => `SELECT concat_ws(' ', '${name}', count(*), max(CAST(CAST(xmin AS text) AS bigint)))
    AS part FROM pg_${name}`,
);
const MARK = `SELECT string_agg(part, ', ') AS mark FROM (${VERSIONS.join(' UNION ALL ')}
  UNION ALL SELECT CAST(count(*) AS text) FROM pg_class WHERE relkind = 'r' AND reltuples >= 0
  UNION ALL SELECT coalesce(string_agg(CAST(s AS text), ' '), '') FROM pg_db_role_setting s
    JOIN pg_database d ON d.oid = s.setdatabase WHERE d.datname = current_database()) parts`;
