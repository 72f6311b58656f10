import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { IS_UNOWNED } from '../discrepancies/unknown-money.ts';
import { OperatorRefusal } from '../errors.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';
import { IS_GIVEN, IS_OF_TWO, LINE_KINDS, PAYMENTS_OF_LINES } from '../reconciliation/statement.ts';
import { counted } from '../text.ts';
import { LAST_MARK } from './restore-mark.ts';

/** The reason that is recorded with a payment that is treated as sent. */
export const WHY_MAYBE_SENT = 'Restored from a backup: it may have been sent since';

/** Counts of the open payments of a kind since they were marked. */
export interface OpenPayments {
  kind: GatewayPaymentKind;
  open: number;
  /** Payments that no gateway has been asked about since the mark. */
  unasked: number;
  /** Payments that were asked about, and for which no answer says yet if the gateway has them. */
  unanswered: number;
  /** Payments that are sent when submissions go on. */
  unsent: number;
  parked: number;
}

export interface RestoreProgress {
  /** The time of the last mark, or null. */
  marked_at: Date | null;
  payments: OpenPayments[];
  /** The number of open discrepancies about money that no payment here explains. */
  unexplained: number;
}

/** Reads what an operator must check before a restored database sends payments again. */
export async function restoreProgress(database: Database): Promise<RestoreProgress> {
  const row = await firstRow<{ marked_at: Date | null; unexplained: number }>(
    database,
    `SELECT ${LAST_MARK} AS marked_at,
       (SELECT count(*) FROM discrepancies WHERE resolved_at IS NULL
          AND ${IS_UNOWNED}) AS unexplained`,
  );
  const payments = await Promise.all(PAYMENT_KINDS.map((kind) => countOpen(database, kind)));
  return { ...row!, payments };
}

/** An account with a gateway, and a channel that uses it. */
export interface UsedAccount {
  gateway: string;
  channel: number;
}

/** The payments that each kind of line may be of. Late money of a collection goes back by itself, as a return. */
const MADE_BY = {
  ...PAYMENTS_OF_LINES,
  reversal: [...PAYMENTS_OF_LINES.reversal, 'collection'],
} as const;

/** SQL: the kinds of movements that the account `a` may have had since the backup: it has had payments of them here. */
const USED_KINDS = LINE_KINDS.flatMap((line) =>
  MADE_BY[line].map(
    (kind) => `SELECT '${line}' AS kind WHERE EXISTS (SELECT FROM ${STEP_TABLES[kind].table} p
      WHERE p.gateway = a.gateway AND p.channel = a.channel)`,
  ),
).join(' UNION ');

/** SQL: the day of the newest payment that the database still has. What it has forgotten came after it. */
const NEWEST_DAY = `CAST(least(${LAST_MARK}, (SELECT max(newest) FROM (${PAYMENT_KINDS.map(
  (kind) =>
    `SELECT max(created_at) AS newest FROM ${STEP_TABLES[kind].table} WHERE created_at < ${LAST_MARK}`,
).join(' UNION ALL ')}) known)) AS date)`;

/**
 * Refuses as long as the restore has not been looked into: every gateway asked about the open
 * payments, and statements of each account compared since the mark, for each of its channels, that
 * list every movement from the day of the newest known payment up to the mark, of each kind that the account has had: the gateway's own, or a file of which
 * somebody says so, and that another member has compared. An account without payments may have had its first ones since the backup: one statement of any kind.
 * @throws OperatorRefusal
 */
