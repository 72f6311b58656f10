import type { Transaction } from '../connections/database.ts';
import { IS_BREAK_GLASS } from '../domain/audit/origin.ts';
import { latestProofs } from '../domain/gateway-accounts/balances.ts';
import type { GatewayPaymentKind } from '../domain/gateway-results.ts';
import { lastVerification } from '../domain/ledger/verification/checkpoints.ts';
import { BREAK_KINDS } from '../domain/ledger/verification/checks.ts';
import { PAYMENT_KINDS } from '../domain/payments/payment-summary.ts';
import { sealedDaysBehind } from '../domain/seals/seal-days.ts';
import { DECIDED_ALONE, STAKE_HOURS } from '../domain/support/decide-alone.ts';
import { otherDatabase } from '../domain/upkeep/other-database.ts';
import { countWaitingJobs } from '../jobs/failed-jobs.ts';
import { STEP_TABLES, type StepKind } from '../jobs/job-types.ts';
import { IS_HELD } from '../jobs/queue-status.ts';
import { SECOND_MS } from '../time.ts';
import type { GaugeTable, Reading } from './gauges.ts';

/** Gauges that are read from the database together, in one transaction. */
export interface DatabaseGauges {
  gauges: GaugeTable;
  /** Statements whose columns have the names of the gauges and labels. */
  sql?: readonly string[];
  /** Reads what the domain has a function for. */
  read?: (trx: Transaction) => Promise<Reading[]>;
}

/** A gauge at this limit says "at least", and is cheap to read however much is open. */
export const COUNT_LIMIT = 100_000;
/** As many rows as two rounds of the dispatcher move: the oldest is among them. */
const OUTBOX_HEAD = 1_000;

/** Deliveries without a job, by their state. */
const WAITING_DELIVERIES = {
  due: `next_step_at <= now() AND NOT ${IS_HELD}`,
  held: `next_step_at <= now() AND ${IS_HELD}`,
  later: 'next_step_at > now()',
};

/** SQL: something waits for an endpoint. Where nothing does, nobody learns whether it works again. */
const HAS_WAITING = `EXISTS (SELECT FROM webhook_deliveries d
  WHERE d.merchant_id = webhook_endpoints.merchant_id AND d.endpoint = webhook_endpoints.endpoint
    AND d.next_step IS NOT NULL AND d.admitted_at IS NULL)`;

