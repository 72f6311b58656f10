import { type Database, firstRow, rows } from '../../connections/database.ts';
import { MINUTE_MS } from '../../time.ts';
import type { SecurityEventRecord } from './security-events.ts';

/** The time after which an e-mail is tried again. */
const TELL_AGAIN_MS = 5 * MINUTE_MS;

/** Somebody with a member's token could do this in the member's name, so the other admins hear of it too. */
const TOLD_TO_ADMINS = ['staff_totp_enabled', 'password_changed'];

/** A change of access by staff, with whom it is about. */
export interface AccessNotice
  extends Pick<
    SecurityEventRecord,
    'id' | 'kind' | 'staff' | 'at' | 'app_code' | 'merchant_id' | 'detail'
  > {
  /** The person of the merchant, or the member of staff, by e-mail address. Null: an app. */
  person: string | null;
  /**
   * The addresses of its owner and of its merchant, a former one first, without the member who did it to somebody
   * else, and without those that were told before.
   */
  tell: string[];
}

/**
 * Takes a change of which its owner was not told, so that no other process tells it for a while.
 * @returns null when everybody was told
 */
export async function takeAccessNotice(database: Database): Promise<AccessNotice | null> {
  const taken = await firstRow<AccessNotice>(
    database,
    `WITH taken AS (
       UPDATE access_notices SET tell_at = now() + :again_ms * interval '1 millisecond'
       WHERE event_id = (SELECT event_id FROM access_notices WHERE tell_at <= now()
         ORDER BY tell_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
       RETURNING event_id, also_tell, told
     )
     SELECT e.id, e.kind, e.staff, e.at, e.app_code, e.merchant_id, e.detail,
       coalesce(u.email, s.email) AS person,
       ARRAY(SELECT address FROM unnest(ARRAY[t.also_tell, m.email, u.email, s.email]
             || ARRAY(SELECT a.email FROM staff a WHERE e.kind = ANY (:own_kinds) AND s.id IS NOT NULL
               AND a.active AND a.role = 'admin' AND a.id <> s.id ORDER BY a.email))
         WITH ORDINALITY AS each (address, place)
         -- Somebody who has a member's token can do things in the name of that member.
         WHERE (address <> e.staff OR address = s.email) AND address <> ALL (t.told)
         ORDER BY place) AS tell
     FROM taken t JOIN security_events e ON e.id = t.event_id
     LEFT JOIN merchants m ON m.id = e.merchant_id
     LEFT JOIN users u ON u.merchant_id = e.merchant_id AND u.id = e.user_id
     LEFT JOIN staff s ON s.id = CAST(e.detail->>'staff_id' AS uuid)`,
    { again_ms: TELL_AGAIN_MS, own_kinds: TOLD_TO_ADMINS },
    'fresh',
  );
  return taken ?? null;
}

/** Keeps that some addresses were told, and others were not. */
export async function keepTold(
  database: Database,
  { id }: Pick<AccessNotice, 'id'>,
  told: readonly string[],
): Promise<void> {
  await rows(
    database,
    'UPDATE access_notices SET told = told || CAST(:told AS text[]) WHERE event_id = :id',
    {
      id,
      told,
    },
  );
}

/** Keeps that a change was told. */
export async function endAccessNotice(
  database: Database,
  { id }: Pick<AccessNotice, 'id'>,
): Promise<void> {
  await rows(database, 'DELETE FROM access_notices WHERE event_id = :id', { id });
}
