import { type Database, rows } from '../../connections/database.ts';
import { type Difference, proveWorld } from './prove-world.ts';

/** The end of a day: the books agree with the world, or each difference has a name. */
export interface ClosedDay {
  /** A day of Nairobi, YYYY-MM-DD. */
  day: string;
  closed_at: Date;
  agrees: boolean;
  differences: Difference[];
  /**
   * What had told no balance for an hour, and the bank after two days. A day agrees also without the
   * gateways that cannot tell one.
   */
  untold: string[];
}

/** A day is closed at this hour of Nairobi, when late news of it has come. */
const CLOSING_HOUR = 6;

/** SQL: the last day that is over for long enough. */
export const LAST_ENDED_DAY = `(CAST(
  now() AT TIME ZONE 'Africa/Nairobi' - interval '${CLOSING_HOUR} hours' AS date) - 1)`;

/** One look closes this number of days: a service may have stood still for long. */
const MAX_DAYS_PER_LOOK = 31;

/** SQL: the days from the last closed one until yesterday. The first day ever is yesterday. */
const DUE = `
  SELECT CAST(CAST(day AS date) AS text) AS day
  FROM (SELECT ${LAST_ENDED_DAY} AS last) yesterday CROSS JOIN LATERAL generate_series(
    coalesce((SELECT max(c.day) + 1 FROM closed_days c), last), last, interval '1 day') day
  WHERE EXISTS (SELECT FROM balance_proofs) ORDER BY day LIMIT ${MAX_DAYS_PER_LOOK}`;

const COLUMNS = 'CAST(day AS text) AS day, closed_at, agrees, differences, untold';

/**
 * Closes each day since the last closed one, once, the oldest first. What differs now counts for all of
 * them: nobody was there to see it before. A service to which no gateway has ever told a balance closes none.
 */
export async function closeDays(
  database: Database,
  gateways: Parameters<typeof proveWorld>[1],
): Promise<ClosedDay[]> {
  const due = await rows<Pick<ClosedDay, 'day'>>(database, DUE);
  if (due.length === 0) return [];
  const { differences, untold, silent } = await proveWorld(database, gateways);
  const closed = await rows<ClosedDay>(
    database,
    `INSERT INTO closed_days (day, agrees, differences, untold)
     SELECT CAST(day AS date), :agrees, CAST(:differences AS jsonb), :untold
     FROM unnest(CAST(:days AS text[])) day
     ON CONFLICT (day) DO NOTHING RETURNING ${COLUMNS}`,
    {
      days: due.map(({ day }) => day),
      agrees: differences.length + untold.length === 0,
      differences: JSON.stringify(differences),
      untold: [...untold, ...silent],
    },
  );
  return closed.sort((one, other) => (one.day < other.day ? -1 : 1));
}

/** Lists the closed days, the newest first. */
export function listClosedDays(database: Database, limit: number): Promise<ClosedDay[]> {
  return rows<ClosedDay>(
    database,
    `SELECT ${COLUMNS} FROM closed_days c ORDER BY c.day DESC LIMIT :limit`,
    { limit },
  );
}
