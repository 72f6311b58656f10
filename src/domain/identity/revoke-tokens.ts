import { rows, type Transaction } from '../../connections/database.ts';
import type { TokenSubject } from './tokens.ts';

/**
 * Ends every session of an app or a user at once, access tokens included.
 * @param except is a family that goes on.
 * @returns the number of token families that were revoked.
 */
export async function revokeTokens(
  trx: Transaction,
  subject: TokenSubject,
  except: string | null = null,
): Promise<number> {
  const revoked = await rows(
    trx,
    `UPDATE token_families SET revoked_at = now()
     WHERE merchant_id = :merchant_id AND revoked_at IS NULL AND expires_at > now()
       AND (app_code = :app_code OR user_id = :user_id)
       AND id IS DISTINCT FROM CAST(:except AS uuid)
     RETURNING id`,
    { app_code: null, user_id: null, ...subject, except },
  );
  return revoked.length;
}