export const DATABASE_GAUGES: Readonly<Record<string, DatabaseGauges>> = {
  payments: {
    gauges: {
      malipo_payments_open: ['Payments that have not ended', 'kind', 'state'],
      malipo_payments_oldest_open_seconds: ['Age of the oldest payment that has not ended', 'kind'],
      malipo_payments_overdue: ['Payments that have not ended by their deadline', 'kind'],
      malipo_payments_parked: ['Payments that wait for a person', 'kind'],
    },
    sql: PAYMENT_KINDS.flatMap(openAndParked),
  },
  jobs: {
    gauges: {
      malipo_outbox_rows: ['Steps that have not reached their queue, or have just reached it'],
      malipo_outbox_lag_seconds: ['How long the first step in the outbox has been due'],
      malipo_steps_due: ['Steps that are due and not done, in queues or lost', 'kind'],
      malipo_steps_oldest_due_seconds: ['How long the oldest due step has been due', 'kind'],
      malipo_failed_jobs: ['Jobs that failed for good and whose row waits for a person', 'queue'],
    },
    sql: [
      `SELECT (SELECT count(*) FROM (SELECT 1 FROM outbox LIMIT ${COUNT_LIMIT}) r)
           AS malipo_outbox_rows,
         (SELECT ${secondsSince('min(run_at)')}
          FROM (SELECT run_at FROM outbox ORDER BY id LIMIT ${OUTBOX_HEAD}) head)
           AS malipo_outbox_lag_seconds`,
      ...(Object.keys(STEP_TABLES) as StepKind[]).map(dueSteps),
    ],
    read: async (trx) =>
      (await countWaitingJobs(trx)).map(({ queue, count }) => ({
        queue,
        malipo_failed_jobs: count,
      })),
  },
  events: {
    gauges: {
      malipo_events_unnumbered: ['Settlement events without a number, and so without a delivery'],
      malipo_events_oldest_unnumbered_seconds: ['Age of the oldest event without a number'],
      malipo_webhook_deliveries: [
        'Deliveries not over: admitted; due, without room at their endpoint; held, because their endpoint does not work; for later',
        'state',
      ],
      malipo_webhook_endpoints_open: ['Endpoints that do not work, and for which webhooks wait'],
      malipo_webhook_endpoints_oldest_open_seconds: ['How long the oldest of them has failed'],
    },
    sql: [
      `SELECT count(*) AS malipo_events_unnumbered,
         ${secondsSince('min(created_at)')} AS malipo_events_oldest_unnumbered_seconds
       FROM ${upToLimit('events', 'sequence IS NULL', 'created_at, id')}`,
      ...Object.entries(WAITING_DELIVERIES).map(
        ([state, condition]) => `SELECT '${state}' AS state, count(*) AS malipo_webhook_deliveries
         FROM ${deliveries(`admitted_at IS NULL AND ${condition}`, 'next_step_at')}`,
      ),
      `SELECT 'admitted' AS state, count(*) AS malipo_webhook_deliveries
       FROM ${deliveries('admitted_at IS NOT NULL', 'merchant_id, endpoint')}`,
      `SELECT count(*) AS malipo_webhook_endpoints_open,
         ${secondsSince('min(failing_since)')} AS malipo_webhook_endpoints_oldest_open_seconds
       FROM ${upToLimit('webhook_endpoints', `breaker = 'open' AND ${HAS_WAITING}`, 'merchant_id, endpoint')}`,
    ],
  },
  'open matters': {
    gauges: {
      malipo_discrepancies_open: ['Discrepancies that nobody has resolved', 'kind'],
      malipo_discrepancies_oldest_seconds: ['Age of the oldest open discrepancy', 'kind'],
      malipo_suspense_cents: ['Money in suspense in cents, by kind of payment', 'kind'],
      malipo_suspense_oldest_seconds: ['Age of the oldest money in suspense', 'kind'],
    },
    sql: [
      `SELECT kind, count(*) AS malipo_discrepancies_open,
         ${secondsSince('min(opened_at)')} AS malipo_discrepancies_oldest_seconds
       FROM ${upToLimit('discrepancies', 'resolved_at IS NULL', 'opened_at')}
       GROUP BY kind`,
      // One sum for each kind: money in and money out could cancel each other.
      `SELECT kind, CAST(coalesce(sum(amount_cents), 0) AS bigint) AS malipo_suspense_cents,
         ${secondsSince('min(learned_at)')} AS malipo_suspense_oldest_seconds
       FROM unnest(string_to_array('${PAYMENT_KINDS.join()}', ',')) AS kind
       LEFT JOIN ${upToLimit('movements', "booked IN ('suspense', 'undoing', 'returning')", 'merchant_id')}
         ON payment_kind = kind
       GROUP BY kind`,
    ],
  },
  gateways: {
    gauges: {
      malipo_operator_troubles: [
        'Payments that failed in the last half hour by our own trouble with a gateway',
        'gateway',
      ],
      malipo_gateway_float_cents: ['Money from which payouts go, in cents', 'gateway'],
      malipo_gateway_float_age_seconds: ['Time since a gateway last said what it is', 'gateway'],
    },
    sql: [
      `SELECT gateway, available_cents AS malipo_gateway_float_cents,
         ${secondsSince('heard_at')} AS malipo_gateway_float_age_seconds FROM gateway_floats`,
      `SELECT gateway, count(*) AS malipo_operator_troubles FROM operator_troubles
       WHERE happened_at > now() - interval '30 minutes' GROUP BY gateway`,
    ],
  },
  balances: {
    gauges: {
      malipo_balance_told: [
        'Whether a gateway has told the balance lately. 0: the last one is too old, and is not compared',
        'gateway',
        'account',
      ],
      malipo_balance_difference_cents: [
        'What a gateway has told of a balance less the ledger, in cents',
        'gateway',
        'account',
      ],
      malipo_balance_differs_seconds: [
        'How long payments on their way have not explained the difference; 0: the balance agrees',
        'gateway',
        'account',
      ],
    },
    read: async (trx) =>
      (await latestProofs(trx)).map(({ gateway, sub_account: account, ...proof }) => ({
        gateway,
        account,
        malipo_balance_told: Number(proof.is_told),
        ...(proof.is_told && {
          malipo_balance_difference_cents: proof.difference_cents,
          malipo_balance_differs_seconds: proof.differs_since
            ? Math.max(0, Date.now() - proof.differs_since.getTime()) / SECOND_MS
            : 0,
        }),
      })),
  },
  ledger: {
    gauges: {
      malipo_ledger_breaks: ['Breaks that the last scheduled verification has found', 'kind'],
      malipo_ledger_verified_timestamp_seconds: [
        'When the ledger was last verified on schedule, in seconds since 1970; 0 is never',
      ],
    },
    read: async (trx) => {
      const last = await lastVerification(trx);
      if (!last) return [{ malipo_ledger_verified_timestamp_seconds: 0 }];
      return [
        { malipo_ledger_verified_timestamp_seconds: last.verified_at.getTime() / 1_000 },
        ...BREAK_KINDS.map((kind) => ({ kind, malipo_ledger_breaks: last.counts[kind] ?? 0 })),
      ];
    },
  },
  seals: {
    gauges: {
      malipo_sealed_days_behind: ['Days that are over for hours and have no seal', 'table'],
    },
    read: async (trx) =>
      (await sealedDaysBehind(trx)).map(({ table_name: table, days }) => ({
        table,
        malipo_sealed_days_behind: days,
      })),
  },
  staff: {
    gauges: {
      malipo_staff_members: [
        'Active staff accounts by role. Without any, production lets nobody do anything',
        'role',
      ],
      malipo_break_glass_commands: [
        'Commands of the last hour that opened the database themselves, or that another role than the service ran',
      ],
    },
    sql: [
      `SELECT count(*) AS malipo_break_glass_commands FROM audit_log
       WHERE happened_at > now() - interval '1 hour'
         AND (database_role <> session_user OR ${IS_BREAK_GLASS})`,
      `SELECT role.name AS role, count(s.id) AS malipo_staff_members
       FROM unnest(ARRAY['viewer', 'support', 'admin']) AS role (name)
       LEFT JOIN staff s ON s.role = role.name AND s.active GROUP BY role.name`,
    ],
  },
  'decisions of people': {
    gauges: {
      malipo_decided_money_cents: [
        'Money about which one person, or two, have decided within 24 hours, in cents',
        'people',
      ],
    },
    sql: [
      `SELECT 'one' AS people, CAST(coalesce(sum(cents), 0) AS bigint) AS malipo_decided_money_cents
       FROM (${DECIDED_ALONE}) AS stakes`,
      `SELECT 'two' AS people,
         CAST(coalesce(sum(amount_cents), 0) AS bigint) AS malipo_decided_money_cents
       FROM approvals WHERE decision = 'approved'
         AND decided_at > now() - interval '${STAKE_HOURS} hours'`,
    ],
  },
  debts: {
    gauges: {
      malipo_merchant_debt_cents: [
        'What merchants owe beyond what their payout wallets hold, in cents: their reversals took more than was there',
      ],
    },
    sql: [
      `SELECT CAST(coalesce(sum(debt), 0) AS bigint) AS malipo_merchant_debt_cents
       FROM (SELECT -sum(balance_cents) AS debt FROM wallets GROUP BY merchant_id
         HAVING sum(balance_cents) < 0) AS debts`,
    ],
  },
  submissions: {
    gauges: {
      malipo_submissions_paused: [
        '1 when nothing is sent, because PostgreSQL was restored, has failed over or was moved',
      ],
    },
    read: async (trx) => [{ malipo_submissions_paused: (await otherDatabase(trx)) ? 1 : 0 }],
  },
  partitions: {
    gauges: {
      malipo_month_partitions_ahead: ['Months after this one that have their partition', 'table'],
    },
    sql: [
      `SELECT parent.relname AS table,
         count(*) FILTER (WHERE child.relname >
           parent.relname || to_char(now() AT TIME ZONE 'UTC', '"_"YYYY_MM'))
           AS malipo_month_partitions_ahead
       FROM pg_inherits
       JOIN pg_class parent ON parent.oid = inhparent AND parent.relkind = 'p'
       JOIN pg_class child ON child.oid = inhrelid
       WHERE child.relname ~ '_[0-9]{4}_[0-9]{2}$' AND pg_table_is_visible(parent.oid)
       GROUP BY parent.relname`,
    ],
  },
};

