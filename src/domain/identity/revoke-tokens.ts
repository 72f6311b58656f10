import { rows, type Transaction } from '../../connections/database.ts';
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
 * Ends every session of a merchant at once, those of its apps and of its people. Lock the row of
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
