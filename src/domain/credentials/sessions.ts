import {
  type Database,
  hasRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import type { Caller } from '../access/caller.ts';
import { Refusal } from '../errors.ts';
import { type Page, type PageRequest, readPage } from '../lists.ts';
import { recordSecurityEvent } from '../security/security-events.ts';
import { eventBy, type Person } from './people.ts';
import type { TokenSubject } from './tokens.ts';

/**
 * Ends every session of an app or a user at once, access tokens included. Lock the row of the app
 * or user first: a log-in that is under way then has ended, or finds what was changed.
 * @param except is a family that goes on.
 * @returns the number of token families that were revoked.
 */
export function revokeTokens(
  trx: Transaction,
  subject: TokenSubject,
  except: string | null = null,
): Promise<number> {
  const bindings = { app_code: null, user_id: null, ...subject, except };
  return revoke(trx, OF_SUBJECT, bindings);
}

const OF_SUBJECT = ` AND (app_code = :app_code OR user_id = :user_id)
  AND id IS DISTINCT FROM CAST(:except AS uuid)`;

/**
 * Ends every session of a merchant's apps and people at once. Lock the row of
 * the merchant first. @returns the number of token families that were revoked.
 */
export function revokeAllTokens(trx: Transaction, merchant_id: number): Promise<number> {
  return revoke(trx, '', { merchant_id });
}

async function revoke(trx: Transaction, condition: string, bindings: object): Promise<number> {
  const revoked = await rows<{ was_living: boolean }>(
    trx,
    // Also those that have expired: a refresh may be giving one of them more time right now.
    `UPDATE token_families SET revoked_at = now()
     WHERE merchant_id = :merchant_id AND revoked_at IS NULL${condition}
     RETURNING expires_at > now() AS was_living`,
    bindings,
  );
  return revoked.filter(({ was_living }) => was_living).length;
}

/** A family of tokens that still lets a person in. */
export interface Session {
  id: string;
  created_at: Date;
  refreshed_at: Date;
  expires_at: Date;
  /** However often it is refreshed, it ends then. */
  ends_at: Date;
  /** The address of the log-in, or of the last refresh. */
  ip: string | null;
  with_totp: boolean;
}

const IS_LIVE = 'revoked_at IS NULL AND expires_at > now()';

/** Lists the sessions of a person that have not ended, newest first. */
export function listSessions(
  database: Database,
  { merchant_id, user_id }: Person,
  page: PageRequest,
): Promise<Page<Session>> {
  const source = {
    columns: 'id, created_at, refreshed_at, expires_at, ends_at, ip, with_totp',
    table: 'token_families',
    createdAt: 'created_at',
    id: 'id',
    where: ['merchant_id = :merchant_id', 'user_id = :user_id', IS_LIVE],
    bindings: { merchant_id, user_id },
  };
  return readPage<Session>(database, source, page);
}

/** Ends a session of a person at once. @throws Refusal `session_not_found` */
export async function endSession(database: Database, person: Person, id: string): Promise<void> {
  await inTransaction(database, async (trx) => {
    const isEnded = await hasRow(
      trx,
      `UPDATE token_families SET revoked_at = now()
       WHERE merchant_id = :merchant_id AND user_id = :user_id AND id = :id AND ${IS_LIVE}
       RETURNING id`,
      { ...person, id },
    );
    if (!isEnded) throw new Refusal('session_not_found');
    const event = { ...eventBy(person), detail: { session: id } };
    await recordSecurityEvent(trx, { ...event, kind: 'session_ended' });
  });
}

/** Ends the session of a caller at once, app or person. */
export async function logOut(database: Database, { merchant_id, asker }: Caller): Promise<void> {
  const { asked_family: family, asked_app, asked_user, asked_ip } = asker;
  await inTransaction(database, async (trx) => {
    const isEnded = await hasRow(
      trx,
      `UPDATE token_families SET revoked_at = now()
       WHERE merchant_id = :merchant_id AND id = :family AND revoked_at IS NULL RETURNING id`,
      { merchant_id, family },
    );
    if (!isEnded) return;
    const whose = { merchant_id, app_code: asked_app, user_id: asked_user, family, ip: asked_ip };
    await recordSecurityEvent(trx, { ...whose, kind: 'logged_out' });
  });
}