/** Payments that have ended are never counted: there are too many. */
function openAndParked(kind: GatewayPaymentKind): string[] {
  const { table } = STEP_TABLES[kind];
  return [
    `SELECT '${kind}' AS kind, state, malipo_payments_open, malipo_payments_overdue,
       malipo_payments_oldest_open_seconds
     FROM (
       SELECT count(*) FILTER (WHERE status = 'pending') AS pending,
         count(*) FILTER (WHERE status = 'processing') AS processing,
         count(*) FILTER (WHERE deadline_at < now()) AS malipo_payments_overdue,
         ${secondsSince('min(created_at)')} AS malipo_payments_oldest_open_seconds
       FROM ${upToLimit(table, "status IN ('pending', 'processing')", 'deadline_at')}
     ) open, LATERAL (
       VALUES ('pending', pending), ('processing', processing)
     ) states(state, malipo_payments_open)`,
    `SELECT '${kind}' AS kind, count(*) AS malipo_payments_parked
     FROM ${upToLimit(table, 'parked_reason IS NOT NULL', 'created_at')}`,
  ];
}

/**
 * A delivery without room at its endpoint has no job, and counts as due. One whose endpoint does not
 * work does not.
 */
function dueSteps(kind: StepKind): string {
  const isDue = 'next_step IS NOT NULL AND next_step_at <= now()';
  const due =
    kind === 'webhook'
      ? // Each half has an index of its own.
        `(SELECT next_step_at FROM ${deliveries(`admitted_at IS NULL AND NOT ${IS_HELD}`, 'next_step_at', isDue)}
          UNION ALL
          SELECT next_step_at
          FROM ${deliveries('admitted_at IS NOT NULL', 'merchant_id, endpoint, next_step_at', isDue)}
         ) AS due`
      : upToLimit(STEP_TABLES[kind].table, isDue, 'next_step_at');
  return `SELECT '${kind}' AS kind, count(*) AS malipo_steps_due,
      ${secondsSince('min(next_step_at)')} AS malipo_steps_oldest_due_seconds
    FROM ${due}`;
}

function deliveries(condition: string, order: string, step = 'next_step IS NOT NULL'): string {
  return upToLimit('webhook_deliveries', `${step} AND ${condition}`, order);
}

/** SQL: at most `COUNT_LIMIT` rows. The order makes the planner take the index of such rows. */
function upToLimit(table: string, condition: string, order: string): string {
  return `(SELECT * FROM ${table} WHERE ${condition} ORDER BY ${order} LIMIT ${COUNT_LIMIT}) AS counted`;
}

/** SQL: the seconds since a time; 0 for null. */
function secondsSince(time: string): string {
  return `CAST(greatest(0, coalesce(extract(epoch FROM now() - ${time}), 0)) AS float8)`;
}
