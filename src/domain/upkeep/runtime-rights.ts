import { type Database, hasRow, inTransaction, rows } from '../../connections/database.ts';
import { lockUntilCommit } from '../../connections/locks.ts';

/** Adds rows that nothing changes any more. */
const APPEND = 'SELECT, INSERT';
const CHANGE = 'SELECT, INSERT, UPDATE';
const REMOVE = 'SELECT, INSERT, UPDATE, DELETE';

/**
 * The rights of the service's role on every table; null gives no right. The role has no right that
 * it does not need: an intruder in a process can change no entry, and cannot delete a payment or a
 * line of the audit log. UPDATE of one column alone is for rows that are only locked. Partitions and detached months
 * have no rights of their own.
 */
const TABLE_RIGHTS: Readonly<Record<string, string | null>> = {
  installation: 'SELECT, UPDATE',
  merchants: CHANGE,
  apps: CHANGE,
  app_secrets: CHANGE,
  webhook_secrets: CHANGE,
  retired_callback_keys: CHANGE,
  users: CHANGE,
  totp_secrets: REMOVE,
  recovery_codes: 'SELECT, INSERT, UPDATE (code_hash), DELETE',
  log_in_limits: REMOVE,
  token_families: REMOVE,
  staff: CHANGE,
  staff_totp_secrets: REMOVE,
  console_sessions: REMOVE,
  // A trigger refuses to change what is decided.
  approvals: 'SELECT, INSERT, UPDATE (decided_by, decided_at, decision, decision_reason)',
  bulk_replays: REMOVE,
  idempotency_keys: REMOVE,
  collections: CHANGE,
  payouts: CHANGE,
  reversals: CHANGE,
  returns: CHANGE,
  movements: CHANGE,
  // The receipt of a payment that was undone is free again.
  receipts: 'SELECT, INSERT, DELETE',
  attempts: REMOVE,
  callbacks: REMOVE,
  stray_callbacks: 'SELECT, INSERT, UPDATE (id), DELETE',
  payment_history: APPEND,
  gateway_tokens: CHANGE,
  wallets: CHANGE,
  journals: APPEND,
  entries: APPEND,
  transfers: APPEND,
  ledger_checkpoints: REMOVE,
  journal_checkpoints: REMOVE,
  last_ledger_verification: CHANGE,
  events: CHANGE,
  event_sequences: CHANGE,
  webhook_deliveries: CHANGE,
  webhook_endpoints: REMOVE,
  webhook_notices: REMOVE,
  webhook_workers: REMOVE,
  webhook_attempts: APPEND,
  outbox: REMOVE,
  leases: REMOVE,
  failed_jobs: REMOVE,
  discrepancies: CHANGE,
  statement_imports: 'SELECT, INSERT, UPDATE (id, preview, started_at, result), DELETE',
  statement_lines: REMOVE,
  paused_channels: REMOVE,
  gateway_floats: CHANGE,
  own_moves: APPEND,
  charges: 'SELECT, INSERT, UPDATE (told_cents, told_by)',
  charge_runs: APPEND,
  closed_days: APPEND,
  balance_proofs: 'SELECT, INSERT, UPDATE (told_at), DELETE',
  operator_troubles: 'SELECT, INSERT, UPDATE (channel), DELETE',
  audit_log: APPEND,
  // A trigger lets only old ones be deleted.
  security_events: 'SELECT, INSERT, UPDATE (id), DELETE',
  schema_migrations: 'SELECT',
  schema_migrations_lock: null,
};

/** Objects besides tables, with the one right that is needed. */
const OTHER_RIGHTS = [
  'USAGE ON SCHEMA %1$I',
  // `restore mark` skips numbers. A new row needs no right to them.
  'UPDATE ON SEQUENCE merchants_id_seq, apps_code_seq',
  // These do what only the owner may, and check what they are asked for.
  'EXECUTE ON FUNCTION make_month_partitions(text, text, integer), detach_month(text, text)',
];

/** Where BullMQ keeps queues in PostgreSQL. The release step makes its tables, and no process. */
const QUEUE_SCHEMA = 'bullmq';
const QUEUE_RIGHTS = [
  `USAGE ON SCHEMA ${QUEUE_SCHEMA}`,
  `${REMOVE} ON ALL TABLES IN SCHEMA ${QUEUE_SCHEMA}`,
  `USAGE ON ALL SEQUENCES IN SCHEMA ${QUEUE_SCHEMA}`,
];

/**
 * Gives a role the rights that the service needs, and takes from it all others on what this role
 * owns. It may run again, and while the service runs: other sessions see all of it change at once.
 * It grants nothing on tables to come: each must be thought about.
 * @throws Error when this role may not grant them, or is the role itself: it would lose its own
 */
export async function grantRuntimeRights(database: Database, role: string): Promise<void> {
  if (await hasRow(database, 'SELECT WHERE CAST(:role AS name) = current_user', { role })) {
    throw new Error(`${role} owns the tables: the service needs another role`);
  }
  await inTransaction(database, async (trx) => {
    await lockUntilCommit(trx, 'runtime rights');
    await rows(trx, "SELECT set_config('malipo.runtime_role', :role, true)", { role });
    await rows(trx, GRANT_RIGHTS);
  });
}

const grants = (rights: readonly string[]) =>
  rights
    .map((right) => `EXECUTE format('GRANT ${right} TO %2$I', current_schema(), runtime_role);`)
    .join('\n');

/** Names no role itself, so that the text does not vary. */
const GRANT_RIGHTS = `DO $$
  DECLARE
    runtime_role text := current_setting('malipo.runtime_role');
    mine text;
  BEGIN
    FOR mine IN
      SELECT format('%s %I.%I', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
        nspname, relname)
      FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
      WHERE nspname IN (current_schema(), '${QUEUE_SCHEMA}')
        AND relkind IN ('r', 'p', 'v', 'm', 'S') AND pg_get_userbyid(relowner) = current_user
    LOOP
      EXECUTE format('REVOKE ALL ON %s FROM %I', mine, runtime_role);
    END LOOP;
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM %I', current_schema(), runtime_role);
    ${grants(Object.entries(TABLE_RIGHTS).flatMap(([table, rights]) => (rights ? [`${rights} ON ${table}`] : [])))}
    ${grants(OTHER_RIGHTS)}
    IF to_regnamespace('${QUEUE_SCHEMA}') IS NOT NULL THEN
      ${grants(QUEUE_RIGHTS)}
      EXECUTE format('REVOKE INSERT, UPDATE, DELETE ON ${QUEUE_SCHEMA}.migration FROM %I', runtime_role);
    END IF;
  END $$`;
