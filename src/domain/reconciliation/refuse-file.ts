import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import { OperatorRefusal } from '../errors.ts';
import { ARE_OF_PEOPLE } from '../settlement/sources.ts';
import type { Period, StatementRef } from './statement.ts';

/* Files that are about something else than they were brought for. What is known here tells. */

/** A receipt may be at two accounts by chance, or by a wrong row. */
const FEWEST_OF_OTHER_ACCOUNT = 2;

/**
 * Refuses the file of another account: receipts of it are booked there, and none is here. All that is booked here would
 * seem missing, and all its lines unknown.
 * @throws OperatorRefusal
 */
export async function refuseOtherAccount(
  trx: Transaction,
  import_id: string,
  { gateway }: Pick<StatementRef, 'gateway'>,
): Promise<void> {
  const booked = await rows<{ gateway: string; count: number }>(
    trx,
    `SELECT m.gateway, count(*) AS count FROM statement_lines l JOIN movements m
       ON m.trans_id = l.trans_id AND m.amount_cents = l.amount_cents AND m.booked <> 'undone'
       AND (l.kind = 'collection') = (m.payment_kind = 'collection')
     WHERE l.import_id = CAST(:import_id AS uuid) GROUP BY m.gateway ORDER BY count(*) DESC`,
    { import_id },
  );
  const [first] = booked;
  if (!first || first.count < FEWEST_OF_OTHER_ACCOUNT) return;
  if (booked.some((each) => each.gateway === gateway)) return;
  throw new OperatorRefusal(
    `${first.count} of its receipts are booked at ${first.gateway}, and none at ${gateway}: it is the file of that account`,
  );
}

/**
 * Refuses a file of other days than it was brought for: most of its lines lie outside of them by more than a day. A
 * spreadsheet may have changed the order of day and month, and its lines would be taken for other money.
 * @throws OperatorRefusal
 */
export async function refuseOtherDays(
  trx: Transaction,
  import_id: string,
  { period: { from, to } }: { period: Period },
): Promise<void> {
  const found = await firstRow<{ lines: number; outside: number; first: string }>(
    trx,
    `SELECT count(*) AS lines, count(*) FILTER (WHERE is_outside) AS outside,
       CAST(CAST(min(completed_at) FILTER (WHERE is_outside) AS date) AS text) AS first
     FROM statement_lines CROSS JOIN LATERAL (SELECT CAST(completed_at AS date) NOT BETWEEN
       CAST(:from AS date) - 1 AND CAST(:to AS date) + 1 AS is_outside) AS of
     WHERE import_id = CAST(:import_id AS uuid)`,
    { import_id, from, to },
  );
  const { lines, outside, first } = found!;
  if (outside * 2 <= lines) return;
  throw new OperatorRefusal(
    `${outside} of its ${lines} lines are of other days, such as ${first}. Give the days of the file. If they are right, look whether a spreadsheet has changed the order of day and month`,
  );
}

/** Clocks of zones differ by whole or half hours. Two clocks of one zone may be apart by less than this. */
const HALF_HOUR_S = 1_800;
const SAME_CLOCK_S = 300;

/** One receipt may have a wrong time by itself. */
const FEWEST_OF_OTHER_CLOCK = 2;

/**
 * Refuses a file by another clock than the gateway's: most of its receipts that are known here have moved earlier or
 * later, all by the same hours. Its other lines would be taken for payments of those hours.
 * @throws OperatorRefusal
 */
export async function refuseOtherClock(
  trx: Transaction,
  import_id: string,
  { gateway }: Pick<StatementRef, 'gateway'>,
): Promise<void> {
  const found = await firstRow<{ hours: number; count: number; known: number }>(
    trx,
    `WITH known AS (
       SELECT l.completed_at, extract(epoch FROM l.completed_at - m.completed_at) AS apart
       FROM statement_lines l JOIN movements m ON m.trans_id = l.trans_id AND m.gateway = :gateway
       WHERE l.import_id = CAST(:import_id AS uuid) AND m.completed_at IS NOT NULL
         AND m.booked <> 'undone' AND coalesce(m.confirmed_by, m.told_by) NOT IN ${ARE_OF_PEOPLE}
     ), shifted AS (
       SELECT completed_at, round(apart / :half_hour) AS halves FROM known
       WHERE abs(apart - round(apart / :half_hour) * :half_hour) < :same_clock
     ), days AS (
       SELECT halves, count(*) AS count, max(completed_at) - min(completed_at) AS spread
       FROM shifted GROUP BY halves, date_trunc('day', completed_at)
     )
     SELECT CAST(halves / 2 AS float) AS hours, CAST(sum(count) AS bigint) AS count,
       (SELECT count(*) FROM known) AS known
     FROM days GROUP BY halves
     -- A bank may write the day alone, or the time of a batch, which is no clock.
     HAVING max(spread) > interval '10 minutes'
     ORDER BY sum(count) DESC LIMIT 1`,
    { import_id, gateway, half_hour: HALF_HOUR_S, same_clock: SAME_CLOCK_S },
  );
  if (!found || found.hours === 0) return;
  const { hours, count, known } = found;
  if (count < FEWEST_OF_OTHER_CLOCK || count * 2 <= known) return;
  throw new OperatorRefusal(
    `Its times are by another clock: ${count} of the ${known} receipts that are known here moved ${Math.abs(hours)} hours ${hours > 0 ? 'earlier' : 'later'} than it says. Give its offset (utc-offset)`,
  );
}
