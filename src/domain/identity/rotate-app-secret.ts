import type { Transaction } from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { type AppRecord, requireApp } from '../merchants/app.ts';
import { replaceSecret } from '../merchants/app-secrets.ts';
import { revokeTokens } from './revoke-tokens.ts';

export interface RotatedSecret {
  app: AppRecord;
  app_secret: string;
  /** The expiry of the last old secret; null when no old secret is valid. */
  old_secrets_until: Date | null;
  /** The number of sessions that were ended: all of them, or none with an overlap. */
  revoked: number;
}

/**
 * Gives an app a new secret. The old secrets stay valid for `overlapMs`. With 0 they end at
 * once, and with them all tokens of the app.
 * @throws OperatorRefusal when there is no such app.
 */
export async function rotateAppSecret(
  trx: Transaction,
  secretsKeys: KeyRing,
  appCode: number,
  overlapMs: number,
): Promise<RotatedSecret> {
  const app = await requireApp(trx, appCode, 'FOR NO KEY UPDATE');
  const ref = { merchant_id: app.merchant_id, app_code: appCode };
  const { secret, old_secrets_until } = await replaceSecret(
    trx,
    secretsKeys,
    'app',
    ref,
    overlapMs,
  );
  return {
    app,
    app_secret: secret,
    old_secrets_until,
    revoked: overlapMs === 0 ? await revokeTokens(trx, ref) : 0,
  };
}
