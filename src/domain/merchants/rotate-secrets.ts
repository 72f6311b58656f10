import type { Transaction } from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { holdNewAccess } from '../access/new-access.ts';
import type { AuditedChange } from '../audit/audit.ts';
import { revokeTokens } from '../credentials/sessions.ts';
import { OperatorRefusal } from '../errors.ts';
import { revocationEvents, webhookSecretRotated } from '../security/security-events.ts';
import { type AppRecord, auditOf, requireApp } from './app.ts';
import { type ReplacedSecret, replaceSecret } from './app-secrets.ts';

/** The longest overlap of old and new secrets. */
export const MAX_OVERLAP_DAYS = 30;
const MS_PER_S = 1_000;

export interface RotatedSecret extends ReplacedSecret {
  app: AppRecord;
  /** The number of sessions that were ended: all of them, or none with an overlap. */
  revoked: number;
}

/**
 * Gives an app a new secret, with the line for the audit log.
 * @param overlapMs is how long the old secrets still work; with 0 they end at once, and with them
 * all sessions of the app
 * @param holdMs is how long the new secret sends no money out
 * @throws OperatorRefusal when there is no such app.
 */
export async function rotateAppSecret(
  trx: Transaction,
  secretsKeys: KeyRing,
  code: number,
  overlapMs: number,
  holdMs: number,
): Promise<AuditedChange<RotatedSecret>> {
  const app = await requireApp(trx, code, 'FOR NO KEY UPDATE');
  const subject = { merchant_id: app.merchant_id, app_code: code };
  const replaced = await replaceSecret(trx, secretsKeys, 'app', subject, overlapMs);
  await holdNewAccess(trx, subject, holdMs);
  const revoked = overlapMs === 0 ? await revokeTokens(trx, subject) : 0;
  const { old_secrets_until } = replaced;
  const overlap = { overlap_s: overlapMs / MS_PER_S };
  const rotated = { ...subject, kind: 'app_secret_rotated', detail: overlap } as const;
  return {
    value: { ...replaced, app, revoked },
    audit: auditOf(app, { ...overlap, old_secrets_until, revoked_token_families: revoked }),
    events: [rotated, ...revocationEvents(subject, revoked)],
  };
}

/**
 * Gives an app a new webhook secret, with the line for the audit log.
 * @param overlapMs is how long the old ones still sign; with 0 they end at once
 * @throws OperatorRefusal when there is no such app, or it signs webhooks with its app secret.
 */
export async function rotateWebhookSecret(
  trx: Transaction,
  secretsKeys: KeyRing,
  code: number,
  overlapMs: number,
): Promise<AuditedChange<ReplacedSecret & { app: AppRecord }>> {
  const app = await requireApp(trx, code, 'FOR NO KEY UPDATE');
  if (app.signs_webhooks_with !== 'own') {
    throw new OperatorRefusal(
      `App ${code} signs webhooks with its app secret: rotate that one, or choose app update ${code} --webhook-secret own`,
    );
  }
  const ref = { merchant_id: app.merchant_id, app_code: code };
  const replaced = await replaceSecret(trx, secretsKeys, 'own', ref, overlapMs);
  const { old_secrets_until } = replaced;
  const overlap = { overlap_s: overlapMs / MS_PER_S };
  return {
    value: { ...replaced, app },
    audit: auditOf(app, { ...overlap, old_secrets_until }),
    events: [webhookSecretRotated(app, overlap)],
  };
}
