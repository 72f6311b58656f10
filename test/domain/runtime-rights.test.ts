import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { databaseWarnings, roleWarning } from '../../src/connections/database-warnings.ts';
import { schemaProblem } from '../../src/connections/migrations.ts';
import { openDiscrepancy } from '../../src/domain/discrepancies/discrepancy.ts';
import { RETENTION } from '../../src/domain/upkeep/retention-rules.ts';
import { grantRuntimeRights, TABLE_RIGHTS } from '../../src/domain/upkeep/runtime-rights.ts';
import { environment } from '../support/environment.ts';
import { rejection, useStore } from '../support/world.ts';

/** What is granted to a role, or to everybody, on each table and partition and on their columns. */
const GRANTED = `
  SELECT relname AS name, relispartition AS "isPartition",
    coalesce(string_agg(right_name, ' ' ORDER BY right_name), '') AS rights
  FROM pg_class c LEFT JOIN LATERAL (
    SELECT privilege_type AS right_name, grantee FROM aclexplode(relacl)
    UNION ALL
    SELECT privilege_type || '(' || attname || ')', grantee
    FROM pg_attribute, aclexplode(attacl) WHERE attrelid = c.oid
  ) acl ON grantee IN (0, CAST(CAST(:role AS regrole) AS oid))
  WHERE relkind IN ('r', 'p', 'v', 'm') AND relnamespace = CAST('public' AS regnamespace)
  GROUP BY c.oid`;

