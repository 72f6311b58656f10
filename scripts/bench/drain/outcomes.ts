import { type Database, firstRow, rows } from '../../../src/connections/database.ts';
import { verifyLedger } from '../../../src/domain/ledger/verification/verify-ledger.ts';
import type { Round } from '../figures.ts';

/** What became of one payment. Times are ms since 1970; null: it has not happened. */
export interface Outcome {
  status: string;
  acceptedMs: number;
  finalMs: number | null;
  deliveredMs: number | null;
  events: number;
}

/** How far the payments of one backlog are. */
export async function progressOf(
  database: Database,
  tag: string,
): Promise<{ final: number; delivered: number }> {
  const row = await firstRow<{ final: number; delivered: number }>(
    database,
    `SELECT count(*) FILTER (WHERE p.status IN ('completed', 'failed')) AS final,
       count(*) FILTER (WHERE d.status = 'delivered') AS delivered
     FROM (${PAYMENTS}) p
     LEFT JOIN events e ON e.merchant_id = p.merchant_id AND e.payment_kind = p.kind
       AND e.payment_id = p.id
     LEFT JOIN webhook_deliveries d ON d.merchant_id = e.merchant_id AND d.event_id = e.id`,
    { pattern: `${tag}-%` },
  );
  return row!;
}

/** What became of every payment of one backlog, by the database's own times. */
export function outcomesOf(database: Database, tag: string): Promise<Outcome[]> {
  return rows<Outcome>(
    database,
    `SELECT p.status,
       CAST(extract(epoch FROM p.created_at) * 1000 AS float8) AS "acceptedMs",
       (SELECT CAST(extract(epoch FROM min(h.happened_at)) * 1000 AS float8)
        FROM payment_history h
        WHERE h.merchant_id = p.merchant_id AND h.payment_kind = p.kind AND h.payment_id = p.id
          AND h.to_status IN ('completed', 'failed')) AS "finalMs",
       (SELECT CAST(extract(epoch FROM min(a.attempted_at)) * 1000 AS float8)
        FROM events e
        JOIN webhook_attempts a ON a.merchant_id = e.merchant_id AND a.event_id = e.id
        WHERE e.merchant_id = p.merchant_id AND e.payment_kind = p.kind AND e.payment_id = p.id
          AND a.response_status BETWEEN 200 AND 299) AS "deliveredMs",
       (SELECT count(*) FROM events e
        WHERE e.merchant_id = p.merchant_id AND e.payment_kind = p.kind AND e.payment_id = p.id
       ) AS events
     FROM (${PAYMENTS}) p`,
    { pattern: `${tag}-%` },
  );
}

type Moment = 'acceptedMs' | 'finalMs' | 'deliveredMs';

/** What took them from one moment to another, of those that came so far; the time is that from the first acceptance to the last of them. */
export function roundOf(outcomes: readonly Outcome[], from: Moment, to: Moment): Round {
  const reached = outcomes.filter((outcome) => outcome[from] !== null && outcome[to] !== null);
  const first = outcomes.reduce((min, { acceptedMs }) => Math.min(min, acceptedMs), Infinity);
  const last = reached.reduce((max, outcome) => Math.max(max, outcome[to]!), first);
  return {
    latenciesMs: reached.map((outcome) => outcome[to]! - outcome[from]!),
    errors: outcomes.length - reached.length,
    elapsedMs: last - first,
  };
}

/**
 * What is wrong with payments that are over, in one line, or null.
 * @param received the ids of the webhooks that arrived, each once.
 * @param expected how many payments there were, and how many of them must fail.
 */
export function problemOf(
  outcomes: readonly Outcome[],
  received: ReadonlySet<string>,
  { count, failed = 0 }: { count: number; failed?: number },
): string | null {
  const problems = Object.entries({
    'are missing': count - outcomes.length,
    'did not end as they must': Math.abs(
      outcomes.filter(({ status }) => status !== 'completed').length - failed,
    ),
    'have not one event': outcomes.filter(({ events }) => events !== 1).length,
    'have no delivered webhook': outcomes.filter(({ deliveredMs }) => deliveredMs === null).length,
    'sent a webhook to nobody or under two ids': Math.abs(count - received.size),
  }).filter(([, found]) => found !== 0);
  if (problems.length === 0) return null;
  return `of ${count} payments ${problems.map(([what, found]) => `${found} ${what}`).join(', ')}`;
}

/** The first break of the books, in one line, or null. */
export async function breakOf(database: Database): Promise<string | null> {
  const { breaks } = await verifyLedger(database, { full: true });
  const [first] = breaks;
  if (!first) return null;
  const { kind, subject, id, expected, found } = first;
  return `${breaks.length} breaks of the books, the first ${kind} of ${subject} ${id}: expected ${expected}, found ${found}`;
}

const PAYMENTS = ['collection', 'payout']
  .map(
    (kind) =>
      `SELECT merchant_id, '${kind}' AS kind, id, status, created_at FROM ${kind}s
       WHERE ref_no LIKE :pattern`,
  )
  .join(' UNION ALL ');
