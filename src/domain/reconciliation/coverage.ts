import { type Database, firstRow, rows } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { isOverdue, PAYMENT_KINDS } from '../payments/payment-summary.ts';
import { counted } from '../text.ts';
import {
  IS_GIVEN,
  IS_OF_TWO,
  LINE_KINDS,
  LISTED_UNTIL,
  momentsOf,
  type Period,
  type StatementLine,
  type StatementRef,
} from './statement.ts';

/** A statement that was compared. */
export interface ComparedScope extends StatementRef {
  channel: number;
  period: Period;
  covers: readonly StatementLine['kind'][];
  complete_until: Date | null;
}

/**
 * Says what the comparison of a statement leaves open, one line each: kinds, hours, undecided rows
 * and payments, and the other accounts.
 * @param accounts names the accounts with gateways that channels use
 */
export async function notCovered(
  database: Database,
  statement: ComparedScope,
  accounts: readonly string[],
): Promise<string[]> {
  const kinds = LINE_KINDS.filter((kind) => !statement.covers.includes(kind));
  const others = await notCompared(database, statement, accounts);
  return [
    ...(kinds.length > 0
      ? [
          `It does not claim every ${kinds.join(' and ')}: what it lacks of these was not looked for`,
        ]
      : []),
    ...hoursOf(statement),
    ...(await holesBefore(database, statement)),
    ...(await undecidedOf(database, statement)),
    ...(others.length > 0 ? [`No statement of ${others.join(', ')} covers these days`] : []),
  ];
}

function hoursOf({ period, complete_until }: ComparedScope): string[] {
  const { end } = momentsOf(period);
  if (complete_until === null)
    return ['Nobody said how far it is complete: no payment fails by it'];
  if (complete_until >= end) return [];
  return [`It is complete until ${complete_until.toISOString()}, and its days end later`];
}

/** Holes are looked for in this time before the statement. More of them need no longer list. */
const LOOK_BACK_DAYS = 7;
const MAX_HOLES = 5;

/**
 * Names the hours of the last days that lie in no compared statement of a kind, though earlier and later ones do, and
 * the hours of which only files say so to which nobody else agreed: a file could say anything. A schedule by another
 * clock than UTC leaves some out each night.
 */
async function holesBefore(
  database: Database,
  { covers, period, ...statement }: ComparedScope,
): Promise<string[]> {
  const holes = await rows<{ kind: string; since: Date; until: Date; is_of_one: boolean }>(
    database,
    `WITH compared AS (
       SELECT kind, CAST(i.period_from AS timestamp) AT TIME ZONE 'UTC' AS since,
         ${LISTED_UNTIL} AS until, ${IS_OF_TWO} OR i.id = CAST(:import_id AS uuid) AS is_proof
       FROM statement_imports i, unnest(i.covers) AS kind
       WHERE i.gateway = :gateway AND (i.channel = :channel OR ${IS_GIVEN}) AND kind = ANY (:covers)
         AND i.started_at IS NOT NULL
         AND (i.result IS NOT NULL OR i.id = CAST(:import_id AS uuid))
         AND i.period_to >= CAST(:start AS timestamptz) - ${LOOK_BACK_DAYS + 1} * interval '1 day'
     ), looked_at AS (
       SELECT kind, range_agg(tstzrange(since, until)) AS listed,
         coalesce(range_agg(tstzrange(since, until)) FILTER (WHERE is_proof), '{}') AS proven,
         tstzmultirange(tstzrange(
           greatest(min(since), :start - ${LOOK_BACK_DAYS} * interval '1 day'), :start)) AS hours
       FROM compared WHERE since < until GROUP BY kind HAVING min(since) < :start
     )
     SELECT kind, is_of_one, lower(hole) AS since, upper(hole) AS until
     FROM looked_at,
       LATERAL (VALUES (false, hours - listed), (true, hours * listed - proven)) AS of (is_of_one, holes),
       unnest(holes) AS hole
     ORDER BY since, kind LIMIT ${MAX_HOLES}`,
    { ...statement, covers, start: momentsOf(period).start },
  );
  return holes.map(({ kind, since, until, is_of_one }) => {
    const whose = is_of_one ? 'Only a file to which nobody else agreed' : 'No statement';
    return `${whose} has every ${kind} from ${since.toISOString()} until ${until.toISOString()}`;
  });
}

async function undecidedOf(database: Database, statement: ComparedScope): Promise<string[]> {
  const scope = { ...statement, ...momentsOf(statement.period) };
  const undecided: string[] = [];
  const lines = await firstRow<{ count: number }>(
    database,
    `SELECT count(*) AS count FROM statement_lines WHERE import_id = :import_id AND undecided
       AND result IS NULL`,
    scope,
  );
  if (lines!.count > 0) {
    undecided.push(`${counted(lines!.count, 'row')} of it say neither success nor failure`);
  }
  for (const kind of PAYMENT_KINDS) {
    const open = await firstRow<{ count: number }>(
      database,
      `SELECT count(*) AS count FROM ${STEP_TABLES[kind].table} p
       WHERE ${isOverdue('p')} AND p.gateway = :gateway AND p.channel = :channel
         AND p.created_at >= :start AND p.created_at < :end`,
      scope,
    );
    if (open!.count > 0)
      undecided.push(`${counted(open!.count, `overdue ${kind}`)} stay undecided`);
  }
  return undecided;
}

/** Finds the other accounts of which no comparison that has ended covers the days. */
async function notCompared(
  database: Database,
  { gateway, period }: ComparedScope,
  accounts: readonly string[],
): Promise<string[]> {
  const found = await rows<{ name: string }>(
    database,
    `SELECT name FROM unnest(CAST(:accounts AS text[])) AS name
     WHERE name <> :gateway AND NOT EXISTS (SELECT FROM statement_imports i
       WHERE i.gateway = name AND i.result IS NOT NULL AND i.covers <> '{}' AND ${IS_OF_TWO}
         AND i.period_from <= CAST(:from AS date) AND i.period_to >= CAST(:to AS date))
     ORDER BY name`,
    { ...period, gateway, accounts: [...accounts] },
  );
  return found.map(({ name }) => name);
}
