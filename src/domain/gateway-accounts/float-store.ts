import { type Database, rows, type Transaction } from '../../connections/database.ts';

/**
 * Keeps what a gateway has said of the money from which payouts go, in cents, unless it has answered a later question.
 * @param askedAt is when it was asked. Default: now
 */
export async function storeFloat(
  database: Database | Transaction,
  gateway: string,
  available_cents: number,
  askedAt: Date | null = null,
): Promise<void> {
  await rows(
    database,
    `INSERT INTO gateway_floats AS f (gateway, available_cents, heard_at, asked_at)
     VALUES (:gateway, :available_cents, now(), coalesce(CAST(:asked_at AS timestamptz), now()))
     ON CONFLICT (gateway) DO UPDATE SET available_cents = excluded.available_cents,
       heard_at = excluded.heard_at, asked_at = excluded.asked_at
     WHERE excluded.asked_at >= f.asked_at`,
    { gateway, available_cents, asked_at: askedAt },
  );
}

/** Tells whether a gateway has said what the float is, at this moment or later. */
export async function hasHeardFloat(
  database: Database,
  gateway: string,
  since: Date,
): Promise<boolean> {
  const heard = await rows(
    database,
    'SELECT FROM gateway_floats WHERE gateway = :gateway AND heard_at >= :since',
    { gateway, since },
  );
  return heard.length > 0;
}

/** The last balance that a gateway has told of the money for payouts. */
export interface Float {
  gateway: string;
  available_cents: number;
  heard_at: Date;
}

/** Reads the known floats. A gateway that has never told its float is missing. */
export function readFloats(database: Database): Promise<Float[]> {
  return rows<Float>(database, 'SELECT gateway, available_cents, heard_at FROM gateway_floats');
}
