import { type Database, hasRow, inTransaction, rows } from '../../connections/database.ts';
import { lockUntilCommit } from '../../connections/locks.ts';

/** The columns of the next step, which `src/jobs/outbox.ts` writes. */
const STEP = ['next_step', 'next_step_at', 'step_no', 'step_swept_at', 'parked_reason'];
/** The columns of a payment's outcome. The amount becomes the amount of its movement. */
const OUTCOME = [
  ...['status', 'result_code', 'result_description', 'trans_id', 'external_ref'],
  ...['payment_completed_at', 'undone_at', 'amount_cents', 'last_answer', 'last_asked_at'],
];
const SECRET = ['key_id', 'ciphertext'];

interface TableRights {
  /** The columns that the service may change. None: it may only add rows. */
  change?: readonly string[];
  /** The columns that it may give to a new row. Left out: all. */
  add?: readonly string[];
  remove?: true;
  /** It may only read, besides what `change` names. */
  addsNothing?: true;
}

/**
 * The rights of the service's role on every table, by column; null gives no right. The role has no
 * right that it does not need: an intruder in a process can change no entry, no payee, no event and
 * no line of the audit log, and cannot delete a payment. One column of a table is for rows that are
 * only locked. Partitions and detached months have no rights of their own.
 */
export const TABLE_RIGHTS: Readonly<Record<string, TableRights | null>> = {
  installation: {
    change: ['seen_on', 'marked_on', 'gateway_callback_url'],
    addsNothing: true,
  },
  standby_watch: { change: ['standbys', 'number', 'noted_at', 'noted_by'], addsNothing: true },
  merchants: {
    change: [
      ...['name', 'email', 'phone_number', 'active', 'approved', 'payouts_held'],
      ...['debt_limit_cents', 'commission_bps', 'commission_fixed_cents'],
      ...['rate_limit_per_minute', 'rate_limit_burst', 'payout_fee_bps', 'payout_fee_fixed_cents'],
      ...['payout_limit_per_minute', 'payout_limit_burst'],
      ...['user_ip_allow_list', 'totp_required_for'],
    ],
  },
  apps: { change: ['name', 'products', 'active', 'ip_allow_list', 'signs_webhooks_with'] },
  app_secrets: { change: [...SECRET, 'expires_at', 'outgoing_from'] },
  webhook_secrets: { change: [...SECRET, 'expires_at'] },
  retired_callback_keys: { change: SECRET },
  users: {
    change: [
      ...['name', 'password_hash', 'role', 'active', 'must_change_password', 'totp'],
      'outgoing_from',
    ],
  },
  totp_secrets: { change: ['id', ...SECRET, 'last_step', 'created_at'], remove: true },
  recovery_codes: { change: ['code_hash'], remove: true },
  set_ups: { change: ['code_hash', 'expires_at', 'tell_at'], remove: true },
  access_notices: { change: ['tell_at', 'told'], remove: true },
  log_in_limits: { change: ['full_at'], remove: true },
  token_families: {
    change: ['current_jti', 'revoked_at', 'expires_at', 'refreshed_at', 'ip', 'with_totp'],
    remove: true,
  },
  staff: {
    change: [
      ...['name', 'role', 'active', 'token_hash', 'token_prefix', 'token_expires_at'],
      ...['password_hash', 'session_no', 'totp'],
    ],
  },
  staff_totp_secrets: { change: ['id', ...SECRET, 'last_step', 'created_at'], remove: true },
  console_sessions: { change: ['sess', 'expire'], remove: true },
  // A trigger refuses to change what is decided. The database itself says when.
  approvals: {
    add: [
      ...['id', 'action', 'subject', 'merchant_id', 'amount_cents', 'payload', 'preview'],
      ...['requested_by', 'reason'],
    ],
    change: ['decided_by', 'decided_at', 'decision', 'decision_reason', 'tell_at', 'told'],
  },
  bulk_replays: {
    change: [
      ...['state', 'why', 'ended_at', 'done_up_to', 'outcomes', 'leased_by', 'leased_until'],
    ],
    remove: true,
  },
  idempotency_keys: {
    change: [
      ...['fingerprint', 'response_status', 'response_body', 'is_row', 'provisional', 'created_at'],
    ],
    remove: true,
  },
  collections: { change: [...STEP, ...OUTCOME, 'commission_cents'] },
  payouts: { change: [...STEP, ...OUTCOME, 'refund_posted_at', 'redebited_at'] },
  reversals: { change: [...STEP, ...OUTCOME, 'commission_cents', 'original_trans_id'] },
  returns: { change: [...STEP, ...OUTCOME, 'original_trans_id'] },
  // A trigger lets amount and account become only what a finding has told.
  movements: {
    change: [
      ...[
        'trans_id',
        'booked',
        'back_at',
        'row_back',
        'confirmed_by',
        'confirmed_at',
        'receipt_told_by',
        'completed_at',
      ],
      ...['amount_cents', 'account'],
    ],
  },
  // The receipt of a payment that was undone is free again.
  receipts: { remove: true },
  adoptions: { change: ['taken_back_at'] },
  attempts: {
    change: [
      ...['result', 'detail', 'external_ref', 'answered_at'],
      ...['not_found_count', 'not_found_asked_at'],
    ],
    remove: true,
  },
  callbacks: { change: [...STEP, 'status', 'problem', 'outcome'], remove: true },
  stray_callbacks: { change: ['id'], remove: true },
  // The database itself says when.
  payment_history: {
    add: [...['merchant_id', 'payment_kind', 'payment_id', 'from_status', 'to_status', 'cause']],
  },
  gateway_tokens: {
    change: [
      ...['token_no', ...SECRET, 'expires_at', 'renewed_at'],
      ...['lease_holder', 'lease_until', 'failed_at', 'failure'],
    ],
  },
  wallets: { change: ['balance_cents', 'entry_no'] },
  // The database itself says when: a row with a later time would be in no seal for long.
  journals: { add: ['merchant_id', 'id', 'source_kind', 'source_id', 'kind'] },
  entries: {
    add: [
      ...['merchant_id', 'journal_id', 'line', 'account', 'amount_cents', 'entry_no'],
      ...['balance_after_cents', 'transaction_id', 'type', 'ref_no', 'counterparty', 'description'],
    ],
  },
  transfers: {},
  ledger_checkpoints: { change: ['entry_no', 'balance_cents', 'verified_at'], remove: true },
  journal_checkpoints: { change: ['verified_at'], remove: true },
  last_ledger_verification: { change: ['verified_at', 'checked', 'counts', 'breaks'] },
  events: { change: ['sequence'] },
  event_sequences: { change: ['last_sequence'] },
  webhook_deliveries: {
    change: [
      ...[...STEP, 'status', 'attempts', 'attempts_before_resend', 'delivered_at', 'admitted_at'],
    ],
  },
  webhook_endpoints: {
    change: [
      ...['breaker', 'concurrency', 'failures', 'failing_since', 'times_out', 'last_status'],
      ...['last_error', 'last_failure_at', 'last_success_at', 'opened_at', 'probes', 'probe_at'],
      ...['told_exhausted_at', 'changed_at'],
    ],
    remove: true,
  },
  webhook_notices: {
    change: ['send_at', 'tries', 'emailed_at', 'posted_at', 'sent_at'],
    remove: true,
  },
  webhook_workers: { change: ['slots', 'seen_at'], remove: true },
  webhook_attempts: {},
  outbox: { change: ['leased_until'], remove: true },
  leases: { change: ['holder', 'held_until'], remove: true },
  failed_jobs: {
    change: ['replayed_at', 'replayed_by', 'replayed_step', 'bulk_replay_id'],
    remove: true,
  },
  // A trigger refuses to change a decision. None is there from the start.
  discrepancies: {
    add: [
      ...['id', 'merchant_id', 'kind', 'gateway', 'payment_kind', 'payment_id', 'trans_id'],
      ...['amount_cents', 'details', 'evidence', 'movement_id'],
    ],
    change: [
      ...['kind', 'movement_id', 'amount_cents', 'details', 'evidence', 'evidence_complete'],
      ...['opened_at', 'resolved_at', 'resolution', 'resolved_by', 'resolved_reason'],
    ],
  },
  statement_imports: {
    change: ['id', 'preview', 'started_at', 'agreed_by', 'result'],
    remove: true,
  },
  statement_lines: { change: ['result'], remove: true },
  paused_channels: { change: ['what', 'paused_at'], remove: true },
  gateway_floats: { change: ['available_cents', 'heard_at', 'asked_at'] },
  own_moves: {},
  own_lines: { change: ['told_at'], remove: true },
  charges: { change: ['told_cents', 'told_by', 'heard_cents'] },
  charge_runs: {},
  // The database itself says when.
  closed_days: { add: ['day', 'agrees', 'differences', 'untold'] },
  // The database itself says when.
  seals: { add: ['table_name', 'day', 'row_count', 'blocks', 'hash', 'hash_before'] },
  balance_proofs: { change: ['told_at'], remove: true },
  operator_troubles: { change: ['channel'], remove: true },
  // The database itself says when, and by which role.
  audit_log: {
    add: [
      ...['id', 'actor', 'action', 'merchant_id', 'subject', 'reason', 'details'],
      ...['door', 'address', 'session', 'request'],
    ],
  },
  // A trigger lets only old ones be deleted.
  security_events: {
    add: [
      ...['id', 'kind', 'merchant_id', 'app_code', 'user_id', 'staff', 'family', 'ip'],
      ...['account_hash', 'detail'],
    ],
    change: ['id'],
    remove: true,
  },
  schema_migrations: { addsNothing: true },
  schema_migrations_lock: null,
};

/** Returns rights as GRANT takes them. */
function rightsOf({ change, add, remove, addsNothing }: TableRights): string {
  const rights = ['SELECT'];
  if (!addsNothing) rights.push(add ? `INSERT (${add.join(', ')})` : 'INSERT');
  if (change) rights.push(`UPDATE (${change.join(', ')})`);
  if (remove) rights.push('DELETE');
  return rights.join(', ');
}

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
  `SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${QUEUE_SCHEMA}`,
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
    ${grants(Object.entries(TABLE_RIGHTS).flatMap(([table, rights]) => (rights ? [`${rightsOf(rights)} ON ${table}`] : [])))}
    ${grants(OTHER_RIGHTS)}
    IF to_regnamespace('${QUEUE_SCHEMA}') IS NOT NULL THEN
      ${grants(QUEUE_RIGHTS)}
      EXECUTE format('REVOKE INSERT, UPDATE, DELETE ON ${QUEUE_SCHEMA}.migration FROM %I', runtime_role);
    END IF;
  END $$`;