describe("The rights of the service's role", () => {
  const store = useStore({ merchant: 'none' });

  before(async () => {
    await store.newMerchant();
  });

  const refusal = async (sql: string) => (await rejection(store.rows(sql))).message;

  async function granted(): Promise<Map<string, string>> {
    const role = environment.roles.service;
    const found = await store.rows<{ name: string; isPartition: boolean; rights: string }>(
      GRANTED,
      { role },
    );
    for (const { name, rights } of found.filter(({ isPartition }) => isPartition)) {
      expect(rights, name).to.equal('');
    }
    const tables = found.filter(({ isPartition }) => !isPartition);
    return new Map(tables.map(({ name, rights }) => [name, rights]));
  }

  it('are those of the list, on every column of every table', async () => {
    const right = (name: string, columns: readonly string[] = []) =>
      columns.map((column) => `${name}(${column})`);
    const expected = Object.entries(TABLE_RIGHTS).map(([table, rights]) => {
      const all = rights && [
        'SELECT',
        ...(rights.addsNothing || rights.add ? right('INSERT', rights.add) : ['INSERT']),
        ...right('UPDATE', rights.change),
        ...(rights.remove ? ['DELETE'] : []),
      ];
      return [table, (all ?? []).sort().join(' ')];
    });
    expect(Object.fromEntries(await granted())).to.deep.equal(Object.fromEntries(expected));
  });

  it('let no other column be changed', async () => {
    const columns = await store.rows<{ table: string; column: string }>(
      `SELECT relname AS table, attname AS column FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
       WHERE attnum > 0 AND NOT attisdropped AND attgenerated = '' AND relkind IN ('r', 'p')
         AND NOT relispartition AND relnamespace = CAST('public' AS regnamespace)`,
    );
    const kept = columns.filter(
      ({ table, column }) => !TABLE_RIGHTS[table]?.change?.includes(column),
    );
    expect(kept.map(({ table, column }) => `${table}.${column}`)).to.include.members([
      ...['payouts.payto', 'collections.payfrom', 'payouts.fee_cents', 'collections.ref_no'],
      ...['payouts.channel', 'payouts.app_code', 'payouts.asked_user', 'payouts.reference'],
      ...['events.body', 'movements.told_by', 'receipts.payment_id', 'entries.amount_cents'],
      ...['audit_log.happened_at', 'discrepancies.merchant_id', 'approvals.payload'],
    ]);
    for (const { table, column } of kept) {
      const attempt = `UPDATE ${table} SET ${column} = DEFAULT WHERE false`;
      expect(await refusal(attempt), attempt).to.match(/^permission denied for table/);
    }
  });

  it('leave it to the database when an operator did something, and by which role', async () => {
    const columns = 'id, actor, action, subject';
    const line = "gen_random_uuid(), 'asha', 'app.update', 'app 1'";
    for (const [column, value] of [
      ['happened_at', "'2020-01-01'"],
      ['database_role', "'somebody'"],
    ]) {
      const dated = `INSERT INTO audit_log (${columns}, ${column}) VALUES (${line}, ${value})`;
      expect(await refusal(dated)).to.equal('permission denied for table audit_log');
    }
    for (const [table, ...columns] of [
      ['journals', 'merchant_id', 'created_at'],
      ['entries', 'merchant_id', 'created_at'],
      ['security_events', 'kind', 'at'],
    ]) {
      const [allowed, dated] = columns.map((column) => `INSERT INTO ${table} (${column}) VALUES`);
      expect(await refusal(`${dated} ('2099-01-01')`)).to.include('permission denied');
      expect(await refusal(`${allowed} ('1')`), table).to.include('violates');
    }
    const [row] = await store.rows<{ database_role: string }>(
      `INSERT INTO audit_log (${columns}) VALUES (${line}) RETURNING database_role`,
    );
    expect(row!.database_role).to.equal(environment.roles.service);
  });

  it('date no line of the audit log back, however long a transaction is open', async () => {
    const isLater = await store.transaction(async (trx) => {
      await trx.raw('SELECT pg_sleep(0.02)');
      const written = await trx.raw(
        `INSERT INTO audit_log (id, actor, action, subject, reason)
         VALUES (gen_random_uuid(), 'asha', 'channel.pause', 'channel 1', 'x') RETURNING happened_at > now() AS is_later`,
      );
      return written.rows[0].is_later;
    });
    expect(isLater).to.equal(true);
  });

  it('give no decision another time, nor change what it was about', async () => {
    await store.transaction((trx) =>
      openDiscrepancy(trx, {
        ...{ kind: 'unknown_movement', gateway: 'simulator', payment: null, details: {} },
      }),
    );
    const [found] = await store.rows<{ id: string }>('SELECT id FROM discrepancies');
    const { id } = found!;
    await store.rows(
      `UPDATE discrepancies SET resolved_at = '2020-01-01', resolution = 'failed',
         resolved_by = 'asha', resolved_reason = 'x' WHERE id = :id`,
      { id },
    );
    const [row] = await store.rows<{ is_now: boolean }>(
      `SELECT resolved_at > now() - interval '1 minute' AS is_now FROM discrepancies WHERE id = :id`,
      { id },
    );
    expect(row!.is_now).to.equal(true);
    const CHANGES = [
      ...["evidence = '[]'", `details = '{"x":1}'`, 'amount_cents = 1'],
      ...["kind = 'unreadable_callback'", 'evidence_complete = false'],
    ];
    for (const change of CHANGES) {
      expect(await refusal(`UPDATE discrepancies SET ${change} WHERE id = '${id}'`)).to.include(
        'discrepancies',
      );
    }
    const columns = 'day, agrees, differences, untold';
    const closed = `INSERT INTO closed_days (${columns}) VALUES ('2099-12-31', true, '[]', '{}')`;
    expect(await refusal(closed)).to.include('closed_days');
  });

  it('change no history, and delete nothing that is kept for ever', async () => {
    const kept = Object.entries(RETENTION).filter(([, { keep }]) => keep === 'forever');
    for (const [table] of kept.filter(([name]) => name !== 'receipts')) {
      expect(await refusal(`DELETE FROM ${table}`)).to.equal(
        `permission denied for table ${table}`,
      );
    }
    for (const table of ['journals', 'entries', 'audit_log', 'transfers']) {
      expect(await refusal(`UPDATE ${table} SET merchant_id = 1`)).to.match(/^permission denied/);
    }
    for (const table of ['payment_history', 'webhook_attempts']) {
      expect(await refusal(`UPDATE ${table} SET merchant_id = 1`)).to.match(/^permission denied/);
      expect(await refusal(`DELETE FROM ${table}`)).to.match(/^permission denied/);
      expect(await refusal(`SELECT FROM ${table}_default`)).to.match(/^permission denied/);
    }
  });

  it('are not enough to get past the safeguards', async () => {
    for (const attempt of [
      'TRUNCATE outbox',
      'ALTER TABLE entries DISABLE TRIGGER entries_kept',
      'ALTER TABLE entries DISABLE TRIGGER ALL',
      'ALTER TABLE wallets DROP CONSTRAINT payout_wallet_not_negative',
      'DROP TRIGGER entries_kept ON entries',
      'CREATE TRIGGER mine BEFORE INSERT ON entries EXECUTE FUNCTION refuse_change()',
      'DROP TABLE audit_log',
      'CREATE TABLE mine ()',
      'CREATE TEMPORARY TABLE mine ()',
      'CREATE TABLE bullmq.mine ()',
      'CREATE SCHEMA mine',
      'CREATE OR REPLACE FUNCTION guard_journals() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN END$$',
      'ALTER FUNCTION refuse_change() OWNER TO CURRENT_USER',
      'SET session_replication_role = replica',
      `SET ROLE ${environment.roles.owner}`,
      'UPDATE bullmq.migration SET version = 0',
      'UPDATE schema_migrations_lock SET is_locked = 0',
    ]) {
      expect(await refusal(attempt), attempt).to.match(/^(permission denied|must be owner of)/);
    }
  });

  it('make months ahead and detach old ones, and nothing else of the owner’s', async () => {
    for (const [attempt, reason] of [
      [`make_month_partitions('payment_history', 'happened_at', 25)`, 'no more than 24 months'],
      [`make_month_partitions('entries', 'created_at', 1)`, 'entries has no months'],
      [`make_month_partitions('payment_history', 'id', 1)`, 'has no months by id'],
      [`make_month_partitions('pg_temp.mine', 'happened_at', 1)`, 'has no months'],
      [`detach_month('entries', 'entries_2020_01')`, 'is no month that was kept'],
      [`detach_month('payment_history', 'payment_history_default')`, 'is no month that was kept'],
    ]) {
      expect(await refusal(`SELECT ${attempt}`), attempt).to.include(reason);
    }
    for (const [table, retention] of Object.entries(RETENTION)) {
      if (!('detach' in retention)) continue;
      // The month that ended when the period began is the youngest that may go.
      const month = (ago: number) =>
        `'${table}_' || to_char(date_trunc('month', now() AT TIME ZONE 'UTC')
          - interval '${retention.keep}' - interval '${ago} months', 'YYYY_MM')`;
      expect(await refusal(`SELECT detach_month('${table}', ${month(0)})`)).to.include('kept');
      expect(await refusal(`SELECT detach_month('${table}', ${month(1)})`)).to.include('exist');
    }
  });

  it('are not found by names that a session brings along', async () => {
    const [found] = await store.rows<{
      config: string[];
    }>(`SELECT array_agg(DISTINCT array_to_string(proconfig, ',')) AS config FROM pg_proc
       WHERE prosecdef AND pronamespace = CAST('public' AS regnamespace)`);
    expect(found!.config).to.deep.equal(['search_path=public, pg_temp']);
  });

  it('do not grow with a new table, and are the same after another release step', async () => {
    const before = await granted();
    await rows(store.owner, 'CREATE TABLE later (id integer)');
    await rows(store.owner, `GRANT ALL ON later, entries TO ${environment.roles.service}`);
    const grant = () => grantRuntimeRights(store.owner, environment.roles.service);
    const own = await rejection(grantRuntimeRights(store.owner, environment.roles.owner));
    expect(own.message).to.include('owns the tables: the service needs another role');
    await Promise.all([grant(), grant()]);
    expect(await granted()).to.deep.equal(before.set('later', ''));
    await rows(store.owner, 'DROP TABLE later');
  });

  it('are warned of where they are more than the service needs', async () => {
    expect(await roleWarning(store.database)).to.equal(null);
    expect(await roleWarning(store.owner)).to.match(
      /^the role \w+_owner of DATABASE_URL owns the tables, .* give the service a role of its own/,
    );
  });

  it('are not warned of in development', async () => {
    const warningsIn = (malipoEnv: 'development' | 'sandbox') =>
      databaseWarnings(store.owner, { databaseUrl: store.ownerUrl, malipoEnv }, 'web');
    expect(await warningsIn('development')).to.deep.equal([]);
    expect(await warningsIn('sandbox')).to.deep.equal([await roleWarning(store.owner)]);
  });

  it('are missing before the release step, which is said', async () => {
    const { service } = environment.roles;
    await rows(store.owner, `REVOKE ALL ON schema_migrations FROM ${service}`);
    expect(await schemaProblem(store.database)).to.match(/no rights on the tables: run `npm run/);
    await grantRuntimeRights(store.owner, service);
    expect(await schemaProblem(store.database)).to.equal(null);
  });
});
