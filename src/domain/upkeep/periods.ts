import { STEP_TABLES } from '../../jobs/job-types.ts';
import { KEPT_HOURS } from '../idempotency.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';

/** Whole units only, so that the table can be read as it is written. */
export interface Period {
  count: number;
  unit: 'hours' | 'days' | 'months';
}

/** What becomes of the rows of a table. */
export type Retention =
  /** Kept for ever. */
  | { keep: 'forever'; why: string }
  /** One row for each thing that there is, or gone when its work is done. */
  | { keep: 'state'; why: string }
  /**
   * Deleted when `keep` has passed since the column `since`, of the row t itself or of the row
   * that it is a part of, if `only` is so of the row t.
   */
  | { keep: Period; since: string; partOf?: Whole; only?: string; why: string }
  /** By month; a month that has been over for so long is detached, and stays as a table. */
  | { keep: Period; detach: true; why: string };

/** A table of whose rows others are parts, by this column of theirs. */
interface Whole {
  table: string;
  by: string;
}

const months = (count: number): Period => ({ count, unit: 'months' });
const days = (count: number): Period => ({ count, unit: 'days' });
const hours = (count: number): Period => ({ count, unit: 'hours' });

const BOOKS = 'The books: every movement of money must stay explained';
const DIRECTORY = 'Who may do what; switched off, not deleted';
const ONE_ROW = 'One row for each, replaced by the next';

/** Its attempts are what makes a payment be sent once: they stay as long as it is open. */
const OF_ENDED_PAYMENT = PAYMENT_KINDS.map(
  (kind) => `t.payment_kind = '${kind}' AND EXISTS (
    SELECT FROM ${STEP_TABLES[kind].table} p
    WHERE p.merchant_id = t.merchant_id AND p.id = t.payment_id
      AND p.status IN ('completed', 'failed') AND p.next_step IS NULL AND p.parked_reason IS NULL)`,
).join(' OR ');

const WITHOUT_OPEN_DISCREPANCY = `NOT EXISTS (
  SELECT FROM discrepancies d WHERE d.resolved_at IS NULL
    AND d.merchant_id = t.merchant_id AND d.payment_id = t.payment_id)`;

/** A row that is parked for a failed job can still be replayed. */
const NOT_PARKED_ANY_MORE = Object.entries(STEP_TABLES)
  .map(
    ([kind, { table, id }]) => `NOT (t.kind = '${kind}' AND EXISTS (
    SELECT FROM ${table} r WHERE r.merchant_id = t.merchant_id AND r.${id} = t.row_id
      AND r.parked_reason IS NOT NULL))`,
  )
  .join(' AND ');

/** Every table of the database, and how long its rows are kept. */
export const RETENTION: Readonly<Record<string, Retention>> = {
  merchants: { keep: 'forever', why: DIRECTORY },
  apps: { keep: 'forever', why: DIRECTORY },
  app_secrets: { keep: 'forever', why: DIRECTORY },
  users: { keep: 'forever', why: DIRECTORY },
  collections: { keep: 'forever', why: 'Payments' },
  payouts: { keep: 'forever', why: 'Payments' },
  reversals: { keep: 'forever', why: 'Payments' },
  returns: { keep: 'forever', why: 'Payments' },
  transfers: { keep: 'forever', why: 'Payments' },
  movements: { keep: 'forever', why: BOOKS },
  wallets: { keep: 'forever', why: BOOKS },
  journals: { keep: 'forever', why: BOOKS },
  entries: { keep: 'forever', why: BOOKS },
  events: { keep: 'forever', why: 'What merchants were told, once for each payment' },
  webhook_deliveries: { keep: 'forever', why: 'Whether the merchant took an event' },
  discrepancies: { keep: 'forever', why: 'What did not add up, and who decided what' },
  audit_log: { keep: 'forever', why: 'Who changed what' },
  attempts: {
    keep: months(13),
    since: 'started_at',
    only: `(${OF_ENDED_PAYMENT}) AND ${WITHOUT_OPEN_DISCREPANCY}`,
    why: 'Of payments that are over and have no open discrepancy',
  },
  payment_history: { keep: months(13), detach: true, why: 'For support; no book depends on it' },
  webhook_attempts: { keep: months(3), detach: true, why: 'For support; the delivery stays' },
  callbacks: {
    keep: days(90),
    since: 'received_at',
    only: `t.status <> 'stored' AND t.next_step IS NULL AND t.parked_reason IS NULL
      AND ${WITHOUT_OPEN_DISCREPANCY}`,
    why: "Raw, with customers' data; those that were processed or rejected, and whose payment has no open discrepancy",
  },
  idempotency_keys: {
    keep: hours(KEPT_HOURS),
    since: 'created_at',
    why: 'As merchants are promised',
  },
  token_families: { keep: days(8), since: 'expires_at', why: 'Log-ins, after their end' },
  failed_jobs: {
    keep: days(90),
    since: 'failed_at',
    only: NOT_PARKED_ANY_MORE,
    why: 'Those whose row is not parked any more',
  },
  statement_lines: {
    keep: months(25),
    since: 'imported_at',
    partOf: { table: 'statement_imports', by: 'import_id' },
    why: 'Longer than anybody reconciles backwards',
  },
  statement_imports: {
    keep: months(25),
    since: 'imported_at',
    only: 'NOT EXISTS (SELECT FROM statement_lines l WHERE l.import_id = t.id)',
    why: 'After their lines',
  },
  schema_migrations: { keep: 'state', why: 'Which migrations have run' },
  schema_migrations_lock: { keep: 'state', why: ONE_ROW },
  outbox: { keep: 'state', why: 'A row goes when its job is queued' },
  leases: { keep: 'state', why: ONE_ROW },
  event_sequences: { keep: 'state', why: ONE_ROW },
  paused_channels: { keep: 'state', why: 'A row goes when the channel is resumed' },
  ledger_checkpoints: { keep: 'state', why: ONE_ROW },
  journal_checkpoints: { keep: 'state', why: ONE_ROW },
  last_ledger_verification: { keep: 'state', why: ONE_ROW },
};