export async function requireLookedInto(
  trx: Transaction,
  accounts: readonly UsedAccount[],
): Promise<void> {
  let unasked = 0;
  for (const kind of PAYMENT_KINDS) unasked += (await countOpen(trx, kind)).unasked;
  const unseen = await rows<UsedAccount & { kind: string | null; day: string }>(
    trx,
    `SELECT gateway, channel, kind, CAST(min(day) AS text) AS day
     FROM jsonb_to_recordset(CAST(:accounts AS jsonb)) AS a (gateway text, channel integer)
     LEFT JOIN LATERAL (${USED_KINDS}) used ON true,
       (SELECT CAST(generate_series(${NEWEST_DAY}, CAST(${LAST_MARK} AS date), interval '1 day') AS date) AS day) days
     WHERE NOT EXISTS (SELECT FROM statement_imports i
       WHERE i.gateway = a.gateway AND i.result IS NOT NULL
         -- The gateway's own statement has the movements of all channels. Somebody must say until when a file has all.
         AND (i.channel = a.channel AND i.complete_until >= least(${LAST_MARK}, CAST(day + 1 AS timestamptz)) OR ${IS_GIVEN})
         AND i.started_at > ${LAST_MARK} AND ${IS_OF_TWO} AND i.covers <> '{}' AND coalesce(used.kind = ANY (i.covers), true)
         AND day BETWEEN i.period_from AND i.period_to)
     GROUP BY gateway, channel, kind ORDER BY gateway, channel, kind`,
    { accounts: JSON.stringify(accounts) },
  );
  const missing = [
    ...(unasked > 0 ? [`${counted(unasked, 'payment')} not asked about yet`] : []),
    ...unseen.map(
      ({ gateway, channel, kind, day }) =>
        `no statement of ${gateway} for channel ${channel} compared since restore mark that has all ${kind === null ? 'movements of a kind' : `${kind}s`} from ${day} until the mark (a file says so by --complete-until)`,
    ),
  ];
  if (missing.length === 0) return;
  throw new OperatorRefusal(
    `What the database has forgotten is not known yet: ${missing.join('; ')}. Only if it has forgotten nothing, give --nothing-lost`,
  );
}

/** SQL: the attempt `a` belongs to the payment `p`. */
const OF_PAYMENT =
  'a.merchant_id = p.merchant_id AND a.payment_kind = :kind AND a.payment_id = p.id';

/** SQL: the creation of the payment `p`. A return counts as created with its collection. */
function createdAt(kind: GatewayPaymentKind): string {
  if (kind !== 'return') return 'p.created_at';
  return `(SELECT c.created_at FROM collections c
    WHERE c.merchant_id = p.merchant_id AND c.id = p.collection_id)`;
}

/**
 * Counts open payments. A payment is unasked in three cases:
 * - The time of its next question is not after the mark: a question moves it forward.
 * - It is a return that was created since the mark and waits for its first question.
 * - It is older than the mark and waits to be sent, but its gateway has not ruled out an earlier
 *   attempt: the mark has missed it.
 */
async function countOpen(
  database: Database | Transaction,
  kind: GatewayPaymentKind,
): Promise<OpenPayments> {
  const [counts] = await rows<Omit<OpenPayments, 'kind'>>(
    database,
    `SELECT count(*) AS open,
       count(*) FILTER (WHERE is_unasked) AS unasked,
       count(*) FILTER (WHERE is_unanswered AND NOT is_unasked) AS unanswered,
       count(*) FILTER (WHERE next_step = 'submit' AND NOT is_unasked) AS unsent,
       count(*) FILTER (WHERE parked_reason IS NOT NULL) AS parked
     FROM ${STEP_TABLES[kind].table} p, LATERAL (SELECT
       coalesce(next_step = 'poll' AND (next_step_at <= ${LAST_MARK} OR step_no = 1)
         OR next_step = 'submit' AND ${createdAt(kind)} <= ${LAST_MARK} AND NOT EXISTS (
           SELECT FROM attempts a WHERE ${OF_PAYMENT} AND a.result = 'ruled_out'), false)
         AS is_unasked,
       coalesce(next_step = 'poll' AND status = 'pending' AND EXISTS (
         SELECT FROM attempts a WHERE ${OF_PAYMENT} AND a.not_found_count = 0
           AND (a.result IS NULL OR a.result = 'unknown')), false) AS is_unanswered) AS seen
     WHERE status IN ('pending', 'processing')`,
    { kind },
  );
  return { kind, ...counts! };
}
