import { STEP_TABLES } from '../../jobs/job-types.ts';
import { KEPT_HOURS } from '../idempotency.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';

/** A period in one unit, as PostgreSQL reads it. */
export type Period = `${number} ${'hours' | 'days' | 'months'}`;

/** The time for which the rows of a table are kept, and the reason. */
export type Retention =
  /** Kept for ever. */
  | { keep: 'forever'; why: string }
  /** Kept while the thing exists that the row is about, or until its work is done. */
  | { keep: 'state'; why: string }
  /**
   * Deleted when the period has passed since the time in the column `since`. With `partOf`, the
   * parent row has that column. With `only`, rows `t` are kept while this SQL condition is false.
   */
  | { keep: Period; since: string; partOf?: Parent; only?: string; why: string }
  /** Partitioned by month. A month that ended longer ago is detached and remains as a table. */
  | { keep: Period; detach: true; why: string };

interface Parent {
  table: string;
  /** The column of the child rows that references the parent. */
  by: string;
}

const BOOKS = 'The books: every movement of money must stay explained';
const DIRECTORY = 'Who may do what; switched off, not deleted';
const ONE_ROW = 'One row for each, replaced by the next';

/** A trigger of each of these tables refuses to delete younger rows: change both. */
const SECURITY_EVENTS_KEPT: Period = '13 months';
const ATTEMPTS_KEPT: Period = '13 months';
const CALLBACKS_KEPT: Period = '90 days';

/** Attempts ensure that a payment is sent only once, so they stay while it is open. */
const OF_ENDED_PAYMENT = PAYMENT_KINDS.map(
  (kind) => `t.payment_kind = '${kind}' AND EXISTS (
    SELECT FROM ${STEP_TABLES[kind].table} p
    WHERE p.merchant_id = t.merchant_id AND p.id = t.payment_id
      AND p.status IN ('completed', 'failed') AND p.next_step IS NULL AND p.parked_reason IS NULL)`,
).join(' OR ');

const WITHOUT_OPEN_DISCREPANCY = `NOT EXISTS (
  SELECT FROM discrepancies d WHERE d.resolved_at IS NULL
    AND d.merchant_id = t.merchant_id AND d.payment_id = t.payment_id)`;

/** A failed job can be replayed while its row is parked. */
const WITHOUT_PARKED_ROW = Object.entries(STEP_TABLES)
  .map(
    ([kind, { table, id }]) => `NOT (t.kind = '${kind}' AND EXISTS (
    SELECT FROM ${table} r WHERE r.merchant_id = t.merchant_id AND r.${id} = t.row_id
      AND r.parked_reason IS NOT NULL))`,
  )
  .join(' AND ');

