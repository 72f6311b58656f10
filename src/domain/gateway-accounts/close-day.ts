import { type Database, firstRow, rows } from '../../connections/database.ts';
import { type Difference, proveWorld } from './prove-world.ts';

/** The end of a day: the books agree with the world, or each difference has a name. */
export interface ClosedDay {
  /** A day of Nairobi, YYYY-MM-DD. */
  day: string;
  closed_at: Date;
  agrees: boolean;
  differences: Difference[];
  /** The gateways that had told no balance for an hour, and the bank after two days. */
  untold: string[];
}

/** A day is closed at this hour of Nairobi, when late news of it has come. */
const CLOSING_HOUR = 6;

const DUE = `
  SELECT CAST(day AS text) AS day FROM (
    SELECT CAST(now() AT TIME ZONE 'Africa/Nairobi' - interval '${CLOSING_HOUR} hours' AS date) - 1
      AS day) yesterday
  WHERE EXISTS (SELECT FROM balance_proofs) AND NOT EXISTS (
    SELECT FROM closed_days c WHERE c.day = yesterday.day)`;

const COLUMNS = 'CAST(day AS text) AS day, closed_at, agrees, differences, untold';

/**
 * Closes yesterday, once. A service to which no gateway has ever told a balance closes no day.
 * @returns null when it is too early, or the day is closed
 */
export async function closeDay(
  database: Database,
  gateways: Parameters<typeof proveWorld>[1],
): Promise<ClosedDay | null> {
  const due = await firstRow<Pick<ClosedDay, 'day'>>(database, DUE);
  if (!due) return null;
  const { differences, untold } = await proveWorld(database, gateways);
  const closed = await firstRow<ClosedDay>(
    database,
    `INSERT INTO closed_days (day, agrees, differences, untold)
     VALUES (CAST(:day AS date), :agrees, CAST(:differences AS jsonb), :untold)
     ON CONFLICT (day) DO NOTHING RETURNING ${COLUMNS}`,
    {
      day: due.day,
      agrees: differences.length + untold.length === 0,
      differences: JSON.stringify(differences),
      untold,
    },
  );
  return closed ?? null;
}

/** Lists the closed days, the newest first. */
export function listClosedDays(database: Database, limit: number): Promise<ClosedDay[]> {
  return rows<ClosedDay>(
    database,
    `SELECT ${COLUMNS} FROM closed_days c ORDER BY c.day DESC LIMIT :limit`,
    { limit },
  );
}
