import { rows, type Transaction } from '../../connections/database.ts';
import { endAllSecrets, signingSecretsOf } from '../merchants/app-secrets.ts';
import { lockMerchant } from '../merchants/manage-merchants.ts';
import { holdUpClaims } from '../merchants/payout-hold.ts';
import { revokeAllTokens } from './revoke-tokens.ts';

/** How many of a merchant's credentials were valid and have ended. */
export interface RevokedCredentials {
  token_families: number;
  app_secrets: number;
  webhook_secrets: number;
}

/**
 * Ends all credentials of a merchant at once but the passwords of its people: sessions, app
 * secrets, and webhook secrets unless they are kept. It waits for log-ins that are under way, and
 * locks the merchant, then its apps, as operators' other changes do. So what a rotation or a log-in
 * has just made ends too.
 * @returns the counts, and the codes of the apps that have no secret left to sign webhooks with.
 * @throws OperatorRefusal when there is no such merchant.
 */
export async function revokeCredentials(
  trx: Transaction,
  merchant_id: number,
  { keepWebhookSecrets }: { keepWebhookSecrets: boolean },
): Promise<{ revoked: RevokedCredentials; unsigned: number[] }> {
  await holdUpClaims(trx, merchant_id);
  await lockMerchant(trx, merchant_id);
  await rows(
    trx,
    'SELECT FROM apps WHERE merchant_id = :merchant_id ORDER BY code FOR NO KEY UPDATE',
    { merchant_id },
  );
  const app_secrets = await endAllSecrets(trx, 'app', merchant_id);
  const webhook_secrets = keepWebhookSecrets ? 0 : await endAllSecrets(trx, 'own', merchant_id);
  const token_families = await revokeAllTokens(trx, merchant_id);
  const unsigned = await rows<{ code: number }>(
    trx,
    `SELECT code FROM apps a
     WHERE merchant_id = :merchant_id AND NOT EXISTS (${signingSecretsOf('a')}) ORDER BY code`,
    { merchant_id },
  );
  const revoked = { token_families, app_secrets, webhook_secrets };
  return { revoked, unsigned: unsigned.map(({ code }) => code) };
}