/** The retention of every table of the database. */
export const RETENTION: Readonly<Record<string, Retention>> = {
  installation: { keep: 'forever', why: 'Gateways know payments by what is made of its id' },
  standby_watch: { keep: 'state', why: 'One row, which each look replaces' },
  merchants: { keep: 'forever', why: DIRECTORY },
  apps: { keep: 'forever', why: DIRECTORY },
  app_secrets: { keep: 'forever', why: DIRECTORY },
  webhook_secrets: { keep: 'forever', why: DIRECTORY },
  retired_callback_keys: { keep: 'forever', why: 'They prove late news of old payments' },
  users: { keep: 'forever', why: DIRECTORY },
  totp_secrets: { keep: 'state', why: 'A row goes when the person switches it off' },
  recovery_codes: { keep: 'state', why: 'A row goes when the code is used or replaced' },
  set_ups: {
    keep: '2 days',
    since: 'created_at',
    why: 'Links that were not used. A row goes when its link is used or replaced',
  },
  access_notices: {
    keep: '2 days',
    since: 'created_at',
    why: 'Who was not told by then is not told late',
  },
  staff: { keep: 'forever', why: DIRECTORY },
  staff_totp_secrets: { keep: 'state', why: 'A row goes when an admin switches it off' },
  console_sessions: {
    keep: '2 days',
    since: 'expire',
    why: 'Log-ins to the console, after their end',
  },
  approvals: { keep: 'forever', why: 'What needed a second person, and who agreed' },
  bulk_replays: {
    keep: '13 months',
    since: 'requested_at',
    only: `t.state <> 'running'`,
    why: 'Replays of many failed jobs that are over; each replay is in the audit log',
  },
  collections: { keep: 'forever', why: 'Payments' },
  payouts: { keep: 'forever', why: 'Payments' },
  reversals: { keep: 'forever', why: 'Payments' },
  returns: { keep: 'forever', why: 'Payments' },
  transfers: { keep: 'forever', why: 'Payments' },
  movements: { keep: 'forever', why: BOOKS },
  receipts: { keep: 'forever', why: 'A receipt belongs to one payment for ever' },
  wallets: { keep: 'forever', why: BOOKS },
  journals: { keep: 'forever', why: BOOKS },
  entries: { keep: 'forever', why: BOOKS },
  events: { keep: 'forever', why: 'What merchants were told, once for each payment' },
  webhook_deliveries: { keep: 'forever', why: 'Whether and when the merchant took an event' },
  webhook_endpoints: {
    keep: '13 months',
    since: 'changed_at',
    why: 'Receivers that have not been called since',
  },
  webhook_notices: {
    keep: '90 days',
    since: 'created_at',
    why: 'Who was told of an outage, and when',
  },
  webhook_workers: {
    keep: 'state',
    why: 'A row goes when its worker stops or is not seen any more',
  },
  adoptions: { keep: 'forever', why: BOOKS },
  discrepancies: { keep: 'forever', why: 'What did not add up, and who decided what' },
  audit_log: { keep: 'forever', why: 'Who changed what, and who read what' },
  security_events: {
    keep: SECURITY_EVENTS_KEPT,
    since: 'at',
    why: 'Who got in, who tried, and what was changed about it',
  },
  log_in_limits: {
    keep: '2 hours',
    since: 'full_at',
    why: 'Counts of failed log-ins that are over',
  },
  attempts: {
    keep: ATTEMPTS_KEPT,
    since: 'started_at',
    only: `(${OF_ENDED_PAYMENT}) AND ${WITHOUT_OPEN_DISCREPANCY}`,
    why: 'Of payments that are over and have no open discrepancy',
  },
  payment_history: { keep: '13 months', detach: true, why: 'For support; no book depends on it' },
  webhook_attempts: { keep: '3 months', detach: true, why: 'For support; the delivery stays' },
  callbacks: {
    keep: CALLBACKS_KEPT,
    since: 'received_at',
    only: `t.status <> 'stored' AND t.next_step IS NULL AND t.parked_reason IS NULL
      AND ${WITHOUT_OPEN_DISCREPANCY}`,
    why: "Raw, with customers' data; those that were processed or rejected, and whose payment has no open discrepancy",
  },
  stray_callbacks: {
    keep: '7 days',
    since: 'received_at',
    why: 'Anybody may send them; long enough to find a wrong address or key',
  },
  idempotency_keys: {
    keep: `${KEPT_HOURS} hours`,
    since: 'created_at',
    why: 'As merchants are promised',
  },
  token_families: { keep: '8 days', since: 'expires_at', why: 'Log-ins, after their end' },
  failed_jobs: {
    keep: '90 days',
    since: 'failed_at',
    only: WITHOUT_PARKED_ROW,
    why: 'Those whose row is not parked any more',
  },
  statement_lines: {
    keep: '25 months',
    since: 'imported_at',
    partOf: { table: 'statement_imports', by: 'import_id' },
    why: 'Longer than anybody reconciles backwards',
  },
  statement_imports: {
    keep: '25 months',
    since: 'imported_at',
    only: 'NOT EXISTS (SELECT FROM statement_lines l WHERE l.import_id = t.id)',
    why: 'After their lines',
  },
  schema_migrations: { keep: 'state', why: 'Which migrations have run' },
  schema_migrations_lock: { keep: 'state', why: ONE_ROW },
  outbox: { keep: 'state', why: 'A row goes when its job is queued' },
  leases: { keep: 'state', why: ONE_ROW },
  gateway_tokens: { keep: 'state', why: ONE_ROW },
  event_sequences: { keep: 'state', why: ONE_ROW },
  gateway_floats: { keep: 'state', why: ONE_ROW },
  own_moves: { keep: 'forever', why: BOOKS },
  own_lines: {
    keep: '25 months',
    since: 'told_at',
    why: "Rows of statements about the operator's own accounts",
  },
  charges: { keep: 'forever', why: BOOKS },
  charge_runs: { keep: 'forever', why: BOOKS },
  closed_days: { keep: 'forever', why: 'How the books and the world compared, day by day' },
  seals: { keep: 'forever', why: 'They prove what the books and the logs had, day by day' },
  balance_proofs: {
    keep: '25 months',
    since: 'told_at',
    why: 'What gateways told of balances, beside the books',
  },
  operator_troubles: {
    keep: '90 days',
    since: 'happened_at',
    why: 'What has paused a channel; gone when it is resumed',
  },
  paused_channels: { keep: 'state', why: 'A row goes when the channel is resumed' },
  ledger_checkpoints: { keep: 'state', why: ONE_ROW },
  journal_checkpoints: { keep: 'state', why: ONE_ROW },
  last_ledger_verification: { keep: 'state', why: ONE_ROW },
};
