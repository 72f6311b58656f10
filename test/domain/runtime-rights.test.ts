import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { databaseWarnings, roleWarning } from '../../src/connections/database-warnings.ts';
import { schemaProblem } from '../../src/connections/migrations.ts';
import { RETENTION } from '../../src/domain/upkeep/retention-rules.ts';
import { grantRuntimeRights } from '../../src/domain/upkeep/runtime-rights.ts';
import { environment } from '../support/environment.ts';
import { rejection, useStore } from '../support/world.ts';

/** What the service's role may do with each table, in the order of the alphabet. */
const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  'SELECT UPDATE': ['installation'],
  // What is there, and stays.
  'INSERT SELECT UPDATE': [
    ...['merchants', 'apps', 'app_secrets', 'webhook_secrets', 'retired_callback_keys', 'users'],
    'staff',
    ...['collections', 'payouts', 'reversals', 'returns', 'movements', 'discrepancies'],
    ...['wallets', 'events', 'event_sequences', 'webhook_deliveries', 'gateway_tokens'],
    ...['gateway_floats', 'last_ledger_verification'],
  ],
  // What retention or the flow removes.
  'DELETE INSERT SELECT UPDATE': [
    ...['outbox', 'leases', 'attempts', 'callbacks', 'idempotency_keys', 'token_families'],
    ...['failed_jobs', 'statement_lines', 'paused_channels'],
    ...['ledger_checkpoints', 'journal_checkpoints', 'totp_secrets', 'log_in_limits'],
    ...[
      'staff_totp_secrets',
      'console_sessions',
      'bulk_replays',
      'webhook_endpoints',
      'webhook_notices',
      'webhook_workers',
    ],
  ],
  // What has happened: nobody changes it.
  'INSERT SELECT': [
    ...['journals', 'entries', 'audit_log', 'payment_history', 'transfers', 'webhook_attempts'],
    ...['own_moves', 'charge_runs', 'closed_days'],
  ],
  // A question, and its answer.
  'INSERT SELECT UPDATE(decided_at) UPDATE(decided_by) UPDATE(decision) UPDATE(decision_reason)': [
    'approvals',
  ],
  'DELETE INSERT SELECT': ['receipts'],
  'INSERT SELECT UPDATE(told_by) UPDATE(told_cents)': ['charges'],
  // Locked before they are deleted, which takes the right to change one column.
  'DELETE INSERT SELECT UPDATE(id) UPDATE(preview) UPDATE(result) UPDATE(started_at)': [
    'statement_imports',
  ],
  'DELETE INSERT SELECT UPDATE(id)': ['security_events', 'stray_callbacks'],
  'DELETE INSERT SELECT UPDATE(code_hash)': ['recovery_codes'],
  'DELETE INSERT SELECT UPDATE(channel)': ['operator_troubles'],
  'DELETE INSERT SELECT UPDATE(told_at)': ['balance_proofs'],
  SELECT: ['schema_migrations'],
  '': ['schema_migrations_lock'],
};

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

  it('are those of the table, on every table of the database', async () => {
    const expected = Object.entries(RIGHTS).flatMap(([rights, tables]) =>
      tables.map((table) => [table, rights]),
    );
    expect(Object.fromEntries(await granted())).to.deep.equal(Object.fromEntries(expected));
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
      'CREATE OR REPLACE FUNCTION guard_journal_sum() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN END$$',
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
      [`make_month_partitions('entries', 'created_at', 1)`, '"entries_default" does not exist'],
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
